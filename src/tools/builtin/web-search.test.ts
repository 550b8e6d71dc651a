import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { type TestContext, test } from "node:test";
import { saidOf } from "../../../test/world/said.ts";
import { fileTools } from "../../../test/world/tools.ts";
import { noteWeb, siteServer, webSettings } from "../../../test/world/web.ts";
import { type SearchProvider, type SearchSettings, searchProviders } from "../../web/search-services.ts";

const key = "k3y-that-nobody-sees";

type RawHit = { readonly title?: string; readonly url?: string; readonly text?: string | null };

/** Each service as its documents have it. */
const services: Readonly<
  Record<
    SearchProvider,
    {
      readonly name: string;
      readonly on: object;
      /** What its settings say that is not enough. */
      readonly off: object;
      readonly setting: string;
      answer(hits: readonly RawHit[]): object;
      readonly asked: string;
      readonly header: keyof IncomingHttpHeaders | undefined;
    }
  >
> = {
  google: {
    ...{ name: "Google", on: { key, engine: "cx1" }, off: { key } },
    setting: "GOOGLE_SEARCH_API_KEY and GOOGLE_SEARCH_ENGINE_ID",
    answer: (hits) => ({
      kind: "customsearch#search",
      // Where nothing was found there are no items at all.
      ...(hits.length > 0 && { items: hits.map(({ title, url, text }) => ({ title, link: url, snippet: text })) }),
    }),
    asked: "GET /customsearch/v1?cx=cx1&q=high+tide&num=5",
    header: "x-goog-api-key",
  },
  brave: {
    ...{ name: "Brave", on: { key }, off: {}, setting: "BRAVE_API_KEY" },
    answer: (hits) => ({
      type: "search",
      ...(hits.length > 0 && {
        web: { results: hits.map(({ text, ...hit }) => ({ ...hit, description: text })) },
      }),
    }),
    asked: "GET /res/v1/web/search?q=high+tide&count=5",
    header: "x-subscription-token",
  },
  tavily: {
    ...{ name: "Tavily", on: { key }, off: {}, setting: "TAVILY_API_KEY" },
    answer: (hits) => ({
      query: "high tide",
      results: hits.map(({ text, ...hit }) => ({ ...hit, content: text, score: 0.9 })),
    }),
    asked: 'POST /search {"query":"high tide","max_results":5}',
    header: "authorization",
  },
  jina: {
    ...{ name: "Jina", on: { key }, off: {}, setting: "JINA_API_KEY" },
    answer: (hits) => ({
      code: 200,
      data: hits.map(({ text, ...hit }) => ({ ...hit, description: text, content: "" })),
    }),
    asked: "GET /?q=high+tide",
    header: "authorization",
  },
  searxng: {
    ...{ name: "SearXNG", on: {}, off: { url: "" }, setting: "SEARXNG_URL" },
    answer: (hits) => ({
      query: "high tide",
      results: hits.map(({ text, ...hit }) => ({ ...hit, content: text, engine: "x" })),
    }),
    asked: "GET /search?q=high+tide&format=json",
    header: undefined,
  },
};

type Played = { readonly status?: number; readonly body?: string; readonly hits?: readonly RawHit[] };

/** The services play on this machine, at an address that only the operator's word opens. */
async function searcher(
  t: TestContext,
  provider: SearchProvider,
  { hosts = [], ...begins }: Played & { readonly hosts?: string[]; readonly isOff?: boolean } = {},
) {
  const { on, off, answer, header } = services[provider];
  const asked: string[] = [];
  const keys: unknown[] = [];
  let { status = 200, body = "", hits = [] }: Played = begins;
  const port = await siteServer(t, (request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      asked.push([request.method, request.url, Buffer.concat(pieces).toString()].filter(Boolean).join(" "));
      keys.push(header === undefined ? undefined : request.headers[header]);
      response.writeHead(status, { "content-type": "application/json" }).end(body || JSON.stringify(answer(hits)));
    });
  });
  const url = `http://127.0.0.1:${port}`;
  const set = begins.isOff ? off : on;
  const search: SearchSettings = { ...webSettings.search, [provider]: { url, searchUrl: url, readerUrl: url, ...set } };
  const { web } = noteWeb({
    settings: { search: begins.isOff ? { ...search, provider } : search, hosts },
    reach: () => port,
  });
  const { call } = await fileTools(t);
  const ask = async (tool: string, input: object) => (await call(tool, input, { web })).text;
  const plays = (next: Played) => {
    ({ status = 200, body = "", hits = [] } = next);
  };
  return { ask, plays, asked, keys };
}

/** What each service has in common, whatever its ways. */
for (const provider of searchProviders) {
  const { name, asked: expected, header, setting } = services[provider];

  test(`${provider}: the web is searched in its own way, and the key goes to it alone [T2][Q1]`, async (t) => {
    const hits = [
      { title: "Tides <b>now</b>", url: "https://t.example/", text: "<strong>High</strong> &amp; low\n water" },
    ];
    const { ask, asked, keys } = await searcher(t, provider, { hits });
    assert.equal(
      await ask("web_search", { query: "high tide" }),
      `1 results of ${name}; read one with fetch_web:\n1. Tides now\n   https://t.example/\n   High & low water`,
    );
    assert.deepEqual(asked, [expected]);
    assert.deepEqual(keys, [header === undefined ? undefined : header === "authorization" ? `Bearer ${key}` : key]);
  });

  test(`${provider}: a service that refuses, is busy, or answers nonsense is told in our words, without its own and without the key [T2][Q1]`, async (t) => {
    const { ask, plays } = await searcher(t, provider);
    const fates: readonly (readonly [played: Played, said: string])[] = [
      [{ status: 401, body: `bad key ${key}` }, "refuses the key (status 401)."],
      [{ status: 429, body: key }, "has had enough requests for now (status 429)."],
      [{ status: 500, body: `<html>${key}` }, "cannot search now (status 500)."],
      [{ body: "not json" }, "gave an answer that is no list of results (status 200)."],
      [{ body: '{"type": 5, "kind": 5}' }, "gave an answer that is no list of results (status 200)."],
      [{ status: 302, body: "" }, "cannot search now (status 302)."],
    ];
    const whys = ["key", "limit", "status", "answer", "answer", "status"] as const;
    for (const [index, [played, said]] of fates.entries()) {
      plays(played);
      const text = await ask("web_search", { query: "x" });
      assert.ok(text.includes(`${name} ${said}`), text);
      assert.match(text, /^Error: web_search_failed: .*\bCall it once more with other words; .* tell the user\.$/);
      const why = whys[index] ?? "answer";
      const status = played.status ?? 200;
      assert.ok(text.includes(saidOf("web_search_failed", { provider: name, why, status, setting: "" })), text);
      assert.ok(!text.includes(key), text);
    }
  });

  test(`${provider}: hits that lead nowhere in the web, or twice to the same place, are left out; none at all is told [T2]`, async (t) => {
    const hits = [
      { title: "a", url: "https://a.example/", text: null },
      { title: "again", url: "https://a.example/" },
      ...[{ title: "b", url: "javascript:alert(1)" }, { title: "c" }, { title: "d", url: "file:///etc/passwd" }],
    ];
    const { ask, plays } = await searcher(t, provider, { hits });
    const found = `1 results of ${name}; read one with fetch_web:\n1. a\n   https://a.example/`;
    assert.equal(await ask("web_search", { query: "x" }), found);
    plays({ hits: [] });
    assert.match(await ask("web_search", { query: "x y" }), new RegExp(`^${name} found nothing for "x y"\\.`));
  });

  test(`${provider}: no more hits are told than were asked for, however many come [T2]`, async (t) => {
    const hits = Array.from({ length: 12 }, (_, index) => ({ title: "t", url: `https://${index}.example/` }));
    const { ask } = await searcher(t, provider, { hits });
    const told = [3, 5, 10, 10].map((count) => `${count} results of ${name}`);
    const counts = [{ max_results: 3 }, {}, { max_results: 10 }, { max_results: 11 }];
    const texts = await Promise.all(counts.map((count) => ask("web_search", { query: "x", ...count })));
    assert.deepEqual(
      texts.map((text) => text.split(";")[0]),
      told,
    );
  });

  test(`${provider}: a service that was chosen and not set is off, says what is to be set, and is not asked [T2]`, async (t) => {
    const { ask, asked } = await searcher(t, provider, { isOff: true });
    const text = await ask("web_search", { query: "x" });
    assert.ok(text.startsWith("Error: web_search_off: ") && text.includes(setting), text);
    assert.deepEqual(asked, []);
  });
}

test("google_search and jina_reader have their own service, and are off without its key [T2]", async (t) => {
  const { ask } = await searcher(t, "brave");
  assert.match(
    await ask("google_search", { query: "x" }),
    /^Error: web_search_off: .*GOOGLE_SEARCH_API_KEY and GOOGLE_SEARCH_ENGINE_ID/,
  );
  assert.match(await ask("jina_reader", { url: "https://a.example/" }), /^Error: web_search_off: .*JINA_API_KEY/);
  const jina = await searcher(t, "jina", { body: "# A page\n\nread by Jina" });
  assert.equal(
    await jina.ask("jina_reader", { url: "https://a.example/x?y=1" }),
    "Page: https://a.example/x?y=1\n# A page\n\nread by Jina",
  );
  assert.deepEqual([jina.asked, jina.keys], [["GET /https://a.example/x?y=1"], [`Bearer ${key}`]]);
  for (const url of ["http://10.0.0.1/", "http://wiki.corp/", "http://intranet/", "http://169.254.169.254/"])
    assert.match(await jina.ask("jina_reader", { url }), /^Error: web_address_refused:/, url);
  assert.equal(jina.asked.length, 1);
});

test("jina_reader reads no page of a host that is not among those that may be reached [T7]", async (t) => {
  const { ask, asked } = await searcher(t, "jina", { body: "read", hosts: ["docs.example"] });
  assert.match(await ask("jina_reader", { url: "https://evil.example/?d=secret" }), /^Error: web_address_refused:/);
  assert.match(await ask("jina_reader", { url: " https://docs.example/a " }), /\nread$/);
  assert.deepEqual(asked, ["GET /https://docs.example/a"]);
});

import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { type TestContext, test } from "node:test";
import { fileTools } from "../../../test/world/tools.ts";
import { noteWeb, siteServer, webSettings } from "../../../test/world/web.ts";
import type { SearchProvider, SearchSettings } from "../../web/web.ts";

const key = "k3y-that-nobody-sees";

/** Answers of each service as its documents have them. */
const services: Readonly<
  Record<
    SearchProvider,
    {
      readonly on: object;
      readonly answer: object;
      readonly asked: string;
      readonly header: keyof IncomingHttpHeaders | undefined;
    }
  >
> = {
  google: {
    on: { key, engine: "cx1" },
    answer: {
      kind: "customsearch#search",
      items: [{ title: "Tides <b>now</b>", link: "https://t.example/", snippet: "High &amp; low\n water" }],
    },
    asked: "GET /customsearch/v1?cx=cx1&q=high+tide&num=5",
    header: "x-goog-api-key",
  },
  brave: {
    on: { key },
    answer: {
      type: "search",
      web: {
        results: [{ title: "Tides now", url: "https://t.example/", description: "<strong>High</strong> & low water" }],
      },
    },
    asked: "GET /res/v1/web/search?q=high+tide&count=5",
    header: "x-subscription-token",
  },
  tavily: {
    on: { key },
    answer: {
      query: "high tide",
      results: [{ title: "Tides now", url: "https://t.example/", content: "High & low water", score: 0.9 }],
    },
    asked: 'POST /search {"query":"high tide","max_results":5}',
    header: "authorization",
  },
  jina: {
    on: { key },
    answer: {
      code: 200,
      data: [{ title: "Tides now", url: "https://t.example/", description: "High & low water", content: "" }],
    },
    asked: "GET /?q=high+tide",
    header: "authorization",
  },
  searxng: {
    on: {},
    answer: {
      query: "high tide",
      results: [{ title: "Tides now", url: "https://t.example/", content: "High & low water", engine: "x" }],
    },
    asked: "GET /search?q=high+tide&format=json",
    header: undefined,
  },
};

type Played = { readonly status?: number; readonly body?: string };

/** The services play on this machine, at an address that only the operator's word opens. */
async function searcher(t: TestContext, provider: SearchProvider, played: Played = {}, hosts: string[] = []) {
  const { on, answer, header } = services[provider];
  const asked: string[] = [];
  const keys: unknown[] = [];
  const port = await siteServer(t, (request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      asked.push([request.method, request.url, Buffer.concat(pieces).toString()].filter(Boolean).join(" "));
      keys.push(header === undefined ? undefined : request.headers[header]);
      response
        .writeHead(played.status ?? 200, { "content-type": "application/json" })
        .end(played.body ?? JSON.stringify(answer));
    });
  });
  const url = `http://127.0.0.1:${port}`;
  const search: SearchSettings = { ...webSettings.search, [provider]: { url, searchUrl: url, readerUrl: url, ...on } };
  const { web } = noteWeb({ settings: { search, hosts }, reach: () => port });
  const { call } = await fileTools(t);
  const ask = async (tool: string, input: object) => (await call(tool, input, { web })).text;
  return { ask, asked, keys };
}

for (const provider of ["google", "brave", "tavily", "jina", "searxng"] as const) {
  test(`the web is searched with ${provider} in its own way, and the key goes to it alone [T2][Q1]`, async (t) => {
    const { ask, asked, keys } = await searcher(t, provider);
    const text = await ask("web_search", { query: "high tide" });
    assert.match(
      text,
      /^1 results of \w+; read one with fetch_web:\n1\. Tides now\n {3}https:\/\/t\.example\/\n {3}High & low water$/,
    );
    assert.deepEqual(asked, [services[provider].asked]);
    const { header } = services[provider];
    assert.deepEqual(keys, [header === undefined ? undefined : header === "authorization" ? `Bearer ${key}` : key]);
  });
}

test("a service that refuses, is busy, or answers nonsense is told in our words, without its own and without the key [T2][Q1]", async (t) => {
  const fates: readonly (readonly [played: Played, said: RegExp])[] = [
    [{ status: 401, body: `bad key ${key}` }, /Brave refuses the key \(status 401\)\./],
    [{ status: 429, body: key }, /Brave has had enough requests for now \(status 429\)\./],
    [{ status: 500, body: `<html>${key}` }, /Brave cannot search now \(status 500\)\./],
    [{ body: "not json" }, /Brave gave an answer that is no list of results \(status 200\)\./],
    [{ body: '{"type": 5}' }, /no list of results/],
    [{ status: 302, body: "" }, /Brave cannot search now \(status 302\)\./],
  ];
  for (const [played, said] of fates) {
    const { ask } = await searcher(t, "brave", played);
    const text = await ask("web_search", { query: "x" });
    assert.match(text, said);
    assert.match(text, /^Error: web_search_failed: .*\bCall it once more with other words; .* tell the user\.$/);
    assert.ok(!text.includes(key), text);
  }
});

test("hits that lead nowhere in the web, or twice to the same place, are left out; none at all is told [T2]", async (t) => {
  const results = [
    { title: "a", url: "https://a.example/", description: null },
    { title: "again", url: "https://a.example/" },
    ...[{ title: "b", url: "javascript:alert(1)" }, { title: "c" }, { title: "d", url: "file:///etc/passwd" }],
  ];
  const { ask } = await searcher(t, "brave", { body: JSON.stringify({ type: "search", web: { results } }) });
  assert.equal(
    await ask("web_search", { query: "x" }),
    "1 results of Brave; read one with fetch_web:\n1. a\n   https://a.example/",
  );
  const none = await searcher(t, "google", { body: '{"kind": "customsearch#search"}' });
  assert.match(await none.ask("google_search", { query: "x y" }), /^Google found nothing for "x y"\./);
});

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
  const { ask, asked } = await searcher(t, "jina", { body: "read" }, ["docs.example"]);
  assert.match(await ask("jina_reader", { url: "https://evil.example/?d=secret" }), /^Error: web_address_refused:/);
  assert.match(await ask("jina_reader", { url: " https://docs.example/a " }), /\nread$/);
  assert.deepEqual(asked, ["GET /https://docs.example/a"]);
});

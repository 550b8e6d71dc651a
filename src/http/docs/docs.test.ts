import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { wordsFor } from "../../words/words.ts";
import { docsPage } from "./page.ts";
import { schemaText } from "./schema-text.ts";

// The script of the docs page in a browser that is played: as much of one as the script asks for.

type Sent = { readonly url: string; readonly method?: string; readonly headers?: object; readonly body?: string };

class Part {
  readonly heard = new Map<string, (event: object) => void>();
  readonly dataset: Record<string, string>;
  readonly inside: Record<string, Part | Part[]>;
  textContent = "";
  value = "";
  name = "";
  hidden = false;
  open = false;
  readonly id: string;
  readonly tagName: string;

  constructor(of: Partial<Part> = {}) {
    Object.assign(this, of);
    this.id = of.id ?? "";
    this.tagName = of.tagName ?? "";
    this.dataset = of.dataset ?? {};
    this.inside = of.inside ?? {};
  }

  addEventListener(kind: string, listener: (event: object) => void): void {
    this.heard.set(kind, listener);
  }

  querySelector(selector: string): Part | undefined {
    const found = [this.inside[selector.replace(":not([hidden])", "")] ?? []].flat();
    return selector.includes(":not([hidden])") ? found.find(({ hidden }) => !hidden) : found[0];
  }

  querySelectorAll(selector: string): Part[] {
    return [this.inside[selector] ?? []].flat();
  }

  append(text: string): void {
    this.textContent += text;
  }

  /** Somebody does this with it. */
  does(kind: string, value = this.value): void {
    this.value = value;
    this.heard.get(kind)?.({ target: this, preventDefault: () => {} });
  }
}

type Entry = { readonly path?: string; readonly method?: string; readonly type?: string; readonly body?: string };

function entryOf(id: string, fields: readonly [string, string, string][], of: Entry = {}): Part {
  const { path = "/a", method = "GET", type = "", body } = of;
  const [curl, copy, result, summary] = [new Part(), new Part(), new Part(), new Part()];
  summary.textContent = `${method} ${path} Does Something`;
  const input = fields.map(([name, place, value]) => new Part({ name, value, dataset: { place } }));
  const form = new Part({ inside: { ".copy": copy, ".curl": curl } });
  const textarea = body === undefined ? [] : new Part({ value: body });
  return new Part({
    ...{ id, tagName: "DETAILS", dataset: { method, path, type } },
    inside: { form, summary, textarea, input, ".curl": curl, ".result": result },
  });
}

type Played = { readonly sections: Part[][]; readonly hash?: string; readonly answer?: () => Response };

/** Opens the page, and notes what it sends and copies. */
function opened({ sections, hash = "", answer = () => new Response("ok") }: Played) {
  const told: (Sent | string)[] = [];
  const details = sections.flat();
  const [key, search, none, signOut] = [new Part(), new Part(), new Part(), new Part()];
  const section = sections.map((own) => new Part({ inside: { details: own } }));
  const inside = { "#key": key, "#search": search, "#none": none, "#sign-out": signOut, details, section };
  const body = { dataset: { prefix: "/yard", copy: "Copy", copied: "Copied", sending: "Sending" } };
  const document = Object.assign(new Part({ inside }), {
    body,
    getElementById: (id: string) => details.find((entry) => entry.id === id) ?? null,
  });
  runInNewContext(readFileSync(new URL("./page.mjs", import.meta.url), "utf8"), {
    ...{ document, URLSearchParams, TextDecoderStream, encodeURIComponent, decodeURIComponent },
    location: { origin: "http://here", hash, reload: () => void told.push("loaded again") },
    navigator: { clipboard: { writeText: (text: string) => void told.push(text) } },
    async fetch(url: string, { ...init }: Omit<Sent, "url">) {
      told.push({ url, ...init });
      return answer();
    },
  });
  return { told, key, search, none, signOut, sections: section };
}

const curlOf = (entry: Part) => entry.querySelector(".curl")?.textContent;
const resultOf = (entry: Part) => entry.querySelector(".result");
const settled = async () => {
  for (let turns = 0; turns < 50; turns += 1) await settle();
};

test("the command beside a form does what the form says, whatever was typed into it [C7]", () => {
  const fields: [string, string, string][] = [
    ["id", "path", "a b/c"],
    ["other", "path", ""],
    ["q", "query", "x&y"],
    ["none", "query", ""],
    ["x-h", "header", "it's"],
  ];
  const json = { path: "/a/{id}/{other}", method: "POST", type: "application/json", body: '{"a":"it\'s"}' };
  const [made, form, file] = [
    entryOf("a", fields, json),
    entryOf("b", [], { method: "POST", type: "multipart/form-data" }),
    entryOf("c", [], { method: "PUT", type: "application/octet-stream" }),
  ];
  const got = entryOf("d", []);
  const { key } = opened({ sections: [[made, form, file, got]] });
  for (const entry of [made, form, file, got]) entry.does("toggle");
  assert.equal(
    curlOf(made),
    [
      "curl -X POST 'http://here/yard/a/a%20b/c/{other}?q=x%26y'",
      ...["-H 'x-h: it'\\''s'", "-H 'content-type: application/json'", "-d '{\"a\":\"it'\\''s\"}'"],
    ].join(" \\\n  "),
  );
  assert.equal(curlOf(form), "curl -X POST 'http://here/yard/a' \\\n  -F file=@FILE");
  assert.equal(curlOf(file), "curl -X PUT 'http://here/yard/a' \\\n  --data-binary @FILE");
  assert.equal(curlOf(got), "curl 'http://here/yard/a'");
  got.open = true;
  key.does("input", "ay_1");
  assert.equal(curlOf(got), "curl 'http://here/yard/a' \\\n  -H 'authorization: Bearer ay_1'");
  assert.doesNotMatch(curlOf(form) ?? "", /ay_1/, "what is closed is written when it is opened");
  form.querySelector("form")?.does("input");
  assert.match(curlOf(form) ?? "", /ay_1/);
});

test("what is sent from the page is what the form says, and its answer stands below it, up to a length [C7]", async () => {
  const [made, got] = [
    entryOf("a", [], { method: "POST", type: "application/json", body: "{}" }),
    entryOf("b", [["q", "query", "1"]]),
  ];
  let left = false;
  let answer = () => new Response("told", { status: 201, headers: { "content-type": "text/plain" } });
  const { told } = opened({ sections: [[made, got]], answer: () => answer() });
  const send = async (entry: Part) => {
    entry.querySelector("form")?.does("submit");
    const before = resultOf(entry)?.textContent;
    await settled();
    return [before, resultOf(entry)?.textContent, resultOf(entry)?.hidden];
  };
  assert.deepEqual(await send(made), ["Sending", "201 text/plain\n\ntold", false]);
  answer = () => new Response(null, { status: 204 });
  assert.deepEqual(await send(got), ["Sending", "204 \n\n", false]);
  assert.equal(
    JSON.stringify(told),
    JSON.stringify([
      { url: "http://here/yard/a", method: "POST", headers: { "content-type": "application/json" }, body: "{}" },
      { url: "http://here/yard/a?q=1", method: "GET", headers: {} },
    ]),
  );
  const endless = () =>
    new ReadableStream({
      pull: (all) => all.enqueue(Buffer.alloc(50_000, "x")),
      cancel: () => {
        left = true;
      },
    });
  answer = () => new Response(endless());
  const [, long] = await send(got);
  assert.deepEqual([String(long).length > 200_000 && String(long).length <= 250_010, left], [true, true]);
  answer = () => {
    throw new TypeError("fetch failed");
  };
  assert.deepEqual(await send(got), ["Sending", "TypeError: fetch failed", false]);
});

const words = wordsFor("en").docs;
const json = (schema: object, example?: object) => ({ "application/json": { schema, ...(example && { example }) } });
const route = (operationId: string, more: object = {}) => ({
  ...{ operationId, summary: `Does \`${operationId}\` <now>`, tags: ["own"], "x-scope": "chat" },
  ...{ responses: { 200: { description: "ok", content: json({ type: "string" }) }, 404: { description: "gone" } } },
  ...more,
});
const page = (paths: object) =>
  docsPage(
    {
      ...{ info: { version: "1.2.3" }, tags: [{ name: "own" }, { name: "other" }], paths },
      components: {
        schemas: {},
        parameters: { Lang: { name: "accept-language", in: "header", required: false, schema: { type: "string" } } },
      },
    },
    { prefix: "/yard", words },
  );

test("an entry of the docs page shows what is sent, what comes back and what may go wrong, and text stays text [C7][Q1]", () => {
  const shown = page({
    "/a/{id}": {
      post: route("makeA", {
        parameters: [
          { name: "id", in: "path", required: true, schema: { type: "string" }, example: '7"' },
          { name: "q", in: "query", required: false, schema: { type: "number" }, example: "9" },
          { $ref: "#/components/parameters/Lang" },
          { $ref: "#/components/parameters/Unknown" },
        ],
        requestBody: { content: json({ type: "boolean" }, { a: "</textarea>" }) },
      }),
      delete: route("dropA", { responses: { 204: { description: "done" }, 500: { description: "broken" } } }),
    },
    "/b": { get: route("sameAsA", { "x-same-as": "makeA" }), put: route("putB", { tags: ["other"] }) },
  });
  assert.deepEqual(
    [...shown.matchAll(/<details id="(\w+)" data-method="(\w+)" data-path="([^"]+)"/g)].map(([, ...told]) => told),
    [
      ["makeA", "POST", "/a/{id}"],
      ["dropA", "DELETE", "/a/{id}"],
      ["putB", "PUT", "/b"],
    ],
  );
  assert.match(shown, /<span>Does <code>makeA<\/code> &#60;now&#62;<\/span>/);
  assert.deepEqual(
    [...shown.matchAll(/<input name="([^"]+)" data-place="(\w+)" aria-label="[^"]+"( value="[^"]*")?>/g)].map(
      ([, ...told]) => told,
    ),
    [
      ["id", "path", ' value="7&#34;"'],
      ["q", "query", undefined],
      ["accept-language", "header", undefined],
    ],
  );
  assert.match(shown, /<td>path, required<\/td><td><code>string<\/code>/);
  assert.match(
    shown,
    /<textarea name="body" rows="4" spellcheck="false">\{\n {2}&#34;a&#34;: &#34;&#60;\/textarea&#62;/,
  );
  assert.match(shown, /<pre>boolean<\/pre>.*<p><b>200<\/b> <small>application\/json<\/small><\/p><pre>string<\/pre>/s);
  assert.match(shown, /<li><b>404<\/b> <code>gone<\/code><\/li>/);
  assert.match(shown, /<p><b>204<\/b><\/p>.*<li><b>500<\/b> <code>broken<\/code><\/li>/s);
  assert.match(shown, /<small>1\.2\.3<\/small>/);
  assert.ok(shown.includes('<script type="module" src="/yard/docs/page.js">'));
});

test("a schema is written down as a programmer would [C7]", () => {
  const schemas = { Place: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } };
  const text = (schema: unknown) => schemaText(schema, schemas);
  assert.equal(
    text({
      type: "object",
      properties: {
        id: { type: "string" },
        at: { $ref: "#/components/schemas/Place" },
        tags: { type: "array", items: { enum: ["a", 1, null] } },
        any: { type: "array" },
      },
      required: ["id", "at"],
    }),
    '{\n  id: string\n  at: {\n      city: string\n    }\n  tags?: ["a" | 1 | null]\n  any?: […]\n}',
  );
  const shown = [
    { const: "x" },
    { const: null },
    { type: ["string", "null"] },
    { anyOf: [{ type: "string" }, { type: "number" }] },
    { oneOf: [{ type: "boolean" }, { const: 1 }] },
    { allOf: [{ type: "string" }, { type: "number" }] },
    { type: "object" },
    { type: "object", properties: {} },
    { type: "object", additionalProperties: { type: "number" } },
    {},
    7,
    { $ref: "#/components/schemas/None" },
  ].map(text);
  assert.deepEqual(shown, [
    ...['"x"', "null", "string | null", "string | number", "boolean | 1", "string & number"],
    ...["{ … }", "{ … }", "{ [name]: number }", "any", "…", "…"],
  ]);
});

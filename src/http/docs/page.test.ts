import assert from "node:assert/strict";
import { test } from "node:test";
import { wordsFor } from "../../words/words.ts";
import { docsPage, welcomePage } from "./page.ts";

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

test("a body is typed where it is JSON, bytes and forms are for the command line, and each tag is a section under its name [C7]", () => {
  const bytes = { "multipart/form-data": { schema: { type: "string" } }, ...json({ type: "number" }) };
  const shown = page({
    "/a": {
      post: route("empty", { requestBody: { content: json({ type: "object" }) } }),
      put: route("bytes", { requestBody: { content: bytes }, tags: ["other", "own"] }),
      get: route("got", { responses: { 101: { description: "goes on" }, 302: { description: "elsewhere" } } }),
    },
  });
  const [, own = "", other = ""] = shown.split("<section>");
  assert.match(own, /^<h2>own<\/h2><details id="empty" [^>]* data-type="application\/json">/);
  assert.ok(own.includes('<textarea name="body" rows="2" spellcheck="false">{}</textarea>'));
  assert.match(other, /^<h2>other<\/h2><details id="bytes" [^>]* data-type="multipart\/form-data">/);
  assert.match(other, /<small>multipart\/form-data<\/small><\/h3><pre>string<\/pre>/);
  assert.doesNotMatch(other, /textarea|<table>/);
  assert.doesNotMatch(own, /<b>(101|302)<\/b>/, "neither an answer nor a failure");
  for (const said of [words.copied, words.copy, words.sending]) assert.ok(shown.includes(`="${said}"`), said);
  const [tag, title] = Object.entries(words.tag)[0] ?? [];
  const named = docsPage(
    {
      ...{ info: { version: "1" }, tags: [{ name: tag }], components: { schemas: {}, parameters: {} } },
      paths: { "/a": { get: route("a", { tags: [tag] }) } },
    },
    { prefix: "", words },
  );
  assert.ok(named.includes(`<h2>${title}</h2><details id="a"`));
  assert.ok(named.includes(`<small>${words.scope}: chat</small>`));
});

test("the first page names its user as text, and says what is missing [C7][Q1]", () => {
  const welcome = (more: object) =>
    welcomePage({
      ...{ prefix: "/yard", words, version: "1", user: undefined, canSignIn: false, lacksApp: false },
      ...more,
    });
  const links = (text: string) => [...text.matchAll(/<a href="([^"]+)">/g)].map(([, to]) => to);
  const always = ["/yard/docs", "/yard/openapi.json", "/yard/v1/models", "/yard/api/v1/health"];
  assert.deepEqual(links(welcome({})), always);
  assert.deepEqual(links(welcome({ canSignIn: true })), [...always, "/yard/sign-in"]);
  const user = welcome({ user: "<ada>" });
  assert.match(user, /&#60;ada&#62;.*<button type="button" id="sign-out">.*src="\/yard\/docs\/page\.js"/s);
  assert.doesNotMatch(welcome({}), /<script/);
  assert.notEqual(welcome({ lacksApp: true }), welcome({}));
});

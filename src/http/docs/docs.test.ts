import assert from "node:assert/strict";
import { test } from "node:test";
import { wordsFor } from "../../words/words.ts";
import { docsPage } from "./page.ts";

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

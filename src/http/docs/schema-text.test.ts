import assert from "node:assert/strict";
import { test } from "node:test";
import { schemaText } from "./schema-text.ts";

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

test("what is long or deep is cut, so that a page stays readable [C7]", () => {
  const variants = (count: number) => ({ anyOf: Array.from({ length: count }, (_, at) => ({ const: at })) });
  const numbers = [...Array(12).keys()].join(" | ");
  assert.equal(schemaText(variants(12), {}), numbers);
  assert.equal(schemaText(variants(13), {}), `${numbers} | …`);
  const deep = (levels: number): object =>
    levels === 0 ? { type: "string" } : { type: "array", items: deep(levels - 1) };
  assert.equal(schemaText(deep(6), {}), "[[[[[[string]]]]]]");
  assert.equal(schemaText(deep(7), {}), "[[[[[[[…]]]]]]]");
  assert.equal(schemaText({ $ref: "#/A" }, { A: { $ref: "#/A" } }), "…");
});

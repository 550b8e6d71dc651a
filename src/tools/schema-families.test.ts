import assert from "node:assert/strict";
import { test } from "node:test";
import { isRecord, recordOf } from "./schema.ts";
import { builtins } from "./tools.ts";

// What the families of models refuse in a schema, as documented or reported. A tool joins by being registered.

type Schema = Readonly<Record<string, unknown>>;
/** What may be wrong with one level of a schema, and whether it is so. */
type Rule = (schema: Schema, place: { readonly isRoot: boolean; readonly depth: number }) => readonly Problem[];
type Problem = readonly [what: string, isSo: boolean];

const plainWords = ["type", "properties", "required", "items", "enum", "description"];
const plainTypes = ["string", "integer", "number", "boolean", "array", "object"];

/** Ours: nothing that any family would need lowered. */
const plain: Rule = (schema, { depth }) => [
  ["another word", hasOtherWords(schema, plainWords)],
  ["no single plain type", !plainTypes.includes(String(schema.type))],
  ["objects inside objects inside objects", schema.type === "object" && depth > 2],
  ["more than 6 arguments", namesIn(schema).length > 6],
  ["an enum of more than strings", !hasOnlyStrings(schema.enum)],
  ["requires what it does not have", listOf(schema.required).some((name) => !namesIn(schema).includes(String(name)))],
];

/** OpenAI, strict: every field required, an optional one as a union with null, nothing open. */
const openAiStrict: Rule = (schema, { isRoot, depth }) => [
  ["another word", hasOtherWords(schema, [...plainWords, "anyOf", "additionalProperties", "$ref", "const", "pattern"])],
  ["no object at the root", isRoot && (schema.type !== "object" || "anyOf" in schema)],
  ["more than 10 levels", depth > 10],
  ["open to other properties", schema.type === "object" && schema.additionalProperties !== false],
  ["a field that is not required", namesIn(schema).some((name) => !listOf(schema.required).includes(name))],
  ["more than 1,000 values", listOf(schema.enum).length > 1_000],
];

/** Gemini: an OpenAPI subset; one unknown word refuses the whole request. Without arguments the root is left out. */
const gemini: Rule = (schema, { isRoot }) => [
  ["another word", hasOtherWords(schema, [...plainWords, "nullable", "anyOf", "minItems", "maxItems"])],
  ["a list of types", Array.isArray(schema.type)],
  ["an enum of more than strings", !hasOnlyStrings(schema.enum)],
  ["something beside anyOf", "anyOf" in schema && Object.keys(schema).length > 1],
  ["an object without properties", !isRoot && schema.type === "object" && namesIn(schema).length === 0],
  ["a list without items", schema.type === "array" && !isRecord(schema.items)],
];

/** Anthropic, not strict: nearly everything, with an object at the root. */
const anthropic: Rule = (schema, { isRoot }) => [
  ["no object at the root", isRoot && schema.type !== "object"],
  ["a union at the root", isRoot && ["anyOf", "oneOf", "allOf"].some((word) => word in schema)],
];

/** Moonshot's flavoured JSON schema. */
const mfjs: Rule = (schema, { isRoot }) => [
  ["no object at the root", isRoot && schema.type !== "object"],
  ["a tuple", Array.isArray(schema.items)],
  ["a type beside anyOf", "anyOf" in schema && "type" in schema],
  ["something beside $ref", "$ref" in schema && Object.keys(schema).length > 1],
];

const grammarWords = ["anyOf", "oneOf", "allOf", "const", "$ref", "$defs", "additionalProperties", "pattern", "format"];

/** llama.cpp turns a schema into a grammar. */
const llamaCpp: Rule = (schema) => [
  ["another word", hasOtherWords(schema, [...plainWords, ...grammarWords])],
  ["a pattern with a look-around", /\(\?[=!<]/.test(String(schema.pattern ?? ""))],
];

const families: readonly [family: string, rule: Rule, prepare?: (schema: Schema) => Schema][] = [
  ["every family", plain],
  ["OpenAI in strict form", openAiStrict, strictlyLowered],
  ["Gemini", gemini],
  ["Anthropic", anthropic],
  ["Moonshot", mfjs],
  ["llama.cpp", llamaCpp],
];

for (const [family, rule, prepare = (schema: Schema) => schema] of families) {
  test(`${family} takes the schemas of all built-in tools [R1]`, () => {
    const problems = builtins.flatMap((tool) => lint(prepare(tool.parameters), rule, tool.name));
    assert.deepEqual(problems, []);
  });
}

const text: Schema = { type: "string" };
const sevenFields = Object.fromEntries(Array.from("abcdefg", (name) => [name, text]));
const planted: readonly [what: string, rule: Rule, schema: Schema][] = [
  ["another word", plain, object({ a: { ...text, default: "x" } })],
  ["no single plain type", plain, object({ a: { type: ["string", "null"] } })],
  ["objects inside objects inside objects", plain, object({ a: object({ b: object({ c: text }) }) })],
  ["more than 6 arguments", plain, object(sevenFields)],
  ["an enum of more than strings", plain, object({ a: { type: "integer", enum: [1, 2] } })],
  ["requires what it does not have", plain, { ...object({}), required: ["a"] }],
  ["a field that is not required", openAiStrict, { ...object({ a: text }), additionalProperties: false }],
  ["open to other properties", openAiStrict, object({})],
  ["another word", gemini, { ...object({}), additionalProperties: false }],
  ["an object without properties", gemini, object({ a: object({}) })],
  ["a list without items", gemini, object({ a: { type: "array" } })],
  ["a union at the root", anthropic, { ...object({}), anyOf: [] }],
  ["a tuple", mfjs, object({ a: { type: "array", items: [text] } })],
  ["a pattern with a look-around", llamaCpp, object({ a: { ...text, pattern: "(?=x)" } })],
];

test("the lint speaks up at what a family refuses [R1]", () => {
  assert.deepEqual(
    planted.map(([, rule, schema]) => lint(schema, rule, "planted").map((problem) => problem.split(": ")[1])),
    planted.map(([what]) => [what]),
  );
});

/** All problems of a schema and of what stands inside it; `depth` counts objects. */
function lint(schema: Schema, rule: Rule, path: string, above = 0): string[] {
  const isRoot = above === 0;
  const depth = above + (isRoot || schema.type === "object" ? 1 : 0);
  const inside = { ...recordOf(schema.properties), "[]": schema.items, ...listOf(schema.anyOf) };
  return [
    ...rule(schema, { isRoot, depth }).flatMap(([what, isSo]) => (isSo ? [`${path}: ${what}`] : [])),
    ...Object.entries(inside).flatMap(([name, one]) =>
      isRecord(one) ? lint(one, rule, `${path}.${name}`, depth) : [],
    ),
  ];
}

/** As a strict request has it: every field required, an optional one may be null instead. */
function strictlyLowered(schema: Schema): Schema {
  const { properties, items, required, ...rest } = schema;
  const fields = Object.entries(recordOf(properties)).map(([name, field]): [string, Schema] => {
    const lowered = strictlyLowered(recordOf(field));
    return [name, listOf(required).includes(name) ? lowered : { anyOf: [lowered, { type: "null" }] }];
  });
  return {
    ...rest,
    ...(isRecord(items) ? { items: strictlyLowered(items) } : {}),
    ...(schema.type === "object"
      ? { properties: Object.fromEntries(fields), required: fields.map(([name]) => name), additionalProperties: false }
      : {}),
  };
}

function object(properties: Schema): Schema {
  return { type: "object", properties };
}

function hasOtherWords(schema: Schema, known: readonly string[]): boolean {
  return Object.keys(schema).some((word) => !known.includes(word));
}

function hasOnlyStrings(values: unknown): boolean {
  return listOf(values).every((value) => typeof value === "string");
}

function namesIn(schema: Schema): readonly string[] {
  return Object.keys(recordOf(schema.properties));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { z } from "zod";
import { ok } from "../base/result.ts";
import { foreignSchema, nodesMax } from "./foreign-schema.ts";
import { isRecord, plainSchema, recordOf, signature } from "./schema.ts";
import { builtins, foreignTool } from "./tools.ts";

test("a tool whose argument has no single plain type cannot be defined [R1]", () => {
  const union = z.object({ a: z.union([z.string(), z.number()]) });
  assert.throws(() => plainSchema(z.toJSONSchema(union)), /one plain type/);
});

test("limits and defaults are left out of what is sent, and the order of the words is always the same [R1][L3]", () => {
  const source = z.object({
    count: z.int().min(1).max(5).default(3).describe("How many."),
    names: z.array(z.string()),
  });
  assert.equal(
    JSON.stringify(plainSchema(z.toJSONSchema(source, { io: "input" }))),
    '{"type":"object","properties":{"count":{"type":"integer","description":"How many."},' +
      '"names":{"type":"array","items":{"type":"string"}}},"required":["names"]}',
  );
});

test("the form of the arguments is one line that a model can follow [R1]", () => {
  assert.deepEqual(
    builtins.map((tool) => `${tool.name} ${signature(tool.parameters)}`),
    [
      'compact_context {strategy?: "auto" | "compact" | "summarize"}',
      "find_tools {query: string}",
      "use_tool {name: string, arguments?: string}",
      "ask_human {question: string, context?: string, default?: string, required?: boolean}",
      "now {timezone?: string}",
      "todo_read {}",
      'todo_write {todos: [{content: string, status: "pending" | "in_progress" | "completed", priority?: "low" | "medium" | "high"}, ...]}',
      "read_file {path: string, offset?: integer, column?: integer, limit?: integer}",
      "write_file {path: string, content: string}",
      "edit_file {path: string, old_string: string, new_string: string, replace_all?: boolean}",
      "list_files {path?: string}",
      "find_files {pattern: string, path?: string}",
      "search_file {query: string, path?: string, max_results?: integer, context_chars?: integer, use_regex?: boolean}",
      "get_workspace_info {}",
      'execute_code {code: string, language?: "python" | "bash" | "javascript", timeout?: number, reset?: boolean}',
      "run_bash_command {command: string, timeout?: number}",
      "install_packages {skill: string}",
      "remember {fact: string}",
      "recall {query?: string}",
      "search_history {query: string, max_results?: integer}",
      "delegate_task {task: string, max_loops?: integer}",
      "spawn_agent {role: string, task: string, name?: string, done_when?: string, files?: [string, ...]}",
      "send_message {to: string, text: string, wait_for_answer?: boolean}",
      "terminate_agent {agent_id: string, reason?: string}",
      "fetch_web {url: string, offset?: integer, max_chars?: integer}",
      'http_fetch {method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE", url: string, headers?: string, body?: string}',
      "web_search {query: string, max_results?: integer}",
      "google_search {query: string, max_results?: integer}",
      "jina_reader {url: string}",
    ],
  );
});

type Schema = Readonly<Record<string, unknown>>;
const plainWords = ["type", "properties", "required", "items", "enum", "description"];
const plainTypes = ["string", "integer", "number", "boolean", "array", "object"];

/** What a family of models would refuse, or want lowered: OpenAI's strict form, Gemini, Moonshot, llama.cpp. */
function problemsOf(schema: Schema, path: string, depth = 1): string[] {
  const fields = Object.entries(recordOf(schema.properties));
  const problems: readonly (readonly [what: string, isSo: boolean])[] = [
    ["another word", Object.keys(schema).some((word) => !plainWords.includes(word))],
    ["no single plain type", !plainTypes.includes(String(schema.type))],
    ["objects inside objects inside objects", schema.type === "object" && depth > 2],
    ["an object without properties", schema.type === "object" && depth > 1 && fields.length === 0],
    ["a list without items", schema.type === "array" && !isRecord(schema.items)],
    ["more than 6 arguments", fields.length > 6],
    ["an enum of more than strings", listOf(schema.enum).some((value) => typeof value !== "string")],
    ["requires what it does not have", listOf(schema.required).some((name) => !fields.some(([own]) => own === name))],
  ];
  const inside = [...fields, ...(isRecord(schema.items) ? [["[]", schema.items] as const] : [])];
  return [
    ...problems.flatMap(([what, isSo]) => (isSo ? [`${path}: ${what}`] : [])),
    ...inside.flatMap(([name, one]) => {
      const inner = recordOf(one);
      return problemsOf(inner, `${path}.${name}`, depth + (inner.type === "object" ? 1 : 0));
    }),
  ];
}

test("every family of models takes the schemas of all built-in tools [R1]", () => {
  assert.deepEqual(
    builtins.flatMap((tool) => problemsOf(tool.parameters, tool.name)),
    [],
  );
  const union = { type: "object", properties: { a: { type: ["string", "null"], default: "x" } } };
  assert.deepEqual(problemsOf(union, "planted"), ["planted.a: another word", "planted.a: no single plain type"]);
});

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const nested = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  additionalProperties: false,
  properties: {
    path: { $ref: "#/$defs/path" },
    mode: { anyOf: [{ const: "fast" }, { const: "slow" }, { type: "null" }], default: "fast" },
    count: { type: ["integer", "null"], minimum: 1, description: "How many." },
    level: { type: "integer", enum: [1, 2, 3] },
    either: { oneOf: [{ type: "string" }, { type: "number" }] },
    labels: { type: "object", additionalProperties: { type: "string" } },
    points: { type: "array", items: { type: "object", properties: { x: { type: "number" } }, required: ["x"] } },
    all: { allOf: [{ properties: { a: { type: "string" } } }, { properties: { b: { type: "integer" } } }] },
    tuple: { type: "array", prefixItems: [{ type: "string" }] },
  },
  required: ["path", "gone"],
  $defs: { path: { type: "string", description: "Where.", format: "uri", examples: ["/x"] } },
};

test("a schema that others wrote is shown in the words that every model family takes [R1][G1][T4]", () => {
  assert.deepEqual(foreignSchema(nested).schema, {
    type: "object",
    properties: {
      path: { type: "string", description: "Where." },
      mode: { type: "string", description: 'Default: "fast".', enum: ["fast", "slow"] },
      count: { type: "integer", description: "How many." },
      level: { type: "integer", description: "One of [1,2,3]." },
      either: { type: "string", description: "(JSON as text)" },
      labels: { type: "string", description: "(JSON as text: object)" },
      points: { type: "array", items: { type: "object", properties: { x: { type: "number" } }, required: ["x"] } },
      all: { type: "object", properties: { a: { type: "string" }, b: { type: "integer" } } },
      tuple: { type: "string", description: "(JSON as text: array)" },
    },
    required: ["path"],
  });
});

test("arguments for a tool of others are put right in form, and what only its maker can judge is left as it is [G1][T4]", () => {
  assert.deepEqual(
    foreignSchema(nested).read({
      ...{ path: 5, mode: null, count: "3", level: "2", either: "x", labels: '{"a":"b"}' },
      ...{ points: { x: "1.5" }, all: '{"a":1,"b":"2"}', tuple: '["x"]', unknown: { kept: true } },
    }),
    {
      ...{ path: "5", count: 3, level: 2, either: "x", labels: { a: "b" } },
      ...{ points: [{ x: 1.5 }], all: { a: "1", b: 2 }, tuple: ["x"], unknown: { kept: true } },
    },
  );
});

test("a long id that is written as a text reaches the other side digit by digit [G1][T4]", () => {
  const id = "1234567890123456789";
  const properties = {
    ...{
      whole: { type: "integer", format: "int64" },
      any: {},
      either: { oneOf: [{ type: "string" }, { type: "integer" }] },
    },
    list: { type: "array", items: { type: "integer" } },
  };
  const given = { whole: id, any: id, either: id, list: [id, "5"] };
  assert.deepEqual(foreignSchema({ type: "object", properties }).read(given), { ...given, list: [id, 5] });
  const short = { whole: "5", any: "5e3", either: " 5 ", list: "5" };
  assert.deepEqual(foreignSchema({ type: "object", properties }).read(short), {
    whole: 5,
    any: 5000,
    either: 5,
    list: [5],
  });
});

test("objects within objects within objects are written as text, with their form beside it [R1]", () => {
  const level = (inner: unknown) => ({ type: "object", properties: { next: inner, name: { type: "string" } } });
  const deep = foreignSchema(level(level(level(level({ type: "integer" })))));
  assert.match(JSON.stringify(deep.schema), /JSON as text: \{next\?: integer, name\?: string\}/);
  assert.deepEqual(deep.read({ next: { next: { next: '{"next":1}' } } }), { next: { next: { next: { next: 1 } } } });
});

test("a schema that goes in circles, or is none at all, gives a tool that can be called [G1][T4]", () => {
  const circle = { type: "object", properties: { child: { $ref: "#" } }, allOf: [{ $ref: "#/$defs/a" }], $defs: {} };
  assert.equal(foreignSchema(circle).schema.type, "object");
  assert.equal(foreignSchema({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }).schema.type, "object");
  // What has words of its own for these cannot be made a text.
  const odd = { toString: 1, valueOf: 1 };
  assert.deepEqual(
    foreignSchema({ allOf: [{ required: [odd] }], required: [odd, "a"], properties: { a: {} } }).schema.required,
    ["a"],
  );
  for (const none of [undefined, null, true, [], "x", { type: "string" }, { type: "object", properties: [] }])
    assert.deepEqual(foreignSchema(none).schema, { type: "object", properties: {} });
});

test("of a schema in which everything refers to everything as much is shown as fits, and the rest is written as text [R1][G1][Q1]", () => {
  const fields = (count: number, member: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, member]));
  // The root has 20 fields, each of which has 99: 20 + 20 x 99 = 2,000.
  const inner = { type: "object", properties: fields(99, { type: "integer" }) };
  const ofAll = (last: object) => ({
    type: "object",
    properties: { ...fields(19, { $ref: "#/$defs/inner" }), last },
    $defs: { inner },
  });
  const typeOfLast = (last: object) => foreignSchema(ofAll(last)).schema.properties?.last?.type;
  assert.equal(20 + 20 * 99, nodesMax);
  assert.equal(typeOfLast(inner), "object");
  const tooMuch = { type: "object", properties: { ...inner.properties, more: { type: "integer" } } };
  assert.equal(typeOfLast(tooMuch), "string");
  assert.equal(typeOfLast({ type: "array", items: tooMuch }), "array");
  assert.deepEqual(foreignSchema(ofAll(tooMuch)).read({ last: '{"more":1}' }), { last: { more: 1 } });
  assert.equal(typeOfLast({ allOf: Array(2).fill({ properties: fields(50, {}) }) }), "string");
});

/** What all nodes say, with the words of JSON schema around them. */
const shownCharactersMax = nodesMax * 200;

const itself = { $ref: "#/$defs/a" };
const lists = {
  parts: { allOf: Array(100).fill(itself) },
  fields: {
    type: "object",
    properties: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`f${at}`, itself])),
  },
  names: { type: "object", properties: { ["n".repeat(40_000)]: itself } },
  values: { type: "string", enum: ["v".repeat(40_000)] },
  numbers: { type: "integer", enum: Array(10_000).fill(12345) },
  defaults: { type: "string", default: "d".repeat(40_000) },
  branches: { anyOf: Array(10_000).fill({ const: "b" }) },
  types: { type: Array(10_000).fill("integer") },
  kinds: { type: "w".repeat(40_000) },
  descriptions: { type: "string", description: "s".repeat(40_000) },
};
test("a small schema that says very much is shown with a small one [R1][G1][Q1]", () => {
  const properties = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`f${at}`, itself]));
  for (const [what, a] of Object.entries(lists)) {
    const shown = foreignSchema({ type: "object", properties, $defs: { a } }).schema;
    assert.deepEqual(Object.keys(shown.properties ?? {}), Object.keys(properties));
    assert.ok(JSON.stringify(shown).length <= shownCharactersMax, `${what}: ${JSON.stringify(shown).length}`);
  }
});

test("whatever others send as a schema, it is shown in plain words and read without breaking down [G1][T4][R1]", () => {
  const words = [
    "type",
    "properties",
    "items",
    "anyOf",
    "allOf",
    "$ref",
    "enum",
    "required",
    "const",
    "default",
    "$defs",
  ];
  const { schema: anySchema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom("object", "string", "array", "#", "#/$defs/a", "integer", null, true, 5),
      fc.array(tie("schema"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...words, "a"), tie("schema"), { maxKeys: 5 }),
    ),
  }));
  const plain = new Set(["type", "description", "properties", "required", "items", "enum"]);
  fc.assert(
    fc.property(anySchema, fc.jsonValue(), (source, given) => {
      const { schema, read } = foreignSchema(source);
      read(given);
      (function look(one: object) {
        const { properties = {}, items, ...rest } = one as { properties?: Record<string, object>; items?: object };
        assert.ok(Object.keys(rest).every((word) => plain.has(word)));
        assert.equal(typeof Reflect.get(rest, "type"), "string");
        for (const inner of [...Object.values(properties), ...(items === undefined ? [] : [items])]) look(inner);
      })(schema);
    }),
    { numRuns: 300 },
  );
});

test("a missing argument of a tool of others is named before anything is sent [G1][T4][R1]", () => {
  const tool = foreignTool({ name: "far", description: "", parameters: nested, run: async () => ok({ text: "" }) });
  const opened = tool.open({ count: 1 });
  assert.deepEqual(!opened.ok && opened.failure.code, "tool_arguments_unfit");
  assert.match(JSON.stringify(opened), /path is missing/);
});

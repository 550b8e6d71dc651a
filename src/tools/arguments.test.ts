import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { z } from "zod";
import { readLeniently, type Synonyms } from "./arguments.ts";
import { runBashCommand } from "./builtin/run-bash-command.ts";
import { plainSchema } from "./schema.ts";

const schema = plainSchema(
  z.toJSONSchema(
    z.object({
      text: z.string(),
      count: z.int().optional(),
      isAll: z.boolean().optional(),
      file_path: z.string().optional(),
      names: z.array(z.string()).optional(),
      items: z.array(z.object({ content: z.string(), status: z.enum(["pending", "in_progress"]) })).optional(),
    }),
  ),
);
const synonyms: Synonyms = {
  names: { path: "file_path", title: "content" },
  words: { doing: "in_progress", 待办: "pending", path: "text" },
};
const read = (given: Record<string, unknown>) => readLeniently(schema, given, synonyms).value;
const item = { content: "a", status: "pending" };

const accepted: readonly [what: string, given: Record<string, unknown>, meant: Record<string, unknown>][] = [
  ["a number in quotes", { count: "5" }, { count: 5 }],
  ["a negative number with blanks", { count: " -5 " }, { count: -5 }],
  ["the largest whole number that is exact", { count: "9007199254740991" }, { count: 9007199254740991 }],
  ["a number with zeros around it", { count: "0012.50" }, { count: 12.5 }],
  ["a very small number", { count: "0.000000125" }, { count: 0.000000125 }],
  ["a number of 15 digits", { count: "-12345678901.2345" }, { count: -12345678901.2345 }],
  ["a number of 17 digits that is one", { count: "0.30000000000000004" }, { count: 0.30000000000000004 }],
  ["a boolean in quotes", { isAll: "true" }, { isAll: true }],
  ["a boolean as Python writes it", { isAll: "False" }, { isAll: false }],
  ["a number for a text", { text: 5 }, { text: "5" }],
  ["a boolean for a text", { text: true }, { text: "true" }],
  ["a list in a string", { names: '["a", "b"]' }, { names: ["a", "b"] }],
  ["one value for a list", { names: "a" }, { names: ["a"] }],
  ["one object for a list", { items: item }, { items: [item] }],
  ["an object in a string", { items: [JSON.stringify(item)] }, { items: [item] }],
  ["a list of objects in a string", { items: JSON.stringify([item]) }, { items: [item] }],
  ["a text that only looks like a list", { names: "[draft] a" }, { names: ["[draft] a"] }],
  ["null for what may be missing", { text: "a", count: null, names: null }, { text: "a" }],
  ["an empty text for what may be missing", { text: "a", file_path: "", count: "" }, { text: "a" }],
  ["an empty text that is needed", { text: "" }, { text: "" }],
  ["another name", { path: "a.txt" }, { file_path: "a.txt" }],
  ["another spelling of a name", { filePath: "a.txt" }, { file_path: "a.txt" }],
  ["another name inside a list", { items: [{ title: "a", status: "pending" }] }, { items: [item] }],
  ["the name and another one for it with the same value", { path: "a", file_path: "a" }, { file_path: "a" }],
  ["the name without a value and another one with it", { file_path: null, path: "a" }, { file_path: "a" }],
  [
    "a value in another case",
    { items: [{ ...item, status: "In Progress" }] },
    { items: [{ ...item, status: "in_progress" }] },
  ],
  [
    "another word for a value",
    { items: [{ ...item, status: "doing" }] },
    { items: [{ ...item, status: "in_progress" }] },
  ],
  ["a Chinese word for a value", { items: [{ ...item, status: "待办" }] }, { items: [item] }],
];

test("arguments are read as they are meant [R1]", () => {
  for (const [what, given, meant] of accepted) assert.deepEqual(read(given), meant, what);
});

const leftAlone: readonly Record<string, unknown>[] = [
  { count: "five" },
  { count: "5 apples" },
  { count: "9007199254740993" },
  { count: "1234567890123456789" },
  { count: "-1234567890123456789" },
  { count: "9007199254740990.9999" },
  { count: "1.0000000000000000001" },
  { count: true },
  { isAll: "yes" },
  { isAll: 1 },
  { text: { a: 1 } },
  { text: ["a"] },
  { items: ["a"] },
  { items: [{ ...item, status: "later" }] },
  { items: [{ ...item, status: "path" }] },
];

test("what could mean several things stays as it is, for the schema to refuse [R1]", () => {
  assert.deepEqual(leftAlone.map(read), leftAlone);
});

test("unknown arguments are set aside by name, inherited ones included [R1]", () => {
  const given = JSON.parse('{"text": "a", "colour": "red", "constructor": 1, "__proto__": {"count": 5}}');
  assert.deepEqual(readLeniently(schema, given, synonyms), {
    value: { text: "a" },
    ignored: ["colour", "constructor", "__proto__"],
    twice: [],
  });
});

test("one argument under two names with two values is told, also inside a list [R1][H2]", () => {
  const twice = (given: Record<string, unknown>) => readLeniently(schema, given, synonyms).twice;
  assert.deepEqual(twice({ text: "a", path: "b", file_path: "a" }), ["path, file_path"]);
  assert.deepEqual(twice({ file_path: "a", filePath: "b", path: "c" }), ["file_path, filePath", "filePath, path"]);
  assert.deepEqual(twice({ text: "a", Text: "" }), ["text, Text"]);
  assert.deepEqual(twice({ items: [{ ...item, title: "b" }] }), ["content, title"]);
  assert.deepEqual(twice({ path: "a", file_path: null }), []);
});

test("a command under two names does not run: what is shown of a call is what runs [R1][H2]", () => {
  for (const given of [
    { script: "rm -rf outputs", cmd: "ls" },
    { command: "ls", cmd: "rm -rf outputs" },
  ]) {
    const opened = runBashCommand.open(given);
    assert.ok(!opened.ok && opened.failure.code === "tool_arguments_unfit");
    const names = Object.keys(given).join(", ");
    assert.equal(opened.failure.params.what, `one argument under two names with two values: ${names}`);
  }
});

test("reading what was read already changes nothing [R1]", () => {
  const key = fc.oneof(
    fc.constantFrom("text", "count", "isAll", "names", "items", "path", "filePath", "title"),
    fc.string(),
  );
  const value = fc.oneof(
    fc.jsonValue(),
    fc.jsonValue().map((json) => JSON.stringify(json)),
    fc.constantFrom("true", "5", "doing", "待办", '[{"content": 1, "status": "In Progress"}]', "[", ""),
  );
  fc.assert(
    fc.property(fc.dictionary(key, value), (given) => {
      const once = read(given);
      assert.deepEqual(read(once), once);
    }),
  );
});

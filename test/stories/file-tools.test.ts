import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { all } from "../world/events.ts";
import { type AskedRequest, calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

type Call = readonly [name: string, input: object];

/** One line, longer than a result may be. */
const long = `{"rows": [${"12, ".repeat(40_000)}0]}`;
const notes = "# Notes\n\ndef f(x):\n\treturn x\n\nThe end.\n";

/** The calls of a model, each made from what the result before it says and from nothing else. */
const recoveries: readonly [what: string, outcomes: string[], first: Call, ...next: ((result: string) => Call)[]][] = [
  [
    "a wrong name: the one that was probably meant",
    ["error", "ok"],
    ["read_file", { path: "uploads/noets.md" }],
    (error) => ["read_file", { path: found(error, /Did you mean: ([^,?]+)/) }],
  ],
  [
    "a name that is like no other: the files that are there",
    ["error", "ok", "ok"],
    ["read_file", { path: "report.docx" }],
    (error) => [found(error, /Call (\w+) with/), JSON.parse(found(error, /(\{.*\})/))],
    (list) => ["read_file", { path: found(list, /^(\S+)/) }],
  ],
  [
    "a line past the end: the last one",
    ["error", "ok"],
    ["read_file", { path: "uploads/notes.md", offset: 500 }],
    (error) => ["read_file", JSON.parse(found(error, /form: (\{.*\})/))],
  ],
  [
    "the next part of a file: the line that says how",
    ["ok", "ok"],
    ["read_file", { path: "uploads/notes.md", limit: 2 }],
    (part) => [
      found(part, /\[more: (\w+) /),
      { path: found(part, /\[more: \w+ (\S+) /), offset: Number(found(part, /offset=(\d+)\]/)) },
    ],
  ],
  [
    "the rest of a line that is longer than a result: the column that is named",
    ["ok", "ok", "ok"],
    ["read_file", { path: "uploads/long.json", offset: 1 }],
    ...[1, 2].map(
      () =>
        (part: string): Call => [
          found(part, /\[more: (\w+) /),
          {
            path: found(part, /\[more: \w+ (\S+) /),
            offset: Number(found(part, / offset=(\d+) /)),
            column: Number(found(part, / column=(\d+)\]$/)),
          },
        ],
    ),
  ],
  [
    "an empty file that it edits: the tool that is named",
    ["error", "ok"],
    ["edit_file", { path: "outputs/empty.md", old_string: "a", new_string: "b" }],
    (error) => [found(error, /Call (\w+) with this path/), { path: "outputs/empty.md", content: "b" }],
  ],
  [
    "an edit of a file it has not seen, and then one that nearly fits: the lines that are shown",
    ["error", "error", "ok"],
    ["edit_file", { path: "uploads/notes.md", old_string: "def f(x):\n  return x", new_string: "pass" }],
    () => ["edit_file", { path: "uploads/notes.md", old_string: "def f(x):\n  return x", new_string: "pass" }],
    (error) => [
      "edit_file",
      { path: "uploads/notes.md", old_string: found(error, /(def f\(x\):\n.*)/), new_string: "pass" },
    ],
  ],
  [
    "a folder that is read, a file that is listed",
    ["error", "ok", "error", "ok"],
    ["read_file", { path: "uploads" }],
    (error) => [found(error, /Call (\w+) with this path/), { path: "uploads" }],
    (list) => ["list_files", { path: found(list, /^\[FILE\] (\S+)/) }],
    (error) => [found(error, /Call (\w+) with this path/), { path: "uploads/notes.md" }],
  ],
];

test("a model at work on files that does what a result says gets on [F2][W7]", async () => {
  let plan: (result: string | undefined, at: number) => Call | undefined = () => undefined;
  await using model = await modelServer((request) => {
    const results = resultsOf(request);
    const call = plan(results.at(-1), results.length);
    return call === undefined ? says("done") : calls([...call]);
  });
  await using yard = await startYard({ model, approves: true });
  const files = { "uploads/notes.md": notes, "uploads/long.json": long, "outputs/empty.md": "" };
  for (const [what, outcomes, first, ...next] of recoveries) {
    plan = (result, at) => (result === undefined ? first : next[at - 1]?.(result));
    const { answer, events } = await yard.ask("go", { conversation: await startWith(yard, files) });
    const ends = all(events, "call.finished").map(({ outcome }) => outcome);
    assert.deepEqual([what, answer, ends], [what, "done", outcomes]);
  }
});

test("several edits of one file in one answer are made one after the other, and the files are delivered [F2][W11]", async () => {
  const edit = (word: string): [string, object] => [
    "edit_file",
    { path: "outputs/a.md", old_string: word, new_string: word.toUpperCase() },
  ];
  await using model = await modelServer([
    calls(["write_file", { path: "outputs/a.md", content: "one two three four five" }]),
    calls(...["one", "two", "three", "four", "five"].map(edit)),
    says("done"),
  ]);
  await using yard = await startYard({ model, approves: true });
  const { conversation, events } = await yard.ask("go");
  assert.deepEqual(
    all(events, "call.finished").map(({ outcome }) => outcome),
    ["ok", "ok", "ok", "ok", "ok", "ok"],
  );
  const text = await readFile(join(yard.data, "workspace", conversation, "outputs/a.md"), "utf8");
  assert.equal(text, "ONE TWO THREE FOUR FIVE");
});

test("what a model reads of a workspace names no place of the machine [W7][Q1]", async () => {
  const paths = ["../x", "/etc/passwd", "uploads", "missing.md", "skills/x", ".metadata.json", "a\u0000b"];
  const asked = paths.flatMap((path): [string, object][] => [
    ["read_file", { path }],
    ["write_file", { path, content: "x" }],
    ["list_files", { path }],
    ["search_file", { path, query: "workspace" }],
  ]);
  await using model = await modelServer([calls(...asked), says("done")]);
  await using yard = await startYard({ model, approves: true });
  const { events } = await yard.ask("go");
  const told = all(events, "call.finished").map(({ text }) => text);
  assert.equal(told.length, asked.length);
  assert.deepEqual([told.filter((text) => text.includes(yard.data) || /tool_crashed/.test(text))], [[]]);
});

async function startWith(yard: Awaited<ReturnType<typeof startYard>>, files: Record<string, string>): Promise<string> {
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  for (const [path, content] of Object.entries(files)) await writeFile(join(yard.data, "workspace", id, path), content);
  return id;
}

function resultsOf({ body }: AskedRequest): string[] {
  return body.messages.filter((message) => message.role === "tool").map((message) => String(message.content));
}

function found(text: string, pattern: RegExp): string {
  const [, part] = pattern.exec(text) ?? [];
  assert.ok(part !== undefined, `${pattern} is not in: ${text}`);
  return part;
}

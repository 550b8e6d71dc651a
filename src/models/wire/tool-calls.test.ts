import assert from "node:assert/strict";
import { test } from "node:test";
import { createCallAssembler } from "./tool-calls.ts";

type Sent = { index?: unknown; id?: string | null; name?: string | null; args?: unknown };

function assemble(...fragments: Sent[]) {
  const assembler = createCallAssembler();
  for (const { args, name, ...rest } of fragments) assembler.add({ ...rest, function: { name, arguments: args } });
  let made = 0;
  const makeId = () => {
    made += 1;
    return `made-${made}`;
  };
  return assembler.finish((name) => name, makeId).map(({ id, name, arguments: text }) => [id, name, text]);
}

const cases: [what: string, sent: Sent[], calls: string[][]][] = [
  [
    "an index that is text",
    [
      { index: "0", id: "a", name: "t", args: "{" },
      { index: 0, args: "}" },
    ],
    [["a", "t", "{}"]],
  ],
  [
    "arguments before the name",
    [
      { index: 0, id: "a", args: "{" },
      { index: 0, name: "t", args: "}" },
    ],
    [["a", "t", "{}"]],
  ],
  [
    "an id that comes later",
    [
      { index: 0, name: "t", args: "" },
      { index: 0, id: "a", name: "t", args: "{}" },
    ],
    [["a", "t", "{}"]],
  ],
  [
    "a full name behind its pieces",
    [
      { index: 0, id: "a", name: "re" },
      { index: 0, name: "ad" },
      { index: 0, name: "read", args: "{}" },
    ],
    [["a", "read", "{}"]],
  ],
  [
    "ids instead of an index",
    [
      { id: "a", name: "t", args: "{" },
      { id: "b", name: "u", args: "{" },
      { id: "a", args: "}" },
      { id: "b", args: "}" },
    ],
    [
      ["a", "t", "{}"],
      ["b", "u", "{}"],
    ],
  ],
  [
    "a call said twice without ids",
    [
      { name: "t", args: '{"x":1}' },
      { name: "t", args: '{"x":1}' },
    ],
    [["made-1", "t", '{"x":1}']],
  ],
  [
    "two calls of one tool without ids",
    [
      { name: "t", args: '{"x":1}' },
      { name: "t", args: '{"x":2}' },
    ],
    [
      ["made-1", "t", '{"x":1}'],
      ["made-2", "t", '{"x":2}'],
    ],
  ],
  [
    "a call that was cut by another",
    [
      { index: 0, id: "a", name: "t", args: '{"x' },
      { index: 0, id: "b", name: "u", args: "{}" },
    ],
    [
      ["a", "t", '{"x'],
      ["b", "u", "{}"],
    ],
  ],
  [
    "an empty entry",
    [
      { index: 0, id: "a", name: "t", args: "{}" },
      { index: 1, id: null, name: null, args: "" },
    ],
    [["a", "t", "{}"]],
  ],
];

for (const [what, sent, calls] of cases) {
  test(`calls are put together from ${what} [M3]`, () => {
    assert.deepEqual(assemble(...sent), calls);
  });
}

test("what a server puts on a call is kept, from whichever piece [M3]", () => {
  const assembler = createCallAssembler();
  assembler.add({ index: 0, id: "a", type: "function", function: { name: "t" }, extra_content: { s: 1 }, note: null });
  assembler.add({ index: 0, function: { arguments: "{}" }, more: 2 });
  const [call] = assembler.finish(
    (name) => name,
    () => "",
  );
  assert.deepEqual(call, { id: "a", name: "t", arguments: "{}", extra: { extra_content: { s: 1 }, more: 2 } });
});

test("arguments without any name are a call that cannot be run [M3]", () => {
  const assembler = createCallAssembler();
  assembler.add({ index: 0, function: { arguments: "{}" } });
  assert.deepEqual(
    assembler.finish(
      (name) => name,
      () => "made",
    ),
    [{ id: "made", name: "", arguments: "{}", invalid: true }],
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ChatIncrement } from "../protocol/chat.ts";
import { applyIncrement } from "./chat-document.ts";

const variants = ["web", "docs"] as const;

/** Frames over what is there, as they come over the wire. */
function fold(frames: readonly Omit<ChatIncrement, "seq_id">[], variant: "web" | "docs", from: unknown = {}): unknown {
  let document = from;
  for (const [seq_id, frame] of frames.entries()) {
    const received: ChatIncrement = JSON.parse(JSON.stringify({ seq_id, ...frame }));
    document = applyIncrement(document, received, variant);
  }
  return document;
}

/** The worked example of the service: what each group of frames makes of the document before it. */
const example: [frames: Omit<ChatIncrement, "seq_id">[], document: unknown][] = [
  [
    [
      { key: ["a"], content: { t: "He" }, action: "upsert" },
      { key: ["p"], content: [], action: "upsert" },
    ],
    { a: { t: "He" }, p: [] },
  ],
  [
    [
      { key: ["a", "t"], content: "llo", action: "append" },
      { key: ["p", 0], content: { id: "1", s: "processing" }, action: "append" },
    ],
    { a: { t: "Hello" }, p: [{ id: "1", s: "processing" }] },
  ],
  [
    [
      { key: ["a", "t"], content: "Hallo", action: "upsert" },
      { key: ["p", 0, "s"], content: "completed", action: "upsert" },
    ],
    { a: { t: "Hallo" }, p: [{ id: "1", s: "completed" }] },
  ],
  [
    [
      { key: ["a"], content: null, action: "upsert" },
      { key: ["p"], content: null, action: "remove" },
      { key: [], content: null, action: "end" },
    ],
    { a: null },
  ],
];

test("the worked example of the chat service gives its documents with both kinds of clients [C3]", () => {
  for (const variant of variants) {
    let document: unknown = {};
    for (const [frames, expected] of example) {
      document = fold(frames, variant, document);
      assert.deepEqual(document, expected);
    }
  }
});

test("an empty key stands for the whole document [C3]", () => {
  for (const variant of variants) {
    const text = fold(
      [
        { key: [], content: "so ", action: "upsert" },
        { key: [], content: "far", action: "append" },
      ],
      variant,
    );
    assert.equal(text, "so far");
    assert.deepEqual(fold([{ key: ["a", 1, "b"], content: 1, action: "upsert" }], variant, text), {
      // biome-ignore lint/suspicious/noSparseArray: that is what a place behind the end makes.
      a: [, { b: 1 }],
    });
  }
});

test("an element that is removed leaves a hole in one client and moves the others up in the other [C3]", () => {
  const frames: Omit<ChatIncrement, "seq_id">[] = [
    { key: ["p"], content: [1, 2, 3], action: "upsert" },
    { key: ["p", 1], content: null, action: "remove" },
  ];
  // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested.
  assert.deepEqual(fold(frames, "web"), { p: [1, , 3] });
  assert.deepEqual(fold(frames, "docs"), { p: [1, 3] });
});

test("frames that nobody should send change no object but the document [Q1]", () => {
  const before = JSON.stringify({});
  const anyKey = fc.array(fc.oneof(fc.constantFrom("__proto__", "constructor", "prototype", "a"), fc.nat(3)), {
    maxLength: 4,
  });
  const anyFrame = fc.record({
    key: anyKey,
    content: fc.jsonValue(),
    action: fc.constantFrom("upsert", "append", "remove"),
  });
  fc.assert(
    fc.property(fc.array(anyFrame, { maxLength: 6 }), fc.constantFrom(...variants), (frames, variant) => {
      fold(frames, variant);
      assert.equal(JSON.stringify({}), before);
      assert.deepEqual(Object.keys(Object.prototype), []);
      assert.equal(Object.hasOwn(Object, "a"), false);
    }),
    { numRuns: 500 },
  );
});

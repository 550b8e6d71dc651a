import assert from "node:assert/strict";
import { test } from "node:test";
import { Arrived } from "./arrived.ts";

const line = (text: string) => ({ kind: "line", text }) as const;

test("what was entered before anybody could ask is no answer to a question, and is read after it [U1]", () => {
  const arrived = new Arrived();
  arrived.add(line("hello"), "hello");
  arrived.add({ kind: "interrupt", isTyped: false });
  assert.deepEqual(arrived.take({ isQuestion: true }), { input: { kind: "interrupt", isTyped: false } });
  assert.equal(arrived.take({ isQuestion: true }), undefined);
  assert.equal(arrived.isEmpty, false);
  assert.deepEqual(arrived.take({ isQuestion: false }), { input: line("hello"), unsaid: "hello" });
  assert.equal(arrived.isEmpty, true);
});

test("messages that wait are shown as they were typed, and come back as they are, the last one first [U1]", () => {
  const arrived = new Arrived();
  arrived.add(line("one"), "one");
  arrived.add(line("two\nlines"), "[paste #1 +2 lines]");
  arrived.add({ kind: "end" });
  assert.deepEqual(arrived.waiting, [
    { text: "one", mode: "opening" },
    { text: "[paste #1 +2 lines]", mode: "opening" },
  ]);
  assert.deepEqual([arrived.withdraw(), arrived.withdraw(), arrived.withdraw()], ["two\nlines", "one", undefined]);
  assert.deepEqual(arrived.take({ isQuestion: false }), { input: { kind: "end" } });
});

test("lines are forgotten, the end of input and messages that wait are not [U1]", () => {
  const arrived = new Arrived();
  arrived.add(line("one"));
  arrived.add(line("two"), "two");
  arrived.add({ kind: "end" });
  arrived.forgetLines();
  assert.deepEqual(arrived.waiting, [{ text: "two", mode: "opening" }]);
  assert.deepEqual(arrived.take({ isQuestion: false }), { input: line("two"), unsaid: "two" });
  assert.deepEqual(arrived.take({ isQuestion: false }), { input: { kind: "end" } });
  assert.equal(arrived.take({ isQuestion: false }), undefined);
});

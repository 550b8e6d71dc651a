import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventQueue } from "./event-queue.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("what a program tells comes in order, what was told before anybody read and what comes later, up to the last word [X1]", async () => {
  const { push, end, read } = createEventQueue<string>();
  const [heard, left]: [string[], string[]] = [[], []];
  push("a");
  push("b");
  const reading = (async () => {
    for await (const event of read(() => left.push("left"))) heard.push(event);
  })();
  await turn();
  assert.deepEqual(heard, ["a", "b"]);
  push("c");
  await turn();
  assert.deepEqual(heard, ["a", "b", "c"]);
  push("d");
  end();
  await reading;
  assert.deepEqual([heard, left], [["a", "b", "c", "d"], []]);
});

test("who stops to listen to a program before its end lets go of it, once, and not of one that is over [X1][X4]", async () => {
  const left: string[] = [];
  for (const isOver of [false, true]) {
    const { push, end, read } = createEventQueue<string>();
    push("a");
    push("b");
    if (isOver) end();
    for await (const _ of read(() => left.push(`over: ${isOver}`))) break;
  }
  assert.deepEqual(left, ["over: false"]);
});

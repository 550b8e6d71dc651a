import assert from "node:assert/strict";
import { test } from "node:test";
import { inSlices, sliced } from "./slices.ts";

/** Steps and the turns of others, as they come. */
function watch() {
  const told: (number | "others")[] = [];
  let isOver = false;
  const others = () => {
    if (isOver) return;
    told.push("others");
    setImmediate(others);
  };
  setImmediate(others);
  return {
    step: (number: number) => void told.push(number),
    end() {
      isOver = true;
      return told;
    },
  };
}

const numbers = Array.from({ length: 40 }, (_, index) => index);
const inTurns = [...numbers.slice(0, 16), "others", ...numbers.slice(16, 32), "others", ...numbers.slice(32)];

test("after every sixteen steps of a long walk others have their turn, also where somebody takes them one by one [Q1]", async () => {
  const walk = watch();
  await inSlices(numbers, walk.step);
  assert.deepEqual(walk.end(), inTurns);
  const taken = watch();
  for await (const number of sliced(numbers)) taken.step(number);
  assert.deepEqual(taken.end(), inTurns);
});

test("a walk that is left is ended, and one that fails fails [Q1]", async () => {
  const ended: string[] = [];
  function* steps() {
    try {
      yield 1;
      yield 2;
    } finally {
      ended.push("ended");
    }
  }
  for await (const _ of sliced(steps())) break;
  const mistake = new RangeError("of ours");
  const fail = () => {
    throw mistake;
  };
  await assert.rejects(inSlices(steps(), fail), mistake);
  assert.deepEqual(ended, ["ended", "ended"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { notingClock } from "../../../test/world/manual-clock.ts";
import { removeInTime } from "./removal.ts";

test("who is asked to remove a guest is asked again every three seconds, five times, and not after it was done [X3]", async () => {
  const never = new Promise<boolean>(() => {});
  for (const [answers, how, asked] of [
    [[true], "removed", 1],
    [[false, never, true], "removed", 3],
    [[false, false, false, false, false, true], "late", 5],
    [[never, never, never, never, never], "late", 5],
  ] as const) {
    const { clock, waits } = notingClock();
    const left: (boolean | Promise<boolean>)[] = [...answers];
    const ask = async () => left.shift() ?? false;
    assert.equal(await removeInTime(clock, new AbortController().signal, ask), how);
    assert.deepEqual([answers.length - left.length, waits], [asked, Array(asked).fill(3000)]);
  }
});

test("who is not to be asked any more is not, before the first time and between two [X3]", async () => {
  const over = new AbortController();
  let asked = 0;
  const ask = async () => {
    asked += 1;
    if (asked === 2) over.abort();
    return false;
  };
  assert.deepEqual([await removeInTime(notingClock().clock, over.signal, ask), asked], ["aborted", 2]);
  assert.deepEqual([await removeInTime(notingClock().clock, over.signal, ask), asked], ["aborted", 2]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { startLimit } from "./call-limit.ts";

test("the limit of a call stands still while a person is asked, and goes on afterwards [G1][L5]", async () => {
  const clock = manualClock();
  let isOver = false;
  const limit = startLimit(clock, 1_000, () => {
    isOver = true;
  });
  clock.move(600);
  await limit.without(async () => clock.move(1_000_000));
  clock.move(399);
  assert.equal(isOver, false);
  clock.move(1);
  assert.equal(isOver, true);
});

test("two questions at once stop the limit once, and a call that is over has none [G1][L5]", async () => {
  const clock = manualClock();
  const limit = startLimit(clock, 1_000, () => assert.fail("it is over"));
  await limit.without(() => limit.without(async () => clock.move(5_000)));
  await limit.without(async () => limit.end());
  clock.move(5_000);
  assert.deepEqual([limit.over.aborted, clock.timers()], [true, 0]);
});

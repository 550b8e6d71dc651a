import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { testLimits } from "../../test/world/workspace.ts";
import { Refused } from "./faults.ts";
import { openLocks } from "./locks.ts";
import { type Usage, withRoom } from "./usage.ts";

/** A workspace of 100 bytes and 10 files at the most, in which others write as well. */
function room(there: { bytes: number; files: number }) {
  const clock = manualClock();
  const known = new Map<string, Usage>();
  let counts = 0;
  const count = async () => {
    counts += 1;
    return { ...there };
  };
  const limits = { ...testLimits, bytesMax: 100, filesMax: 10 };
  const budget = { path: "outputs/a", limits, clock, count, known, locks: openLocks(), folder: "w" };
  return {
    ...{ clock, there, counts: () => counts },
    /** What is used by now, as it is known. */
    used: () => [known.get("w")?.bytes, known.get("w")?.files],
    change: (bytes: number, files = 0, work: () => Promise<void> = async () => {}) =>
      withRoom(budget, { bytes, files }, work),
  };
}

function refusedFor(what: "bytes" | "files", limit: number) {
  const params = { path: "outputs/a", what, limit, setting: `workspace.${what}_max` };
  return (error: unknown) => {
    assert.ok(error instanceof Refused);
    assert.deepEqual([error.reason.code, error.reason.params], ["quota_exceeded", params]);
    return true;
  };
}

test("what a workspace holds is counted once a minute, our own changes in between are known, and near a limit it is counted anew [W11]", async () => {
  const { clock, change, counts, used, there } = room({ bytes: 10, files: 1 });
  await change(20, 1);
  clock.move(59_999);
  await change(45, 1);
  assert.deepEqual([counts(), used()], [1, [75, 3]], "three quarters are not near yet");
  there.bytes = 30;
  await change(1);
  assert.deepEqual([counts(), used()], [2, [31, 1]], "one byte more is: others have made room");
  clock.move(59_999);
  await change(1);
  clock.move(1);
  await change(-1);
  assert.deepEqual([counts(), used()], [3, [29, 1]]);
});

test("a limit holds to the byte and to the file, is named where it is over, and never keeps anybody from making room [W11][W7]", async () => {
  const { change, there, used } = room({ bytes: 90, files: 8 });
  await change(10);
  await assert.rejects(change(11), refusedFor("bytes", 100));
  await change(0, 2);
  await assert.rejects(change(0, 3), refusedFor("files", 10));
  Object.assign(there, { bytes: 500, files: 50 });
  await assert.rejects(change(1), refusedFor("bytes", 100));
  await change(-5);
  await change(0, -1);
  await assert.rejects(change(-5, 1), refusedFor("files", 10));
  assert.deepEqual(used(), [500, 50], "a refusal sets nothing aside");
});

test("room that was set aside for a change that fails is free again, all of it [W11]", async () => {
  const { change, used } = room({ bytes: 10, files: 1 });
  await change(5, 1);
  const mistake = new Error("the disk");
  const failing = change(20, 2, async () => {
    assert.deepEqual(used(), [35, 4], "set aside while it is at work");
    throw mistake;
  });
  await assert.rejects(failing, mistake);
  assert.deepEqual(used(), [15, 2]);
});

test("nobody counts while a change is half done, and what is set aside meanwhile is not forgotten [W11]", async () => {
  const { change, counts, clock, there, used } = room({ bytes: 0, files: 0 });
  const { promise: half, resolve: end } = Promise.withResolvers<void>();
  const first = change(10, 1, () => half);
  while (counts() === 0) await new Promise(setImmediate);
  clock.move(60_000);
  const second = change(20, 1);
  for (let turns = 0; turns < 10; turns += 1) await new Promise(setImmediate);
  assert.equal(counts(), 1, "the second waits for the first");
  there.bytes = 10;
  end();
  await Promise.all([first, second]);
  assert.deepEqual([counts(), used()], [2, [30, 1]]);
});

test("whoever waits to count goes on when the change before it fails, and so do those after it [W11][Q2]", async () => {
  const { change, clock, counts, used } = room({ bytes: 0, files: 0 });
  const { promise: half, reject: fail } = Promise.withResolvers<void>();
  const first = change(10, 1, () => half);
  while (counts() === 0) await new Promise(setImmediate);
  clock.move(60_000);
  const others = [change(20, 1), change(30, 1)];
  fail(new Error("stopped"));
  await assert.rejects(first, /stopped/);
  await Promise.all(others);
  assert.deepEqual([counts(), used()], [2, [50, 2]]);
});

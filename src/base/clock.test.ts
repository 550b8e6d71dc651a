import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "./clock.ts";

/** What setTimeout counts to; it takes a longer time for none. */
const mostMs = 2 ** 31 - 1;

test("a timer of many weeks waits for all of them, and can be called off at any time [X1]", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const seen: string[] = [];
  systemClock.after(2 * mostMs + 5, () => seen.push("after"));
  const cancel = systemClock.after(2 * mostMs + 5, () => seen.push("never"));
  const stop = new AbortController();
  const waits = [systemClock.wait(2 * mostMs + 5), systemClock.wait(2 * mostMs + 5, stop.signal)];
  for (const ms of [mostMs, mostMs, 4]) t.mock.timers.tick(ms);
  cancel();
  stop.abort();
  assert.deepEqual(seen, []);
  t.mock.timers.tick(1);
  assert.deepEqual([seen, await Promise.all(waits)], [["after"], ["elapsed", "aborted"]]);
});

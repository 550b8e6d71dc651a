import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { systemClock } from "../base/clock.ts";
import type { Logger } from "../observe/observe.ts";
import { openUpkeep } from "./upkeep.ts";

const dayMs = 86_400_000;

test("unused files are cleaned up every hour and at exit, left-overs at the start too; the index every hour [W10][D2]", async () => {
  const { done, upkeep, clock } = makeUpkeep({ days: 7 });
  upkeep.start();
  await settled();
  assert.deepEqual(done, ["sweep"]);
  clock.move(3_600_000);
  await settled();
  clock.move(3_600_000);
  await settled();
  const hourly = [`clean ${7 * dayMs}`, "sweep", "index"];
  assert.deepEqual(done, ["sweep", ...hourly, ...hourly]);
  await upkeep.close();
  assert.deepEqual([done.slice(-2), clock.timers()], [[`clean ${7 * dayMs}`, "close"], 0]);
});

test("with 0 days nothing is ever cleaned up by itself [W10]", async () => {
  const { done, upkeep, clock } = makeUpkeep({ days: 0 });
  upkeep.start();
  await settled();
  clock.move(3_600_000);
  await settled();
  await upkeep.close();
  assert.deepEqual(done, ["sweep", "sweep", "index", "close"]);
});

test("whoever only looks cleans nothing up, but what they delete is removed [W10]", async () => {
  const { done, upkeep } = makeUpkeep({ days: 7 });
  upkeep.sweep();
  upkeep.sweep();
  await settled();
  await upkeep.close();
  assert.deepEqual(done, ["sweep", "close"]);
});

test("a clean-up that fails stands in the log and does not stop the next one [W10]", async () => {
  const { done, upkeep, faults, clock } = makeUpkeep({ days: 7, breaks: true });
  upkeep.start();
  await settled();
  clock.move(3_600_000);
  await settled();
  assert.deepEqual(done, ["sweep", `clean ${7 * dayMs}`, "sweep", "index"]);
  assert.deepEqual(faults, [
    "the files could not be tidied (sweep)",
    "the files could not be tidied (clean)",
    "the files could not be tidied (sweep)",
    "the files could not be tidied (index)",
  ]);
});

test("a clean-up that takes for ever holds the exit up for a second at the most [W10]", async () => {
  const waits: number[] = [];
  const wait = async (ms: number) => {
    waits.push(ms);
    return "elapsed" as const;
  };
  const clock = { ...systemClock, wait };
  const never = () => new Promise<never>(() => {});
  const workspaces = { clean: never, sweep: async () => ({ left: 0 }), close: never };
  const tidyIndex = async () => {};
  const upkeep = openUpkeep({ workspaces, clock, logger: silent([]), tidyIndex, cleanAfterMs: () => dayMs });
  upkeep.start();
  await upkeep.close();
  assert.deepEqual(waits, [500, 500]);
});

test("what was deleted and cannot be removed is tried again after 1, 2 and 3 seconds, then every minute until it is gone [S6]", async () => {
  const { done, upkeep, clock } = makeUpkeep({ days: 0, left: [1, 1, 1, 2, 1, 0] });
  const sweptAfter: number[] = [];
  upkeep.sweep();
  await settled();
  for (let seconds = 0; seconds < 200; seconds += 1) {
    const before = done.length;
    clock.move(1_000);
    await settled();
    if (done.length > before) sweptAfter.push(seconds + 1);
  }
  assert.deepEqual([sweptAfter, clock.timers()], [[1, 3, 6, 66, 126], 0]);
  await upkeep.close();
});

function makeUpkeep({ days, breaks = false, left = [] }: { days: number; breaks?: boolean; left?: number[] }) {
  const done: string[] = [];
  const faults: string[] = [];
  const clock = manualClock();
  const note = async (what: string) => {
    done.push(what);
    if (breaks) throw new Error("no");
  };
  const workspaces = {
    async clean({ unusedMs }: { unusedMs: number }) {
      await note(`clean ${unusedMs}`);
      return { workspaces: 1, bytes: 5, skipped: 0 };
    },
    async sweep() {
      await note("sweep");
      return { left: left.shift() ?? 0 };
    },
    close: async () => void done.push("close"),
  };
  const tidyIndex = () => note("index");
  const cleanAfterMs = () => days * dayMs;
  const upkeep = openUpkeep({ workspaces, clock, logger: silent(faults), tidyIndex, cleanAfterMs });
  return { done, faults, clock, upkeep };
}

function silent(faults: string[]): Logger {
  const nothing = () => {};
  const ended = async () => {};
  const error = (line: string) => void faults.push(line);
  return { path: undefined, error, warn: nothing, info: nothing, debug: nothing, flush: ended, close: ended };
}

/** Everything that can happen without time passing has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

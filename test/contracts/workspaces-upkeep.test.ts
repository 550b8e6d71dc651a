import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Clock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { openUpkeep, openWorkspaces } from "../../src/workspace/workspace.ts";
import { until } from "../world/events.ts";
import { endlessClock, manualClock } from "../world/manual-clock.ts";
import { quietLogger, testLimits } from "../world/workspace.ts";
import { alice, idOf, morning, unwrap } from "./storage-place.ts";

// When folders are tidied, on real ones with a clock of ours. What cleaning and sweeping do: workspaces-clean and workspaces-assigned.

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

test("unused files are cleaned up every hour and at exit, left-overs at the start too; the index every hour [W10][D2]", async (t) => {
  const { upkeep, clock, ...ground } = await openGround(t, { days: 7 });
  await ground.made("old");
  clock.move(8 * dayMs);
  await ground.deleted("left-over");
  upkeep.start();
  await until("the left-over is gone", () => !ground.folders().includes("left-over"));
  assert.deepEqual([ground.folders(), ground.trash(), ground.tidied()], [["old"], 0, 0]);

  await ground.made("new");
  clock.move(hourMs);
  await until("the first hour is tidied", () => ground.tidied() === 1);
  assert.deepEqual([ground.folders(), ground.trash()], [["new"], 1]);
  clock.move(7 * dayMs - 1.5 * hourMs);
  await until("the second hour is tidied", () => ground.tidied() === 2);
  assert.deepEqual([ground.folders(), ground.trash()], [["new"], 1]);
  clock.move(hourMs / 2 + 1);
  assert.deepEqual([ground.folders(), clock.timers()], [["new"], 1], "no hour is over");
  await upkeep.close();
  assert.deepEqual([ground.folders(), ground.trash(), ground.tidied(), clock.timers()], [[], 2, 2, 0]);
});

test("with 0 days nothing is ever cleaned up by itself [W10]", async (t) => {
  const { upkeep, clock, ...ground } = await openGround(t, { days: 0 });
  await ground.made("old");
  upkeep.start();
  clock.move(400 * dayMs);
  await until("the hour is tidied", () => ground.tidied() === 1);
  await upkeep.close();
  assert.deepEqual([ground.folders(), ground.trash()], [["old"], 0]);
});

test("whoever only looks cleans nothing up, but what they delete is removed [W10]", async (t) => {
  const { upkeep, clock, ...ground } = await openGround(t, { days: 7 });
  await ground.made("old");
  clock.move(8 * dayMs);
  await ground.deleted("deleted");
  upkeep.sweep();
  upkeep.sweep();
  await until("what was deleted is gone", () => ground.folders().length === 1);
  await upkeep.close();
  assert.deepEqual([ground.folders(), ground.trash(), ground.tidied()], [["old"], 0, 0]);
});

test("a clean-up that fails stands in the log and does not stop the next one [W10]", async (t) => {
  const { upkeep, clock, logged, storage } = await openGround(t, { days: 7 });
  await storage.close();
  const faults = () => logged.map((line) => /\((\w+)\)/.exec(line)?.[1]);
  upkeep.start();
  await until("the first fault", () => faults().length === 1);
  clock.move(hourMs);
  await until("the first hour has failed", () => faults().length === 4);
  const hourly = ["clean", "sweep", "index"];
  clock.move(hourMs);
  await until("the second hour has failed", () => faults().length === 7);
  assert.deepEqual(faults(), ["sweep", ...hourly, ...hourly]);
});

test("a clean-up that takes for ever holds the exit up for a second at the most [W10]", async (t) => {
  const waits: number[] = [];
  const exitWait: Clock["wait"] = async (ms) => {
    waits.push(ms);
    return "elapsed";
  };
  const { upkeep, silence } = await openGround(t, { days: 7, exitWait });
  silence();
  upkeep.start();
  await upkeep.close();
  assert.deepEqual(waits, [500, 500]);
});

test("whoever is done before the time is over leaves no timer behind that would hold up the exit [W10][P3]", async (t) => {
  const signals: (AbortSignal | undefined)[] = [];
  const noting: Clock["wait"] = (ms, signal) => {
    signals.push(signal);
    return endlessClock.wait(ms, signal);
  };
  const { upkeep, ...ground } = await openGround(t, { days: 7, leave: async () => {}, wait: noting, exitWait: noting });
  await ground.deleted("gone");
  upkeep.sweep();
  await until("it is gone", () => ground.folders().length === 0);
  await upkeep.close();
  // The programs of what was deleted, the last clean-up, the close of the workspaces, and what it waits for itself.
  assert.deepEqual(
    signals.map((signal) => signal?.aborted),
    [true, true, true, true],
  );
});

test("what was deleted and cannot be removed is tried again after 1, 2 and 3 seconds, then every minute until it is gone [S6]", async (t) => {
  const running = Promise.withResolvers<void>();
  const leave = () => running.promise;
  const { upkeep, clock, ...ground } = await openGround(t, { days: 0, leave, wait: manualClock().wait });
  await ground.deleted("busy");
  upkeep.sweep();
  await until("the first attempt is over", () => clock.timers() === 1);
  const sweptAfter: number[] = [];
  for (let seconds = 1; seconds <= 200; seconds += 1) {
    if (seconds === 126) running.resolve();
    clock.move(1_000);
    if (clock.timers() > 0 || ground.folders().length === 0) continue;
    sweptAfter.push(seconds);
    await until("the attempt is over", () => clock.timers() === 1 || ground.folders().length === 0);
  }
  assert.deepEqual([sweptAfter, ground.folders(), clock.timers()], [[1, 3, 6, 66, 126], [], 0]);
  await upkeep.close();
});

test("a removal that is asked for again waits for one next attempt; one that succeeds begins anew, and the end waits for none [S6][P3]", async (t) => {
  let running = Promise.withResolvers<void>();
  let attempts = 0;
  let end = () => {};
  const leave = () => {
    attempts += 1;
    return running.promise;
  };
  const wait = () =>
    new Promise<"elapsed">((resolve) => {
      end = () => resolve("elapsed");
    });
  const { upkeep, clock, ...ground } = await openGround(t, { days: 0, leave, wait });
  /** A program does not end: the attempt is over, and there is a next one. */
  const failing = async (number: number) => {
    await until(`attempt ${number} has begun`, () => attempts === number);
    assert.equal(clock.timers(), 0, "no other is waited for while it goes on");
    end();
    await until(`attempt ${number} is over`, () => clock.timers() === 1);
  };
  await ground.deleted("busy");
  for (const number of [1, 2]) {
    upkeep.sweep();
    await failing(number);
  }
  running.resolve();
  clock.move(2_000);
  await until("it is gone", () => ground.folders().length === 0);

  running = Promise.withResolvers<void>();
  await ground.deleted("next");
  upkeep.sweep();
  await failing(4);
  clock.move(1_000);
  await failing(5);
  clock.move(2_000);
  await until("it is tried once more", () => attempts === 6);
  const closed = upkeep.close();
  end();
  await closed;
  assert.deepEqual([ground.folders(), clock.timers()], [["next"], 0]);
});

test("the end takes the next attempt away with it [S6][P3]", async (t) => {
  const leave = () => new Promise<void>(() => {});
  const { upkeep, clock, ...ground } = await openGround(t, { days: 0, leave, wait: manualClock().wait });
  await ground.deleted("busy");
  upkeep.sweep();
  await until("the attempt is over", () => clock.timers() === 1);
  await upkeep.close();
  assert.equal(clock.timers(), 0);
});

type Options = {
  readonly days: number;
  /** When the programs of a deleted conversation have ended. */
  readonly leave?: () => Promise<void>;
  /** What passes while folders are worked on, and at the exit. */
  readonly wait?: Clock["wait"];
  readonly exitWait?: Clock["wait"];
};

/** Upkeep over folders of the real disk, with the real database beside them. No time limit passes but those that are given. */
async function openGround(t: TestContext, options: Options) {
  const { days, leave, wait = endlessClock.wait, exitWait = endlessClock.wait } = options;
  const base = mkdtempSync(join(tmpdir(), "upkeep-"));
  const manual = manualClock();
  manual.move(morning);
  const clock = { ...manual, wait };
  const real = unwrap(openSqlite({ path: join(base, "sessions.db"), clock }));
  t.after(async () => {
    await real.close();
    rmSync(base, { recursive: true });
  });
  let isSilent = false;
  // A database that does not answer any more.
  const storage = new Proxy<Storage>(real, {
    get: (of, name) => (isSilent ? () => new Promise<never>(() => {}) : Reflect.get(of, name)),
  });
  const logged: string[] = [];
  const logger = { ...quietLogger([]), error: quietLogger(logged).error };
  const workspaces = openWorkspaces({
    ...{ dataDir: base, storage, clock, ids: systemIds, logger, limits: testLimits },
    ...(leave && { leave }),
  });
  let tidied = 0;
  // The index stands in the same database.
  const tidyIndex = async () => {
    await storage.orphanedWorkspaces(1);
    tidied += 1;
  };
  const ofUpkeep = { ...clock, wait: exitWait };
  const upkeep = openUpkeep({ workspaces, clock: ofUpkeep, logger, tidyIndex, cleanAfterMs: () => days * dayMs });
  const made = async (id: string) => {
    const row = unwrap(await storage.createConversation({ owner: alice, id: idOf(id), at: clock.now(), events: [] }));
    unwrap(await workspaces.create(row));
    unwrap(await workspaces.ofConversation(row).write("outputs/a", "a"));
    return row;
  };
  const namesIn = (folder: string) => (existsSync(join(base, folder)) ? readdirSync(join(base, folder)).sort() : []);
  return {
    ...{ upkeep, clock, logged, storage, made, tidied: () => tidied },
    silence() {
      isSilent = true;
    },
    async deleted(id: string) {
      const { number } = await made(id);
      unwrap(await storage.append({ number, events: [], with: { deleted: { at: clock.now() } } }));
    },
    folders: () => namesIn("workspace"),
    trash: () => namesIn("trash").length,
  };
}

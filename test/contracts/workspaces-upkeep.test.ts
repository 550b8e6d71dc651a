import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Clock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { openUpkeep, openWorkspaces } from "../../src/workspace/workspace.ts";
import { until } from "../world/events.ts";
import { endlessClock, manualClock } from "../world/manual-clock.ts";
import { quietLogger, testLimits } from "../world/workspace.ts";
import { alice, bob, idOf, morning, unwrap } from "./storage-place.ts";
import { dayMs, type Ground, openGround, write } from "./workspaces-place.ts";

// When folders are tidied, and what a sweep removes, leaves and forgets.

const hourMs = 3_600_000;

test("unused files are cleaned up every hour and at exit, left-overs at the start too; the index every hour [W10][D2]", async (t) => {
  const { upkeep, clock, ...ground } = await openUpkeepGround(t, { days: 7 });
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
  const { upkeep, clock, ...ground } = await openUpkeepGround(t, { days: 0 });
  await ground.made("old");
  upkeep.start();
  clock.move(400 * dayMs);
  await until("the hour is tidied", () => ground.tidied() === 1);
  await upkeep.close();
  assert.deepEqual([ground.folders(), ground.trash()], [["old"], 0]);
});

test("a clean-up that fails stands in the log and does not stop the next one [W10]", async (t) => {
  const { upkeep, clock, logged, storage } = await openUpkeepGround(t, { days: 7 });
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
  const { upkeep, silence } = await openUpkeepGround(t, { days: 7, exitWait });
  silence();
  upkeep.start();
  await upkeep.close();
  assert.deepEqual(waits, [500, 500]);
});

test("what was deleted and cannot be removed is tried again after 1, 2 and 3 seconds, then every minute until it is gone [S6]", async (t) => {
  const running = Promise.withResolvers<void>();
  const leave = () => running.promise;
  const { upkeep, clock, ...ground } = await openUpkeepGround(t, { days: 0, leave, wait: manualClock().wait });
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

type Options = {
  readonly days: number;
  /** When the programs of a deleted conversation have ended. */
  readonly leave?: () => Promise<void>;
  /** What passes while folders are worked on. */
  readonly wait?: Clock["wait"];
  readonly exitWait?: Clock["wait"];
};

/** Upkeep over folders of the real disk, with the real database beside them. No time limit passes but those that are given. */
async function openUpkeepGround(t: TestContext, options: Options) {
  const { days, leave, wait = endlessClock.wait, exitWait = endlessClock.wait } = options;
  const base = mkdtempSync(join(tmpdir(), "upkeep-"));
  const manual = manualClock();
  manual.move(morning);
  const clock = { ...manual, wait };
  const storage = unwrap(openSqlite({ path: join(base, "sessions.db"), clock }));
  // A database that does not answer any more.
  const silence = () =>
    Object.assign(storage, {
      unusedWorkspaces: () => new Promise(() => {}),
      orphanedWorkspaces: () => new Promise(() => {}),
    });
  t.after(async () => {
    await storage.close();
    rmSync(base, { recursive: true });
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
    ...{ upkeep, clock, logged, storage, made, silence, tidied: () => tidied },
    async deleted(id: string) {
      const { number } = await made(id);
      unwrap(await storage.append({ number, events: [], with: { deleted: { at: clock.now() } } }));
    },
    folders: () => namesIn("workspace"),
    trash: () => namesIn("trash").length,
  };
}

// What is left to do for deleted conversations: it is done one after another, and nothing of it holds up the rest.

test("a deleted conversation whose program does not end is left after 30 seconds and tried again; others go meanwhile [S6]", async (t) => {
  const waited: number[] = [];
  const clock = {
    async wait(ms: number, signal?: AbortSignal) {
      waited.push(ms);
      await new Promise((resolve) => setImmediate(resolve));
      return signal?.aborted ? ("aborted" as const) : ("elapsed" as const);
    },
    monotonic: () => 0,
  };
  const stuck = Promise.withResolvers<void>();
  const left: number[] = [];
  const leave = async (conversation: number) => {
    left.push(conversation);
    if (conversation === 1) await stuck.promise;
  };
  const ground = await openGround(t, { clock, leave });
  const folders = () => readdirSync(ground.path("workspace"));
  for (const id of ["stuck", "other"]) {
    const row = await ground.start(id);
    await write(ground.workspaces.ofConversation(row), "outputs/a", "x");
    await remove(ground, row);
  }
  assert.deepEqual(await ground.workspaces.sweep(), { left: 1 });
  assert.deepEqual([folders(), left, waited], [["stuck"], [1, 2], [30_000, 30_000]]);
  assert.deepEqual(ground.logged, [
    'the workspace {folder} is not removed yet: a program in it does not end {"folder":"workspace/stuck"}',
  ]);
  stuck.resolve();
  assert.deepEqual([await ground.workspaces.sweep(), folders()], [{ left: 0 }, []]);
});

async function remove({ storage }: Pick<Ground, "storage">, { number }: ConversationRow): Promise<void> {
  unwrap(await storage.append({ number, events: [], with: { deleted: { at: morning } } }));
}

test("whoever gets the folder of a deleted conversation hears nothing of what was in it [S6][S7][W12]", async (t) => {
  const ground = await openGround(t);
  const hers = await ground.start("c");
  const files = ground.workspaces.ofConversation(hers);
  await write(files, "outputs/her-plans", "secret");
  unwrap(await files.observe()).leave();
  const held = unwrap(await files.measure()).files;
  await remove(ground, hers);
  assert.deepEqual(await ground.workspaces.sweep(), { left: 0 });
  const his = ground.workspaces.ofConversation(await ground.start("c", { owner: bob }));
  for (const name of ["a", "b"]) await write(his, `outputs/${name}`, "x");
  assert.equal(unwrap(await his.measure({ mayBeOld: true })).files, held + 1);
  const observation = unwrap(await his.observe({ isContinued: true }));
  assert.deepEqual([observation.hasEarlier, unwrap(await observation.changes())], [false, []]);
});

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Clock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { ConversationRow, Storage } from "../../src/storage/storage.ts";
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
  /** What passes while folders are worked on, and at the exit. */
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
  const ground = await openOutbox(t, { clock, leave });
  for (const id of ["stuck", "other"]) await ground.deleted(id, 1);
  assert.deepEqual(await ground.workspaces.sweep(), { left: 1 });
  assert.deepEqual([ground.folders(), left, waited], [["stuck"], [1, 2], [30_000, 30_000]]);
  assert.deepEqual(ground.logged, [
    'the workspace {folder} is not removed yet: a program in it does not end {"folder":"workspace/stuck"}',
  ]);
  stuck.resolve();
  assert.deepEqual([await ground.workspaces.sweep(), ground.folders()], [{ left: 0 }, []]);
});

test("a removal that takes longer than 30 seconds is cut, hides its files at once, and is gone on with until nothing is left [S6]", async (t) => {
  let now = 0;
  // A second passes each time that somebody looks.
  const ground = await openOutbox(t, { clock: { monotonic: () => (now += 1000) } });
  await ground.deleted("large", 100);
  await ground.deleted("small", 1);
  const sweeps: (readonly [left: number, staged: boolean])[] = [];
  do {
    const { left } = await ground.workspaces.sweep();
    assert.deepEqual(ground.folders(), [], "whatever is left of it, nobody finds it any more");
    sweeps.push([left, ground.staged() > 0]);
  } while (sweeps.at(-1)?.[0] !== 0 && sweeps.length < 50);
  assert.ok(sweeps.length > 2, JSON.stringify(sweeps));
  assert.deepEqual(sweeps.at(-1), [0, false]);
  assert.deepEqual(await ground.storage.orphanedWorkspaces(9), []);
});

test("a program's conversation that somebody speaks to in the moment of its end stays, and the others go [S6]", async (t) => {
  const ground = await openOutbox(t);
  const { storage, workspaces } = ground;
  for (const id of ["left", "spoken-to", "person"])
    unwrap(
      await workspaces.create(
        unwrap(
          await storage.createConversation({
            ...{ owner: alice, id: idOf(id), at: 1, events: [], origin: id === "person" ? "person" : "program" },
          }),
        ),
      ),
    );
  // Between the look and the end.
  const { headOf } = storage;
  storage.headOf = async (number) => {
    const head = await headOf(number);
    const events = [{ type: "message.user", version: 1, at: morning, body: "{}" }] as const;
    if (number === 2) unwrap(await storage.append({ number, events, with: { wake: { notBefore: 0 } } }));
    return head;
  };
  assert.deepEqual(await workspaces.sweep(), { left: 0 });
  assert.deepEqual(ground.folders().toSorted(), ["person", "spoken-to"]);
  assert.equal((await storage.findConversation(alice, idOf("spoken-to")))?.deletedAt, undefined);
  assert.equal(await storage.findConversation(alice, idOf("left")), undefined);
});

/** What is left to do for deleted conversations. */
async function openOutbox(t: TestContext, options: Parameters<typeof openGround>[1] = {}) {
  const ground = await openGround(t, options);
  const namesIn = (folder: string) => (existsSync(ground.path(folder)) ? readdirSync(ground.path(folder)) : []);
  return {
    ...ground,
    /** A conversation with so many files that was just deleted. */
    async deleted(id: string, count: number) {
      const row = await ground.start(id);
      const files = ground.workspaces.ofConversation(row);
      for (let number = 0; number < count; number += 1) await write(files, `outputs/${number}.txt`, "x");
      await remove(ground, row);
    },
    folders: () => namesIn("workspace"),
    staged: () => namesIn("staging").length,
  };
}

const week = { unusedMs: 7 * dayMs };

/** A yard that begins to close as soon as a sweep has begun with the first thing that it has to do. */
async function closingGround(t: TestContext) {
  const state: { isArmed: boolean; closed?: Promise<void> } = { isArmed: false };
  const isHere = async () => {
    if (state.isArmed) state.closed ??= ground.workspaces.close();
    return true;
  };
  const ground: Ground = await openGround(t, { isHere });
  return {
    ...ground,
    async sweep() {
      state.isArmed = true;
      await ground.workspaces.sweep();
      assert.ok(state.closed, "there was something to do");
      await state.closed;
    },
  };
}

async function remove({ storage }: Pick<Ground, "storage">, { number }: ConversationRow): Promise<void> {
  unwrap(await storage.append({ number, events: [], with: { deleted: { at: morning } } }));
}

async function inTrash(ground: Ground | Awaited<ReturnType<typeof closingGround>>, ...ids: string[]) {
  const rows: ConversationRow[] = [];
  for (const id of ids) {
    const row = await ground.start(id);
    await write(ground.workspaces.ofConversation(row), "outputs/a", id);
    rows.push(row);
  }
  ground.clock.move(8 * dayMs);
  assert.equal((await ground.workspaces.clean(week)).workspaces, ids.length);
  return rows;
}

test("a yard that closes while it sweeps leaves half a move, deleted folders and drafts to the next start [W10][S6][P3]", async (t) => {
  const ground = await closingGround(t);
  await inTrash(ground, "a", "b");
  for (const name of readdirSync(ground.path("trash"))) rmSync(ground.path("trash", name), { recursive: true });
  await ground.sweep();
  assert.equal(
    (await ground.storage.listTrash(alice, 9)).length,
    1,
    "what somebody took away is not offered; the other is not looked at",
  );

  const drafts = await closingGround(t);
  for (const id of ["c", "d"]) await remove(drafts, await drafts.start(id));
  mkdirSync(drafts.path("staging", "gone-0123.1"), { recursive: true });
  await drafts.sweep();
  assert.equal(readdirSync(drafts.path("workspace")).length, 1);
  assert.deepEqual(readdirSync(drafts.path("staging")), ["gone-0123.1"]);
});

test("a crash after folders without a file were moved away: nobody is told that something was removed [W10]", async (t) => {
  const ground = await openGround(t);
  const row = await ground.start("c");
  const trash = { id: "0123abcd", owner: alice, number: row.number, workspace: "c", folder: "workspace/c" };
  unwrap(await ground.storage.putTrash({ ...trash, movedAt: morning, bytes: 0, files: 0 }));
  mkdirSync(ground.path("trash"));
  renameSync(ground.path("workspace/c"), ground.path("trash/0123abcd"));
  await ground.workspaces.sweep();
  assert.deepEqual(
    [await ground.workspaces.cleanedAt(row), (await ground.storage.findWorkspace(row.number))?.cleanedAt],
    [undefined, 0],
  );
});

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

test("a workspace in which there are only links to skills is tidied away as one without files [W10][K1]", async (t) => {
  const ground = await openGround(t);
  const row = await ground.start("c");
  for (const name of ["pdf", "docx"]) symlinkSync(`/skills/${name}`, ground.path("workspace/c/skills", name));
  ground.clock.move(8 * dayMs);
  assert.deepEqual(await ground.workspaces.clean(week), { workspaces: 0, bytes: 0, skipped: 0 });
  assert.deepEqual([readdirSync(ground.path("workspace")), existsSync(ground.path("trash"))], [[], false]);
  assert.equal(await ground.workspaces.cleanedAt(row), undefined);
});

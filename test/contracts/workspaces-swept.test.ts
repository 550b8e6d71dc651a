import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { alice, bob, idOf, morning, unwrap } from "./storage-place.ts";
import { dayMs, filesOf, type Ground, openGround, textOf, write } from "./workspaces-place.ts";

// What a sweep leaves, what it forgets, and where it stops. What it removes: workspaces-restore and workspaces-outbox.

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

test("a yard that closes while it sweeps stops after what it is at: the trash of one more conversation is for the next start [W10][P3]", async (t) => {
  const ground = await closingGround(t);
  await inTrash(ground, "a", "b");
  ground.clock.move(31 * dayMs);
  await ground.sweep();
  assert.equal(readdirSync(ground.path("trash")).length, 1);
});

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

test("a yard that closes while it ends what callers left stops after twenty [S6][P3]", async (t) => {
  const ground = await closingGround(t);
  const left = { owner: alice, at: morning, events: [], origin: "program", isPassing: true } as const;
  for (let n = 0; n < 21; n += 1) unwrap(await ground.storage.createConversation({ ...left, id: idOf(`c${n}`) }));
  ground.clock.move(dayMs);
  await ground.sweep();
  const unused = await ground.storage.unusedByCallers({ before: ground.clock.now(), isPassing: true, limit: 99 });
  assert.equal(unused.length, 1);
});

test("a folder in the trash that we did not put there is told, and ours are not [W10][Q2]", async (t) => {
  const ground = await openGround(t);
  await inTrash(ground, "a");
  const told = () => ground.logged.filter((line) => line.includes("we did not put there"));
  await ground.workspaces.sweep();
  assert.deepEqual(told(), []);
  mkdirSync(ground.path("trash", "theirs"));
  await ground.workspaces.sweep();
  assert.deepEqual(told(), ['the trash has {count} folders that we did not put there {"count":1}']);
  assert.equal(existsSync(ground.path("trash", "theirs")), true);
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

test("trash that takes longer than 30 seconds to remove counts as left, and takes the earlier contents of its files along all the same [W10][W12]", async (t) => {
  let [now, stepMs] = [0, 0];
  const ground = await openGround(t, { clock: { monotonic: () => (now += stepMs) } });
  const row = await ground.start("c");
  const files = ground.workspaces.ofConversation(row);
  for (const text of ["old", "new"]) unwrap(await files.write("outputs/a", text, { keeps: true }));
  assert.equal(existsSync(ground.path("kept/workspace/c")), true);
  ground.clock.move(8 * dayMs);
  assert.equal((await ground.workspaces.clean(week)).workspaces, 1);
  const [name = ""] = readdirSync(ground.path("trash"));
  for (let n = 0; n < 30; n += 1) writeFileSync(ground.path("trash", name, "outputs", `${n}`), "");
  ground.clock.move(31 * dayMs);
  // A second passes with each thing that is removed. What is left of it goes with what lies in the staging folder.
  stepMs = 1_000;
  assert.deepEqual(await ground.workspaces.sweep(), { left: 1 });
  stepMs = 0;
  assert.deepEqual(await ground.workspaces.sweep(), { left: 0 });
  assert.deepEqual(
    ["trash", "kept/workspace", "staging"].map((each) => readdirSync(ground.path(each))),
    [[], [], []],
  );
});

test("when the earlier contents of files are gone for good, those of later files are kept as before [W10][W12]", async (t) => {
  const ground = await openGround(t);
  const [row = assert.fail()] = await inTrash(ground, "c");
  const files = ground.workspaces.ofConversation(row);
  /** A program changes a file; says what is told of it. */
  const changed = async (before: string, after: string) => {
    await write(files, "outputs/a", before);
    const observation = unwrap(await files.observe());
    writeFileSync(ground.path("workspace/c/outputs/a"), after);
    const [change, ...others] = unwrap(await observation.changes());
    assert.deepEqual(others, []);
    return change;
  };
  assert.equal((await changed("1", "2"))?.lost, undefined);
  ground.clock.move(8 * dayMs);
  await ground.workspaces.clean(week);
  ground.clock.move(31 * dayMs);
  assert.deepEqual(
    [await ground.workspaces.sweep(), existsSync(ground.path("kept/workspace/c"))],
    [{ left: 0 }, false],
  );
  const later = await changed("3", "4");
  assert.equal(later?.lost, undefined);
  unwrap(await files.restore("outputs/a", later?.before));
  assert.equal(await textOf(files, "outputs/a"), "3");
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

test("a folder in which programs of a task wait to write stays for as long as they do [W2][X1]", async (t) => {
  const ground = await openGround(t);
  const row = await ground.start("c");
  unwrap(await ground.workspaces.assignTask(row, { agent: "agent-1", parent: "root" }));
  const { folder, release } = unwrap(await unwrap(await ground.workspaces.taskOf(row, "agent-1")).guestFolder());
  for (let days = 0; days < 2; days += 1) {
    await ground.workspaces.sweep();
    ground.clock.move(dayMs);
  }
  await ground.workspaces.sweep();
  writeFileSync(join(folder, "a"), "of a program");
  assert.deepEqual(filesOf(ground.path("staging")), { "wait-agent-1/a": "of a program" });
  release();
});

test("an upload that begins when a workspace without files is about to be tidied away finds its place there [W10][W11]", async (t) => {
  const coming: { begin?: () => Promise<void> } = {};
  const ground = await openGround(t, { leave: async () => coming.begin?.() });
  const row = await ground.start("c");
  ground.clock.move(8 * dayMs);
  const rest = Promise.withResolvers<void>();
  let written: Promise<unknown> | undefined;
  coming.begin = async () => {
    const begun = Promise.withResolvers<void>();
    const pieces = (async function* () {
      begun.resolve();
      await rest.promise;
      yield Buffer.from("new");
    })();
    written = ground.workspaces.ofConversation(row).write("uploads/a", pieces);
    await begun.promise;
  };
  await ground.workspaces.clean(week);
  assert.equal(existsSync(ground.path("workspace/c/uploads")), true);
  rest.resolve();
  await written;
  assert.deepEqual(filesOf(ground.path("workspace/c")), { "uploads/a": "new" });
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

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { failure } from "../../src/protocol/failure.ts";
import type { ConversationRow, Storage, TrashRow } from "../../src/storage/storage.ts";
import { alice, bob, codeOf, unwrap } from "./storage-place.ts";
import { assertNoHostPath, dayMs, filesOf, type Ground, openGround, treeOf, write } from "./workspaces-place.ts";

test("what is in the trash comes back to where it was, by its id or the beginning of one [W10]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, clock, path } = ground;
  const conversation = await ground.start("c");
  const before = { "uploads/a": "1", "outputs/b/c": "2" };
  const { id } = await moveToTrash(ground, conversation, before);
  assert.equal(
    codeOf(await workspaces.restore(alice, "")),
    "trash_not_found",
    "nothing is the beginning of everything",
  );
  const given = await workspaces.restore(alice, id.slice(0, 4));
  assert.deepEqual(unwrap(given), { conversation: "c", files: 2, beside: [] });
  assert.deepEqual(filesOf(path("workspace/c")), before);
  assert.deepEqual([await workspaces.trash(alice), readdirSync(path("trash"))], [[], []]);
  assert.equal(await workspaces.cleanedAt(conversation), undefined);
  assert.equal((await workspaces.clean({ unusedMs: 7 * dayMs })).workspaces, 0, "it was just used");
  clock.move(8 * dayMs);
  assert.equal((await workspaces.clean({ unusedMs: 7 * dayMs })).workspaces, 1, "and is still known as ours");
});

test("an id that is unknown, not clear or another's is not found, and nothing is touched [W10][Q1]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, storage, path } = ground;
  const conversation = await ground.start("c");
  const { id, ...row } = await moveToTrash(ground, conversation, { "outputs/a": "a" });
  const other = `${id.slice(0, 7)}${id.endsWith("0") ? "1" : "0"}`;
  unwrap(await storage.putTrash({ ...row, id: other }));
  const before = treeOf(path("."));
  for (const asked of ["", "x", "../trash", id.slice(0, 7), `${id}0`, `trash/${id}`, "%"])
    assert.deepEqual(await workspaces.restore(alice, asked), failure("trash_not_found", { id: asked }));
  assert.deepEqual(await workspaces.restore(bob, id), failure("trash_not_found", { id }));
  assert.deepEqual(treeOf(path(".")), before);
  assert.equal(codeOf(await workspaces.restore(alice, id)), "ok", "a whole id is clear");
});

test("what was written since stays as it is: an empty folder is filled, in others the old files lie beside [W10]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, path } = ground;
  const conversation = await ground.start("c");
  const { id } = await moveToTrash(ground, conversation, {
    "uploads/data.csv": "old",
    "outputs/report.md": "old",
    "outputs/.hidden": "old",
  });
  await write(workspaces.ofConversation(conversation), "outputs/report.md", "new");
  const given = unwrap(await workspaces.restore(alice, id));
  assert.deepEqual(given, { conversation: "c", files: 3, beside: [`outputs/restored-${id}`] });
  assert.deepEqual(filesOf(path("workspace/c")), {
    "uploads/data.csv": "old",
    "outputs/report.md": "new",
    [`outputs/restored-${id}/report.md`]: "old",
    [`outputs/restored-${id}/.hidden`]: "old",
  });
  assert.deepEqual(
    [await workspaces.trash(alice), readdirSync(path("trash")), readdirSync(path("staging"))],
    [[], [], []],
  );
});

test("a folder that was empty in the trash leaves nothing beside what is there now [W10]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, path } = ground;
  const conversation = await ground.start("c");
  const { id } = await moveToTrash(ground, conversation, { "outputs/a": "old" });
  await write(workspaces.ofConversation(conversation), "uploads/b", "new");
  assert.deepEqual(unwrap(await workspaces.restore(alice, id)), { conversation: "c", files: 1, beside: [] });
  assert.deepEqual(filesOf(path("workspace/c")), { "uploads/b": "new", "outputs/a": "old" });
});

test("files of a task that came to lie in the way, and links that lead elsewhere, are neither lost nor followed [W10][W5]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, clock, path } = ground;
  const conversation = await ground.start("c");
  unwrap(await workspaces.assignTask(conversation, { agent: "task", parent: "root" }));
  const task = unwrap(await workspaces.taskOf(conversation, "task"));
  for (const name of ["file", "folder/a", "linked/a", "free", "blocked/a"]) await write(task, name, "old");
  clock.move(8 * dayMs);
  await workspaces.clean({ unusedMs: 7 * dayMs });
  const id = (await workspaces.trash(alice))[0]?.id ?? "";
  mkdirSync(path("victim"));
  await write(task, "file", "new");
  await write(task, "folder/b", "new");
  await write(task, "blocked", "a file now");
  symlinkSync(path("victim"), path("workspaces/task/linked"));
  const given = unwrap(await workspaces.restore(alice, id));
  assert.deepEqual(given.beside, [`folder/restored-${id}`, `restored-${id}`]);
  assert.deepEqual(filesOf(path("workspaces/task")), {
    ...{ file: "new", "folder/b": "new", blocked: "a file now", free: "old", linked: `link to ${path("victim")}` },
    [`folder/restored-${id}/a`]: "old",
    [`restored-${id}/file`]: "old",
    [`restored-${id}/linked/a`]: "old",
    [`restored-${id}/blocked/a`]: "old",
  });
  assert.deepEqual(readdirSync(path("victim")), []);
});

test("a link with the name of what is given back cannot lead it outside [W5][W10]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, clock, path } = ground;
  const conversation = await ground.start("c");
  unwrap(await workspaces.assignTask(conversation, { agent: "task", parent: "root" }));
  const task = unwrap(await workspaces.taskOf(conversation, "task"));
  await write(task, "file", "old");
  clock.move(8 * dayMs);
  await workspaces.clean({ unusedMs: 7 * dayMs });
  const id = (await workspaces.trash(alice))[0]?.id ?? "";
  mkdirSync(path("victim"));
  await write(task, "file", "new");
  symlinkSync(path("victim"), path("workspaces/task", `restored-${id}`));
  const refused = await workspaces.restore(alice, id);
  assert.equal(codeOf(refused), "permission_denied");
  assert.deepEqual(readdirSync(path("victim")), []);
  assertNoHostPath(ground, refused);
  rmSync(path("workspaces/task", `restored-${id}`));
  unwrap(await workspaces.restore(alice, id));
  assert.deepEqual(filesOf(path("workspaces/task")), { file: "new", [`restored-${id}/file`]: "old" });
});

test("a crash after the trash was noted and before the move leaves the files in place [W10]", async (t) => {
  const ground = await openGround(t);
  const conversation = await ground.start("c");
  const row = await moveToTrash(ground, conversation, { "outputs/a": "a" });
  // As if the process had died just before the folder was moved.
  renameSync(ground.path("trash", row.id), ground.path("workspace/c"));
  unwrap(await ground.storage.updateWorkspace("workspace/c", { cleanedAt: null }));
  const { workspaces, path, clock } = await ground.restart();
  await workspaces.sweep();
  assert.deepEqual([filesOf(path("workspace/c")), await workspaces.trash(alice)], [{ "outputs/a": "a" }, []]);
  clock.move(8 * dayMs);
  assert.deepEqual(await workspaces.clean({ unusedMs: 7 * dayMs }), { workspaces: 1, bytes: 1, skipped: 0 });
});

test("a crash after the move and before it was noted: the conversation still says when its files went [W10]", async (t) => {
  const ground = await openGround(t);
  const conversation = await ground.start("c");
  const row = await moveToTrash(ground, conversation, { "outputs/a": "a" });
  unwrap(await ground.storage.updateWorkspace("workspace/c", { cleanedAt: null }));
  const { workspaces, path } = await ground.restart();
  await workspaces.sweep();
  assert.equal(await workspaces.cleanedAt(conversation), row.movedAt);
  unwrap(await workspaces.restore(alice, row.id));
  assert.deepEqual(filesOf(path("workspace/c")), { "outputs/a": "a" });
});

test("a crash in the middle of giving back: asked again or swept, every file is there once [W10]", async (t) => {
  for (const goOn of ["restore", "sweep"] as const) {
    const ground = await openGround(t);
    const conversation = await ground.start("c");
    const { id } = await moveToTrash(ground, conversation, { "outputs/a": "a" });
    // As if the process had died after the folder was moved back.
    renameSync(ground.path("trash", id), ground.path("workspace/c"));
    const { workspaces, path } = await ground.restart();
    if (goOn === "sweep") await workspaces.sweep();
    else assert.deepEqual(unwrap(await workspaces.restore(alice, id)), { conversation: "c", files: 1, beside: [] });
    assert.deepEqual([filesOf(path("workspace/c")), await workspaces.trash(alice)], [{ "outputs/a": "a" }, []]);
    assert.equal(await workspaces.cleanedAt(conversation), undefined);
    assert.equal((await workspaces.clean({ unusedMs: 7 * dayMs })).workspaces, 0, "it counts as used now");
  }
});

test("a crash when only some folders were given back: asked again, the rest follows [W10]", async (t) => {
  const ground = await openGround(t);
  const conversation = await ground.start("c");
  const { id } = await moveToTrash(ground, conversation, { "uploads/a": "a", "outputs/b": "b" });
  await write(ground.workspaces.ofConversation(conversation), "outputs/b", "new");
  renameSync(ground.path("trash", id, "uploads"), ground.path("workspace/c/uploads"));
  const { workspaces, path } = await ground.restart();
  await workspaces.sweep();
  const given = unwrap(await workspaces.restore(alice, id));
  assert.deepEqual(given.beside, [`outputs/restored-${id}`]);
  assert.deepEqual(filesOf(path("workspace/c")), {
    "uploads/a": "a",
    "outputs/b": "new",
    [`outputs/restored-${id}/b`]: "b",
  });
});

test("trash whose folder somebody removed is no longer offered [W10]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, path } = ground;
  const conversation = await ground.start("c");
  const { id } = await moveToTrash(ground, conversation, { "outputs/a": "a" });
  rmSync(path("trash", id), { recursive: true });
  assert.deepEqual(await workspaces.restore(alice, id), failure("trash_not_found", { id }));
  assert.deepEqual(await workspaces.trash(alice), []);
});

test("after thirty days the trash is gone, and so are the earlier contents that nobody can return to [W10]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, clock, path } = ground;
  const conversation = await ground.start("c");
  const { id } = await moveToTrash(ground, conversation, { "outputs/a": "a" });
  mkdirSync(path("kept/workspace/c/contents"), { recursive: true });
  clock.move(30 * dayMs);
  await workspaces.sweep();
  assert.deepEqual(readdirSync(path("trash")), [id], "to the last moment");
  clock.move(1);
  await workspaces.sweep();
  assert.deepEqual(
    [readdirSync(path("trash")), readdirSync(path("kept/workspace")), await workspaces.trash(alice)],
    [[], [], []],
  );
  assert.deepEqual(readdirSync(path("staging")), []);
  assert.equal(typeof (await workspaces.cleanedAt(conversation)), "number", "it still says when its files went");
});

test("what was done since in files that are in use again can be undone, also when their older trash is gone [W10][W12]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, clock, path } = ground;
  const conversation = await ground.start("c");
  await moveToTrash(ground, conversation, { "outputs/a": "of last month" });
  const workspace = workspaces.ofConversation(conversation);
  await write(workspace, "outputs/a", "one");
  const { before, after } = unwrap(await workspace.write("outputs/a", "two", { key: "call" }));
  clock.move(30 * dayMs + 1);
  await workspaces.sweep();
  assert.deepEqual([readdirSync(path("trash")), await workspaces.trash(alice)], [[], []]);
  unwrap(await workspace.restore("outputs/a", before, { expected: after?.hash }));
  assert.deepEqual(filesOf(path("workspace/c")), { "outputs/a": "one" });
});

test("files that come back from the trash can be undone, also when what lay there before them is gone for good [W10][W12]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, clock, path } = ground;
  const conversation = await ground.start("c");
  const workspace = workspaces.ofConversation(conversation);
  const first = await moveToTrash(ground, conversation, { "outputs/a": "of last month" });
  await write(workspace, "outputs/a", "one");
  const { before, after } = unwrap(await workspace.write("outputs/a", "two", { key: "call" }));
  const second = await moveToTrash(ground, conversation, {});
  clock.move(first.movedAt + 30 * dayMs + 1 - clock.now());
  await workspaces.sweep();
  assert.deepEqual(readdirSync(path("trash")), [second.id]);
  unwrap(await workspaces.restore(alice, second.id));
  unwrap(await workspace.restore("outputs/a", before, { expected: after?.hash }));
  assert.deepEqual(filesOf(path("workspace/c")), { "outputs/a": "one" });
});

test("earlier contents go with the last of several that lay in the trash, also when all of them go at once [W10]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, clock, path } = ground;
  const conversation = await ground.start("c");
  for (const text of ["one", "two"]) await moveToTrash(ground, conversation, { "outputs/a": text });
  mkdirSync(path("kept/workspace/c/contents"), { recursive: true });
  clock.move(30 * dayMs + 1);
  await workspaces.sweep();
  assert.deepEqual([readdirSync(path("trash")), readdirSync(path("kept/workspace"))], [[], []]);
});

test("a deleted conversation's folders are removed with its tasks, its trash and its earlier contents [S6][W10]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, storage, path } = ground;
  const [deleted, living] = [await ground.start("deleted"), await ground.start("living")];
  await moveToTrash(ground, deleted, { "outputs/old": "old" });
  unwrap(await workspaces.assignTask(deleted, { agent: "task", parent: "root" }));
  await write(unwrap(await workspaces.taskOf(deleted, "task")), "a", "a");
  for (const conversation of [deleted, living]) {
    const files = workspaces.ofConversation(conversation);
    unwrap(await files.write("outputs/a", "1", { key: "call-1" }));
    unwrap(await files.write("outputs/a", "2", { key: "call-2" }));
  }
  await erase(ground, deleted);
  await workspaces.sweep();
  await workspaces.sweep();
  const left = ["workspace", "workspaces", "trash", "kept/workspace", "staging"].map((name) => readdirSync(path(name)));
  assert.deepEqual(left, [["living"], [], [], ["living"], []]);
  assert.deepEqual(
    [await storage.orphanedWorkspaces(9), filesOf(path("workspace"))],
    [[], { "living/outputs/a": "2" }],
  );
});

test("names in the database that lead out of the data directory are never removed [W5][S6]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, storage, path, logged } = ground;
  const conversation = await ground.start("c");
  for (const name of ["victim", "../victim", "workspace/victim"]) mkdirSync(path(name));
  const folders = [
    "../victim",
    "victim",
    "workspace/../victim",
    "workspaces/../workspace/victim",
    "",
    ".",
    "workspace",
  ];
  const agents = folders.map((folder, index) => ({ id: `odd-${index}`, parent: "root", folder }));
  unwrap(await storage.append({ number: conversation.number, events: [], with: { agents } }));
  await erase(ground, conversation);
  await workspaces.sweep();
  assert.deepEqual(
    ["victim", "../victim", "workspace/victim"].map((name) => readdirSync(path(name))),
    [[], [], []],
  );
  const refusals = logged.filter((line) => line.includes("we would not have given it this name"));
  assert.equal(refusals.length, folders.length);
  assertNoHostPath(ground);
});

test("a write that began before its conversation was deleted leaves nothing behind [S6]", async (t) => {
  const deleting: { now?: () => Promise<void> } = {};
  const interfere = (storage: Storage): Storage => ({
    ...storage,
    async updateWorkspace(folder, set) {
      const { now } = deleting;
      delete deleting.now;
      await now?.();
      return storage.updateWorkspace(folder, set);
    },
  });
  const ground = await openGround(t, { wrapStorage: interfere });
  const { workspaces, storage, path } = ground;
  const conversation = await ground.start("c", { bare: true });
  // The folder is just about to be made.
  deleting.now = async () => {
    await erase(ground, conversation);
    await workspaces.sweep();
  };
  await workspaces.ofConversation(conversation).write("uploads/late", "x");
  await workspaces.sweep();
  assert.deepEqual([readdirSync(path("workspace")), readdirSync(path("staging"))], [[], []]);
  assert.deepEqual(await storage.orphanedWorkspaces(9), []);
});

test("left-overs of a process that died are cleared away; what is being written stays for a day [W11]", async (t) => {
  const first = await openGround(t);
  await first.start("c");
  mkdirSync(first.path("staging/gone-1/deep"), { recursive: true });
  writeFileSync(first.path("staging/draft"), "half");
  mkdirSync(first.path("trash"));
  mkdirSync(first.path("trash/mine"));
  const { workspaces, path, clock, logged } = await first.restart();
  writeFileSync(path("staging/new"), "just begun");
  await workspaces.sweep();
  assert.deepEqual(readdirSync(path("staging")), ["new"]);
  clock.move(dayMs - 1);
  await workspaces.sweep();
  assert.deepEqual(readdirSync(path("staging")), ["new"]);
  clock.move(1);
  await workspaces.sweep();
  assert.deepEqual(readdirSync(path("staging")), []);
  assert.deepEqual(readdirSync(path("trash")), ["mine"], "what we did not put there is not ours to remove");
  assert.equal(logged[0], 'the trash has {count} folders that we did not put there {"count":1}');
});

/** Puts files into a conversation's workspace and has them cleaned up. */
async function moveToTrash(
  { workspaces, storage, clock }: Ground,
  conversation: ConversationRow,
  files: Readonly<Record<string, string>>,
): Promise<TrashRow> {
  for (const [path, text] of Object.entries(files)) await write(workspaces.ofConversation(conversation), path, text);
  clock.move(8 * dayMs);
  assert.equal((await workspaces.clean({ unusedMs: 7 * dayMs })).workspaces, 1);
  const [row] = await storage.listTrash(alice, 1);
  assert.ok(row);
  return row;
}

async function erase({ storage, clock }: Ground, { number }: ConversationRow): Promise<void> {
  unwrap(await storage.append({ number, events: [], with: { deleted: { at: clock.now() } } }));
}

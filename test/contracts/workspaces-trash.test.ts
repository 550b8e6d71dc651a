import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { failure } from "../../src/protocol/failure.ts";
import type { ConversationRow, Storage, TrashRow } from "../../src/storage/storage.ts";
import { readArchive, type Workspace } from "../../src/workspace/workspace.ts";
import { alice, bob, codeOf, unwrap } from "./storage-place.ts";
import {
  assertNoHostPath,
  dayMs,
  filesOf,
  type Ground,
  openGround,
  textOf,
  treeOf,
  write,
} from "./workspaces-place.ts";

const week = { unusedMs: 7 * dayMs };

test("files that nobody used for a week go to the trash, without what is in temp, and the conversation says when [W10]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, clock, path } = ground;
  const conversation = await ground.start("old");
  const files = workspaces.ofConversation(conversation);
  await write(files, "uploads/a.csv", "1234");
  await write(files, "outputs/b/c.md", "56");
  await write(files, "temp/big", "x".repeat(1000));
  clock.move(7 * dayMs);
  assert.deepEqual(await workspaces.clean(week), { workspaces: 0, bytes: 0, skipped: 0 }, "not a moment too early");
  clock.move(1);
  assert.deepEqual(await workspaces.clean(week), { workspaces: 1, bytes: 6, skipped: 0 });
  const [item, ...others] = await workspaces.trash(alice);
  const movedAt = clock.now();
  assert.deepEqual([item?.id.length, others, await workspaces.trash(bob)], [8, [], []]);
  assert.deepEqual(item, {
    ...{ id: item?.id, conversation: "old", movedAt, bytes: 6, files: 2 },
    until: movedAt + 30 * dayMs,
  });
  assert.deepEqual(filesOf(path("trash", item?.id ?? "")), { "uploads/a.csv": "1234", "outputs/b/c.md": "56" });
  assert.deepEqual(readdirSync(path("workspace")), []);
  assert.equal(await workspaces.cleanedAt(conversation), movedAt);
  assert.deepEqual(unwrap(await files.list()), { path: ".", entries: [], isUnwritten: true });
  assert.deepEqual(await workspaces.clean(week), { workspaces: 0, bytes: 0, skipped: 0 }, "once is enough");

  await write(files, "outputs/new.md", "new");
  assert.equal(await workspaces.cleanedAt(conversation), undefined);
  assert.deepEqual(Object.keys(treeOf(path("workspace/old"))).sort(), [
    "outputs",
    "outputs/new.md",
    "skills",
    "temp",
    "uploads",
  ]);
});

test("what is used stays, also when it is only read; a search that comes by is no use [W10]", async (t) => {
  const { start, workspaces, clock } = await openGround(t);
  const rows = [await start("read"), await start("listed"), await start("left"), await start("searched")] as const;
  const [read, listed, , searched] = rows;
  for (const conversation of rows) await write(workspaces.ofConversation(conversation), "outputs/a", "a");
  clock.move(6 * dayMs);
  await workspaces.ofConversation(read).read("outputs/a");
  await workspaces.ofConversation(listed).list();
  assert.equal(await textOf((await workspaces.lookInto(searched)) ?? assert.fail(), "outputs/a"), "a");
  clock.move(2 * dayMs);
  assert.equal((await workspaces.clean(week)).workspaces, 2);
  assert.deepEqual((await workspaces.trash(alice)).map(({ conversation }) => conversation).sort(), [
    "left",
    "searched",
  ]);
});

test("a workspace in which there are no files is tidied away and nobody is told that something was removed [W10]", async (t) => {
  const { start, workspaces, clock, path, logged } = await openGround(t);
  const conversation = await start("empty");
  await write(workspaces.ofConversation(conversation), "temp/scratch", "x");
  unwrap(await workspaces.assignTask(conversation, { agent: "task", parent: "root" }));
  const task = unwrap(await workspaces.taskOf(conversation, "task"));
  await write(task, "a", "x");
  unwrap(await task.remove("a"));
  clock.move(8 * dayMs);
  assert.deepEqual(await workspaces.clean(week), { workspaces: 0, bytes: 0, skipped: 0 });
  assert.deepEqual([readdirSync(path("workspace")), readdirSync(path("workspaces"))], [[], []]);
  assert.deepEqual([await workspaces.cleanedAt(conversation), await workspaces.trash(alice)], [undefined, []]);
  await write(workspaces.ofConversation(conversation), "outputs/a", "again");
  assert.deepEqual(filesOf(path("workspace/empty")), { "outputs/a": "again" });
  assert.deepEqual(logged, []);
});

test("a folder that is not ours is left alone: no metadata, that of another, or a link in its place [W10]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, clock, path, logged } = ground;
  const names = ["without", "other", "broken", "huge", "link", "pipe", "file"];
  for (const name of names) await write(workspaces.ofConversation(await ground.start(name)), "outputs/a", name);
  const metadata = (name: string) => path("workspace", name, ".metadata.json");
  rmSync(metadata("without"));
  writeFileSync(metadata("other"), '{"session_id":"somebody"}');
  writeFileSync(metadata("broken"), "{");
  writeFileSync(metadata("huge"), JSON.stringify({ session_id: "huge", rest: "x".repeat(100_000) }));
  rmSync(metadata("pipe"));
  execFileSync("mkfifo", [metadata("pipe")]);
  for (const name of ["link", "file"]) rmSync(path("workspace", name), { recursive: true });
  mkdirSync(path("elsewhere"));
  writeFileSync(path("elsewhere/.metadata.json"), '{"session_id":"link"}');
  symlinkSync(path("elsewhere"), path("workspace/link"));
  writeFileSync(path("workspace/file"), "a file");
  const before = treeOf(path("."));
  clock.move(8 * dayMs);
  assert.deepEqual(await workspaces.clean(week), { workspaces: 0, bytes: 0, skipped: 7 });
  assert.deepEqual(treeOf(path(".")), before);
  assert.deepEqual(
    logged.sort(),
    [
      ...["broken", "huge", "other", "pipe", "without"].map(
        (name) => `{folder} was left as it is: {why} {"folder":"workspace/${name}","why":"it has no metadata of ours"}`,
      ),
      ...["file", "link"].map(
        (name) => `{folder} was left as it is: {why} {"folder":"workspace/${name}","why":"it is no folder"}`,
      ),
    ].sort(),
  );
  assertNoHostPath(ground);
});

test("an upload that is still coming in keeps its workspace where it is [W10][W11]", async (t) => {
  const { start, workspaces, clock, path } = await openGround(t);
  const conversation = await start("slow");
  await write(workspaces.ofConversation(conversation), "temp/a", "a");
  clock.move(8 * dayMs);
  const upload = await beginUpload(workspaces.ofConversation(conversation));
  assert.deepEqual(await workspaces.clean({ unusedMs: 0 }), { workspaces: 0, bytes: 0, skipped: 0 });
  await upload.end();
  assert.deepEqual(filesOf(path("workspace/slow")), { "temp/a": "a", "uploads/big": "begun, and ended" });
});

test("a server that is started beside others takes away nothing that they are just writing; what nobody ends goes after a day [W10][W11][Q3]", async (t) => {
  const { start, workspaces, beside, clock, path } = await openGround(t, { isShared: true });
  const upload = await beginUpload(workspaces.ofConversation(await start("c")));
  const backup = workspaces.archive({ agentyard: "0.0.0-test", protocol: "1", withKey: false });
  const pieces = [(await backup.next()).value ?? assert.fail()];
  writeFileSync(path("staging/draft"), "of a server that died");
  const other = beside();
  await other.sweep();
  await upload.end();
  assert.deepEqual(filesOf(path("workspace/c")), { "uploads/big": "begun, and ended" });
  for await (const piece of backup) pieces.push(piece);
  writeFileSync(path("b.tar"), Buffer.concat(pieces));
  assert.ok((await readArchive(path("b.tar"), { take: async () => {} })).ok);
  clock.move(dayMs - 1);
  await other.sweep();
  assert.deepEqual(readdirSync(path("staging")), ["draft"]);
  clock.move(1);
  await other.sweep();
  assert.deepEqual(readdirSync(path("staging")), []);
});

test("a turn that begins while its files are being counted keeps them [W10]", async (t) => {
  const starting: { turn?: () => Promise<unknown> } = {};
  const interfere = (storage: Storage): Storage => ({
    ...storage,
    async putTrash(row) {
      const stored = await storage.putTrash(row);
      await starting.turn?.();
      return stored;
    },
  });
  const { start, workspaces, storage, clock, path } = await openGround(t, { wrapStorage: interfere });
  const conversation = await start("c");
  await write(workspaces.ofConversation(conversation), "outputs/a", "a");
  clock.move(8 * dayMs);
  starting.turn = () => storage.claimLease(conversation.number, "a turn", 60_000);
  assert.deepEqual(await workspaces.clean(week), { workspaces: 0, bytes: 0, skipped: 0 });
  assert.deepEqual([filesOf(path("workspace/c")), await workspaces.trash(alice)], [{ "outputs/a": "a" }, []]);
});

test("where nothing can be moved nothing is lost, and the log says why [W10][Q1]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, clock, path, logged } = ground;
  await write(workspaces.ofConversation(await ground.start("c")), "outputs/a", "a");
  writeFileSync(path("trash"), "in the way");
  clock.move(8 * dayMs);
  assert.deepEqual(await workspaces.clean(week), { workspaces: 0, bytes: 0, skipped: 1 });
  assert.deepEqual([filesOf(path("workspace/c")), await workspaces.trash(alice)], [{ "outputs/a": "a" }, []]);
  assert.deepEqual(logged, ['{folder} was left as it is: {why} {"folder":"workspace/c","why":"io"}']);
  assertNoHostPath(ground);
});

test("a task's files go to the trash and come back like a conversation's [W10][W2]", async (t) => {
  const { start, workspaces, clock, path } = await openGround(t);
  const conversation = await start("c");
  unwrap(await workspaces.assignTask(conversation, { agent: "task", parent: "root" }));
  const task = unwrap(await workspaces.taskOf(conversation, "task"));
  await write(task, "temp/notes", "a task's temp is its own");
  await write(task, "report.md", "done");
  clock.move(8 * dayMs);
  assert.deepEqual(await workspaces.clean(week), { workspaces: 1, bytes: 28, skipped: 0 });
  assert.deepEqual(unwrap(await task.list()).isUnwritten, true);
  const [item] = await workspaces.trash(alice);
  assert.deepEqual([item?.conversation, item?.task, item?.files], [conversation.id, "task", 2]);
  const given = unwrap(await workspaces.restore(alice, item?.id ?? ""));
  assert.deepEqual(given, { conversation: conversation.id, files: 2, beside: [] });
  assert.deepEqual(filesOf(path("workspaces")), {
    "task/temp/notes": "a task's temp is its own",
    "task/report.md": "done",
  });
});

type Upload = { end(): Promise<void> };

/** The first half of `uploads/big` has come in. */
async function beginUpload(files: Workspace): Promise<Upload> {
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  async function* slowly() {
    yield Buffer.from("begun, ");
    begun.resolve();
    await gate.promise;
    yield Buffer.from("and ended");
  }
  const uploading = files.write("uploads/big", slowly());
  await begun.promise;
  return {
    async end() {
      gate.resolve();
      unwrap(await uploading);
    },
  };
}

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

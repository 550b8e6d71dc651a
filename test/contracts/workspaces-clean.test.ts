import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import type { ConversationRow, Storage } from "../../src/storage/storage.ts";
import { readArchive, type Workspace } from "../../src/workspace/workspace.ts";
import { alice, bob, unwrap } from "./storage-place.ts";
import { assertNoHostPath, dayMs, filesOf, openGround, textOf, treeOf, write } from "./workspaces-place.ts";

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

test("folders without a file in them go too, and nobody is told [W10]", async (t) => {
  const { start, workspaces, clock, path } = await openGround(t);
  const conversation = await start("c");
  const files = workspaces.ofConversation(conversation);
  await write(files, "uploads/temparea/a", "x");
  unwrap(await files.remove("uploads/temparea/a"));
  clock.move(8 * dayMs);
  assert.deepEqual(await workspaces.clean(week), { workspaces: 0, bytes: 0, skipped: 0 });
  assert.deepEqual(readdirSync(path("workspace")), []);
  assert.deepEqual([await workspaces.cleanedAt(conversation), await workspaces.trash(alice)], [undefined, []]);
});

test("hidden files are files: they go to the trash like the others [W10]", async (t) => {
  const { start, workspaces, clock, path } = await openGround(t);
  await write(workspaces.ofConversation(await start("c")), "outputs/.env", "A=1");
  clock.move(8 * dayMs);
  assert.deepEqual(await workspaces.clean(week), { workspaces: 1, bytes: 3, skipped: 0 });
  assert.deepEqual(Object.values(filesOf(path("trash"))), ["A=1"]);
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

test("a hundred folders that cannot be moved do not keep the others from their turn [W10]", async (t) => {
  const { start, workspaces, storage, clock, path } = await openGround(t);
  const rows = Array.from({ length: 120 }, (_, index) => start(`foreign-${index}`, { bare: true }));
  for (const { number, id } of await Promise.all(rows)) {
    const folder = `workspace/${id}`;
    mkdirSync(path(folder), { recursive: true });
    unwrap(await storage.workspaceOf(number, { folder, otherFolder: "workspace/x", at: clock.now() }));
    unwrap(await storage.updateWorkspace(folder, { madeAt: clock.now() }));
  }
  clock.move(1);
  await write(workspaces.ofConversation(await start("ours")), "outputs/a", "12345");
  clock.move(8 * dayMs);
  assert.deepEqual(await workspaces.clean(week), { workspaces: 1, bytes: 5, skipped: 120 });
});

test("a folder that somebody removed by hand is no trouble [W10]", async (t) => {
  const { start, workspaces, storage, clock, path } = await openGround(t);
  const conversation = await start("gone");
  await write(workspaces.ofConversation(conversation), "outputs/a", "x");
  rmSync(path("workspace/gone"), { recursive: true });
  clock.move(8 * dayMs);
  assert.deepEqual(await workspaces.clean(week), { workspaces: 0, bytes: 0, skipped: 0 });
  assert.equal(await workspaces.cleanedAt(conversation), undefined);
  assert.deepEqual(
    await storage.unusedWorkspaces(clock.now() - week.unusedMs, 9),
    [],
    "nor is it looked for each time",
  );
  await write(workspaces.ofConversation(conversation), "outputs/b", "y");
  assert.deepEqual(filesOf(path("workspace/gone")), { "outputs/b": "y" });
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

test("an upload that begins at the last look before its workspace is moved away is not moved along [W10][W11]", async (t) => {
  const starting: { upload?: () => Promise<void> } = {};
  let isLastLook = false;
  const interfere = (storage: Storage): Storage => ({
    ...storage,
    putTrash(row) {
      isLastLook = true;
      return storage.putTrash(row);
    },
    async unusedWorkspaces(...asked) {
      const unused = await storage.unusedWorkspaces(...asked);
      if (isLastLook) await starting.upload?.();
      isLastLook = false;
      return unused;
    },
  });
  const { start, workspaces, clock, path } = await openGround(t, { wrapStorage: interfere });
  const files = workspaces.ofConversation(await start("c"));
  await write(files, "outputs/a", "a");
  clock.move(8 * dayMs);
  const uploads: Upload[] = [];
  starting.upload = async () => void uploads.push(await beginUpload(files));
  assert.deepEqual(await workspaces.clean(week), { workspaces: 0, bytes: 0, skipped: 0 });
  assert.equal(uploads.length, 1);
  for (const upload of uploads) await upload.end();
  assert.deepEqual(filesOf(path("workspace/c")), { "outputs/a": "a", "uploads/big": "begun, and ended" });
  assert.deepEqual(await workspaces.trash(alice), []);
});

test("a person cleans up after themselves only [W10][Q1]", async (t) => {
  const { start, workspaces, clock } = await openGround(t);
  const [hers, his] = [await start("hers"), await start("his", { owner: bob })];
  for (const conversation of [hers, his]) await write(workspaces.ofConversation(conversation), "outputs/a", "a");
  clock.move(1);
  assert.deepEqual(await workspaces.clean({ unusedMs: 0, owner: bob }), { workspaces: 1, bytes: 1, skipped: 0 });
  assert.equal(await textOf(workspaces.ofConversation(hers), "outputs/a"), "a");
  assert.deepEqual((await workspaces.trash(alice)).length + (await workspaces.trash(bob)).length, 1);
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

test("a move that the system refuses leaves no trace in the trash [W10]", async (t) => {
  const blocking: { at?: (id: string) => void } = {};
  const interfere = (storage: Storage): Storage => ({
    ...storage,
    async putTrash(row) {
      blocking.at?.(row.id);
      return storage.putTrash(row);
    },
  });
  const { start, workspaces, clock, path } = await openGround(t, { wrapStorage: interfere });
  await write(workspaces.ofConversation(await start("c")), "outputs/a", "a");
  clock.move(8 * dayMs);
  blocking.at = (id) => writeFileSync(path("trash", id), "in the way");
  assert.deepEqual(await workspaces.clean(week), { workspaces: 0, bytes: 0, skipped: 1 });
  assert.deepEqual([filesOf(path("workspace/c")), await workspaces.trash(alice)], [{ "outputs/a": "a" }, []]);
});

test("a closing yard stops cleaning up after the workspace it is at [W10]", async (t) => {
  const closing: { now?: () => void } = {};
  const interfere = (storage: Storage): Storage => ({
    ...storage,
    putTrash(row) {
      closing.now?.();
      return storage.putTrash(row);
    },
  });
  const { start, workspaces, clock } = await openGround(t, { wrapStorage: interfere });
  const rows: ConversationRow[] = [await start("a"), await start("b"), await start("c")];
  for (const row of rows) await write(workspaces.ofConversation(row), "outputs/a", "a");
  clock.move(8 * dayMs);
  const closed = Promise.withResolvers<void>();
  closing.now = () => closed.resolve(workspaces.close());
  assert.deepEqual(await workspaces.clean(week), { workspaces: 1, bytes: 1, skipped: 0 });
  await closed.promise;
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

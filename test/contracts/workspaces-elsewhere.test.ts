import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { openUnpacking, readArchive } from "../../src/workspace/workspace.ts";
import { alice, idOf, unwrap } from "./storage-place.ts";
import { dayMs, filesOf, type Ground, openGround, write } from "./workspaces-place.ts";

// Tidying up beside others: other servers, programs that still run, other conversations, a backup that is just made.

const hourMs = 3_600_000;
const week = { unusedMs: 7 * dayMs };

test("what is cleaned up for one conversation leaves the others where they are [W10]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, clock, path } = ground;
  const rows = [await ground.start("one"), await ground.start("two"), await ground.start("three")];
  for (const row of rows) await write(workspaces.ofConversation(row), "outputs/a", "a");
  clock.move(1);
  const cleaned = await workspaces.clean({ unusedMs: 0, conversation: rows[1]?.number });
  assert.deepEqual(cleaned, { workspaces: 1, bytes: 1, skipped: 0 });
  assert.deepEqual(readdirSync(path("workspace")).sort(), ["one", "three"]);
});

test("what another server has in use is left to it: files, trash, what was deleted, and what callers left [W10][S6]", async (t) => {
  let isHere = true;
  const ground = await openGround(t, { isShared: true, isHere: async () => isHere });
  const { workspaces, storage, clock, path } = ground;
  const [used, deleted, trashed] = [
    await ground.start("used"),
    await ground.start("deleted"),
    await ground.start("trashed"),
  ];
  await write(workspaces.ofConversation(trashed), "outputs/a", "a");
  clock.move(8 * dayMs);
  await workspaces.clean({ ...week, conversation: trashed.number });
  await write(workspaces.ofConversation(used), "outputs/a", "a");
  await write(workspaces.ofConversation(deleted), "outputs/a", "a");
  const left = await callers(ground, "of-a-caller", { isPassing: true });
  unwrap(await storage.append({ number: deleted.number, events: [], with: { deleted: { at: clock.now() } } }));
  // As if the other one had died after it had noted what it was about to move.
  const [row] = await storage.listTrash(alice, 1);
  const half = {
    ...row,
    id: "0123abcd",
    owner: alice,
    number: used.number,
    workspace: "used",
    folder: "workspace/used",
  };
  unwrap(await storage.putTrash({ ...half, movedAt: clock.now(), bytes: 1, files: 1 }));
  clock.move(31 * dayMs);
  isHere = false;
  const { elsewhere = [], ...cleaned } = await workspaces.clean(week);
  assert.deepEqual(cleaned, { workspaces: 0, bytes: 0, skipped: 0 });
  assert.deepEqual(elsewhere.toSorted(), [used.number, left.number]);
  assert.deepEqual(await workspaces.sweep(), { left: 0 });
  assert.deepEqual(
    [readdirSync(path("workspace")).sort(), readdirSync(path("trash")).length, (await workspaces.trash(alice)).length],
    [["deleted", "of-a-caller", "used"], 1, 2],
  );
  assert.equal((await storage.conversationByNumber(left.number))?.deletedAt, undefined);
  isHere = true;
  assert.deepEqual(await workspaces.sweep(), { left: 0 });
  assert.deepEqual(
    [readdirSync(path("workspace")), readdirSync(path("trash")), await workspaces.trash(alice)],
    [["used"], [], []],
  );
});

test("what programs of a task wrote on another server is put in its place by that one alone [W2][W4]", async (t) => {
  let isHere = false;
  const ground = await openGround(t, { isShared: true, isHere: async () => isHere });
  const { workspaces, beside, path } = ground;
  const row = await ground.start("c");
  unwrap(await workspaces.assignTask(row, { agent: "agent-1", parent: "root" }));
  const { folder } = unwrap(await unwrap(await workspaces.taskOf(row, "agent-1")).guestFolder());
  writeFileSync(join(folder, "a"), "of a program");
  const other = beside();
  await other.sweep();
  assert.deepEqual(filesOf(path("staging")), { "wait-agent-1/a": "of a program" });
  isHere = true;
  await other.sweep();
  assert.deepEqual([filesOf(path("staging")), filesOf(path("workspaces"))], [{}, { "agent-1/a": "of a program" }]);
});

test("programs of a conversation have ended before its files are counted and moved: the last they wrote comes along [W10][X1]", async (t) => {
  const left: number[] = [];
  const leave = async (conversation: number) => {
    left.push(conversation);
    await nextLoop();
    writeFileSync(ground.path("workspace/c/outputs/last"), "the last");
  };
  const ground = await openGround(t, { leave });
  const { workspaces, clock, path } = ground;
  const row = await ground.start("c");
  await write(workspaces.ofConversation(row), "outputs/a", "a");
  clock.move(8 * dayMs);
  assert.deepEqual(await workspaces.clean(week), { workspaces: 1, bytes: 9, skipped: 0 });
  const [item] = await workspaces.trash(alice);
  assert.deepEqual([left, item?.files], [[row.number], 2]);
  assert.deepEqual(filesOf(path("trash", item?.id ?? "")), { "outputs/a": "a", "outputs/last": "the last" });
});

test("a conversation that a caller left ends after its time, an hour at least; one of which nothing is to be kept after an hour; all of many at once [S6]", async (t) => {
  const there = async ({ workspaces, path }: Ground) => {
    assert.deepEqual(await workspaces.sweep(), { left: 0 });
    return readdirSync(path("workspace")).sort();
  };
  const ground = await openGround(t, { limits: { callerMs: 2 * hourMs } });
  await ground.start("of-a-person");
  await callers(ground, "left", { isPassing: false });
  for (let index = 0; index < 45; index += 1) await callers(ground, `passing-${index}`, { isPassing: true });
  ground.clock.move(hourMs);
  assert.equal((await there(ground)).length, 47, "not a moment too early");
  ground.clock.move(1);
  assert.deepEqual(await there(ground), ["left", "of-a-person"]);
  assert.deepEqual(ground.logged, ['conversations that callers left have ended {"count":45}']);
  ground.clock.move(hourMs - 1);
  assert.deepEqual(await there(ground), ["left", "of-a-person"]);
  ground.clock.move(1);
  assert.deepEqual(await there(ground), ["of-a-person"]);

  const short = await openGround(t, { limits: { callerMs: 1 } });
  await callers(short, "left", { isPassing: false });
  short.clock.move(hourMs);
  assert.deepEqual(await there(short), ["left"]);
  short.clock.move(1);
  assert.deepEqual(await there(short), []);

  const never = await openGround(t, { limits: { callerMs: 0 } });
  await callers(never, "left", { isPassing: false });
  await callers(never, "passing", { isPassing: true });
  never.clock.move(400 * dayMs);
  assert.deepEqual(await there(never), ["left"]);
});

test("a backup holds what was moved to the trash, and what came back from it, while it was made [Q3][W10]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, clock } = ground;
  const rows: Record<string, ConversationRow> = {};
  for (const id of ["first", "goes", "returns"]) rows[id] = await ground.start(id);
  for (const [id, row] of Object.entries(rows)) await write(workspaces.ofConversation(row), "outputs/a", id);
  await write(workspaces.ofConversation(rows.first ?? assert.fail()), "outputs/large", "x".repeat(2_000_000));
  clock.move(8 * dayMs);
  await workspaces.clean({ ...week, conversation: rows.returns?.number });
  const [item] = await workspaces.trash(alice);
  const backup = openBackup(ground);
  // The packer waits for its reader within the large file: the folders have been listed, and only the first is taken.
  await backup.take((piece) => piece.includes("workspace/first/outputs/large"));
  assert.equal((await workspaces.clean({ ...week, conversation: rows.goes?.number })).workspaces, 1);
  unwrap(await workspaces.restore(alice, item?.id ?? ""));
  const files = await backup.files();
  const [gone] = await workspaces.trash(alice);
  assert.deepEqual(files.filter((file) => file.endsWith("outputs/a")).sort(), [
    `trash/${gone?.id}/outputs/a`,
    "workspace/first/outputs/a",
    "workspace/returns/outputs/a",
  ]);
});

test("a backup with names that are no text can be put back, also where two of them look alike: what has no path is named [Q3]", async (t) => {
  const ground = await openGround(t);
  await ground.start("c");
  const { path } = ground;
  const odd = (...names: string[]) => Buffer.from(path("workspace/c/outputs", ...names), "latin1");
  for (const name of ["f\xfe", "f\xff", "\xfd"]) mkdirSync(odd(name));
  // Whichever of the two comes first, the other has a folder where that one has a file.
  for (const name of ["f\xff/sub/deep", "f\xfe/twin/deep"]) mkdirSync(odd(name), { recursive: true });
  const alike = ["f\xfe/a", "f\xff/a", "f\xfe/sub", "f\xff/sub/deep/c", "f\xff/twin", "f\xfe/twin/deep/c"];
  const names = [...alike, "f\xff/b", "f\xfe/\xff", "\xfd/x", "\xfe", "\xff"];
  for (const name of names) writeFileSync(odd(name), name);
  writeFileSync(path("workspace/c/outputs/\uFFFD"), "text");
  await openBackup(ground).files();
  const folder = path("..", "restored");
  mkdirSync(folder);
  const unpacking = openUnpacking(folder);
  const back = await readArchive(path("b.tar"), unpacking);
  assert.ok(back.ok);
  assert.equal(await unpacking.finish(), undefined);
  unpacking.close();
  const files = readdirSync(join(folder, "workspace/c/outputs"), {
    recursive: true,
    encoding: "buffer",
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(Buffer.concat([Buffer.from(entry.parentPath), Buffer.from("/"), entry.name]), "utf8"));
  const { leftOut } = back.value.end;
  const isNamed = (name: string) =>
    leftOut.includes(`workspace/c/outputs/${name.replaceAll(/[\xfd-\xff]/g, "\uFFFD")}`);
  assert.deepEqual(
    names.filter((name) => !files.includes(name) && !isNamed(name)),
    [],
    "each is there or named",
  );
  assert.ok(files.length >= 5 && ["\xfe", "\xff", "text"].every((text) => files.includes(text)));
});

/** A backup that is taken piece by piece. */
function openBackup({ workspaces, path }: Ground) {
  const backup = workspaces.archive({ agentyard: "0.0.0-test", protocol: "1", withKey: false });
  const pieces: Uint8Array[] = [];
  const take = async (isEnough: (piece: Buffer) => boolean) => {
    for (let next = await backup.next(); !next.done; next = await backup.next()) {
      pieces.push(Buffer.from(next.value));
      if (isEnough(Buffer.from(next.value))) return;
    }
  };
  return {
    take,
    /** Takes the rest; answers all files that are in it. */
    async files() {
      await take(() => false);
      writeFileSync(path("b.tar"), Buffer.concat(pieces));
      const files: string[] = [];
      const read = await readArchive(path("b.tar"), {
        take: async (listed) => void (listed.type === "file" && files.push(listed.path)),
      });
      assert.ok(read.ok);
      return files;
    },
  };
}

async function callers({ storage, workspaces, clock }: Ground, id: string, { isPassing }: { isPassing: boolean }) {
  const wanted = { owner: alice, id: idOf(id), at: clock.now(), events: [], origin: "program", isPassing } as const;
  const row = unwrap(await storage.createConversation(wanted));
  unwrap(await workspaces.create(row));
  return row;
}

test("of what a backup leaves out a hundred are named, and all are counted; a key that is not there is nothing [Q3]", async (t) => {
  const ground = await openGround(t);
  await ground.start("c");
  const pipes = Array.from({ length: 101 }, (_, n) => ground.path(`workspace/c/outputs/pipe-${n}`));
  execFileSync("mkfifo", pipes);
  const pieces: Uint8Array[] = [];
  for await (const piece of ground.workspaces.archive({ agentyard: "0.0.0-test", protocol: "1", withKey: true }))
    pieces.push(Buffer.from(piece));
  writeFileSync(ground.path("b.tar"), Buffer.concat(pieces));
  const read = await readArchive(ground.path("b.tar"), { take: async () => {} });
  assert.ok(read.ok);
  const { leftOut, leftOutCount } = read.value.end;
  assert.deepEqual([leftOut.length, leftOutCount, leftOut[0]], [100, 101, "workspace/c/outputs/pipe-0"]);
});

import assert from "node:assert/strict";
import { linkSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { failure } from "../../src/protocol/failure.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";
import { alice, bob, codeOf, morning, unwrap } from "./storage-place.ts";
import { assertNoHostPath, filesOf, type Ground, openGround, textOf, treeOf, write } from "./workspaces-place.ts";

test("a new conversation has its folders and says in its metadata whose they are [W1]", async (t) => {
  const ground = await openGround(t);
  await ground.start("first");
  const folders = ["skills", "uploads", "outputs", "temp"];
  assert.deepEqual(treeOf(ground.path("workspace")), {
    first: "folder",
    ...Object.fromEntries(folders.map((name) => [`first/${name}`, "folder"])),
  });
  assert.deepEqual(JSON.parse(readFileSync(ground.path("workspace/first/.metadata.json"), "utf8")), {
    session_id: "first",
    created_at: "2026-01-01T08:00:00.000Z",
    kind: "conversation",
  });
  const modeOf = (name: string) => lstatSync(ground.path(name)).mode & 0o777;
  assert.deepEqual(
    ["workspace", "staging", "workspace/first", "workspace/first/outputs"].map(modeOf),
    [0o700, 0o700, 0o755, 0o755],
  );
  assert.deepEqual(treeOf(ground.path("staging")), {}, "nothing is left behind");
});

test("a conversation whose folders could not be made gets them with the first file [W1][W11]", async (t) => {
  const ground = await openGround(t);
  const conversation = await ground.start("late", { bare: true });
  const paths = Array.from({ length: 20 }, (_, index) => `outputs/${index}.txt`);
  await Promise.all(paths.map((path) => write(ground.workspaces.ofConversation(conversation), path, path)));
  assert.deepEqual(
    filesOf(ground.path("workspace/late")),
    Object.fromEntries(paths.map((path) => [path, path])),
    "writers that came at the same time found the same folder",
  );
  const row = await ground.storage.findWorkspace(conversation.number);
  assert.deepEqual([row?.madeAt, row?.usedAt], [morning, morning]);
  assert.deepEqual(treeOf(ground.path("staging")), {});
});

test("two users may give their conversations the same id; each has files of their own under it [W1]", async (t) => {
  const { start, workspaces, path } = await openGround(t);
  const [hers, his] = [await start("plan", { owner: alice }), await start("plan", { owner: bob })];
  await write(workspaces.ofConversation(hers), "outputs/a.txt", "hers");
  await write(workspaces.ofConversation(his), "outputs/a.txt", "his");
  const seen = [workspaces.ofConversation(hers), workspaces.ofConversation(his)];
  assert.deepEqual(await Promise.all(seen.map((workspace) => textOf(workspace, "outputs/a.txt"))), ["hers", "his"]);
  assert.deepEqual(
    seen.map(({ id }) => id),
    ["plan", "plan"],
  );
  const files = Object.entries(filesOf(path("workspace")));
  assert.equal(files.length, 2);
  assert.deepEqual(files.find(([name]) => name.startsWith("plan/"))?.[1], "hers");
});

test("agents that nobody made, chains that lead nowhere or in a circle and strangers have no workspace [W3]", async (t) => {
  const { start, workspaces, storage } = await openGround(t);
  const [mine, theirs] = [await start("mine"), await start("theirs", { owner: bob })];
  unwrap(await workspaces.assignTask(theirs, { agent: "stranger", parent: "root" }));
  const agents = [
    { id: "circle-1", parent: "circle-2" },
    { id: "circle-2", parent: "circle-1" },
    { id: "own-parent", parent: "own-parent" },
    { id: "orphan", parent: "nobody" },
  ];
  unwrap(await storage.append({ number: mine.number, events: [], with: { agents } }));
  for (const agent of ["nobody", "stranger", "orphan", "circle-1", "own-parent", ...hostileIds]) {
    const refused = failure("workspace_not_assigned", { agent });
    assert.deepEqual(await workspaces.ofAgent(mine, agent), refused);
    assert.deepEqual(await workspaces.taskOf(mine, agent), refused);
  }
  const taken = await workspaces.assignTask(mine, { agent: "stranger", parent: "root" });
  assert.deepEqual(taken, failure("workspace_not_assigned", { agent: "stranger" }));
  const below = await workspaces.assignTask(mine, { agent: "new", parent: "nobody" });
  assert.deepEqual(below, failure("workspace_not_assigned", { agent: "nobody" }));
});

test("an id that could lead out of the data directory never becomes a folder [W5][Q1]", async (t) => {
  const ground = await openGround(t);
  const { workspaces, storage } = ground;
  const conversation = await ground.start("c");
  const before = treeOf(ground.path("."));
  const answers: unknown[] = [];
  for (const agent of ["root", "user", ...hostileIds]) {
    const refused = await workspaces.assignTask(conversation, { agent, parent: "root" });
    assert.deepEqual(refused, failure("workspace_not_assigned", { agent }));
    answers.push(refused);
  }
  assert.deepEqual(await storage.agentsOf(conversation.number), []);
  // As an older program or somebody with a database tool might have left it.
  const folders = ["../outside", "/etc", "workspaces/..", "workspaces/a/b", "trash/00000000", "sessions.db", ""];
  const agents = folders.map((folder, index) => ({ id: `odd-${index}`, parent: "root", folder }));
  unwrap(await storage.append({ number: conversation.number, events: [], with: { agents } }));
  for (const { id } of agents) {
    const workspace = unwrap(await workspaces.taskOf(conversation, id));
    const written = await workspace.write("a.txt", "x");
    assert.deepEqual(written, failure("workspace_not_assigned", { agent: id }));
    assert.equal(codeOf(await workspace.list()), "workspace_not_assigned");
    answers.push(written);
  }
  const after = { ...treeOf(ground.path(".")) };
  assert.deepEqual(after, { ...before, ...stagingOnly(after) });
  assertNoHostPath(ground, answers);
});

test("nothing brings the files of a deleted conversation back [S6]", async (t) => {
  const { start, workspaces, storage, path } = await openGround(t);
  const conversation = await start("c");
  unwrap(await workspaces.assignTask(conversation, { agent: "task", parent: "root" }));
  const [own, task] = [workspaces.ofConversation(conversation), unwrap(await workspaces.taskOf(conversation, "task"))];
  await write(own, "outputs/a.txt", "x");
  unwrap(await storage.append({ number: conversation.number, events: [], with: { deleted: { at: morning } } }));
  await workspaces.sweep();
  assert.deepEqual(
    [codeOf(await own.write("outputs/b.txt", "late")), codeOf(await task.write("b.txt", "late"))],
    ["workspace_not_assigned", "workspace_not_assigned"],
  );
  const fresh = workspaces.ofConversation(conversation);
  assert.equal(codeOf(await fresh.write("outputs/c.txt", "later")), "workspace_not_assigned");
  assert.deepEqual(
    [filesOf(path("workspace")), codeOf(await workspaces.create(conversation))],
    [{}, "workspace_not_assigned"],
  );
});

const hostileIds = [
  "",
  ".",
  "..",
  "../x",
  "a/../b",
  "a/b",
  "/etc",
  "a..b",
  "-x",
  ".hidden",
  "a b",
  "a\0b",
  "x".repeat(65),
];

/** A write makes its draft before it knows that it has no place. */
function stagingOnly(tree: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).filter(([name]) => name === "staging"));
}

test("in a branch earlier contents of its parent can be given back, those it was to have; what cannot be copied is named [L9][W12]", async (t) => {
  const { start, workspaces, path } = await openGround(t);
  const [parent, branch] = [await start("parent"), await start("branch")];
  const files = workspaces.ofConversation(parent);
  await write(files, "outputs/a", "one");
  const first = unwrap(await files.write("outputs/a", "two", { key: "call 1" })).before ?? assert.fail();
  const second = unwrap(await files.write("outputs/a", "three", { key: "call 2" })).before ?? assert.fail();
  writeFileSync(path("elsewhere"), "not of the parent alone");
  linkSync(path("elsewhere"), path("workspace/parent/outputs/second-name"));
  const lost = { bytes: 4, mode: 0o644, hash: "0".repeat(64) };
  const copied = unwrap(await workspaces.copy(parent, branch, [lost, first]));
  assert.deepEqual(copied, { files: 1, leftOut: ["outputs/second-name"] });
  await workspaces.ofConversation(parent).remove("outputs/a");
  const copy = workspaces.ofConversation(branch);
  assert.equal(codeOf(await copy.restore("outputs/a", second)), "read_failed");
  unwrap(await copy.restore("outputs/a", first));
  assert.equal(await textOf(copy, "outputs/a"), "one");
});

test("whether files can be written is really tried, and nothing is left of it [Q2]", async (t) => {
  const { workspaces, path } = await openGround(t);
  assert.deepEqual([await workspaces.check(), readdirSync(path("staging"))], [{ ok: true, value: undefined }, []]);
  rmSync(path("staging"), { recursive: true });
  writeFileSync(path("staging"), "in the way");
  assert.deepEqual(await workspaces.check(), failure("write_failed", { path: ".", why: "io" }));
});

test("a task's workspace is recorded at once and made by its first write; until then it is empty [W2]", async (t) => {
  const { start, workspaces, storage, path } = await openGround(t);
  const conversation = await start("c");
  unwrap(await workspaces.assignTask(conversation, { agent: "agent-1", parent: "root" }));
  const workspace = unwrap(await workspaces.taskOf(conversation, "agent-1"));
  const recorded = async () => (await storage.agentsOf(conversation.number))[0]?.workspace;
  assert.deepEqual(await recorded(), {
    ...{ folder: "workspaces/agent-1", kind: "task", id: "agent-1", number: conversation.number, owner: alice },
    ...{ createdAt: morning, madeAt: undefined, usedAt: morning, cleanedAt: undefined, ordinal: 2 },
  });
  const read = unwrap(await workspace.read("notes.md"));
  assert.deepEqual([read.bytes.toString(), read.isUnwritten], ["", true]);
  assert.deepEqual(unwrap(await workspace.list()), { path: ".", entries: [], isUnwritten: true });
  const nothing = { fileCount: 0, dirCount: 0, totalSize: 0, lastModified: null };
  assert.deepEqual(unwrap(await workspace.info()), nothing);
  assert.deepEqual(Object.keys(treeOf(path("."))).includes("workspaces"), false);

  await write(workspace, "notes.md", "found it");
  assert.deepEqual(filesOf(path("workspaces")), { "agent-1/notes.md": "found it" });
  assert.equal(codeOf(await workspace.read("other.md")), "file_not_found");
  assert.equal((await recorded())?.madeAt, morning);
});

test("writers who are the first in a task at the same time all keep their files [W2][W11]", async (t) => {
  const { start, workspaces, path } = await openGround(t);
  const conversation = await start("c");
  unwrap(await workspaces.assignTask(conversation, { agent: "busy", parent: "root" }));
  const names = Array.from({ length: 20 }, (_, index) => `${index}.txt`);
  await Promise.all(
    names.map(async (name) => write(unwrap(await workspaces.taskOf(conversation, "busy")), name, name)),
  );
  assert.deepEqual(filesOf(path("workspaces/busy")), Object.fromEntries(names.map((name) => [name, name])));
});

test("everyone below a task's agent shares its files; root's own workers share the conversation's [W3]", async (t) => {
  const { start, workspaces } = await openGround(t);
  const conversation = await start("c");
  await family(workspaces, conversation, [
    ["task-a", "root"],
    ["child", "task-a"],
    ["grandchild", "child"],
    ["task-b", "root"],
  ]);
  await write(unwrap(await workspaces.ofAgent(conversation, "grandchild")), "a.txt", "of a");
  const [shared, other] = [
    await workspaces.taskOf(conversation, "child"),
    await workspaces.taskOf(conversation, "task-b"),
  ];
  assert.equal(await textOf(unwrap(shared), "a.txt"), "of a");
  assert.deepEqual([unwrap(shared).id, unwrap(other).id], ["task-a", "task-b"]);
  assert.equal(unwrap(await unwrap(other).read("a.txt")).isUnwritten, true, "two tasks never see each other's files");
  for (const agent of [undefined, "root", "user"])
    assert.deepEqual(idAndKind(unwrap(await workspaces.ofAgent(conversation, agent))), ["c", "conversation"]);
});

test("after a restart everybody finds the same files as before [W4]", async (t) => {
  const first = await openGround(t);
  const conversation = await first.start("c");
  await family(first.workspaces, conversation, [
    ["task", "root"],
    ["child", "task"],
  ]);
  await write(first.workspaces.ofConversation(conversation), "outputs/a.txt", "the conversation's");
  await write(unwrap(await first.workspaces.ofAgent(conversation, "child")), "a.txt", "the task's");
  const { workspaces } = await first.restart();
  assert.equal(await textOf(workspaces.ofConversation(conversation), "outputs/a.txt"), "the conversation's");
  assert.equal(await textOf(unwrap(await workspaces.ofAgent(conversation, "child")), "a.txt"), "the task's");
  assert.equal(await textOf(unwrap(await workspaces.taskOf(conversation, "task")), "a.txt"), "the task's");
  unwrap(await workspaces.assignTask(conversation, { agent: "task", parent: "root" }));
  assert.equal(await textOf(unwrap(await workspaces.taskOf(conversation, "task")), "a.txt"), "the task's");
});

async function family(
  workspaces: Ground["workspaces"],
  conversation: Parameters<Ground["workspaces"]["assignTask"]>[0],
  members: readonly (readonly [agent: string, parent: string])[],
): Promise<void> {
  for (const [agent, parent] of members) unwrap(await workspaces.assignTask(conversation, { agent, parent }));
}

function idAndKind({ id, kind }: Workspace): [string, string] {
  return [id, kind];
}

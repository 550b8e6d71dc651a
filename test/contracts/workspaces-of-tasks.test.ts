import assert from "node:assert/strict";
import { test } from "node:test";
import { failure } from "../../src/protocol/failure.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";
import { alice, codeOf, morning, unwrap } from "./storage-place.ts";
import { filesOf, type Ground, openGround, textOf, treeOf, write } from "./workspaces-place.ts";

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

test("a worker whom root only delegates to has no task's workspace, but the conversation's [W3]", async (t) => {
  const { start, workspaces, storage } = await openGround(t);
  const conversation = await start("c");
  const agents = [
    { id: "worker", parent: "root" },
    { id: "under-worker", parent: "worker" },
  ];
  unwrap(await storage.append({ number: conversation.number, events: [], with: { agents } }));
  for (const agent of ["worker", "under-worker"]) {
    assert.deepEqual(idAndKind(unwrap(await workspaces.ofAgent(conversation, agent))), ["c", "conversation"]);
    assert.deepEqual(await workspaces.taskOf(conversation, agent), failure("workspace_not_assigned", { agent }));
  }
  for (const agent of ["root", "user"])
    assert.deepEqual(await workspaces.taskOf(conversation, agent), failure("workspace_not_assigned", { agent }));
});

test("an agent a thousand levels down finds its files, and the second time without a search [W3]", async (t) => {
  let searches = 0;
  const count = (storage: Storage): Storage => ({
    ...storage,
    agentsOf(number) {
      searches += 1;
      return storage.agentsOf(number);
    },
  });
  const { start, workspaces, storage } = await openGround(t, { wrapStorage: count });
  const conversation = await start("deep");
  const agents = Array.from({ length: 1000 }, (_, level) => ({
    ...{ id: `level-${level}`, parent: level === 0 ? "root" : `level-${level - 1}` },
    ...(level === 0 ? { folder: "workspaces/level-0" } : {}),
  }));
  unwrap(await storage.append({ number: conversation.number, events: [], with: { agents } }));
  assert.equal(unwrap(await workspaces.taskOf(conversation, "level-999")).id, "level-0");
  assert.equal(searches, 1);
  for (const { id } of agents) assert.equal(unwrap(await workspaces.taskOf(conversation, id)).id, "level-0");
  assert.equal(searches, 1, "who was passed on the way is known too");
  assert.equal(codeOf(await workspaces.taskOf(conversation, "level-1000")), "workspace_not_assigned");
  unwrap(await workspaces.assignTask(conversation, { agent: "level-1000", parent: "level-999" }));
  assert.equal(unwrap(await workspaces.taskOf(conversation, "level-1000")).id, "level-0", "a no is not remembered");
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

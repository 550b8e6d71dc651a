import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { unwrap } from "./storage-place.ts";
import { dayMs, type Ground, openGround } from "./workspaces-place.ts";

// A task has no folder before something is written to it; its programs have one that waits until then.

const agent = "agent-1";

async function taskIn(ground: Ground, conversation = "c-1") {
  const row = await ground.start(conversation);
  unwrap(await ground.workspaces.assignTask(row, { agent, parent: "root" }));
  return unwrap(await ground.workspaces.taskOf(row, agent));
}

const isThere = (ground: Ground) => existsSync(ground.path("workspaces", agent));
const staged = (ground: Ground) => (existsSync(ground.path("staging")) ? readdirSync(ground.path("staging")) : []);

test("a program that writes nothing leaves no folder, however often one is started [W2][X1]", async (t) => {
  const ground = await openGround(t);
  const task = await taskIn(ground);
  const first = unwrap(await task.guestFolder());
  const second = unwrap(await task.guestFolder());
  assert.equal(second.folder, first.folder);
  const observation = unwrap(await task.observe());
  assert.deepEqual(unwrap(await observation.changes()), []);
  assert.deepEqual([unwrap(await task.list()).entries, unwrap(await task.list()).isUnwritten], [[], true]);
  await ground.workspaces.sweep();
  assert.ok(existsSync(first.folder), "who tidies up takes it from no program");
  first.release();
  assert.ok(existsSync(second.folder), "as long as somebody has it");
  second.release();
  assert.deepEqual([isThere(ground), staged(ground)], [false, []]);
});

test("what a program writes is in its place as soon as anybody looks, and the program goes on there [W2][X1]", async (t) => {
  const ground = await openGround(t);
  const task = await taskIn(ground);
  const { folder, release } = unwrap(await task.guestFolder());
  const observation = unwrap(await task.observe());
  const before = process.cwd();
  process.chdir(folder);
  try {
    writeFileSync("a.txt", "one");
    assert.equal(unwrap(await task.read("a.txt")).bytes.toString(), "one");
    assert.ok(isThere(ground) && !existsSync(folder));
    writeFileSync("b.txt", "two");
  } finally {
    process.chdir(before);
  }
  assert.deepEqual(
    unwrap(await observation.changes()).map(({ path, before, after }) => [path, before, after?.bytes]),
    [
      ["a.txt", undefined, 3],
      ["b.txt", undefined, 3],
    ],
  );
  assert.equal(unwrap(await task.guestFolder()).folder, ground.path("workspaces", agent));
  release();
  assert.deepEqual(readdirSync(ground.path("workspaces", agent)), ["a.txt", "b.txt"]);
  const missing = await task.read("c.txt");
  assert.equal(!missing.ok && missing.failure.code, "file_not_found", "from now on");
});

test("a tool that writes while a program runs writes to the same folder, also where both begin at once [W2][W11]", async (t) => {
  const ground = await openGround(t);
  const task = await taskIn(ground);
  const [mounted, written, other] = await Promise.all([
    task.guestFolder(),
    task.write("tool.txt", "tool"),
    task.guestFolder(),
  ]);
  unwrap(written);
  // Whoever came first with a folder that waited finds that it was moved, and asks again.
  for (const { folder } of [unwrap(mounted), unwrap(other), unwrap(await task.guestFolder())])
    if (existsSync(folder)) writeFileSync(join(folder, "program.txt"), "program");
  const own = ground.path("workspaces", agent);
  assert.deepEqual(readdirSync(own).toSorted(), ["program.txt", "tool.txt"]);
  assert.deepEqual(staged(ground), []);
});

test("what a program wrote before the process was killed is in its place at the next start; what waited in vain is gone [W2][W4][L2]", async (t) => {
  const ground = await openGround(t);
  const task = await taskIn(ground);
  writeFileSync(join(unwrap(await task.guestFolder()).folder, "kept.txt"), "kept");
  const row = await ground.start("c-2");
  unwrap(await ground.workspaces.assignTask(row, { agent: "agent-2", parent: "root" }));
  unwrap(await unwrap(await ground.workspaces.taskOf(row, "agent-2")).guestFolder());
  assert.equal(isThere(ground), false);
  const again = await ground.restart();
  await again.workspaces.sweep();
  assert.equal(readFileSync(again.path("workspaces", agent, "kept.txt"), "utf8"), "kept");
  assert.deepEqual([readdirSync(again.path("workspaces")), staged(again)], [[agent], []]);
  // It counts as any other: unused for long it goes to the trash, and comes back from there beside what waits by then.
  again.clock.move(8 * dayMs);
  assert.equal((await again.workspaces.clean({ unusedMs: 7 * dayMs })).workspaces, 1);
  const found = await again.storage.agentsOf(1);
  const found1 = found.find(({ id }) => id === agent)?.workspace ?? assert.fail();
  const files = unwrap(await again.workspaces.taskOf(await conversationOf(again, found1.number), agent));
  const waiting = unwrap(await files.guestFolder());
  const [trashed] = (await again.workspaces.trash(found1.owner)).filter(({ task: whose }) => whose === agent);
  unwrap(await again.workspaces.restore(found1.owner, trashed?.id ?? ""));
  assert.equal(unwrap(await files.read("kept.txt")).bytes.toString(), "kept");
  assert.equal(existsSync(waiting.folder), false, "there is one folder, which programs that run already see, too");
  waiting.release();
});

test("with a conversation goes what its programs wrote and nobody looked at, and nothing is made for it any more [S6][W2]", async (t) => {
  const ground = await openGround(t);
  const task = await taskIn(ground);
  writeFileSync(join(unwrap(await task.guestFolder()).folder, "secret.txt"), "secret");
  const deleted = { deleted: { at: ground.clock.now() } };
  unwrap(await ground.storage.append({ number: 1, events: [], with: deleted }));
  await ground.workspaces.sweep();
  assert.deepEqual([isThere(ground), staged(ground)], [false, []]);
  const refused = await task.guestFolder();
  assert.equal(!refused.ok && refused.failure.code, "workspace_not_assigned");
  assert.deepEqual([isThere(ground), staged(ground)], [false, []]);
});

async function conversationOf(ground: Ground, number: number) {
  return (await ground.storage.conversationByNumber(number)) ?? assert.fail();
}

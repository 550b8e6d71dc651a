import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import type { Storage } from "../storage/storage.ts";
import type { Run } from "./run.ts";
import { keepOne, mailed, said, soon, spawned, started } from "./tenure.testing.ts";

const cancelled = (agent: string | undefined): NewEvent => ({
  ...{ type: "cancel.asked", turn: 1, by: "local" },
  ...(agent === undefined ? {} : { agent }),
});

/** Reads that take a moment: what was begun and is not waited for is not there yet. */
const slowly = (real: Storage): Storage => ({
  ...real,
  async read(...given) {
    await soon();
    await soon();
    return real.read(...given);
  },
});

async function hasHeard(run: Run): Promise<boolean> {
  return Promise.race([run.nextForeign().then(() => true), soon().then(() => false)]);
}

test("what others wrote before our own events is told as such and stands where the log has it, in whatever order both came [L2][L7]", async (t) => {
  const { tenure, log, number, others } = await keepOne(t, { wrap: slowly, before: [said("m1")] });
  const { root } = tenure;
  root.stage(started);
  await others(said("m2"), said("m3"));
  assert.deepEqual(await root.commit(), { ok: true, value: { foreign: 2 } });
  assert.deepEqual(root.history, await log.history(number));
  const head = await others(said("m4"));
  await root.catchUp();
  assert.deepEqual([root.history, root.committedHead], [await log.history(number), head]);
  root.stage({ type: "turn.finished", turn: 1, outcome: "done" });
  assert.deepEqual(await root.commit(), { ok: true, value: { foreign: 0 } });
  assert.deepEqual([root.history, root.committedHead], [await log.history(number), head + 1]);
  await tenure.release();
});

test("what rests on messages that were withdrawn is not stored, and by then the run stands where the log stands, with nothing of its own left [L7][L2]", async (t) => {
  const { tenure, log, number, others, warned } = await keepOne(t, { before: [said("m1")] });
  const { root } = tenure;
  root.stage(started);
  root.expected.set("call", { type: "agent.spawned", id: "w1", mode: "worker", role: "r", brief: "b" });
  const head = await others({ type: "message.withdrawn", id: "m1" });
  await tenure.tellUpTo(head);
  const stored = await root.commit(undefined, { isExact: true });
  assert.equal(stored.ok ? "stored" : stored.failure.code, "log_moved");
  assert.deepEqual(
    [root.history, root.committedHead, root.expected.size, root.signal.aborted],
    [await log.history(number), head, 0, false],
  );
  assert.deepEqual([await root.commit(), tenure.failure, warned], [{ ok: true, value: { foreign: 0 } }, undefined, []]);
  assert.equal(await hasHeard(root), false);
  await tenure.release();
});

test("with several agents at work an exact commit passes beside their mail, their ends and their files, but not beside a decision or a person's words [A2][L7]", async (t) => {
  const before = [said("m1"), started, spawned("w1"), spawned("w2")];
  const ledger: NewEvent = { type: "file.changed", path: "outputs/a.txt", by: "tool", agent: "w1" };
  const ended: NewEvent = { type: "agent.ended", id: "w2", outcome: "done" };
  const cases: [NewEvent, string][] = [
    [mailed("mail-1", "root", "w1"), "stored"],
    [{ ...ledger, after: { bytes: 1, mode: 0o644, hash: "a" } }, "stored"],
    [ended, "stored"],
    [said("m2"), "log_moved"],
    [{ type: "message.withdrawn", id: "m2" }, "log_moved"],
    [cancelled(undefined), "log_moved"],
  ];
  for (const [event, expected] of cases) {
    const { tenure, log, number, others } = await keepOne(t, { wrap: slowly, before });
    const { root } = tenure;
    root.stage({ type: "agent.mailed", to: "w1", id: "mail-9", text: "go on" });
    await others(event);
    const stored = await root.commit(undefined, { isExact: true });
    assert.equal(stored.ok ? "stored" : stored.failure.code, expected, event.type);
    assert.deepEqual(root.history, await log.history(number), event.type);
    await tenure.release();
  }
});

test("each agent hears what reaches it, once, and has its history as the log has it; the author does not hear itself [A2][L2]", async (t) => {
  const { tenure, log, number, agent, others } = await keepOne(t, { before: [said("m1"), started, spawned("w1")] });
  const { root } = tenure;
  root.hasNews = false;
  root.stage(spawned("w2"));
  root.stage(mailed("mail-1", "w1"));
  await root.commit();
  assert.deepEqual([root.hasNews, agent("w2").committedHead], [false, root.committedHead]);
  await others(mailed("mail-2", "w2"));
  await agent("w1").catchUp();
  await agent("w2").catchUp();
  agent("w2").stage(mailed("mail-3", "root"));
  await agent("w2").commit();
  await root.catchUp();
  await agent("w1").catchUp();
  const { root: main, agents } = await log.tree(number);
  assert.deepEqual(
    [root.history, agent("w1").history.queue, agent("w2").history.queue],
    [main, agents.get("w1")?.queue, agents.get("w2")?.queue],
  );
  assert.deepEqual(
    [agent("w1").history.queue.map(({ id }) => id), agent("w2").history.queue.map(({ id }) => id)],
    [
      ["w1-brief", "mail-1"],
      ["w2-brief", "mail-2"],
    ],
  );
  await tenure.release();
});

test("what was read in the log before its own append was answered counts once, and is no news for whoever wrote it [A2][L2]", async (t) => {
  const [stored, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const wrap = (real: Storage): Storage => ({
    ...real,
    async append(batch) {
      const done = await real.append(batch);
      if (batch.epoch !== undefined) stored.resolve();
      if (batch.epoch !== undefined) await answered.promise;
      return done;
    },
  });
  const { tenure, log, number, agent } = await keepOne(t, { wrap, before: [said("m1"), started, spawned("w1")] });
  const { root } = tenure;
  root.stage(mailed("mail-1", "w1"));
  const commit = root.commit();
  await stored.promise;
  await tenure.tellUpTo(tenure.knownHead);
  answered.resolve();
  assert.deepEqual(await commit, { ok: true, value: { foreign: 0 } });
  await agent("w1").catchUp();
  const { root: main, agents } = await log.tree(number);
  assert.deepEqual([root.history, agent("w1").history], [main, agents.get("w1")]);
  assert.deepEqual([await hasHeard(root), await hasHeard(agent("w1"))], [false, false]);
  await tenure.release();
});

test("what a run has read by itself is no news when it is told, and what is not for it moves it on all the same [A2][L2]", async (t) => {
  const isRead = Promise.withResolvers<void>();
  const wrap = (real: Storage): Storage => ({
    ...real,
    async read(number, range) {
      if (range.after > 0) await isRead.promise;
      return real.read(number, range);
    },
  });
  const { tenure, others } = await keepOne(t, { wrap, before: [said("m1"), started, spawned("w1")] });
  const { root } = tenure;
  root.hasNews = false;
  const head = await others(said("m2"));
  await root.startOver();
  isRead.resolve();
  await tenure.tellUpTo(head);
  assert.deepEqual([root.committedHead, root.hasNews, await hasHeard(root)], [head, false, false]);
  const after = await others({ type: "turn.started", agent: "w1", turn: 1, message: "w1-brief", epoch: 1 });
  await root.catchUp();
  assert.deepEqual([root.committedHead, root.history.head, root.hasNews], [after, after, false]);
  await tenure.release();
});

test("a person's stop reaches the agent that it names, which can be ended after it, and no other; the main one is stopped by whoever asks [L6][A4]", async (t) => {
  const before = [said("m1"), started, spawned("w1"), spawned("w2")];
  const { tenure, agent, others } = await keepOne(t, { before });
  const reasons = () => [...tenure.runs.values()].map(({ signal }) => signal.reason);
  await others(cancelled("w1"), cancelled(undefined));
  await tenure.tellUpTo(tenure.knownHead);
  assert.deepEqual(reasons(), [undefined, "cancel", undefined]);
  await agent("w1").catchUp();
  agent("w1").goOn();
  // It is on its way out: a second stop must not break what ends it.
  await others(cancelled("w1"));
  await tenure.tellUpTo(tenure.knownHead);
  assert.deepEqual(reasons(), [undefined, undefined, undefined]);
  await others(cancelled("w2"));
  await tenure.tellUpTo(tenure.knownHead);
  assert.deepEqual(reasons(), [undefined, undefined, "cancel"]);
  tenure.close();
  agent("w2").goOn();
  assert.deepEqual(reasons(), ["closing", "closing", "closing"]);
  await tenure.release();
});

test("who waits for what others write has it at once where it came before, hears it when it comes, and waits no more when all end [L2][A2]", async (t) => {
  const { tenure, others } = await keepOne(t, { before: [said("m1"), started] });
  const { root } = tenure;
  const heard: string[] = [];
  const wait = (what: string) => root.nextForeign().then(() => heard.push(what));
  await others(said("m2"));
  await tenure.tellUpTo(tenure.knownHead);
  await wait("before");
  await root.catchUp();
  const later = wait("later");
  await soon();
  assert.deepEqual([heard, root.hasNews], [["before"], true]);
  root.hasNews = false;
  await others(said("m3"));
  await later;
  assert.equal(root.hasNews, true);
  await root.catchUp();
  const end = wait("the end");
  await soon();
  tenure.close();
  await end;
  assert.deepEqual(heard, ["before", "later", "the end"]);
  await tenure.release();
});

test("what cannot be stored stops all agents, counts as never done, and leaves what was stored before [L2]", async (t) => {
  let isFull = false;
  const wrap = (real: Storage): Storage => ({
    ...real,
    append: async (batch) => (isFull ? failure("storage_full", {}) : real.append(batch)),
  });
  const { tenure, log, number, agent } = await keepOne(t, { wrap, before: [said("m1"), started, spawned("w1")] });
  isFull = true;
  agent("w1").stage(mailed("mail-1", "root"));
  const stored = await agent("w1").commit();
  assert.equal(stored.ok ? "stored" : stored.failure.code, "storage_full");
  assert.deepEqual(
    [tenure.failure?.code, tenure.root.signal.reason, agent("w1").signal.reason],
    ["storage_full", "storage_full", "storage_full"],
  );
  agent("w1").stage(mailed("mail-2", "root"));
  await agent("w1").startOver();
  isFull = false;
  assert.deepEqual(await agent("w1").commit(), { ok: true, value: { foreign: 0 } });
  assert.deepEqual(agent("w1").history, (await log.tree(number)).agents.get("w1"));
  await tenure.release();
});

test("with the event that makes an agent it is stored whose files it has, beside all else; one who only takes over the user needs none [A1][W3]", async (t) => {
  const sides: unknown[] = [];
  const wrap = (real: Storage): Storage => ({
    ...real,
    append(batch) {
      sides.push(batch.with);
      return real.append(batch);
    },
  });
  const { tenure, agent } = await keepOne(t, { wrap, before: [said("m1"), started, spawned("w1")] });
  sides.length = 0;
  agent("w1").stage(spawned("w2"));
  await agent("w1").commit();
  tenure.root.stage({ type: "agent.spawned", id: "t1", mode: "task", role: "writer", brief: "write" });
  await tenure.root.commit({ received: "r1" });
  tenure.root.stage({ type: "agent.spawned", id: "h", mode: "handoff", role: "other", brief: "go on" });
  await tenure.root.commit();
  assert.deepEqual(sides, [
    { agents: [{ id: "w2", parent: "w1", folder: undefined }] },
    { received: "r1", agents: [{ id: "t1", parent: "root", folder: "workspaces/t1" }] },
    undefined,
  ]);
  assert.deepEqual([...tenure.runs.keys()], ["root", "w1", "w2", "t1"]);
  await tenure.release();
});

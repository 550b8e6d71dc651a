import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../base/result.ts";
import { homesHere } from "../homes/homes.ts";
import type { NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import type { Storage } from "../storage/storage.ts";
import { appendSeen } from "./append-seen.ts";
import { openDriver } from "./driver.ts";
import { keepOne, mailed, said, soon, spawned, started } from "./loop.testing.ts";
import { openMessages } from "./messages.ts";
import { defaultLimits } from "./parts.ts";
import type { Run } from "./run.ts";

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

type Batch = Parameters<Storage["append"]>[0];

const rewound: NewEvent = { type: "rewound", to: 0, cause: "reset" };

/** `before` and `after` each append of this process: of others they know nothing. */
const around =
  (met: { before?: (batch: Batch) => Promise<unknown>; after?: () => Promise<unknown> }) =>
  (real: Storage): Storage => ({
    ...real,
    async append(batch) {
      if (batch.epoch !== undefined) await met.before?.(batch);
      const stored = await real.append(batch);
      if (batch.epoch !== undefined) await met.after?.();
      return stored;
    },
  });

test("what a person says in the very moment of an exact commit wins, also with several agents at work [A2][L7]", async (t) => {
  const met: Parameters<typeof around>[0] = {};
  const kept = await keepOne(t, { wrap: around(met), before: [said("m1"), started, spawned("w1")] });
  const { tenure, log, number, others } = kept;
  met.before = () => others(said("m2"));
  tenure.root.stage(mailed("mail-1", "w1"));
  const stored = await tenure.root.commit(undefined, { isExact: true });
  assert.equal(stored.ok ? "stored" : stored.failure.code, "log_moved");
  assert.deepEqual(tenure.root.history, await log.history(number));
  await tenure.release();
});

test("an exact commit waits for what other agents are about to store, and stands behind it [A2][L7]", async (t) => {
  const [held, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const order: string[] = [];
  const wrap = around({
    async before({ events }) {
      const [first] = events;
      order.push(String(first?.body.includes("mail-1") ? "the agent" : "the main one"));
      asked.resolve();
      if (order.length === 1) await held.promise;
    },
  });
  const { tenure, agent, log, number } = await keepOne(t, { wrap, before: [said("m1"), started, spawned("w1")] });
  agent("w1").stage(mailed("mail-1", "root"));
  const first = agent("w1").commit();
  await asked.promise;
  tenure.root.stage(mailed("mail-2", "w1"));
  const second = tenure.root.commit(undefined, { isExact: true });
  await soon();
  const before = [...order];
  held.resolve();
  assert.deepEqual([(await first).ok, await second], [true, { ok: true, value: { foreign: 1 } }]);
  assert.deepEqual([before, order], [["the agent"], ["the agent", "the main one"]]);
  assert.deepEqual(tenure.root.history, await log.history(number));
  await tenure.release();
});

test("who finds that the log was rewound before its own events, or while it rested, folds it anew, up to its own place [L9][L2]", async (t) => {
  const met: Parameters<typeof around>[0] = {};
  const { tenure, log, number, others } = await keepOne(t, { wrap: around(met), before: [said("m1")] });
  const { root } = tenure;
  await others(rewound);
  await root.catchUp();
  assert.deepEqual(root.history, await log.history(number));
  await others(said("m2"));
  await root.catchUp();
  root.stage({ type: "turn.started", turn: 1, message: "m2", epoch: 1 });
  met.before = () => others(rewound);
  met.after = () => others(said("m3"));
  assert.equal((await root.commit()).ok, true);
  assert.deepEqual(root.history, await log.history(number, root.committedHead));
  await root.catchUp();
  assert.deepEqual(root.history, await log.history(number));
  await tenure.release();
});

const renamed = (title: string): NewEvent => ({ type: "conversation.renamed", title });

/** Others write before each of the first appends that rest on where the log stands. */
function moving(times: { left: number; write?: () => Promise<unknown> }) {
  return (real: Storage): Storage => ({
    ...real,
    async append(batch) {
      if (batch.expectedHead !== undefined && times.left > 0) {
        times.left -= 1;
        await times.write?.();
      }
      return real.append(batch);
    },
  });
}

test("what follows from the log is stored behind what it follows from: where others wrote meanwhile it is looked at anew, with all agents [L2][L7]", async (t) => {
  const times: Parameters<typeof moving>[0] = { left: 2 };
  const before = [said("m1"), started, spawned("w1")];
  const { parts, number, log, others, tenure } = await keepOne(t, { wrap: moving(times), before });
  times.write = () => others(said("more"));
  const seen: unknown[] = [];
  const stored = await appendSeen(parts, number, (history, { root, agents }) => {
    seen.push([history.queue.length, root === history, [...agents.keys()]]);
    return ok({ events: [renamed(`after ${history.head}`)] });
  });
  assert.deepEqual(stored, { ok: true, value: { lastSeq: 6 } });
  assert.deepEqual(seen, [
    [0, true, ["w1"]],
    [1, true, ["w1"]],
    [2, true, ["w1"]],
  ]);
  const [last] = await log.read(number, { after: 5, limit: 10 });
  assert.deepEqual(last?.type === "conversation.renamed" && last.title, "after 5");
  await tenure.release();
});

test("who withdraws what waits withdraws their own words, and never what one agent wrote to another [L7][A1]", async (t) => {
  const before = [said("m1"), started, spawned("w1"), said("m2"), said("m3"), mailed("mail", "root", "w1")];
  const { parts, conversation, log, number, tenure } = await keepOne(t, { before });
  const driver = openDriver(parts);
  t.after(() => driver.close());
  const { withdraw, cancel } = openMessages(parts, driver);
  const left = async () => (await log.history(number)).queue.map(({ id }) => id);
  const refused = await withdraw(conversation, "mail");
  assert.deepEqual([refused, await left()], [failure("message_not_found", { id: "mail" }), ["m2", "m3", "mail"]]);
  const stopped = await cancel(conversation, { message: "mail" });
  assert.deepEqual([stopped.ok || stopped.failure.code, await left()], ["turn_not_running", ["m2", "m3", "mail"]]);
  assert.deepEqual(await withdraw(conversation, "m2"), ok(undefined));
  assert.deepEqual(await cancel(conversation, { message: "m3" }), ok({ turn: null }));
  assert.deepEqual(await left(), ["mail"]);
  await tenure.release();
});

const { leaseMs } = defaultLimits;

test("a lease is renewed in each third of it, and when it is let go of nobody renews it, nobody listens, and others can have it [L2][N1]", async (t) => {
  const renewed: unknown[] = [];
  let reads = 0;
  const wrap = (real: Storage): Storage => ({
    ...real,
    async renewLease(number, lease) {
      renewed.push(lease);
      return real.renewLease(number, lease);
    },
    read(...given) {
      reads += 1;
      return real.read(...given);
    },
  });
  const { clock, tenure, real, number, others } = await keepOne(t, { wrap });
  const lease = { holder: "here", epoch: tenure.epoch, ttlMs: leaseMs };
  assert.deepEqual([clock.timers(), renewed], [1, []]);
  for (let third = 0; third < 2; third += 1) {
    clock.move(leaseMs / 3);
    await soon();
  }
  assert.deepEqual([clock.timers(), renewed], [1, [lease, lease]]);
  const elsewhere = async () => (await real.claimLease(number, "other", leaseMs)).ok;
  assert.equal(await elsewhere(), false);
  await tenure.release();
  reads = 0;
  await others(said("m1"));
  await soon();
  assert.deepEqual([clock.timers(), reads, await elsewhere()], [0, 0, true]);
});

test("a lease is fresh for four fifths of its time since it was renewed last, to the millisecond, while others take this server for a living one [L2][N1]", async (t) => {
  const wrap = (real: Storage): Storage => ({ ...real, renewLease: async () => failure("storage_busy", {}) });
  const { clock, tenure } = await keepOne(t, { wrap });
  clock.move(0.8 * leaseMs - 1);
  assert.equal(tenure.isLeaseFresh(), true);
  clock.move(1);
  assert.equal(tenure.isLeaseFresh(), false);
  const homes = { ...homesHere, isFresh: () => false };
  const kept = await keepOne(t);
  Object.assign(kept.parts, { homes });
  assert.equal(kept.tenure.isLeaseFresh(), false);
});

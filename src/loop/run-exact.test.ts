import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewEvent } from "../protocol/events.ts";
import type { Storage } from "../storage/storage.ts";
import { keepOne, mailed, said, soon, spawned, started } from "./tenure.testing.ts";

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

test("what others write while an append is on its way is told when that is answered, without anybody asking [A2][L2]", async (t) => {
  const met: Parameters<typeof around>[0] = {};
  const kept = await keepOne(t, { wrap: around(met), before: [said("m1"), started, spawned("w1")] });
  const { tenure, agent, others } = kept;
  met.after = () => others(mailed("mail-1", "w1"));
  agent("w1").hasNews = false;
  const heard = agent("w1").nextForeign();
  tenure.root.stage({ type: "turn.finished", turn: 1, outcome: "done" });
  assert.deepEqual((await tenure.root.commit()).ok, true);
  const told = await Promise.race([
    heard.then(() => "told"),
    soon()
      .then(soon)
      .then(soon)
      .then(() => "not told"),
  ]);
  assert.deepEqual([told, agent("w1").hasNews], ["told", true]);
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

test("that a part of the log no longer counts is told to all agents, and what is one agent's only to that one [A2][L9]", async (t) => {
  const { tenure, others } = await keepOne(t, { before: [said("m1"), started, spawned("w1"), spawned("w2")] });
  const heard = async (event: NewEvent) => {
    for (const run of tenure.runs.values()) run.hasNews = false;
    await tenure.tellUpTo(await others(event));
    return [...tenure.runs.values()].map(({ hasNews }) => hasNews);
  };
  assert.deepEqual(await heard(mailed("mail-1", "w1", "w1")), [false, true, false]);
  assert.deepEqual(await heard({ ...rewound, to: tenure.knownHead }), [true, true, true]);
  await tenure.release();
});

test("the end of an agent is its parent's in the log, whoever wrote it, and then it has no run any more [A1][A2]", async (t) => {
  const before = [said("m1"), started, spawned("w1"), spawned("w2", "w1")];
  const { tenure, agent, log, number } = await keepOne(t, { before });
  agent("w2").stage({ type: "agent.ended", agent: "w1", id: "w2", outcome: "done" });
  await agent("w2").commit();
  const runs = [...tenure.runs.keys()];
  agent("w1").stage({ type: "agent.ended", id: "w1", outcome: "done" });
  await agent("w1").commit();
  const events = await log.read(number, { after: 0, limit: 100 });
  const ends = events.flatMap((event) => (event.type === "agent.ended" ? [[event.agent, event.id]] : []));
  assert.deepEqual(
    [runs, [...tenure.runs.keys()], ends],
    [
      ["root", "w1"],
      ["root"],
      [
        ["w1", "w2"],
        [undefined, "w1"],
      ],
    ],
  );
  await tenure.release();
});

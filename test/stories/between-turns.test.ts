import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import type { NewEvent } from "../../src/protocol/events.ts";
import { failure } from "../../src/protocol/failure.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { all } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";
import { takenOverAt } from "../world/taken-over.ts";
import { must, startYard } from "../world/yard.ts";

const said = (id: string): NewEvent => ({ type: "message.user", id, text: `the words of ${id}`, mode: "queue" });
const started = (turn: number, message: string, agent?: string): NewEvent => ({
  ...{ type: "turn.started", turn, message, epoch: 1 },
  ...(agent === undefined ? {} : { agent }),
});
const finished = (turn: number, agent?: string): NewEvent => ({
  ...{ type: "turn.finished", turn, outcome: "done" },
  ...(agent === undefined ? {} : { agent }),
});
const whole = (turn: number, message: string) => [said(message), started(turn, message), finished(turn)];
type AppendBatch = Parameters<Storage["append"]>[0];
const isRewound = ({ events }: AppendBatch) => events.some(({ type }) => type === "rewound");

/** Something that others do in the moment in which this server takes the conversation for something between turns. */
function meeting() {
  const met: { deed?: (() => Promise<unknown>) | undefined } = {};
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async claimLease(...given) {
      const { deed } = met;
      met.deed = undefined;
      await deed?.();
      return storage.claimLease(...given);
    },
  });
  return { met, wrapStorage };
}

test("a turn in which helpers had turns of their own is undone as a whole, up to the words that began it [W12][A1]", async () => {
  await using yard = await startYard({ isOneProcess: true });
  const row = await yard.start("c");
  const helper: NewEvent = { type: "agent.spawned", id: "w1", mode: "worker", role: "writer", brief: "write" };
  await must(yard.log.append(row.number, whole(1, "m1")));
  const before = await yard.log.headOf(row.number);
  const inside = [helper, started(1, "w1-brief", "w1"), finished(1, "w1")];
  const ended: NewEvent = { type: "agent.ended", id: "w1", outcome: "done" };
  await must(yard.log.append(row.number, [said("m2"), started(2, "m2"), ...inside, ended, finished(2)]));
  const undone = await must(yard.engine.undo(row));
  assert.deepEqual(undone, { turn: 2, message: "the words of m2", restored: [], left: [] });
  assert.deepEqual(
    all(await yard.events("c"), "rewound").map(({ to }) => to),
    [before],
  );
});

test("a turn that came and went, or is about to come, while a conversation is taken for undo is not undone in place of the one that was meant [W12][L7]", async () => {
  for (const meanwhile of [whole(2, "m2"), [said("m2")]]) {
    const { met, wrapStorage } = meeting();
    await using yard = await startYard({ wrapStorage, isOneProcess: true });
    const row = await yard.start("c");
    await must(yard.log.append(row.number, whole(1, "m1")));
    met.deed = () => must(yard.log.append(row.number, meanwhile));
    const undone = await yard.engine.undo(row);
    assert.deepEqual(
      [undone.ok || undone.failure.code, all(await yard.events("c"), "rewound")],
      ["conversation_busy", []],
    );
  }
});

test("a turn of a conversation that another server has taken over is not undone by the one that had it [L2][W12][N1]", async () => {
  await using yard = await startYard({ wrapStorage: takenOverAt(isRewound), isOneProcess: true });
  const row = await yard.start("c");
  await must(yard.log.append(row.number, whole(1, "m1")));
  const undone = await yard.engine.undo(row);
  assert.deepEqual([undone.ok || undone.failure.code, all(await yard.events("c"), "rewound")], ["fenced", []]);
});

test("a conversation is deleted when its turn has ended; where that cannot be stored it is said so, and it is still there [L9][L2][Q2]", async () => {
  const order: string[] = [];
  const released = Promise.withResolvers<void>();
  const releasing = Promise.withResolvers<void>();
  let isFull = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const isDeleted = batch.events.some(({ type }) => type === "conversation.deleted");
      if (isDeleted && isFull) return failure("storage_full", {});
      if (isDeleted) order.push("deleted");
      return storage.append(batch);
    },
    async releaseLease(...given) {
      releasing.resolve();
      await released.promise;
      order.push("let go");
      return storage.releaseLease(...given);
    },
  });
  const asked = Promise.withResolvers<void>();
  await using model = await modelServer(() => {
    asked.resolve();
    return { text: "never", fault: { after: 1, kind: "stall" } };
  });
  await using yard = await startYard({ model, wrapStorage, isOneProcess: true });
  const other = await yard.start("other");
  isFull = true;
  const refused = await yard.engine.remove(other);
  assert.equal(refused.ok || refused.failure.code, "storage_full");
  await must(yard.log.find(other.owner, "other"));
  isFull = false;
  const row = await yard.start("c");
  await must(yard.engine.send(row, { text: "go", mode: "queue" }));
  await asked.promise;
  const gone = yard.engine.remove(row);
  await releasing.promise;
  await new Promise((resolve) => setImmediate(resolve));
  const before = [...order];
  released.resolve();
  await must(gone);
  assert.deepEqual([before, order], [[], ["let go", "deleted"]]);
});

test("a message that is said again shows in the list at once, by what came before it, and whoever has the conversation finds it [C4][C3][N1]", async () => {
  let now = 1_000;
  const clock: Clock = { ...systemClock, now: () => now };
  const batches: AppendBatch[] = [];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    append(batch) {
      if (isRewound(batch)) batches.push(batch);
      return storage.append(batch);
    },
  });
  let count = 0;
  await using model = await modelServer(() => {
    count += 1;
    return says(`answer ${count}`);
  });
  await using yard = await startYard({ model, clock, wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  for (const id of ["m1", "m2"]) {
    await must(yard.engine.send(row, { id, text: id, mode: "queue" }));
    await yard.whenAtRest("c");
  }
  now = 5_000;
  await must(yard.engine.sayAgain(row, "m2", { id: "again", cause: "regenerate" }));
  assert.deepEqual(
    batches.map((batch) => batch.with),
    [{ row: { lastMessage: "answer 1", updatedAt: 5_000 }, received: "again", wake: { notBefore: 0 } }],
  );
  assert.equal((await yard.whenAtRest("c")).answer, "answer 3");
});

test("where others write without end, saying it again gives up and says why [C4][Q2]", async () => {
  let tries = 0;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      if (!isRewound(batch)) return storage.append(batch);
      tries += 1;
      return tries > 500 ? failure("storage_full", {}) : failure("log_moved", {});
    },
  });
  await using yard = await startYard({ wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  await must(yard.log.append(row.number, whole(1, "m1")));
  const again = await yard.engine.sayAgain(row, "m1", { cause: "regenerate" });
  assert.equal(again.ok || again.failure.code, "log_moved");
});

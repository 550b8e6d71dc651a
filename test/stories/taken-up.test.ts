import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { failed } from "../../src/base/result.ts";
import { failure, makeFailure } from "../../src/protocol/failure.ts";
import { type Storage, StorageAway } from "../../src/storage/storage.ts";
import { all, until } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const away = makeFailure("database_away", { why: "away", said: "planted" });
const refusals = {
  ...{ fenced: failure("fenced", {}), gone: failure("conversation_not_found", { id: "gone" }) },
  ...{ away: failed(away), busy: failure("storage_busy", {}) },
};

/** The time of the machine; but what is tried again in two seconds is tried when the test says so. */
function retries() {
  const due: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    after(ms, action) {
      if (ms !== 2_000) return systemClock.after(ms, action);
      due.push(action);
      return () => {};
    },
  };
  return { clock, due, again: () => due.at(-1)?.() };
}

type Claim = Storage["claimLease"];

/** Storage that answers so when a conversation is taken up, one answer after the other, and then as usual. */
const claims =
  (answers: (() => ReturnType<Claim>)[]) =>
  (storage: Storage): Storage => ({
    ...storage,
    claimLease: (...given) => answers.shift()?.() ?? storage.claimLease(...given),
  });

const send = ({ engine }: TestYard, row: Parameters<TestYard["engine"]["send"]>[0], text: string) =>
  must(engine.send(row, { text, mode: "queue" }));
const outcomesIn = async (yard: TestYard, id: string) =>
  all(await yard.events(id), "turn.finished").map(({ outcome }) => outcome);

test("a conversation that could not be taken up while the database was away is tried again by itself; one at which storage broke down waits for the next message, and both are in the log file [Q2][L2][O1]", async () => {
  const { clock, due, again } = retries();
  const answers = [new StorageAway(away, undefined), new Error("the disk is gone")].map(
    (error) => () => Promise.reject(error),
  );
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, clock, wrapStorage: claims(answers), isOneProcess: true });
  const row = await yard.start("c");
  await send(yard, row, "first");
  await until("it is to be tried again", () => due.length === 1);
  assert.deepEqual(await yard.faults(), ["conversation c was left open"]);
  again();
  await until("storage broke down", async () => (await yard.faults()).length === 2);
  assert.deepEqual([due.length, await outcomesIn(yard, "c")], [1, []]);
  await send(yard, row, "second");
  await until("both are answered", async () => (await outcomesIn(yard, "c")).length === 2);
});

test("a conversation that another server has not let go of yet, or that storage refuses, is tried again; one that is not there any more is not [N1][L2][Q2]", async () => {
  const { clock, due, again } = retries();
  const answers = [refusals.fenced, refusals.busy, refusals.gone].map((refused) => async () => refused);
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, clock, wrapStorage: claims(answers), isOneProcess: true });
  const refused = async () =>
    (await yard.logged()).flatMap(({ level, message }) => (message.startsWith("cannot take up") ? [level] : []));
  const row = await yard.start("c");
  await send(yard, row, "first");
  await until("it is to be tried again", () => due.length === 1);
  assert.deepEqual(await refused(), [], "who waits for another server need not be told of");
  again();
  await until("it is to be tried again", () => due.length === 2);
  assert.deepEqual(await refused(), ["warn"]);
  again();
  await until("it is told of", async () => (await refused()).length === 2);
  assert.deepEqual([due.length, await outcomesIn(yard, "c")], [2, []]);
  await send(yard, row, "second");
  await until("both are answered", async () => (await outcomesIn(yard, "c")).length === 2);
});

test("a conversation that is deleted while it is only just taken up asks no model any more [L9][L6]", async () => {
  const [claiming, claimed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async claimLease(...given) {
      claiming.resolve();
      await claimed.promise;
      return storage.claimLease(...given);
    },
  });
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  await send(yard, row, "first");
  await claiming.promise;
  const gone = yard.engine.remove(row);
  claimed.resolve();
  await must(gone);
  assert.equal(model.asked.length, 0);
});

test("what is done between turns waits a second at the most for a turn that has ended to let go of its conversation [L9][L7]", async () => {
  const looks: number[] = [];
  let onLook: (() => Promise<void>) | undefined;
  const clock: Clock = {
    ...systemClock,
    async wait(ms, signal) {
      if (ms !== 100 || onLook === undefined) return systemClock.wait(ms, signal);
      looks.push(ms);
      await onLook();
      return "elapsed";
    },
  };
  let held: PromiseWithResolvers<void> | undefined;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async releaseLease(...given) {
      await held?.promise;
      return storage.releaseLease(...given);
    },
  });
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, clock, wrapStorage, isOneProcess: true });
  // A yard does not close before its turns have let go.
  using _ = { [Symbol.dispose]: () => held?.resolve() };
  const row = await yard.start("c");
  held = Promise.withResolvers();
  await yard.ask("first", { conversation: "c" });
  onLook = async () => {};
  const refused = await yard.engine.undo(row);
  assert.deepEqual([refused.ok || refused.failure.code, looks.length], ["conversation_busy", 10]);
  looks.length = 0;
  // At the last look the turn lets go, and that is waited for no longer than it takes.
  onLook = () => {
    if (looks.length < 10) return Promise.resolve();
    held?.resolve();
    return new Promise(() => {});
  };
  const undone = await must(yard.engine.undo(row));
  assert.deepEqual([undone.turn, looks.length], [1, 10]);
});

test("what is done between turns has a lease as long as a turn's, and when it is over another server can have the conversation at once [L9][N1]", async () => {
  const noted: unknown[][] = [];
  const opened: Storage[] = [];
  const wrapStorage = (storage: Storage): Storage => {
    opened.push(storage);
    return {
      ...storage,
      async claimLease(number, holder, ttlMs) {
        const claimed = await storage.claimLease(number, holder, ttlMs);
        noted.push(["claimed", holder, ttlMs, claimed.ok && claimed.value.epoch]);
        return claimed;
      },
      async releaseLease(number, { holder, epoch }) {
        await storage.releaseLease(number, { holder, epoch });
        noted.push(["let go", holder, epoch]);
      },
    };
  };
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  await yard.ask("first", { conversation: "c" });
  await until("the turn lets go", () => noted.length === 2);
  await must(yard.engine.undo(row));
  const [[, holder, ttlMs, epoch] = []] = noted;
  const lease = [holder, Number(epoch) + 1];
  assert.deepEqual(noted.slice(2), [
    ["claimed", holder, ttlMs, lease[1]],
    ["let go", ...lease],
  ]);
  assert.equal((await opened[0]?.claimLease(row.number, "another server", 60_000))?.ok, true);
});

test("a turn that cannot be stored goes on a little later where that passes, and is left alone where another server has it or it is gone [Q2][L2][N1]", async () => {
  const { clock, due } = retries();
  const refused = new Map<number, (typeof refusals)[keyof typeof refusals]>();
  const letGo = new Set<number>();
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async releaseLease(number, lease) {
      await storage.releaseLease(number, lease);
      letGo.add(number);
    },
    async append(batch) {
      const isAnswer = batch.events.some(({ type }) => type === "message.assistant");
      const answer = isAnswer ? refused.get(batch.number) : undefined;
      if (answer !== undefined) refused.delete(batch.number);
      return answer ?? storage.append(batch);
    },
  });
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, clock, wrapStorage, isOneProcess: true });
  const found: Record<string, unknown[]> = {};
  for (const [id, answer] of Object.entries(refusals)) {
    const row = await yard.start(id);
    refused.set(row.number, answer);
    due.length = 0;
    await send(yard, row, "go");
    const told = `a turn of ${id} could not be stored`;
    const lines = async () => (await yard.logged()).filter(({ message }) => message === told);
    await until("it was let go of", async () => letGo.delete(row.number));
    await until("it was refused", async () => (await lines()).length === 1);
    const retried = due.length;
    for (const again of due.splice(0)) again();
    if (retried > 0) await yard.whenAtRest(id);
    const started = all(await yard.events(id), "turn.started").length;
    found[id] = [(await lines())[0]?.level, retried, started, await outcomesIn(yard, id)];
  }
  assert.deepEqual(found, {
    fenced: ["warn", 0, 1, []],
    gone: ["error", 0, 1, []],
    away: ["error", 1, 1, ["done"]],
    busy: ["error", 1, 1, ["done"]],
  });
});

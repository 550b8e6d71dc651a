import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { failed, ok } from "../../src/base/result.ts";
import { type Homes, homesHere } from "../../src/homes/homes.ts";
import { failure, makeFailure } from "../../src/protocol/failure.ts";
import { type Storage, StorageAway, type Told } from "../../src/storage/storage.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const everyMs = 1_000;

/** One of several servers, whose others are played: what they would tell it, and its own look in each second. */
function amongOthers() {
  const listeners = { told: new Set<(told: Told) => void>(), gone: new Set<(server: string) => void>() };
  const back = new Set<() => void>();
  const heard = {
    told: (told: Told) => listeners.told.forEach((listener) => void listener(told)),
    gone: () => listeners.gone.forEach((listener) => void listener("other")),
    back: () => back.forEach((listener) => void listener()),
  };
  const homes: Homes = {
    ...{ ...homesHere, isShared: true },
    onGone(listener) {
      listeners.gone.add(listener);
      return () => listeners.gone.delete(listener);
    },
    onBack(listener) {
      back.add(listener);
      return () => back.delete(listener);
    },
  };
  const due = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    after(ms, action) {
      if (ms < 0.8 * everyMs || ms > 1.2 * everyMs) return systemClock.after(ms, action);
      if (ms === everyMs) due.add(action);
      return () => due.delete(action);
    },
  };
  const second = () => {
    for (const action of [...due]) {
      due.delete(action);
      action();
    }
  };
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    onTold(listener) {
      listeners.told.add(listener);
      return () => listeners.told.delete(listener);
    },
  });
  return { heard, second, options: { homes, clock, wrapStorage, isOneProcess: true } as const };
}

/** As another server stores it: with the wish that somebody looks, and nobody here knows of it. */
async function storedElsewhere(yard: TestYard, number: number, id: string): Promise<void> {
  const soon = { wake: { notBefore: 0 } };
  await must(yard.log.append(number, [{ type: "message.user", id, text: id, mode: "queue" }], { with: soon }));
}

test("what another server stored for a conversation that is at home here is answered when it tells so, when it is gone, when something was missed, and each second [N1][L2][L7]", async () => {
  const { heard, second, options } = amongOthers();
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, ...options });
  const row = await yard.start("c");
  const answered = async (count: number) => all(await yard.events(row.id), "turn.finished").length === count;
  const ways = [
    ...[() => heard.told({ topic: "wake", key: String(row.number) }), () => heard.told({ topic: "gap", key: "" })],
    ...[() => heard.gone(), second, second],
  ];
  for (const [index, way] of ways.entries()) {
    await storedElsewhere(yard, row.number, `message ${index}`);
    way();
    await until(`message ${index} is answered`, () => answered(index + 1));
    await yard.whenAtRest(row.id);
  }
});

/** A third of a lease: that often it is renewed. */
const renewMs = 5_000;

/** A tool whose work cannot be undone. */
function payer() {
  const paid: number[] = [];
  const pay = defineTool({
    ...{ name: "pay", description: "Pays.", class: "unsafe", input: z.object({ sum: z.number() }) },
    async run({ sum }) {
      paid.push(sum);
      return ok({ text: `paid ${sum}` });
    },
  });
  return { pay, paid };
}

test("a server that slept through most of its lease does nothing that cannot be undone until it has renewed it [L2][N1]", async () => {
  let now = 0;
  let renew = () => {};
  const clock: Clock = {
    ...systemClock,
    monotonic: () => now,
    after(ms, action) {
      if (ms !== renewMs) return systemClock.after(ms, action);
      renew = action;
      return () => {};
    },
  };
  const renewed = Promise.withResolvers<void>();
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async renewLease(...given) {
      const answer = await storage.renewLease(...given);
      setImmediate(renewed.resolve);
      return answer;
    },
  });
  const { pay, paid } = payer();
  await using model = await modelServer(() => {
    const sum = model.asked.length;
    if (sum === 1) now += 11_999;
    if (sum === 2) now += 1;
    if (sum === 3) renew();
    if (sum > 3) return says("done");
    return { ...calls(["pay", { sum }], ["now", {}]), ...(sum === 3 ? { heldUntil: renewed.promise } : {}) };
  });
  await using yard = await startYard({ model, clock, wrapStorage, tools: [pay], isOneProcess: true });
  const { answer, events } = await yard.ask("go");
  const ends = all(events, "call.finished").map(({ outcome, failure }) =>
    failure === undefined ? outcome : [outcome, failure.code, failure.params.because],
  );
  const asleep = ["not_run", "tool_not_run", "paused"];
  assert.deepEqual([answer, paid, ends], ["done", [1, 3], ["ok", "ok", asleep, "ok", "ok", "ok"]]);
});

test("a server that others may take for gone does nothing that cannot be undone until they have heard of it again [L2][N1]", async () => {
  let isHeard = true;
  const { pay, paid } = payer();
  await using model = await modelServer(() => {
    const sum = model.asked.length;
    isHeard = sum !== 2;
    return sum > 3 ? says("done") : calls(["pay", { sum }], ["now", {}]);
  });
  const homes = { ...homesHere, isFresh: () => isHeard };
  await using yard = await startYard({ model, homes, tools: [pay], isOneProcess: true });
  const { events } = await yard.ask("go");
  const ends = all(events, "call.finished").map(({ outcome }) => outcome);
  assert.deepEqual(
    [paid, ends],
    [
      [1, 3],
      ["ok", "ok", "not_run", "ok", "ok", "ok"],
    ],
  );
});

test("a message that comes while a server lets go of a conversation is answered all the same [L2][L7]", async () => {
  let send: (() => Promise<unknown>) | undefined;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async releaseLease(...given) {
      // The turn is over, and nobody looks any more.
      const late = send;
      send = undefined;
      await late?.();
      return storage.releaseLease(...given);
    },
  });
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, wrapStorage });
  const { id } = await yard.start("c");
  const body = { text: "and this", mode: "queue" } as const;
  send = () => must(yard.client.call("sendMessage", { params: { id }, body }));
  await yard.ask("first", { conversation: id });
  await until("both are answered", async () => all(await yard.events(id), "turn.finished").length === 2);
});

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

// Whoever starts a server says how long its end may take, and kills it then: nothing that can wait for the next one is waited for.

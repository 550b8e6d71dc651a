import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { type Homes, homesHere } from "../../src/homes/homes.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import { type Storage, StorageAway, type Told } from "../../src/storage/storage.ts";
import { all, until } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";
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

test("a look that the storage broke off is made again in the next second, and what was not seen is answered then [N1][L2][Q2]", async () => {
  const { second, options } = amongOthers();
  let isAway = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...options.wrapStorage(storage),
    async conversationByNumber(number) {
      const failed = makeFailure("database_away", { why: "away", said: "planted" });
      if (isAway) throw new StorageAway(failed, undefined);
      return storage.conversationByNumber(number);
    },
  });
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, ...options, wrapStorage });
  const row = await yard.start("c");
  await storedElsewhere(yard, row.number, "m1");
  isAway = true;
  const none = await yard.engine.recover({ ageMsMax: Number.MAX_SAFE_INTEGER });
  assert.deepEqual(
    [none, await yard.faults()],
    [{ resumed: 0, older: [] }, ["what was interrupted could not be looked for"]],
  );
  second();
  await until("the look has failed", async () => (await yard.faults()).length === 2);
  isAway = false;
  second();
  await until("it is answered", async () => all(await yard.events(row.id), "turn.finished").length === 1);
  await yard.whenAtRest(row.id);
});

test("what another server had for a while and left as it was is looked at again when it is at home here once more [N1][L2]", async () => {
  const { heard, second, options } = amongOthers();
  let isHere = true;
  const isAsked = Promise.withResolvers<void>();
  const homes: Homes = {
    ...options.homes,
    async holds() {
      const was = isHere;
      isHere = false;
      if (!was) isAsked.resolve();
      return was;
    },
  };
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, ...options, homes });
  const row = await yard.start("c");
  await storedElsewhere(yard, row.number, "m1");
  // It is found, and gone before it is driven.
  second();
  await isAsked.promise;
  homes.holds = async () => true;
  heard.back();
  second();
  await until("it is answered", async () => all(await yard.events(row.id), "turn.finished").length === 1);
  await yard.whenAtRest(row.id);
});

test("what is told while a look is under way is looked for after it, without another second [N1][L2]", async () => {
  const { heard, second, options } = amongOthers();
  const [looks, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isHeld = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...options.wrapStorage(storage),
    async dueWakes(...given) {
      const due = await storage.dueWakes(...given);
      if (!isHeld) return due;
      isHeld = false;
      looks.resolve();
      await seen.promise;
      return due;
    },
  });
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, ...options, wrapStorage });
  const row = await yard.start("c");
  isHeld = true;
  second();
  await looks.promise;
  await storedElsewhere(yard, row.number, "m1");
  heard.told({ topic: "wake", key: String(row.number) });
  seen.resolve();
  await until("it is answered", async () => all(await yard.events(row.id), "turn.finished").length === 1);
  await yard.whenAtRest(row.id);
});

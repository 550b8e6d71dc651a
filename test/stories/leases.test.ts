import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { homesHere } from "../../src/homes/homes.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

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

test("what a person does between turns may take longer than a lease: it is renewed until that is over, and not after it [L9][N1]", async () => {
  const due = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    after(ms, action) {
      if (ms !== renewMs) return systemClock.after(ms, action);
      due.add(action);
      return () => due.delete(action);
    },
  };
  const renewed: boolean[] = [];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async renewLease(...given) {
      const answer = await storage.renewLease(...given);
      renewed.push(answer.ok && answer.value);
      return answer;
    },
    async append(batch) {
      const isUndo = batch.events.some(({ type }) => type === "rewound");
      for (let round = 1; isUndo && round <= 2; round += 1) {
        for (const renew of [...due]) {
          due.delete(renew);
          renew();
        }
        await until("the lease is renewed", () => renewed.length === round);
      }
      return storage.append(batch);
    },
  });
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, clock, wrapStorage, isOneProcess: true });
  const { conversation: id } = await yard.ask("go");
  await must(yard.client.call("undoTurn", { params: { id } }));
  assert.deepEqual([renewed, due.size], [[true, true], 0]);
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

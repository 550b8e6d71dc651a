import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { roundMoney } from "../../src/protocol/budget.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { all } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

const echo = defineTool({
  ...{ name: "echo", description: "Says it again. For tests.", class: "pure", input: z.object({ text: z.string() }) },
  run: ({ text }) => ok({ text }),
});

test("what steers while an attempt waits for the next one joins that; the attempt is told nothing twice, and what broke off is paid for [L7][M3][A4]", async () => {
  const half = { text: "half of an answer", fault: { after: 3, kind: "break" } } as const;
  let steer: (() => Promise<unknown>) | undefined;
  const clock: Clock = {
    ...systemClock,
    async wait(ms, signal) {
      if (ms < 400 || ms > 700) return systemClock.wait(ms, signal);
      await steer?.();
      return "elapsed";
    },
  };
  await using model = await modelServer([half, says("the whole answer")]);
  const env = { AGENTYARD_PRICES: `${model.wire.model} 1 10 0.1` };
  await using yard = await startYard({ model, clock, env });
  const { id } = await yard.start("c");
  const send = (text: string, mode: "queue" | "steer") =>
    must(yard.client.call("sendMessage", { params: { id }, body: { text, mode } }));
  steer = () => send("and in green", "steer");
  const { answer, events } = await yard.ask("paint it", { conversation: id });
  assert.equal(answer, "the whole answer");
  const [first, second, ...others] = all(events, "step.started");
  assert.deepEqual(
    [first, second].map((step) => [step?.step, step?.attempt, step?.joined?.length]),
    [
      [1, 1, undefined],
      [1, 2, 1],
    ],
  );
  assert.deepEqual([others, second?.reminder, second?.told], [[], undefined, undefined]);
  const contents = model.asked[1]?.body.messages.slice(1).map(({ content }) => String(content));
  assert.deepEqual([contents?.length, contents?.at(-1)], [2, "and in green"]);
  const [failed] = all(events, "step.failed");
  const { input = 0, output = 0 } = failed?.usage ?? {};
  assert.ok(output > 0);
  assert.equal(failed?.cost, roundMoney((input + 10 * output) / 1_000_000));
});

test("in its last answer a model that calls tools all the same is not listened to: what it says is the answer, and nothing runs [L8][L1]", async () => {
  // Who listens to it all the same comes to an end, too.
  await using model = await modelServer(() =>
    model.asked.length > 4 ? says("enough") : { ...calls(["echo", { text: "x" }]), text: "so far" },
  );
  await using yard = await startYard({ model, tools: [echo], env: { MAX_LOOPS: "1" } });
  const { answer, outcome, events } = await yard.ask("go");
  const last = all(events, "message.assistant").at(-1);
  assert.deepEqual([answer, outcome, last?.calls, last?.finish], ["so far", "limit", undefined, "stop"]);
  assert.deepEqual([model.asked.length, all(events, "call.started").length], [2, 0]);
});

test("who stops a conversation whose turn does not start within a second is told that none runs, and what was said is answered all the same [L6][L7]", async () => {
  const held = Promise.withResolvers<void>();
  let waits: number[] | undefined;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async claimLease(...given) {
      await held.promise;
      return storage.claimLease(...given);
    },
  });
  const clock: Clock = {
    ...systemClock,
    async wait(ms, signal) {
      if (waits === undefined || ms !== 5) return systemClock.wait(ms, signal);
      waits.push(ms);
      return "elapsed";
    },
  };
  await using model = await modelServer([says("here I am")]);
  await using yard = await startYard({ model, wrapStorage, clock, isOneProcess: true });
  const { id } = await yard.start("c");
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
  waits = [];
  const stopped = await yard.client.call("cancelTurn", { params: { id } });
  const { length: looks } = waits;
  held.resolve();
  assert.deepEqual([stopped.ok || stopped.failure.code, looks], ["turn_not_running", 200]);
  assert.equal((await yard.whenAtRest(id)).answer, "here I am");
});

test("a last answer that fails is asked for again with the very same words: that it is the last one is said once [L8][M3][L3]", async () => {
  const busy = { status: 503, headers: { "retry-after-ms": "1" }, body: '{"error":{"message":"overloaded"}}' };
  await using model = await modelServer([calls(["echo", { text: "x" }]), busy, says("so far")]);
  await using yard = await startYard({ model, tools: [echo], env: { MAX_LOOPS: "1" } });
  const { answer, events } = await yard.ask("go");
  const [, first, second] = model.messageBytes();
  assert.deepEqual([answer, first === second], ["so far", true]);
  const [, last, again] = all(events, "step.started");
  assert.deepEqual(
    [last, again].map((step) => [step?.attempt, step?.final, step?.reminder?.includes("limit of 1 steps")]),
    [
      [1, true, true],
      [2, true, undefined],
    ],
  );
});

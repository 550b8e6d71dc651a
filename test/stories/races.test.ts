import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { failure } from "../../src/protocol/failure.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { all, until } from "../world/events.ts";
import { endlessClock } from "../world/manual-clock.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const send = (yard: TestYard, id: string, text: string, mode: "queue" | "steer" = "queue") =>
  must(yard.client.call("sendMessage", { params: { id }, body: { text, mode } }));

/** Leases are renewed without waiting. */
const hurried: Clock = {
  ...systemClock,
  after: (ms, action) => systemClock.after(ms === 5_000 ? 1 : ms, action),
};

test("a lease that storage could not renew is no reason to end: the turn goes on, and the log says so [L2][Q2][N1]", async () => {
  const renewed = Promise.withResolvers<void>();
  let tries = 0;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    renewLease(...given) {
      tries += 1;
      if (tries === 1) return Promise.reject(new Error("planted"));
      if (tries === 2) return Promise.resolve(failure("database_away", { why: "away", said: "planted" }));
      renewed.resolve();
      return storage.renewLease(...given);
    },
  });
  // The tool goes on when the lease was renewed after all.
  const tool = defineTool({
    ...{ name: "linger", description: "Waits.", class: "pure", input: z.object({}) },
    run: async () => {
      await renewed.promise;
      return ok({ text: "rested" });
    },
  });
  await using model = await modelServer((request) => (stepOf(request) === 0 ? calls(["linger", {}]) : says("done")));
  await using yard = await startYard({ model, clock: hurried, wrapStorage, tools: [tool] });
  const { conversation, answer } = await yard.ask("go");
  assert.equal(answer, "done");
  const faults = await yard.faults();
  assert.ok(JSON.stringify(faults).includes(`the lease of ${conversation} was not renewed`), JSON.stringify(faults));
});

test("a server that hears that its conversation is another one's stops its tools at once, and leaves the turn to whoever goes on with it [L2][N1]", async () => {
  const another = { taken: 0, epoch: 0 };
  const toldOften = Promise.withResolvers<"went on">();
  let isPaying = false;
  let answers = 0;
  let storage: Storage | undefined;
  const wrapStorage = (inner: Storage): Storage => {
    storage = inner;
    return {
      ...inner,
      async renewLease(number, lease) {
        if (!isPaying) return inner.renewLease(number, lease);
        if (another.taken === 0) {
          another.taken = number;
          await inner.releaseLease(number, lease);
          another.epoch = (await must(inner.claimLease(number, "another", 60_000))).epoch;
        }
        const renewed = await inner.renewLease(number, lease);
        answers += 1;
        if (answers === 20) toldOften.resolve("went on");
        return renewed;
      },
    };
  };
  const ran: string[] = [];
  const tool = defineTool({
    ...{ name: "pay", description: "Pays.", class: "unsafe", input: z.object({}) },
    async run(_, { signal }) {
      isPaying = true;
      const stopped = new Promise<"stopped">((resolve) => signal.addEventListener("abort", () => resolve("stopped")));
      ran.push(await Promise.race([stopped, toldOften.promise]));
      return ok({ text: "paid" });
    },
  });
  await using model = await modelServer((request) => (stepOf(request) === 0 ? calls(["pay", {}]) : says("done")));
  await using yard = await startYard({ model, clock: hurried, wrapStorage, tools: [tool] });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await send(yard, id, "go");
  await until("its tool has ended", () => ran.length > 0);
  assert.deepEqual(ran, ["stopped"]);
  // It may have paid: whoever goes on does not pay again.
  const { taken, epoch } = another;
  await storage?.releaseLease(taken, { holder: "another", epoch });
  assert.deepEqual(await must(yard.client.call("resumeTurn", { params: { id } })), { turn: 1 });
  const { answer, events } = await yard.whenAtRest(id);
  const outcomes = all(events, "call.finished").map(({ outcome }) => outcome);
  assert.deepEqual([answer, outcomes, ran], ["done", ["unknown"], ["stopped"]]);
});

test("of two people who decide at the same time one is told that it was decided already [H2]", async () => {
  await using model = await modelServer((request) =>
    stepOf(request) === 0 ? calls(["ask_human", { question: "Which?" }]) : says("done"),
  );
  await using yard = await startYard({ model });
  const { conversation: id } = await yard.ask("go");
  const [decision] = (await must(yard.client.call("listDecisions", {}))).items;
  const params = { id, decision: decision?.id ?? "" };
  const both = await Promise.all(
    ["one", "two"].map((answer) => yard.client.call("decide", { params, body: { verdict: "answer", answer } })),
  );
  assert.equal(both.filter((result) => result.ok).length, 1);
  const refused = both.find((result) => !result.ok);
  assert.ok(refused && !refused.ok && ["decision_already_made", "decision_not_found"].includes(refused.failure.code));
});

test("a message withdrawn in the moment it is taken up is either answered or gone, never both [L7]", async () => {
  await using model = await modelServer((request) => says(`heard ${request.body.messages.at(-1)?.content}`));
  await using yard = await startYard({ model });
  for (let round = 0; round < 10; round += 1) {
    const { id } = await must(yard.client.call("createConversation", { body: {} }));
    const { message } = await send(yard, id, "hello");
    const taken = await yard.client.call("withdrawMessage", { params: { id, message } });
    const { events } = await yard.whenAtRest(id);
    assert.equal(all(events, "turn.started").length, taken.ok ? 0 : 1, `round ${round}`);
    assert.equal(all(events, "turn.finished").length, taken.ok ? 0 : 1);
  }
});

test("whatever a tool returns or throws, its call is answered and the turn goes on [L5]", async () => {
  const bad = (name: string, value: unknown) =>
    // A tool of somebody else's need not keep to our types.
    Object.assign(
      defineTool({
        name,
        description: "Returns nonsense. For tests.",
        input: z.object({}),
        run: () => ok({ text: "" }),
      }),
      {
        open: () => ok({ ask: undefined, run: async () => (typeof value === "function" ? value() : value) }),
      },
    );
  const throwing = () => {
    throw new Error("sorry");
  };
  const tools = [
    bad("bad_text", { ok: true, value: { text: 5 } }),
    bad("bad_empty", { ok: true, value: {} }),
    bad("bad_failure", { ok: false }),
    bad("bad_nothing", undefined),
    bad("bad_throw", throwing),
    bad("bad_event", { ok: true, value: { text: "x", events: [{ type: "todo.set", todos: [{ nonsense: true }] }] } }),
  ];
  await using model = await modelServer([
    calls(...tools.map(({ name }): [string, unknown] => [name, {}])),
    says("still here"),
  ]);
  await using yard = await startYard({ model, tools });
  const { answer, outcome, events } = await yard.ask("go");
  assert.deepEqual({ answer, outcome }, { answer: "still here", outcome: "done" });
  const results = all(events, "call.finished");
  assert.deepEqual(
    results.map(({ failure }) => failure?.code),
    Array(tools.length).fill("tool_crashed"),
  );
});

test("deleting a conversation whose model hangs does not wait for it [L9]", async () => {
  await using model = await modelServer(() => ({ text: "never", fault: { after: 1, kind: "stall" } }));
  await using yard = await startYard({ model, clock: endlessClock });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await send(yard, id, "go");
  await must(yard.client.call("deleteConversation", { params: { id } }));
});

const echo = defineTool({
  ...{ name: "echo", description: "Says it again. For tests.", class: "pure", input: z.object({ text: z.string() }) },
  run: ({ text }) => ok({ text }),
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

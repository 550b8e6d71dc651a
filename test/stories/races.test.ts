import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { z } from "zod";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { roundMoney } from "../../src/protocol/budget.ts";
import { failure } from "../../src/protocol/failure.ts";
import type { Append, Storage } from "../../src/storage/storage.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { lastOf } from "../world/company.ts";
import { inboxOf, say, waitingIn } from "../world/decisions.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { endlessClock } from "../world/manual-clock.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { playedProvider, sandboxOver } from "../world/played-provider.ts";
import { effectTool } from "../world/tools.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const send = (yard: TestYard, id: string, text: string, mode: "queue" | "steer" = "queue") =>
  must(yard.client.call("sendMessage", { params: { id }, body: { text, mode } }));

test("a message sent in the moment of a reset is not lost: either it is answered, or the reset is refused [L9][L2]", async () => {
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model });
  for (let round = 0; round < 5; round += 1) {
    const { conversation: id } = await yard.ask("first");
    const [reset] = await Promise.all([
      yard.client.call("resetConversation", { params: { id } }),
      send(yard, id, "second"),
    ]);
    const { events } = await yard.whenAtRest(id);
    const answered = all(events, "turn.finished").length;
    assert.equal(answered, 2, `round ${round}: ${reset.ok ? "reset" : reset.failure.code}`);
  }
});

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

test("a steering message withdrawn in the moment it joins is not told to the model [L7]", async () => {
  let takeBack: (() => Promise<void>) | undefined;
  const taken: boolean[] = [];
  const withdrawing = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      // The request is prepared by now; its step is stored only when the withdrawal is.
      if (batch.events.some(({ type }) => type === "step.started")) await takeBack?.();
      return storage.append(batch);
    },
  });
  const held = Promise.withResolvers<void>();
  await using model = await modelServer([{ ...calls(["now", {}]), heldUntil: held.promise }, says("done")]);
  await using yard = await startYard({ model, wrapStorage: withdrawing });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await send(yard, id, "go");
  await until("the model is asked", () => model.asked.length === 1);
  const { message } = await send(yard, id, "send it to everybody", "steer");
  takeBack = async () => {
    takeBack = undefined;
    taken.push((await yard.client.call("withdrawMessage", { params: { id, message } })).ok);
  };
  held.resolve();
  const { answer } = await yard.whenAtRest(id);
  const told = model.asked.filter(({ text }) => text.includes("send it to everybody")).length;
  assert.deepEqual({ taken, answer, told }, { taken: [true], answer: "done", told: 0 });
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

test("a stop that comes while the start of a tool is being stored is heard at once [L6]", async () => {
  const deaf = defineTool({
    name: "deaf",
    description: "Never ends. For tests.",
    input: z.object({}),
    run: () => new Promise(() => {}),
  });
  let stop: (() => Promise<unknown>) | undefined;
  const stopping = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      // Stored only when the stop is recorded.
      if (batch.events.some(({ type }) => type === "call.started")) await stop?.();
      return storage.append(batch);
    },
  });
  await using model = await modelServer([calls(["deaf", {}]), says("next")]);
  await using yard = await startYard({ model, tools: [deaf], wrapStorage: stopping, clock: endlessClock });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  stop = () => yard.client.call("cancelTurn", { params: { id } });
  await send(yard, id, "go");
  const { outcome, events } = await yard.whenAtRest(id);
  assert.equal(outcome, "cancelled");
  assert.equal(all(events, "call.finished").length, 1);
});

test("a message longer than the window that is withdrawn in the moment it is taken up is gone, and no model is asked about it [L7][Z2]", async () => {
  const tried = Promise.withResolvers<void>();
  let takeBack: (() => Promise<unknown>) | undefined;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const isStart = batch.epoch !== undefined && batch.events.some(({ type }) => type === "turn.started");
      const taken = isStart ? takeBack?.() : undefined;
      if (isStart) takeBack = undefined;
      await taken;
      const stored = await storage.append(batch);
      if (isStart) tried.resolve();
      return stored;
    },
  });
  await using model = await modelServer(() => says("I see."));
  const env = { MODEL_BASIC_CONTEXT_WINDOW: "4096" };
  await using yard = await startYard({ model, env, wrapStorage });
  const { id } = await yard.start("c");
  const message = "11111111-1111-4111-8111-111111111111";
  takeBack = () => must(yard.client.call("withdrawMessage", { params: { id, message } }));
  const body = { id: message, text: `Read this. ${"word ".repeat(20_000)}`, mode: "queue" } as const;
  await must(yard.client.call("sendMessage", { params: { id }, body }));
  await tried.promise;
  const { events } = await yard.whenAtRest(id);
  assert.deepEqual([events.map(({ type }) => type), model.asked.length], [["message.user", "message.withdrawn"], 0]);
});

test("a conversation is forgotten when its programs have ended, and only then is temp/ empty: what they still wrote goes with it [L9][X1]", async () => {
  const [asked, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { openSandbox } = sandboxOver(playedProvider());
  const reset = () => {
    asked.resolve();
    return ended.promise;
  };
  await using yard = await startYard({
    isOneProcess: true,
    openSandbox: (parts) => ({ ...openSandbox(parts), reset }),
  });
  const row = await yard.start("c");
  const files = yard.engine.files(row);
  const done = yard.engine.reset(row);
  await asked.promise;
  await must(files.write("temp/late.txt", "written by a program at its end"));
  ended.resolve();
  await must(done);
  assert.equal((await files.read("temp/late.txt")).ok, false);
});

test("what somebody says in the moment in which a rule answers costs nothing: the model is not asked again, the call runs once, and the message has its turn [H2][L2][L7]", async (t) => {
  const marks = join(folderWith(t, {}), "marks");
  let speak: (() => Promise<unknown>) | undefined;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const isRules = batch.epoch !== undefined && batch.events.some(({ type }) => type === "decision.made");
      const said = isRules ? speak?.() : undefined;
      if (isRules) speak = undefined;
      await said;
      return storage.append(batch);
    },
  });
  await using model = await modelServer((request) => {
    const { role, text } = lastOf(request);
    return role === "user" && text.startsWith("pay") ? calls(["pay", { mark: "a" }]) : says("fine");
  });
  const tools = [effectTool("pay", "unsafe", marks, { asks: true })];
  await using yard = await startYard({ model, tools, wrapStorage });
  const { conversation: id } = await yard.ask("pay for it");
  const [open] = await waitingIn(yard, id);
  await say(yard, open, { verdict: "approve", always: { scope: "conversation" } });
  await yard.whenAtRest(id);
  const body = { text: "and this", mode: "queue" } as const;
  speak = () => must(yard.client.call("sendMessage", { params: { id }, body }));
  await yard.ask("pay for it again", { conversation: id });
  await until("all are answered", async () => all(await yard.events(id), "turn.finished").length === 3);
  const events = await yard.events(id);
  assert.deepEqual([all(events, "decision.made").map(({ by }) => by), model.asked.length], [["local", "rule"], 5]);
  assert.equal(readFileSync(marks, "utf8").trim().split("\n").length, 2);
});

test("an answer that comes in the moment in which a call looks for it is found, and the call goes on [H3][L7]", async () => {
  let answer: (() => Promise<unknown>) | undefined;
  let isAsked = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const stored = await storage.append(batch);
      isAsked ||= batch.events.some(({ type }) => type === "decision.asked");
      return stored;
    },
    async read(number, range) {
      const events = await storage.read(number, range);
      // Others read along: a stream so many at a time, and the whole log from its beginning.
      const isTheCall = isAsked && range.after > 0 && range.upTo === undefined;
      const answering = isTheCall ? answer : undefined;
      if (isTheCall) answer = undefined;
      await answering?.();
      return events;
    },
  });
  const asking = defineTool({
    ...{ name: "book", description: "Books a table.", class: "unsafe", input: z.strictObject({}) },
    async run(_, { askForm }) {
      const { action } = await askForm({ question: "For how many?", fields: [] });
      return ok({ text: action });
    },
  });
  await using model = await modelServer([calls(["book", {}]), says("booked")]);
  await using yard = await startYard({ model, tools: [asking], wrapStorage, isOneProcess: true });
  answer = async () => say(yard, (await waitingIn(yard, "c"))[0], { verdict: "answer", answer: "" });
  await yard.start("c");
  const { events } = await yard.ask("a table", { conversation: "c" });
  assert.deepEqual(
    all(events, "call.finished").map(({ text }) => text),
    ["accept"],
  );
});

type Meanwhile = (batch: Append, storage: Storage) => ReturnType<Storage["append"]>;

/**
 * A yard in which conversation `one` asks about the payments a, a and b, and `two` about a and a. What people decide is
 * stored by `meanwhile`, once it is set.
 */
async function payments(t: TestContext) {
  const moment: { meanwhile: Meanwhile | undefined } = { meanwhile: undefined };
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    append(batch) {
      const isDecided = batch.epoch === undefined && batch.events.some(({ type }) => type === "decision.made");
      return (isDecided ? moment.meanwhile : undefined)?.(batch, storage) ?? storage.append(batch);
    },
  });
  const model = await modelServer((request) => {
    const marks = String(request.body.messages.findLast(({ role }) => role === "user")?.content).match(/\b[ab]\b/g);
    return stepOf(request) > 0
      ? says("done")
      : calls(...(marks ?? []).map((mark): [string, unknown] => ["pay", { mark }]));
  });
  t.after(() => model.close());
  const tools = [effectTool("pay", "unsafe", join(folderWith(t, {}), "marks"), { asks: true })];
  const yard = await startYard({ model, tools, wrapStorage, isOneProcess: true });
  t.after(() => yard[Symbol.asyncDispose]());
  const [one, two] = [await yard.start("one"), await yard.start("two")];
  await yard.ask("a a b", { conversation: "one" });
  await yard.ask("a a", { conversation: "two" });
  const [first, second, third] = await waitingIn(yard, "one");
  const others = await waitingIn(yard, "two");
  return { yard, moment, one, two, first, second, third, others };
}

const verdictsIn = async (yard: TestYard, id: string) =>
  all(await yard.events(id), "decision.made").map(({ id: decision, by, verdict }) => [decision, by, verdict]);

const always = { verdict: "approve", always: { scope: "user" } } as const;

test("what a new rule answers here and elsewhere is named once and waits nowhere any more, also where the logs moved on in that moment [H2][H4]", async (t) => {
  const { yard, moment, one, two, first, second, third, others } = await payments(t);
  const moved = new Set<number>();
  moment.meanwhile = async (batch, storage) => {
    const row = [one, two].find(({ number }) => number === batch.number && !moved.has(number));
    moved.add(batch.number);
    if (row !== undefined) await must(yard.engine.setBudget(row, { steps: 40 }));
    return storage.append(batch);
  };
  const [left] = others;
  assert.deepEqual(await say(yard, first, always), [second?.id, ...others.map(({ id }) => id)]);
  assert.deepEqual([moved.size, (await inboxOf(yard)).map(({ id }) => id)], [2, [third?.id]]);
  assert.deepEqual((await verdictsIn(yard, "two"))[0], [left?.id, "rule", "approve"]);
});

test("what somebody decides elsewhere in the moment in which a rule would answer it stays as they decided [H2]", async (t) => {
  const { yard, moment, two, first, second, others } = await payments(t);
  const [left, right] = others;
  moment.meanwhile = async (batch, storage) => {
    if (batch.number !== two.number) return storage.append(batch);
    moment.meanwhile = undefined;
    assert.deepEqual(await say(yard, left, { verdict: "reject", reason: "not this one" }), []);
    return storage.append(batch);
  };
  assert.deepEqual(await say(yard, first, always), [second?.id, right?.id]);
  assert.deepEqual(await verdictsIn(yard, "two"), [
    [left?.id, "local", "reject"],
    [right?.id, "rule", "approve"],
  ]);
});

test("where the answer of a rule cannot be stored elsewhere, it is not told to be answered: a person is still asked there [H2][Q2]", async (t) => {
  const { yard, moment, two, first, second, third, others } = await payments(t);
  moment.meanwhile = async (batch, storage) =>
    batch.number === two.number ? failure("storage_full", {}) : storage.append(batch);
  assert.deepEqual(await say(yard, first, always), [second?.id]);
  const waits = (await inboxOf(yard)).map(({ id }) => id);
  assert.deepEqual(waits.toSorted(), [third, ...others].map((open) => open?.id).toSorted());
});

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

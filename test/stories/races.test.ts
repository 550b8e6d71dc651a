import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { failure } from "../../src/protocol/failure.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { firstOf, lastOf } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { endlessClock } from "../world/manual-clock.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { noSandbox } from "../world/sandbox.ts";
import { skillFolder, skillText } from "../world/skill-folder.ts";
import { takenOverAt } from "../world/taken-over.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const send = (yard: TestYard, id: string, text: string, mode: "queue" | "steer" = "queue") =>
  must(yard.client.call("sendMessage", { params: { id }, body: { text, mode } }));

test("a message sent in the moment of a reset is not lost: either it is answered, or the reset is refused [L9][L2]", async () => {
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model });
  for (let round = 0; round < 15; round += 1) {
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

test("what waits is seen and can be withdrawn while the model is speaking [L7]", async () => {
  await using model = await modelServer([{ text: "one two three", fault: { after: 2, kind: "stall" } }, says("never")]);
  await using yard = await startYard({ model });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await send(yard, id, "go");
  await until("the model speaks", () => model.asked.length === 1);
  const { message } = await send(yard, id, "later");
  const { queue } = await must(yard.client.call("getState", { params: { id } }));
  assert.deepEqual(
    queue.map(({ text }) => text),
    ["later"],
  );
  await must(yard.client.call("withdrawMessage", { params: { id, message } }));
  await must(yard.client.call("cancelTurn", { params: { id } }));
  await yard.whenAtRest(id);
  assert.equal(model.asked.length, 1, "the message that was withdrawn is not sent");
});

test("a message withdrawn in the moment it is taken up is either answered or gone, never both [L7]", async () => {
  await using model = await modelServer((request) => says(`heard ${request.body.messages.at(-1)?.content}`));
  await using yard = await startYard({ model });
  for (let round = 0; round < 30; round += 1) {
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

test("a steering message withdrawn while it is being taken up beside other agents is not told to the model [L7][A1]", async (t) => {
  const skills = skillFolder(t);
  skills.write("greetings/SKILL.md", skillText("greetings"));
  skills.write("greetings/requirements.txt", "greeter\n");
  const held = Promise.withResolvers<void>();
  await using model = await modelServer((request) => {
    if (firstOf(request).startsWith("paint")) return { ...says("painted"), heldUntil: held.promise };
    const { role, text } = lastOf(request);
    if (text.includes("painted")) return says("done");
    return role === "tool" ? says("it is at it") : calls(["spawn_agent", { role: "painter", task: "paint it" }]);
  });
  const taken: boolean[] = [];
  const none = noSandbox();
  const openSandbox = (): Sandbox => ({
    ...none,
    // The message is known by now, and what its skill lacks is looked for; its step is not stored yet.
    async run(place, wanted) {
      taken.push((await yard.client.call("withdrawMessage", { params: { id, message: "steering" } })).ok);
      return none.run(place, wanted);
    },
  });
  await using yard = await startYard({ model, data: skills.data, openSandbox });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await send(yard, id, "go");
  await until("the main agent waits for the other", async () =>
    all(await yard.events(id), "message.assistant").some(({ text }) => text === "it is at it"),
  );
  const body = { id: "steering", text: "send it to everybody with @greetings", mode: "steer" } as const;
  await must(yard.client.call("sendMessage", { params: { id }, body }));
  await until("it was withdrawn", () => taken.length > 0);
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

test("going back to a place does not bring back a message that waited there [L9]", async () => {
  const held = Promise.withResolvers<void>();
  await using model = await modelServer([
    { text: "slow answer", heldUntil: held.promise },
    says("to the second"),
    says("to the third"),
    says("in the branch"),
  ]);
  await using yard = await startYard({ model });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await send(yard, id, "first");
  await until("the first is being answered", () => model.asked.length === 1);
  await send(yard, id, "second");
  assert.equal((await must(yard.client.call("getState", { params: { id } }))).queue.length, 1);
  held.resolve();
  await yard.whenAtRest(id);
  const [place] = (await must(yard.client.call("listCheckpoints", { params: { id } }))).items;
  const branch = await must(
    yard.client.call("branchConversation", { params: { id }, body: { at: place?.checkpoint ?? 0 } }),
  );
  await must(yard.client.call("restoreCheckpoint", { params: { id, checkpoint: place?.checkpoint ?? 0 } }));
  for (const conversation of [id, branch.id]) {
    const { status, queue } = await must(yard.client.call("getState", { params: { id: conversation } }));
    assert.deepEqual({ status, queue }, { status: "idle", queue: [] });
  }
  assert.equal((await yard.ask("third", { conversation: id })).answer, "to the third");
});

test("a conversation that another server has taken over is not reset by the one that had it [L2][L9][N1]", async () => {
  let isTaken = false;
  const wrapStorage = takenOverAt(({ events }) => isTaken && events.some(({ type }) => type === "rewound"));
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, wrapStorage });
  const { conversation: id, events } = await yard.ask("first");
  isTaken = true;
  const reset = await yard.client.call("resetConversation", { params: { id } });
  assert.equal(reset.ok || reset.failure.code, "fenced");
  assert.deepEqual(await yard.events(id), events);
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

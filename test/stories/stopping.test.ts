import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { roundMoney } from "../../src/protocol/budget.ts";
import { failure } from "../../src/protocol/failure.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { failureWords, wordsFor } from "../../src/words/words.ts";
import { allFrames, messagesOf, startChatYard } from "../world/chat.ts";
import { firstOf, lastOf } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { endlessClock } from "../world/manual-clock.ts";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { callEnds, openAiYard } from "../world/openai.ts";
import { deafTool } from "../world/tools.ts";
import { must, openReplica, startYard, type TestYard } from "../world/yard.ts";

/** Sends a message, waits until the turn hangs, and stops it. */
async function stopStuckTurn(yard: TestYard, isStuck: (id: string) => Promise<boolean>): Promise<string> {
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
  await until("the turn hangs", () => isStuck(id));
  await must(yard.client.call("cancelTurn", { params: { id } }));
  await yard.whenAtRest(id);
  return id;
}

const stuckAnswers: Record<string, Answer> = {
  "before its first word": { text: "never", fault: { after: 0, kind: "stall" } },
  "behind pings": { text: "one two three four", fault: { after: 3, kind: "ping" } },
};

for (const [where, answer] of Object.entries(stuckAnswers)) {
  test(`a model call that is stuck ${where} is stopped at once, and the next turn works [L6]`, async () => {
    await using model = await modelServer([answer, says("fine again")]);
    await using yard = await startYard({ model, clock: endlessClock });
    const id = await stopStuckTurn(yard, async () => model.asked.length === 1);
    assert.equal(all(await yard.events(id), "turn.finished").at(-1)?.outcome, "cancelled");
    const next = await yard.ask("and now?", { conversation: id });
    assert.deepEqual({ answer: next.answer, outcome: next.outcome }, { answer: "fine again", outcome: "done" });
  });
}

const slowDown: Answer = { status: 429, headers: { "retry-after": "50" }, body: '{"error":{"message":"slow down"}}' };

const isPaused = async (yard: TestYard, id: string) => all(await yard.events(id), "step.failed").length === 1;

test("a turn that waits because the model server asked it to slow down is stopped at once [L6][M3]", async () => {
  await using model = await modelServer([slowDown]);
  await using yard = await startYard({ model, clock: endlessClock });
  const id = await stopStuckTurn(yard, (id) => isPaused(yard, id));
  const events = await yard.events(id);
  assert.equal(all(events, "step.failed")[0]?.retryAfterMs, 50_000);
  assert.equal(all(events, "turn.finished").at(-1)?.outcome, "cancelled");
  assert.equal(model.asked.length, 1);
});

test("a server that ends while a turn waits to ask the model again does not wait with it; the next start goes on [L6][L2][M3]", async (t) => {
  const data = folderWith(t, {});
  await using model = await modelServer([slowDown, says("here I am")]);
  const first = await startYard({ model, data, clock: endlessClock });
  const { id } = await must(first.client.call("createConversation", { body: {} }));
  await must(first.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
  await until("the turn waits", () => isPaused(first, id));
  await first[Symbol.asyncDispose]();
  await using yard = await startYard({ model, data });
  const { answer, outcome } = await yard.whenAtRest(id);
  assert.deepEqual({ answer, outcome }, { answer: "here I am", outcome: "done" });
});

/** A tool that was told to stop has half a second for its last words; no longer time ever passes. */
const momentsOnly: Clock = {
  ...endlessClock,
  wait: (ms, signal) => (ms <= 500 ? systemClock : endlessClock).wait(ms, signal),
};

test("a tool that is stuck and does not listen is stopped within a second, its call is answered, and the next turn works [L6][L5]", async () => {
  await using model = await modelServer([calls(["deaf", {}], ["now", {}]), says("fine again")]);
  await using yard = await startYard({ model, tools: [deafTool], clock: momentsOnly });
  const id = await stopStuckTurn(yard, async (id) => all(await yard.events(id), "call.started").length === 2);
  const results = all(await yard.events(id), "call.finished");
  assert.deepEqual(results.map(({ outcome }) => outcome).sort(), ["cancelled", "ok"]);
  const next = await yard.ask("and now?", { conversation: id });
  assert.equal(next.answer, "fine again");
  const roles = model.asked[1]?.body.messages.map(({ role }) => role);
  assert.deepEqual(
    roles,
    ["system", "user", "assistant", "tool", "tool", "user"],
    "the history is valid: every call has its result",
  );
});

test("a tool that takes longer than it may is stopped, and the model is told after how many seconds [L5]", async () => {
  const limits = new Map<number, () => void>();
  const clock: Clock = {
    ...systemClock,
    after(ms, action) {
      limits.set(ms, action);
      return systemClock.after(ms, action);
    },
  };
  /** Its time is over as soon as it runs. */
  const slow = (name: string, limitMs: number, more: { timeoutMs?: number }) =>
    defineTool({
      ...{ name, description: "Takes too long. For tests.", class: "pure", input: z.object({}), ...more },
      async run(_, { signal }) {
        limits.get(limitMs)?.();
        return signal.aborted ? failure("tool_cancelled", { tool: name }) : ok({ text: "there was no limit" });
      },
    });
  const tools = [slow("usual", 120_000, {}), slow("quick", 7_000, { timeoutMs: 7_000 })];
  await using model = await modelServer([calls(["usual", {}]), calls(["quick", {}]), says("done")]);
  await using yard = await startYard({ model, tools, clock });
  const results = all((await yard.ask("go")).events, "call.finished");
  assert.deepEqual(
    results.map(({ outcome, failure }) => [outcome, failure?.code, failure?.params]),
    [
      ["error", "tool_timeout", { tool: "usual", seconds: 120 }],
      ["error", "tool_timeout", { tool: "quick", seconds: 7 }],
    ],
  );
});

test("what was said before the stop stays in the history, so that the model can be told to go on [L6]", async () => {
  await using model = await modelServer([
    { text: "one two three four", fault: { after: 4, kind: "stall" } },
    says("four five"),
  ]);
  await using yard = await startYard({ model, env: { AGENTYARD_PRICES: `${model.wire.model} 1 10 0.1` } });
  const seen: string[] = [];
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const stop = new AbortController();
  const watching = (async () => {
    for await (const frame of yard.client.follow(id, { after: 0, signal: stop.signal }))
      if (frame.frame === "delta") seen.push(frame.text);
  })();
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "count", mode: "queue" } }));
  await until("three words were shown", () => seen.join("") === "one two three ");
  await must(yard.client.call("cancelTurn", { params: { id } }));
  const { events } = await yard.whenAtRest(id);
  stop.abort();
  await watching;
  const cut = all(events, "message.assistant").at(-1);
  assert.deepEqual([cut?.text, cut?.cut, cut?.usageEstimated], ["one two three ", true, true]);
  const { input = 0, output = 0 } = cut?.usage ?? {};
  assert.deepEqual([output > 0, cut?.cost], [true, roundMoney((input + 10 * output) / 1_000_000)], "it is paid for");
  await yard.ask("go on", { conversation: id });
  assert.equal(model.asked[1]?.body.messages.at(-2)?.content, "one two three ");
});

test("stopping when nothing runs says so [L6]", async () => {
  await using yard = await startYard();
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const refused = await yard.client.call("cancelTurn", { params: { id } });
  assert.equal(refused.ok ? "" : refused.failure.code, "turn_not_running");
  assert.deepEqual(await must(yard.client.call("resumeTurn", { params: { id } })), { turn: null });
});

const stuck: Answer = { text: "never", fault: { after: 0, kind: "stall" } };

test("a turn during which the process ended three times is parked, with what to do in both languages [L2][Q2]", async (t) => {
  const data = folderWith(t, {});
  await using model = await modelServer(() => stuck);
  await using first = await startYard({ data, model });
  const { id } = await must(first.client.call("createConversation", { body: {} }));
  await must(first.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
  const isAsked = (times: number) => until(`the model was asked ${times} times`, () => model.asked.length === times);
  await isAsked(1);
  // Each of them takes the conversation over as after the end of the one before.
  await using others = new AsyncDisposableStack();
  for (const times of [2, 3]) {
    others.use(await startYard({ data, model }));
    await isAsked(times);
  }
  await using last = await startYard({ data, model });
  const { outcome, events } = await last.whenAtRest(id);
  const reason = all(events, "turn.finished").at(-1)?.failure;
  assert.deepEqual([outcome, reason?.code, model.asked.length], ["crashed", "turn_crashed", 3]);
  const told = (["en", "zh"] as const).map((language) => reason && failureWords(wordsFor(language), reason).join(" "));
  assert.match(told[0] ?? "", /^This turn ended the process 3 times and was parked\. Change the request/);
  assert.match(told[1] ?? "", /^这个回合已经让程序意外退出 3 次，现已搁置。 请换一种说法/);
});

test("a turn that only waited for a person while the process ended three times is not parked; the agent that was at work is [L2][H4][A1]", async (t) => {
  const data = folderWith(t, {});
  await using model = await modelServer((request) => {
    if (firstOf(request).startsWith("part")) return stuck;
    if (lastOf(request).role === "tool" || lastOf(request).text.startsWith("[The agent")) return says("done");
    return calls(["ask_human", { question: "Well?" }], ["spawn_agent", { role: "helper", task: "part" }]);
  });
  await using first = await startYard({ data, model });
  const { id } = await first.start("c");
  await must(first.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
  await using others = new AsyncDisposableStack();
  for (const times of [2, 3, 4]) {
    await until(`the model was asked ${times} times`, () => model.asked.length === times);
    if (times < 4) others.use(await startYard({ data, model }));
  }
  await using last = await startYard({ data, model });
  const waiting = await last.whenAtRest(id);
  const [ended] = all(waiting.events, "agent.ended");
  assert.deepEqual([waiting.status, ended?.outcome, ended?.failure?.code], ["waiting", "failed", "turn_crashed"]);
  const [open] = (await must(last.client.call("listDecisions", {}))).items;
  const params = { id, decision: open?.id ?? "" };
  await must(last.client.call("decide", { params, body: { verdict: "answer", answer: "well" } }));
  const { answer, outcome } = await last.whenAtRest(id);
  assert.deepEqual([answer, outcome], ["done", "done"]);
});

test("who waits for an answer over /v1 is told when somebody stops the turn [C5][L6]", async () => {
  await using model = await modelServer(() => stuck);
  await using server = await openAiYard({ model });
  for (const [stream, conversation] of [
    [false, "whole"],
    [true, "streamed"],
  ] as const) {
    const before = model.asked.length;
    const ends = callEnds(server.openai.responses.create({ model: "general", input: "go", conversation, stream }));
    await until("the model was asked", () => model.asked.length > before);
    await must(server.yard.client.call("cancelTurn", { params: { id: conversation } }));
    assert.deepEqual(await ends, [409, "invalid_request_error", "turn_cancelled"]);
  }
});

const stalling = { text: "word0 word1 word2 word3", fault: { after: 2, kind: "stall" } } as const;

test("who stops a turn that is over by now does not stop the one that runs [C4][L6]", async () => {
  await using model = await modelServer([says("one"), stalling]);
  await using yard = await startYard({ model });
  const row = await must(yard.engine.create(localOwner, { id: "c" }));
  const send = (id: string) => must(yard.engine.send(row, { id, text: id, mode: "queue" }));
  await send("a");
  await yard.whenAtRest("c");
  await send("b");
  await until("the second runs", () => model.asked.length === 2);
  await send("w");
  const stop = async (which: Parameters<typeof yard.engine.cancel>[1]) => {
    const stopped = await yard.engine.cancel(row, which);
    return stopped.ok ? stopped.value : stopped.failure.code;
  };
  const over = "turn_not_running";
  assert.deepEqual(
    [await stop({ message: "a" }), await stop({ turn: 1 }), await stop({ message: "w", turn: 1 })],
    [over, over, over],
  );
  assert.deepEqual([await stop({ decision: "none" }), await stop({ message: "nobody" })], [over, over]);
  assert.deepEqual(all(await yard.events("c"), "cancel.asked"), []);
  assert.deepEqual([await stop({ message: "w" }), await stop({ message: "w" })], [{ turn: null }, over]);
  assert.deepEqual(await stop({ message: "b", turn: 2 }), { turn: 2 });
  const { events } = await yard.whenAtRest("c");
  assert.deepEqual(
    all(events, "turn.finished").map(({ outcome }) => outcome),
    ["done", "cancelled"],
  );
});

test("a client that gives every turn the same agent_run_id stops and reads the one that runs [C4]", async () => {
  await using model = await modelServer([says("one"), stalling]);
  await using world = await startChatYard({ model });
  const named = { conversation_id: "c1", agent_run_id: "mine" };
  await world.chat({ query: "first", ...named });
  const running = await world.stream({ query: "second", ...named });
  await until("the second runs", () => model.asked.length === 2);
  const reading = await world.stream(named, { path: "chat/resume" });
  assert.equal((await world.call("POST", "chat/termination", named)).status, 204);
  const [read] = await Promise.all([allFrames(reading), allFrames(running)]);
  assert.match(JSON.stringify(read), /"second"/);
  const statuses = async () => (await messagesOf(world, "c1")).map(({ status }) => status);
  assert.deepEqual(await statuses(), ["processed", "succeded", "processed", "cancelled"]);
  // When none runs, the newest is meant.
  const late = await allFrames(await world.stream(named, { path: "chat/resume" }));
  assert.match(JSON.stringify(late), /"second"/);
});

const ageMsMax = 60_000;

test("after a start four interrupted turns go on at a time; those that lie too long back are only named, and no message stays without its answer [L2][L8]", async (t) => {
  let now = 1_000_000;
  const clock: Clock = { ...systemClock, now: () => now };
  const data = folderWith(t, {});
  const goOn = Promise.withResolvers<void>();
  let held = 0;
  let most = 0;
  await using model = await modelServer();
  const first = await startYard({ model, data, clock, isOneProcess: true });
  const begin = async (id: string) => {
    const asked = model.asked.length;
    await first.start(id);
    await must(first.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
    await until("the model is asked", () => model.asked.length > asked);
  };
  model.answerWith([says("all is said")]);
  await first.ask("go");
  model.answerWith(() => ({ text: "never", fault: { after: 0, kind: "stall" } }));
  await begin("old");
  const { number } = await first.start("unread");
  const message = { type: "message.user", id: "m", text: "go", mode: "queue" } as const;
  await must(first.log.append(number, [message], { with: { received: "m", wake: { notBefore: 0 } } }));
  now += 1;
  const young = ["a", "b", "c", "d", "e"];
  for (const id of young) await begin(id);
  await first[Symbol.asyncDispose]();

  now += ageMsMax;
  model.answerWith((request) => {
    if (lastOf(request).text.startsWith("meanwhile")) return says("of course");
    held += 1;
    most = Math.max(most, held);
    const letGo = goOn.promise.then(() => {
      held -= 1;
    });
    return { ...says("here I am"), heldUntil: letGo };
  });
  const { yard, logger } = await openReplica(
    { model, isOneProcess: true },
    { own: data, cwd: data, shared: {}, clock },
  );
  const { resumed, older } = await yard.engine.recover({ ageMsMax });
  assert.deepEqual([resumed, older.map(({ id }) => id)], [young.length + 1, ["old"]]);
  const endsOf = async (id: string) => {
    const row = await must(yard.log.find(localOwner, id));
    const events = await yard.log.read(row.number, { after: 0, limit: 100 });
    return all(events, "turn.finished").map(({ outcome }) => outcome);
  };
  await until("four are at work", () => held >= 4);
  // Whoever says something meanwhile need not wait for them.
  const row = await must(yard.engine.create(localOwner, { id: "meanwhile" }));
  await must(yard.engine.send(row, { text: "meanwhile", mode: "queue" }));
  await until("that is answered", async () => (await endsOf("meanwhile")).length === 1);
  goOn.resolve();
  for (const id of [...young, "unread"])
    await until(`${id} is answered`, async () => (await endsOf(id)).join() === "done");
  assert.deepEqual([most, await endsOf("old")], [4, []]);
  await yard.close();
  await logger.close();
});

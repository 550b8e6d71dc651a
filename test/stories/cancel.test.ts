import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { roundMoney } from "../../src/protocol/budget.ts";
import { failure } from "../../src/protocol/failure.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { endlessClock } from "../world/manual-clock.ts";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { deafTool, heldTool } from "../world/tools.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

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
  "in the middle": { text: "one two three four", fault: { after: 3, kind: "stall" } },
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

test("a server that ends right after a stop does not begin what was queued behind the stopped turn [L6][L2]", async () => {
  const slow = heldTool("slow");
  await using model = await modelServer([calls(["slow", {}]), says("should not be asked for")]);
  const yard = await startYard({ model, tools: [slow.tool], clock: endlessClock });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const send = (text: string) => yard.client.call("sendMessage", { params: { id }, body: { text, mode: "queue" } });
  await must(send("go"));
  await until("the tool runs", () => slow.isHeld());
  await must(send("and then this"));
  await must(yard.client.call("cancelTurn", { params: { id } }));
  const closed = yard[Symbol.asyncDispose]();
  slow.release();
  await closed;
  assert.equal(model.asked.length, 1);
});

test("stopping when nothing runs says so [L6]", async () => {
  await using yard = await startYard();
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const refused = await yard.client.call("cancelTurn", { params: { id } });
  assert.equal(refused.ok ? "" : refused.failure.code, "turn_not_running");
  assert.deepEqual(await must(yard.client.call("resumeTurn", { params: { id } })), { turn: null });
});

test("who stops what they have only just sent stops its turn, which is about to start [L6]", async () => {
  const looked = Promise.withResolvers<void>();
  let isAsked = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async claimLease(...given) {
      await looked.promise;
      return storage.claimLease(...given);
    },
  });
  // Whoever stops has looked once, and no turn had started.
  const clock: Clock = {
    ...systemClock,
    wait(ms, signal) {
      if (isAsked && ms === 5) looked.resolve();
      return systemClock.wait(ms, signal);
    },
  };
  await using model = await modelServer(() => ({ text: "never", fault: { after: 0, kind: "stall" } }));
  await using yard = await startYard({ model, wrapStorage, clock });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
  isAsked = true;
  const stopped = await yard.client.call("cancelTurn", { params: { id } });
  looked.resolve();
  assert.deepEqual(stopped, { ok: true, value: { turn: 1 } });
  assert.equal((await yard.whenAtRest(id)).outcome, "cancelled");
});

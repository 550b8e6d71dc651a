import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { LogEvent } from "../../src/protocol/events.ts";
import type { Decision } from "../../src/protocol/resources.ts";
import { inboxOf, type Said, say, toldResults, waitingIn } from "../world/decisions.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { seedFor } from "../world/fuzz-chance.ts";
import { endlessClock } from "../world/manual-clock.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { validateRequest } from "../world/strict-validator.ts";
import { effectTool } from "../world/tools.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const pay = (data: string) => effectTool("pay", "unsafe", join(data, "marks"), { asks: true });

test("fifty decisions in a row in one turn all resume, also when the process ends in between [H2][H4]", async (t) => {
  const data = folderWith(t, {});
  await using model = await modelServer((request) =>
    stepOf(request) < 50 ? calls(["pay", { mark: `m${stepOf(request)}` }]) : says("all paid"),
  );
  const parts = { data, model, tools: [pay(data)] };
  let yard = await startYard(parts);
  const { conversation } = await yard.ask("go");
  for (let count = 0; count < 50; count += 1) {
    if (count % 10 === 9) {
      await yard[Symbol.asyncDispose]();
      yard = await startYard(parts);
    }
    const [open, ...others] = await waitingIn(yard, conversation);
    assert.deepEqual([open?.arguments, others.length], [`{"mark":"m${count}"}`, 0]);
    assert.deepEqual(await say(yard, open, { verdict: "approve" }), []);
    await until("the next one is asked, or all are paid", async () => {
      const { status, decisions } = await must(yard.client.call("getState", { params: { id: conversation } }));
      return status === "idle" || (status === "waiting" && decisions[0]?.id !== open?.id);
    });
  }
  const { answer, events } = await yard.whenAtRest(conversation);
  assert.equal(answer, "all paid");
  assert.deepEqual(
    all(events, "call.finished").map(({ text }) => text),
    Array.from({ length: 50 }, (_, index) => `pay left m${index}`),
  );
  await yard[Symbol.asyncDispose]();
});

test("fifty requests of one answer wait side by side and are answered in any order [H2]", async (t) => {
  const data = folderWith(t, {});
  const marks = Array.from({ length: 50 }, (_, index) => `m${index}`);
  await using model = await modelServer([
    calls(...marks.map((mark): [string, unknown] => ["pay", { mark }])),
    says("done"),
  ]);
  await using yard = await startYard({ data, model, tools: [pay(data)] });
  const { conversation } = await yard.ask("go");
  const open = await waitingIn(yard, conversation);
  assert.equal(open.length, 50);
  const inTurn = open.toSorted((one, other) => one.id.localeCompare(other.id));
  const answers = inTurn.map((decision, index) =>
    say(yard, decision, index % 5 === 4 ? { verdict: "reject" } : { verdict: "approve" }),
  );
  assert.deepEqual(await Promise.all(answers), Array(50).fill([]));
  assert.equal((await yard.whenAtRest(conversation)).answer, "done");
  const rejected = new Set(inTurn.filter((_, index) => index % 5 === 4).map((decision) => decision.arguments));
  const told = toldResults(model.asked[1]?.body ?? { messages: [] });
  assert.deepEqual(
    told.map((text) => text.startsWith("Error: tool_rejected:")),
    marks.map((mark) => rejected.has(JSON.stringify({ mark }))),
  );
});

test("one rejected among five parallel calls leaves a history that the strictest server takes [H2][L5]", async (t) => {
  const data = folderWith(t, {});
  const wanted = ["a", "b", "c", "d", "e"].map((mark): [string, unknown] => ["pay", { mark }]);
  for (let refused = 0; refused < wanted.length; refused += 1) {
    await using model = await modelServer([calls(...wanted), says("done"), says("and on")]);
    await using yard = await startYard({ model, tools: [pay(data)] });
    const { conversation } = await yard.ask("go");
    for (const [index, decision] of (await waitingIn(yard, conversation)).entries())
      await say(yard, decision, index === refused ? { verdict: "reject", reason: "no" } : { verdict: "approve" });
    assert.equal((await yard.whenAtRest(conversation)).answer, "done");
    assert.equal((await yard.ask("go on", { conversation })).answer, "and on");
    assert.deepEqual(
      model.asked.map(({ body }) => validateRequest(body)),
      [[], [], []],
    );
    const told = toldResults(model.asked[1]?.body ?? { messages: [] });
    assert.deepEqual(
      told.map((text) => text.startsWith("Error: tool_rejected:")),
      wanted.map((_, index) => index === refused),
    );
  }
});

test("a turn that waits for a person is stopped at once, and what it asked is gone from the inbox [L6][H4]", async (t) => {
  const data = folderWith(t, {});
  await using model = await modelServer([calls(["pay", { mark: "a" }], ["ask_human", { question: "Which?" }])]);
  await using yard = await startYard({ data, model, tools: [pay(data)], clock: endlessClock });
  const { conversation } = await yard.ask("go");
  assert.equal((await inboxOf(yard)).length, 2);
  await must(yard.client.call("cancelTurn", { params: { id: conversation } }));
  const { outcome, events } = await yard.whenAtRest(conversation);
  assert.equal(outcome, "cancelled");
  assert.deepEqual(
    all(events, "call.finished").map((event) => event.outcome),
    ["not_run", "not_run"],
  );
  assert.deepEqual(await inboxOf(yard), []);
});

/** The same numbers for the same seed. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** What waits by the log: asked, not answered, and its turn has not ended. */
function waitingByLog(events: readonly LogEvent[]): string[] {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === "decision.asked") open.add(event.id);
    if (event.type === "decision.made") open.delete(event.id);
    if (event.type === "turn.finished") open.clear();
  }
  return [...open];
}

/** Something that a person does at random. */
async function act(yard: TestYard, open: readonly Decision[], pick: (below: number) => number): Promise<void> {
  const decision = open[pick(open.length)];
  if (decision === undefined) return;
  const equal = pick(3) === 0;
  const isQuestion = decision.kind === "question";
  const verdicts: readonly Said[] = [
    { verdict: isQuestion ? "answer" : "approve", answer: "that", equal },
    { verdict: "reject", reason: "no", equal },
    isQuestion ? { verdict: "answer", answer: "" } : { verdict: "edit", arguments: '{"mark":"z"}' },
    { verdict: "approve", always: { scope: pick(2) === 0 ? "user" : "conversation" } },
  ];
  const body = verdicts[pick(isQuestion ? 3 : 4)] ?? { verdict: "reject" };
  if (pick(8) === 0) await yard.client.call("cancelTurn", { params: { id: decision.conversation } });
  else await say(yard, decision, body);
}

async function checkWaiting(yard: TestYard, conversations: readonly string[], label: string): Promise<Decision[]> {
  for (const id of conversations) await yard.whenAtRest(id);
  const inbox = await inboxOf(yard);
  for (const id of conversations) {
    const byLog = waitingByLog(await yard.events(id));
    const byInbox = inbox.filter((decision) => decision.conversation === id).map((decision) => decision.id);
    const byState = (await waitingIn(yard, id)).map((decision) => decision.id);
    assert.deepEqual([byInbox, byState], [byLog, byLog], label);
  }
  return inbox;
}

async function play(t: TestContext, seed: number): Promise<void> {
  const pick = numbersFrom(seed);
  const data = folderWith(t, {});
  await using model = await modelServer((request) => {
    if (stepOf(request) > 2) return says("done");
    const wanted = Array.from({ length: 1 + (request.text.length % 4) }, (_, index): [string, unknown] =>
      index === 2 ? ["ask_human", { question: "Which?" }] : ["pay", { mark: "abc"[(request.text.length + index) % 3] }],
    );
    return calls(...wanted);
  });
  const parts = { data, model, tools: [pay(data)] };
  let yard = await startYard(parts);
  const conversations: string[] = [];
  for (let round = 0; round < 25; round += 1) {
    if (conversations.length < 3 && pick(4) === 0) conversations.push((await yard.ask("go")).conversation);
    if (pick(10) === 0) {
      await yard[Symbol.asyncDispose]();
      yard = await startYard(parts);
    }
    const open = await checkWaiting(yard, conversations, `seed ${seed}, round ${round}`);
    // Two at the same time, as from two surfaces.
    await Promise.all([act(yard, open, pick), act(yard, open, pick)]);
    if (open.length === 0) for (const conversation of conversations) await yard.ask("go on", { conversation });
  }
  await checkWaiting(yard, conversations, `seed ${seed}, at the end`);
  await yard[Symbol.asyncDispose]();
}

test("what the inbox shows is what the log has open, however decisions come in [H4]", async (t) => {
  await play(t, seedFor("decisions", 1));
});

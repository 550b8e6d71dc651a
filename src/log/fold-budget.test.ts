import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, step } from "../../test/world/any-log.ts";
import { nothingSpent, type Spent } from "../protocol/budget.ts";
import type { LogEvent, NewEvent } from "../protocol/events.ts";
import { emptySpending, noteSpending, type Spending } from "./fold-budget.ts";

type Timed = readonly [at: number, event: NewEvent];

function spending(...events: readonly Timed[]): Spending {
  const kept = emptySpending();
  for (const [index, [at, event]] of events.entries())
    noteSpending(kept, { ...event, seq: index + 1, at } satisfies LogEvent);
  return kept;
}

const spent = (...events: readonly Timed[]): Spent => spending(...events).spent;
/** All at one moment. */
const paid = (...events: readonly NewEvent[]): Spent => spent(...events.map((event): Timed => [0, event]));

const started: NewEvent = { type: "turn.started", turn: 1, message: "a", epoch: 1 };
const recovered: NewEvent = { type: "turn.recovered", turn: 1, epoch: 2 };
const ended: NewEvent = { type: "turn.finished", turn: 1, outcome: "done" };
const running = (call: string): NewEvent => ({ type: "call.started", call, class: "pure", attempt: 1 });
const finished = (call: string, outcome: "ok" | "unknown" = "ok"): NewEvent => ({
  ...{ type: "call.finished", call, outcome, text: "" },
});
const failed = (usage?: { input: number; output: number }): NewEvent => ({
  ...{ type: "step.failed", turn: 1, step: 1, attempt: 1, kind: "network", failure: { code: "x", params: {} } },
  ...(usage === undefined ? {} : { usage, cost: 0.5 }),
});
const usage = { input: 10.2, output: 1 };
const note = (cost?: number): NewEvent => ({
  type: "usage.noted",
  turn: 1,
  usage,
  ...(cost !== undefined && { cost }),
});
const room = (cost?: number): NewEvent => ({
  ...{ type: "compacted", turn: 1, strategy: "compact", upTo: 0, summary: "", messagesBefore: 1, messagesAfter: 1 },
  ...{ usage, ...(cost !== undefined && { cost }) },
});

test("each answer, failure, summary and lost summary is paid for; a step counts once, however often it is tried [A4]", () => {
  assert.deepEqual(
    paid(started, step(1), failed({ input: 7, output: 0 }), step(1, { attempt: 2 }), answer(1, []), room(0.25), note()),
    { ...nothingSpent, steps: 1, tokens: 7 + 11 + 12 + 12, money: 0.75, unpriced: 2 },
  );
  assert.deepEqual(paid(started, step(1), failed(), note(0.125)), {
    ...{ ...nothingSpent, steps: 1, tokens: 12, money: 0.125 },
  });
});

test("what an answer may have cost is paid where nobody learnt what it did: lost with its process, or stopped [A4][L2]", () => {
  const asked = step(1, { reserved: { tokens: 100, money: 2 } });
  const lost = { ...nothingSpent, steps: 1, tokens: 100, money: 2 };
  assert.deepEqual(paid(started, asked), { ...nothingSpent, steps: 1 }, "it is on its way");
  assert.deepEqual(paid(started, asked, recovered, step(1, { attempt: 2 })), lost);
  assert.deepEqual(paid(started, asked, ended), lost);
  assert.deepEqual(paid(started, asked, failed(), ended), { ...nothingSpent, steps: 1 });
  assert.deepEqual(paid(started, asked, answer(1, []), ended), { ...nothingSpent, steps: 1, tokens: 11, unpriced: 1 });
});

test("what a branch brought along was paid for in the other conversation [A4][L9]", () => {
  const branched: NewEvent = { type: "branched", parent: "c", place: 3, copiedUpTo: 3 };
  // The note comes before what it is about: it is told with the first event.
  assert.deepEqual(paid(branched, note(1), note(1), note(1)), { ...nothingSpent, tokens: 12, money: 1 });
  assert.deepEqual(paid({ type: "branched", parent: "c", place: 3 }, note(1)), {
    ...{ ...nothingSpent, tokens: 12, money: 1 },
  });
});

test("an agent's budget is held back until it ends, and then what it spent is its parent's, and the agent that it was [A4][A1]", () => {
  const spawned = (mode: "task" | "handoff", budget = {}): NewEvent => ({
    ...{ type: "agent.spawned", id: mode, mode, role: "r", brief: "b", budget },
  });
  const over = (id: string): NewEvent => ({
    ...{ type: "agent.ended", id, outcome: "done", spent: { ...nothingSpent, tokens: 5, agents: 2 } },
  });
  const held = spending([0, spawned("task", { tokens: 50, agents: 3 })], [0, spawned("handoff")]);
  assert.deepEqual(held.reserved, new Map([["task", { tokens: 50, agents: 4 }]]));
  assert.deepEqual(held.spent, { ...nothingSpent, agents: 1 }, "whom the user was handed over to");
  assert.deepEqual(paid(spawned("task"), over("task"), over("task"), over("another")), {
    ...{ ...nothingSpent, tokens: 5, agents: 3 },
  });
  assert.deepEqual(paid(spawned("task"), { type: "agent.ended", id: "task", outcome: "failed" }).agents, 1);
});

test("time is work while a model is asked, a call runs or room is made, and none while people are waited for [A4]", () => {
  const ms = (...events: readonly Timed[]) => spent(...events).ms;
  const begun: Timed[] = [
    [1_000, started],
    [1_010, step(1)],
    [1_110, answer(1, ["x", "y"])],
  ];
  assert.equal(ms(...begun), 100, "from the request to the answer");
  assert.equal(ms(...begun, [9_000, running("x")]), 100, "until then a person was asked");
  assert.equal(ms(...begun, [9_000, running("x")], [9_007, finished("x")]), 107);
  const both: Timed[] = [...begun, [2_000, running("x")], [2_001, running("y")], [2_005, finished("y")]];
  assert.equal(ms(...both, [2_009, finished("x")]), 109, "two at once are no longer than one");
  assert.equal(ms(...both, [2_009, ended]), 109);
  assert.equal(ms(...begun, [3_000, { type: "compaction.started", turn: 1, by: "window" }], [3_030, step(2)]), 130);
  assert.equal(ms(...begun, [3_000, { type: "message.user", id: "b", text: "", mode: "queue" }], [4_000, ended]), 100);
  assert.equal(ms([1_000, started], [1_010, step(1)], [1_020, failed()], [1_050, step(1, { attempt: 2 })]), 40);
});

test("the time between the end of a process and the next start is nobody's work [A4][L2]", () => {
  const ms = (...events: readonly Timed[]) => spent(...events).ms;
  const asking: Timed[] = [
    [0, started],
    [10, step(1)],
  ];
  const day = 86_400_000;
  assert.equal(ms(...asking, [day, recovered], [day + 5, step(1, { attempt: 2 })], [day + 9, answer(1, [])]), 9);
  assert.equal(ms(...asking, [day, step(1, { attempt: 2 })], [day + 9, answer(1, [])]), 9);
  const calling: Timed[] = [...asking, [20, answer(1, ["x"])], [30, running("x")]];
  assert.equal(ms(...calling, [day, finished("x", "unknown")]), 10);
  assert.equal(ms(...calling, [day, running("x")], [day + 4, finished("x")]), 14);
});

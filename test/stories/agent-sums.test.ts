import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import type { NewEvent } from "../../src/protocol/events.ts";
import { firstOf, report } from "../world/company.ts";
import { all } from "../world/events.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

const sent = { attempt: 1, slot: "base", model: "m", reason: "r", hash: "", bytes: 0, reused: 0 } as const;
const written = { finish: "stop", durationMs: 1 } as const;

function step(number: number, usage: { input: number; output: number }, agent?: string): NewEvent[] {
  const whose = agent === undefined ? {} : { agent };
  return [
    { type: "step.started", ...whose, turn: 1, step: number, ...sent },
    { type: "message.assistant", ...whose, turn: 1, step: number, text: "fine", ...written, usage },
  ];
}

test("who looks at the agents of a conversation sees what each was asked and answered, its summaries too, and how it ended [A1][A2][A4]", async () => {
  await using yard = await startYard({ isOneProcess: true });
  const row = await yard.start("c");
  const worker = "worker-1";
  const made = { strategy: "compact", upTo: 0, summary: "", messagesBefore: 1, messagesAfter: 1 } as const;
  await must(
    yard.log.append(row.number, [
      { type: "message.user", id: "m1", text: "go", mode: "queue" },
      { type: "turn.started", turn: 1, message: "m1", epoch: 1 },
      ...step(1, { input: 10, output: 1 }),
      { type: "agent.spawned", id: worker, mode: "worker", role: "general", brief: "part 1", context: "subagent-1" },
      { type: "turn.started", agent: worker, turn: 1, message: worker, epoch: 1 },
      ...step(1, { input: 100, output: 2 }, worker),
      { type: "compacted", agent: worker, turn: 1, ...made, usage: { input: 1_000, output: 4 } },
      ...step(2, { input: 200, output: 3 }, worker),
      { type: "turn.finished", agent: worker, turn: 1, outcome: "limit" },
      { type: "agent.ended", id: worker, outcome: "limit", result: "all of it", steps: 2 },
      { type: "compacted", turn: 1, ...made, usage: { input: 5_000, output: 7 } },
      ...step(2, { input: 20, output: 2 }),
      { type: "turn.finished", turn: 1, outcome: "done" },
    ]),
  );
  const agents = (await yard.engine.agentTree(row)).map(
    ({ id, parent, state, steps, tokens, result, context, seq }) => ({
      ...{ id, parent, state, steps, tokens, result, context, seq },
    }),
  );
  assert.deepEqual(agents, [
    {
      ...{ id: "root", parent: null, state: "idle", result: null, context: null, seq: 0 },
      ...{ steps: 2, tokens: { input: 5_030, output: 10 } },
    },
    {
      ...{ id: worker, parent: "root", state: "limit", result: "all of it", context: "subagent-1", seq: 5 },
      ...{ steps: 2, tokens: { input: 1_300, output: 9 } },
    },
  ]);
});

test("who looks at the agents of a conversation sees for whom each works, what it was made for and when, with whose files, and who waits for a person [A1][A2][W2]", async () => {
  let now = 1_000;
  await using yard = await startYard({ isOneProcess: true, clock: { ...systemClock, now: () => now } });
  const row = await yard.start("c");
  now = 2_000;
  const made = (id: string, mode: "task" | "worker", agent?: string): NewEvent => ({
    ...{ type: "agent.spawned", id, mode, role: `role of ${id}`, name: id, brief: `${id} it` },
    ...(agent === undefined ? {} : { agent }),
  });
  const asks = { turn: 1, id: "d", call: "x", kind: "question", tool: "ask_human", question: "Well?" } as const;
  const calls = [{ id: "x", name: "ask_human", arguments: '{"question":"Well?"}' }];
  const usage = { input: 1, output: 1 };
  await must(
    yard.log.append(row.number, [
      { type: "message.user", id: "m1", text: "go", mode: "queue" },
      { type: "turn.started", turn: 1, message: "m1", epoch: 1 },
      ...[made("task", "task"), made("below", "worker", "task"), made("worker", "worker")],
      { type: "turn.started", agent: "below", turn: 1, message: "below-brief", epoch: 1 },
      { type: "step.started", agent: "below", turn: 1, step: 1, ...sent },
      { type: "message.assistant", agent: "below", turn: 1, step: 1, text: "", ...written, usage, calls },
      { type: "decision.asked", agent: "below", ...asks },
    ]),
  );
  const agents = await yard.engine.agentTree(row);
  assert.deepEqual(
    agents.map(({ id, parent, mode, brief, workspace, madeAt }) => [id, parent, mode, brief, workspace, madeAt]),
    [
      ["root", null, "main", "", null, 1_000],
      ["task", "root", "task", "task it", "task", 2_000],
      ["below", "task", "worker", "below it", "task", 2_000],
      ["worker", "root", "worker", "worker it", null, 2_000],
    ],
  );
  assert.deepEqual(
    agents.slice(1).map(({ role, state }) => [role, state]),
    [
      ["role of task", "working"],
      ["role of below", "waiting_person"],
      ["role of worker", "working"],
    ],
  );
});

test("what one agent that was made has taken is taken once: the next is made as long as there may be another [A4][A2]", async () => {
  await using model = await modelServer((request) => {
    if (firstOf(request).startsWith("part")) return says(report("done"));
    return stepOf(request) < 3 ? calls(["delegate_task", { task: `part ${stepOf(request)}` }]) : says("all are done");
  });
  await using yard = await startYard({ model, isOneProcess: true });
  const row = await yard.start("c");
  await must(yard.engine.setBudget(row, { agents: 2 }));
  const { answer, events } = await yard.ask("go", { conversation: "c" });
  const ends = all(events, "call.finished").map(({ outcome, failure }) => failure?.code ?? outcome);
  assert.deepEqual([answer, ends], ["all are done", ["ok", "ok", "budget_short"]]);
  assert.equal(all(events, "agent.spawned").length, 2);
});

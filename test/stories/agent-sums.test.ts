import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewEvent } from "../../src/protocol/events.ts";
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

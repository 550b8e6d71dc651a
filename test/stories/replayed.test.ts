import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewEvent } from "../../src/protocol/events.ts";
import { step } from "../world/any-log.ts";
import { must, startYard } from "../world/yard.ts";

const begun: NewEvent[] = [
  { type: "message.user", id: "m1", text: "go", mode: "queue" },
  { type: "turn.started", turn: 1, message: "m1", epoch: 1 },
];
const answered = (agent?: string): NewEvent => ({
  ...{ type: "message.assistant", turn: 1, step: 1, text: "fine", finish: "stop", durationMs: 1 },
  ...{ usage: { input: 1, output: 1 }, ...(agent === undefined ? {} : { agent }) },
});
const asked: NewEvent = {
  ...{ type: "decision.asked", turn: 1, id: "d1", call: "c", tool: "look", kind: "approval", arguments: "{}" },
};
const compacted = (by: "window" | "tool" | "person"): NewEvent => ({
  ...{ type: "compacted", turn: 1, by, strategy: "trim", upTo: 0, summary: "", messagesBefore: 1, messagesAfter: 1 },
});

test("a replay names every event that this version would not have come to, with what it would do there, for each agent by its own history; what people did it leaves to them [L2]", async () => {
  await using yard = await startYard({ isOneProcess: true });
  const row = await yard.start("c");
  const made: NewEvent = { type: "agent.spawned", id: "a", mode: "worker", role: "general", brief: "part" };
  const starts: NewEvent = { type: "turn.started", agent: "a", turn: 1, message: "a-brief", epoch: 1 };
  const recorded: [NewEvent, ...differences: [what: string, now: string][]][] = [
    ...begun.map((event): [NewEvent] => [event]),
    [{ type: "call.started", call: "c", class: "pure", attempt: 1 }, ["move", "step"]],
    [asked, ["move", "step"]],
    [{ type: "compaction.started", turn: 1, by: "window" }, ["move", "step"]],
    [compacted("window"), ["move", "step"]],
    [compacted("tool")],
    [compacted("person")],
    [made],
    [starts],
    [{ ...starts, turn: 2 }, ["move", "step"]],
    [step(1, { agent: "a", final: true }), ["move", "step"], ["model", "demo"]],
    [answered("a")],
    [step(1), ["model", "demo"]],
    [answered()],
    [step(2), ["move", "wait"], ["model", "demo"]],
  ];
  const stored = await must(
    yard.log.append(
      row.number,
      recorded.map(([event]) => event),
    ),
  );
  const first = stored.lastSeq - recorded.length + 1;
  const report = await yard.engine.replay(row);
  assert.deepEqual(
    report.differences.map(({ seq, what, now }) => [seq - first, what, now]),
    recorded.flatMap(([, ...differences], index) => differences.map(([what, now]) => [index, what, now])),
  );
  assert.deepEqual([report.turns, report.steps], [3, 3]);
});

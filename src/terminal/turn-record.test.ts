import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewEvent } from "../protocol/events.ts";
import { TurnRecord } from "./turn-record.ts";

function record(message: string | undefined, events: readonly NewEvent[]): TurnRecord {
  const turn = new TurnRecord(message);
  for (const [index, event] of events.entries()) turn.take({ ...event, seq: index + 1, at: 0 });
  return turn;
}

const turnOf = (turn: number, message: string, text: string): NewEvent[] => [
  { type: "turn.started", turn, message, epoch: 1 },
  {
    ...{ type: "message.assistant", turn, step: 1, text, finish: "stop", durationMs: 1 },
    usage: { input: 10, output: 2, cachedInput: turn },
  },
  { type: "turn.finished", turn, outcome: "done" },
];

test("the turn of one message is told apart from those around it [P2]", () => {
  const events = [...turnOf(1, "a", "one"), ...turnOf(2, "b", "two"), ...turnOf(3, "c", "three")];
  assert.equal(record("b", events).summary().answer, "two");
  assert.equal(record(undefined, events).summary().answer, "three");
  assert.deepEqual(record("b", events).summary().usage, { input: 10, output: 2, cached_input: 2 });
  assert.equal(record("z", events).end, undefined);
});

test("a person is needed only when nothing else runs [H4]", () => {
  const asked: NewEvent = { type: "decision.asked", turn: 1, id: "d", call: "c1", kind: "approval", tool: "rm" };
  const begun: NewEvent[] = [{ type: "turn.started", turn: 1, message: "a", epoch: 1 }, asked];
  const other: NewEvent = { type: "call.started", call: "c2", class: "pure", attempt: 1 };
  assert.equal(record("a", begun).needsPerson, "rm");
  assert.equal(record("a", [...begun, other]).needsPerson, undefined);
  const finished: NewEvent = { type: "call.finished", call: "c2", outcome: "ok", text: "" };
  assert.equal(record("a", [...begun, other, finished]).needsPerson, "rm");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEvent } from "../protocol/events.ts";
import { type Attempts, attemptAfter, isSameAttempt, noteAttempt } from "./attempt.ts";

const [first, second] = [
  { turn: 1, step: 1, attempt: 1 },
  { turn: 1, step: 1, attempt: 2 },
];

/** Of an event only what says where an answer begins and ends. */
function event(type: LogEvent["type"], of: object = {}): LogEvent {
  return { type, seq: 1, at: 1, ...first, ...of } as LogEvent;
}

/** Which ends an answer that is being written. */
const endings = ["message.assistant", "step.failed", "turn.finished", "turn.recovered", "rewound"] as const;

test("text of an answer is shown from its beginning to each of its ends, and never of another agent's [C3]", () => {
  assert.deepEqual(attemptAfter(undefined, event("step.started")), first);
  assert.deepEqual(attemptAfter(first, event("step.started", { attempt: 2 })), second);
  for (const type of endings) {
    assert.equal(attemptAfter(first, event(type)), undefined, type);
    assert.deepEqual(attemptAfter(first, event(type, { agent: "a" })), first, `${type} of a helper`);
  }
  assert.deepEqual(attemptAfter(first, event("call.finished")), first);
  assert.equal(attemptAfter(undefined, event("step.started", { agent: "a" })), undefined);
});

test("what helpers write ends with each of their answers, and all of it with the turn that they work for [C3][A2]", () => {
  const after = (...events: LogEvent[]): unknown => {
    const open: Attempts = new Map([
      ["a", first],
      ["b", first],
    ]);
    for (const one of events) noteAttempt(open, one);
    return Object.fromEntries(open);
  };
  assert.deepEqual(after(event("step.started", { agent: "a", attempt: 2 })), { a: second, b: first });
  for (const type of endings) assert.deepEqual(after(event(type, { agent: "a" })), { b: first }, type);
  for (const type of ["turn.finished", "rewound"] as const) assert.deepEqual(after(event(type)), {}, type);
  for (const type of ["message.assistant", "step.failed", "step.started"] as const)
    assert.deepEqual(after(event(type)), { a: first, b: first }, `${type} of the main one`);
});

test("text belongs to one try at one step of one turn, and to no other [C3]", () => {
  const others = [{ turn: 2 }, { step: 2 }, { attempt: 2 }];
  assert.ok(isSameAttempt(first, { ...first }));
  for (const other of others) assert.equal(isSameAttempt(first, { ...first, ...other }), false, JSON.stringify(other));
});

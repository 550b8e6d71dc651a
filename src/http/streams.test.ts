import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEvent } from "../protocol/events.ts";
import { StreamCursor } from "../protocol/stream.ts";
import { type Attempts, attemptAfter, noteAttempt } from "./attempt.ts";
import { openPlace, type PlacedFrame, readCursor } from "./cursor.ts";
import { gatherLiveText } from "./live-text.ts";
import { wholeCharacters } from "./whole-characters.ts";

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

const attempt = { turn: 1, step: 2, attempt: 1 };

function at(cursor: string) {
  const start = readCursor(cursor);
  assert.ok(start !== undefined, cursor);
  return openPlace(start, undefined);
}

function output(call: string, text: string, of: { readonly offset?: number; readonly agent?: string } = {}) {
  return { frame: "output", call, offset: 0, text, ...of } as const;
}

function heard(frames: readonly PlacedFrame[]) {
  return frames.map(({ id, body }) => [id, "text" in body && "offset" in body ? [body.offset, body.text] : body.frame]);
}

test("a place in a stream is never longer than one that is taken back, however many programs speak [C3]", () => {
  const place = at("1");
  for (let number = 1; number <= 9; number += 1) place.pass(output(`call_${number}`, "x"));
  const eight = [2, 3, 4, 5, 6, 7, 8, 9].map((number) => `call_${number}:1`);
  assert.equal(place.cursor(), ["1", ...eight].join(","));
  const [longest, longer] = ["x".repeat(200), "x".repeat(201)];
  for (const call of [longer, longest]) place.pass(output(call, "x"));
  assert.equal(place.cursor(), ["1", ...eight.slice(1), `${longest}:1`].join(","));
  assert.ok(StreamCursor.safeParse(place.cursor()).success);
  assert.deepEqual(readCursor(place.cursor())?.outputs.get(longest), 1);
});

test("a long text comes in pieces that take no character apart, and each says where it stands [C3]", () => {
  const place = at("3~1.2.1.r5t1");
  const text = `${"x".repeat(10_000)}🌍${"y".repeat(10)}`;
  const pieces = place.pass({ frame: "delta", ...attempt, kind: "text", offset: 0, text });
  assert.deepEqual(heard(pieces), [
    ["3~1.2.1.r5t10000", [1, text.slice(1, 10_000)]],
    ["3~1.2.1.r5t10012", [10_000, `🌍${"y".repeat(10)}`]],
  ]);
  const reasoning = place.pass({ frame: "delta", ...attempt, kind: "reasoning", offset: 0, text: "why not" });
  assert.deepEqual(heard(reasoning), [["3~1.2.1.r7t10012", [5, "ot"]]]);
});

test("of a program that says more than waits for a slow reader the end comes, and where in all it said that stands [C3]", () => {
  const text = gatherLiveText();
  const call = "call 1";
  let offset = 0;
  for (const said of ["a".repeat(10_000), "b".repeat(10_000), "c".repeat(100), "end"]) {
    text.add({ frame: "output", call, offset, text: said });
    offset += said.length;
  }
  const [frame, ...others] = text.take(() => undefined);
  assert.ok(frame?.frame === "output" && others.length === 0);
  assert.deepEqual([frame.offset, frame.text.length], [offset - 16_000, 16_000]);
  assert.match(frame.text, /^a+b{10000}c{100}end$/);
});

test("a piece of a text ends before a character that it cannot hold whole, and never behind the text [C3]", () => {
  const text = "a🌍b";
  assert.deepEqual(
    [1, 2, 3, 4, 5, 99].map((end) => wholeCharacters(text, end)),
    [1, 1, 3, 4, 4, 4],
  );
  const halves = ["x\ud7ffy", "x\ud800y", "x\udbffy", "x\udc00y"];
  assert.deepEqual(
    halves.map((half) => wholeCharacters(half, 2)),
    [2, 1, 1, 2],
  );
  assert.equal(wholeCharacters("a\ud83c", 2), 2, "a half at the end of all of it has nothing to wait for");
});

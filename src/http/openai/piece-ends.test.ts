import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEvent } from "../../protocol/events.ts";
import type { TurnFrame } from "../chat/follow-message.ts";
import { openPieces } from "./pieces.ts";

// How an answer begins and ends, and what it cost.

type Told = readonly [type: LogEvent["type"], of?: object];

/** Of an event only what an answer has of it; each a second after the one before. */
function logged(...told: readonly Told[]): TurnFrame[] {
  return told.map(([type, of], index) => {
    const event = { type, seq: index + 1, at: (index + 1) * 1_000, turn: 1, step: 1, ...of } as LogEvent;
    return { frame: "event", event };
  });
}

const asked = (id: string, kind: "function" | "approval") => ({ id, call: "c1", kind, tool: "look" });
const noted = (open: readonly { readonly id: string }[]) => `waits: ${open.map(({ id }) => id)}`;

test("an answer costs all that its turn did, compaction too, and ends with why and when to come again [C5]", () => {
  const failure = { code: "model_network", params: {} };
  const frames = logged(
    ["message.user", { id: "m" }],
    ["step.started", { attempt: 1 }],
    [
      "message.assistant",
      { text: "one", finish: "tool_calls", usage: { input: 10, output: 2, cachedInput: 4, reasoning: 1 } },
    ],
    ["compacted", { usage: { input: 100, output: 20 } }],
    ["compacted"],
    ["step.started", { step: 2, attempt: 1 }],
    ["step.failed", { step: 2, retryAfterMs: 7_000 }],
    [
      "message.assistant",
      { step: 2, text: "two", finish: "length", usage: { input: 1, output: 1, cachedInput: 2, reasoning: 3 } },
    ],
    ["turn.finished", { outcome: "failed", failure }],
  );
  const fold = openPieces(undefined, noted);
  const rest: TurnFrame = { frame: "rest", state: "failed" };
  assert.deepEqual([...frames, rest].flatMap(fold.take), [
    { piece: "begin", at: 1_000 },
    { piece: "text", part: 1, text: "one" },
    { piece: "text", part: 2, text: "two" },
    {
      ...{ piece: "end", state: "failed", at: 9_000, open: [], finish: "length", failure, retryAfterMs: 7_000 },
      usage: { input: 111, output: 23, cachedInput: 6, reasoning: 4 },
    },
  ]);
});

test("what waits for a person is told behind the words, and what waits for the caller alone is not [C5][H2]", () => {
  const texts = (state: "waiting" | "cancelled", ...told: readonly Told[]) => {
    const fold = openPieces(undefined, noted);
    const frames = logged(
      ["message.user", { id: "m" }],
      ["message.assistant", { text: "I look.", usage: {} }],
      ...told,
    );
    const pieces = [...frames, { frame: "rest", state } as const].flatMap(fold.take);
    return pieces.flatMap((piece) => ("text" in piece ? [[piece.part, piece.text]] : []));
  };
  const both = [
    ["decision.asked", asked("f", "function")],
    ["decision.asked", asked("d", "approval")],
  ] as const;
  assert.deepEqual(texts("waiting", ...both), [
    [1, "I look."],
    [2, "waits: d"],
  ]);
  assert.deepEqual(texts("waiting", both[0]), [[1, "I look."]]);
  assert.deepEqual(texts("cancelled", ...both), [[1, "I look."]], "nobody is asked any more");
});

test("an answer that begins behind a place in the log has what comes after it, and one behind a question only that [C5][H2]", () => {
  const frames = logged(
    ["message.user", { id: "m" }],
    ["message.assistant", { text: "before", usage: {} }],
    ["message.assistant", { step: 2, text: "after", usage: {} }],
  );
  const fold = openPieces(2, noted);
  const told = [...frames, { frame: "rest", state: "done" } as const].flatMap(fold.take);
  assert.deepEqual(
    told.map((piece) => ("text" in piece ? piece.text : [piece.piece, "at" in piece && piece.at])),
    [["begin", 3_000], "after", ["end", 3_000]],
  );
  const behind = { type: "decision.asked", seq: 1, at: 1, turn: 1, ...asked("d", "approval") } as const;
  const waiting = openPieces(9, noted);
  const pieces = waiting.take({ frame: "rest", state: "waiting", behind });
  assert.deepEqual(
    pieces.map((piece) => ("text" in piece ? piece.text : piece.piece)),
    ["begin", "waits: d", "end"],
  );
});

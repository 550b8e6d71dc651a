import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { LogEvent } from "../../protocol/events.ts";
import type { TurnFrame } from "../chat/follow-message.ts";
import { openPieces, type Piece } from "./pieces.ts";

const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
/** One step: what failed attempts said, then what the model said in the end, each cut into deltas somewhere. */
const step = fc.record({
  failed: fc.array(letters, { maxLength: 2 }),
  text: letters,
  deltaLength: fc.integer({ min: 1, max: 9 }),
});

test("the last part of each step is what the model said in it, and what was sent is never taken back [C5]", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 3 }), (steps) => {
      const fold = openPieces(undefined, () => "");
      const pieces = [event(1, { type: "message.user", id: "m", text: "go", mode: "queue" })].flatMap(fold.take);
      const ends: number[] = [];
      for (const [index, { failed, text, deltaLength }] of steps.entries()) {
        const attempts = [...failed, text];
        for (const [attempt, said] of attempts.entries()) {
          const frames = [started(index, attempt), ...deltas(index, attempt, said, deltaLength)];
          pieces.push(...frames.flatMap(fold.take));
        }
        pieces.push(...fold.take(answered(index, text)));
        ends.push(pieces.length);
      }
      for (const [index, { text, failed }] of steps.entries()) {
        const parts = partsOf(pieces.slice(index === 0 ? 0 : ends[index - 1], ends[index]));
        const last = parts.at(-1) ?? "";
        const isKept = last === text || (failed.some((said) => said.startsWith(text)) && last.startsWith(text));
        assert.ok(isKept, JSON.stringify({ parts, text, failed }));
      }
    }),
  );
});

test("an answer that goes on after a decision has nothing of what was before it [C5]", () => {
  const fold = openPieces("d1", () => "");
  const made = {
    type: "decision.made",
    id: "d1",
    verdict: "answer",
    by: "u",
    argumentsHash: "",
    previous: "",
  } as const;
  const frames = [
    event(1, { type: "message.user", id: "m", text: "go", mode: "queue" }),
    ...[started(0, 0), answered(0, "before")],
    ...[event(9, made), started(1, 0), answered(1, "after"), { frame: "rest", state: "done" } as const],
  ];
  assert.deepEqual(
    frames.flatMap(fold.take).map((piece) => ("text" in piece ? piece.text : piece.piece)),
    ["begin", "after", "end"],
  );
});

function partsOf(pieces: readonly Piece[]): string[] {
  const parts = new Map<number, string>();
  for (const piece of pieces)
    if (piece.piece === "text") parts.set(piece.part, (parts.get(piece.part) ?? "") + piece.text);
  return [...parts.values()];
}

function event(seq: number, body: object): TurnFrame {
  return { frame: "event", event: { seq, at: seq, ...body } as LogEvent };
}

function started(step: number, attempt: number): TurnFrame {
  return event(2, { type: "step.started", turn: 1, step, attempt });
}

function answered(step: number, text: string): TurnFrame {
  const usage = { input: 1, output: 1 };
  return event(3, { type: "message.assistant", turn: 1, step, text, finish: "stop", usage, durationMs: 1 });
}

function deltas(step: number, attempt: number, said: string, length: number): TurnFrame[] {
  const frames: TurnFrame[] = [];
  for (let offset = 0; offset < said.length; offset += length)
    frames.push({
      frame: "delta",
      turn: 1,
      step,
      attempt,
      kind: "text",
      offset,
      text: said.slice(offset, offset + length),
    });
  return frames;
}

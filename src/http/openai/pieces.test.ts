import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { LogEvent, NewEvent } from "../../protocol/events.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import type { TurnFrame } from "../chat/follow-message.ts";
import { openPieces, type Piece } from "./pieces.ts";
import { endOfTurn, eventsAfter, newestTurn } from "./turns.ts";

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

// Turns that are longer than what is read of a log at once.

const row = { number: 1 } as ConversationRow;
const said = (id: string, more: object = {}): NewEvent => ({
  ...{ type: "message.user", id, text: id, mode: "queue", ...more },
});
const turnStarted = (turn: number, message: string): NewEvent => ({ type: "turn.started", turn, message, epoch: 1 });
const finished = (turn: number): NewEvent => ({ type: "turn.finished", turn, outcome: "done" });
const made = (id: string): NewEvent => ({
  ...{ type: "decision.made", id, verdict: "answer", by: "me", argumentsHash: "", previous: "" },
});
const many = (count: number): NewEvent[] =>
  Array.from({ length: count }, (_, at) => ({ type: "conversation.renamed", title: `${at}` }));

function logOf(...written: readonly NewEvent[]) {
  const events = written.map((event, index): LogEvent => ({ ...event, seq: index + 1, at: index }));
  return {
    headOf: async () => events.length,
    effective: async () => events,
    read: async (_: number, { after, limit, upTo }: { after: number; limit: number; upTo: number }) =>
      events.slice(after, Math.min(upTo, after + limit)),
  };
}

test("the newest turn is found however long it is, with what was decided in it and nothing of the one before [C5]", async () => {
  const helper: NewEvent[] = [
    { type: "turn.started", agent: "h1", turn: 1, message: "h1-brief", epoch: 1 },
    { type: "turn.finished", agent: "h1", turn: 2, outcome: "done" },
  ];
  const log = logOf(
    ...[
      said("a"),
      turnStarted(1, "a"),
      said("b"),
      made("d0"),
      ...many(300),
      finished(1),
      turnStarted(2, "b"),
      made("d1"),
    ],
    ...[...many(199), ...helper, made("d2"), ...many(199), finished(2)],
  );
  assert.deepEqual(await newestTurn(log, row), { message: { id: "b", seq: 3 }, decided: ["d1", "d2"] });
  assert.equal(await newestTurn(logOf(said("a"), ...many(3)), row), undefined);
  const queued = logOf(said("a"), said("b"), turnStarted(1, "a"), finished(1), turnStarted(2, "b"));
  assert.deepEqual((await newestTurn(queued, row))?.message, { id: "b", seq: 2 }, "it waited for the turn before");
  const head = await log.headOf();
  assert.equal(await endOfTurn(log, 1, { id: "a", seq: 1 }), 305);
  assert.equal(await endOfTurn(log, 1, { id: "b", seq: 3 }), head, "the end of a helper's turn is not its own");
  const read: number[] = [];
  for await (const { seq } of eventsAfter(log, 1, 2)) read.push(seq);
  assert.deepEqual(
    read,
    Array.from({ length: head - 2 }, (_, at) => at + 3),
  );
});

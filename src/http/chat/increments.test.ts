import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyTurn, messageEvent, type Play } from "../../../test/world/any-turn.ts";
import { applyIncrement } from "../../client/client.ts";
import { ChatDocument, type ChatIncrement } from "../../protocol/chat.ts";
import type { LogEvent } from "../../protocol/events.ts";
import { type Change, type ChangesOptions, TurnChanges } from "./changes.ts";
import { applyChange, documentOf } from "./document.ts";
import { firstDocument } from "./first-document.ts";
import { inPieces, numbered, wholeDocument } from "./increments.ts";
import type { ChatPlace } from "./message-numbers.ts";

const place: ChatPlace = {
  ...{ message: messageEvent, index: 1, reply: "a", runId: "r", agent: { id: "general", name: "general" } },
  ...{ isAnswered: true, isWithdrawn: false },
};
const withProgress = { place, needsProgress: true, language: "en" } as const;

const factsIn = (plays: readonly Play[]): LogEvent[] =>
  plays.flatMap((play) => (play.play === "fact" ? [play.event] : []));

/** The text of the answer that is being written, as a reader who comes now gets it. */
function liveIn(plays: readonly Play[]) {
  const ends = ["step.started", "message.assistant", "step.failed", "turn.recovered", "turn.finished"];
  const from = plays.findLastIndex((play) => play.play === "fact" && ends.includes(play.event.type));
  const soFar = { text: "", reasoning: "", step: 0 };
  for (const play of plays.slice(from + 1)) {
    if (play.play === "piece") Object.assign(soFar, { step: play.step, [play.kind]: soFar[play.kind] + play.text });
  }
  return soFar;
}

/** A connection from a place on: the document as it stands, then what changes. Pieces may come together. */
function connect(plays: readonly Play[], options: ChangesOptions, { at, joined }: { at: number; joined: number }) {
  const turn = new TurnChanges(options);
  const document = firstDocument("c", place);
  const known = { text: 0, reasoning: 0 };
  const add = (kind: "text" | "reasoning", text: string, step: number): Change[] => {
    if (text === "") return [];
    const offset = known[kind];
    known[kind] += text.length;
    return turn.addText({ frame: "delta", turn: 1, step, attempt: 1, kind, offset, text });
  };
  const before = plays.slice(0, at);
  for (const event of factsIn(before)) for (const change of turn.addEvent(event)) applyChange(document, change);
  const { step, text, reasoning } = liveIn(before);
  for (const change of [...add("reasoning", reasoning, step), ...add("text", text, step)])
    applyChange(document, change);
  const changes: Change[] = [...wholeDocument(document)];
  let held: Extract<Play, { play: "piece" }>[] = [];
  const flush = () => {
    for (const { kind, text, step } of held) changes.push(...add(kind, text, step));
    held = [];
  };
  for (const play of plays.slice(at)) {
    if (play.play === "piece") {
      held.push(play);
      if (held.length % joined === 0) flush();
      continue;
    }
    // Text that was not taken before its end is in the log is never shown.
    held = [];
    changes.push(...turn.addEvent(play.event));
    if (play.event.type === "step.started") Object.assign(known, { text: 0, reasoning: 0 });
  }
  flush();
  return changes.flatMap((change) => [...inPieces(change)]);
}

test("any turn, cut off and taken up again anywhere, rebuilds the same document with both kinds of clients [C3]", () => {
  const numbers = fc.array(fc.nat(5_000), { maxLength: 60 });
  const cuts = fc.array(fc.record({ at: fc.nat(100), frames: fc.nat(60), joined: fc.integer({ min: 1, max: 3 }) }), {
    maxLength: 5,
  });
  fc.assert(
    fc.property(numbers, cuts, fc.constantFrom("web", "docs"), fc.boolean(), (chosen, cutsAt, variant, progress) => {
      const options = { ...withProgress, needsProgress: progress };
      const plays = anyTurn(chosen, { isEnded: true });
      let document: unknown = {};
      let next = 0;
      const take = (changes: readonly Change[]) => {
        const number = numbered(next);
        for (const change of changes) {
          const text = JSON.stringify(number.frame(change));
          assert.ok(Buffer.byteLength(text) <= 64 * 1024, `a frame of ${Buffer.byteLength(text)} bytes`);
          const frame: ChatIncrement = JSON.parse(text);
          assert.equal(frame.seq_id, next);
          next += 1;
          document = applyIncrement(document, frame, variant);
        }
      };
      const places = cutsAt.map((cut) => ({ ...cut, at: 1 + (cut.at % plays.length) })).toSorted((a, b) => a.at - b.at);
      for (const { at, frames, joined } of places) take(connect(plays, options, { at, joined }).slice(0, frames));
      const last = { at: places.at(-1)?.at ?? 1, joined: places.at(-1)?.joined ?? 1 };
      take(connect(plays, options, last));
      const fromLog = documentOf("c", options, factsIn(plays));
      assert.equal(JSON.stringify(document), JSON.stringify(fromLog));
      assert.deepEqual(ChatDocument.parse(document), document);
    }),
    { numRuns: 400 },
  );
});

test("a document that is taken up holds the running answer as far as it is written [C3]", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5_000), { maxLength: 40 }), (chosen) => {
      const plays = anyTurn(chosen, { isEnded: false });
      const frames = connect(plays, withProgress, { at: plays.length, joined: 1 });
      let document: unknown = {};
      for (const [seq_id, change] of frames.entries())
        document = applyIncrement(document, { seq_id, ...change, key: [...change.key] });
      const { text, reasoning, step } = liveIn(plays);
      const { final_answer, middle_answer } = ChatDocument.parse(document).message.content;
      if (step === 0) return;
      assert.deepEqual({ text: final_answer.answer.text, reasoning: final_answer.thinking }, { text, reasoning });
      const writing = middle_answer.progress.at(-1);
      assert.deepEqual([writing?.answer, writing?.think, writing?.status], [text, reasoning, "processing"]);
    }),
    { numRuns: 200 },
  );
});

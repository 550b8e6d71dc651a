import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyTurn, messageEvent, type Play } from "../../../test/world/any-turn.ts";
import { applyIncrement } from "../../client/client.ts";
import { ChatDocument, type ChatIncrement } from "../../protocol/chat.ts";
import type { LogEvent, NewEvent } from "../../protocol/events.ts";
import type { ToolCall } from "../../protocol/message.ts";
import { type Change, type ChangesOptions, TurnChanges } from "./changes.ts";
import { applyChange, documentOf } from "./document.ts";
import { firstDocument, firstProgress } from "./first-document.ts";
import { inPieces, numbered, wholeDocument } from "./increments.ts";
import type { ChatPlace } from "./message-numbers.ts";

// What the document of a turn shows of it, value by value.

const place: ChatPlace = {
  message: { type: "message.user", id: "m", text: "how many?", mode: "queue", seq: 1, at: 1_000 },
  ...{ index: 1, reply: "a", runId: "r", agent: { id: "general", name: "general" } },
  ...{ isAnswered: true, isWithdrawn: false },
};
const options = { place, needsProgress: true, language: "en" } as const;

type Timed = readonly [at: number, event: NewEvent];
const shown = (...events: readonly Timed[]) => {
  const logged = events.map(([at, event], index): LogEvent => ({ ...event, seq: index + 2, at }));
  return documentOf("c", options, logged);
};

const step = (number: number, attempt = 1): NewEvent => ({
  ...{ type: "step.started", turn: 1, step: number, attempt, slot: "base", model: "m", reason: "r" },
  ...{ hash: "", bytes: 0, reused: 0 },
});
const answered = (number: number, text: string, more: object = {}): NewEvent => ({
  ...{ type: "message.assistant", turn: 1, step: number, text, finish: "stop", usage: { input: 10, output: 2 } },
  ...{ durationMs: 1, ...more },
});
const call = (id: string, args: string): ToolCall => ({ id, name: "look", arguments: args });
const started = (id: string): NewEvent => ({ type: "call.started", call: id, class: "pure", attempt: 1 });
const ran = (id: string, text: string, outcome: "ok" | "error" | "rejected" = "ok"): NewEvent => ({
  ...{ type: "call.finished", call: id, outcome, text },
});
const asked = (id: string, about: string, more: object = {}): NewEvent => ({
  ...{ type: "decision.asked", turn: 1, id, call: about, kind: "approval", tool: "look", ...more },
});
const made = (id: string, verdict: "approve" | "reject" | "edit", more: object = {}): NewEvent => ({
  ...{ type: "decision.made", id, verdict, by: "me", argumentsHash: "", previous: "", ...more },
});
const finished = (outcome: "done" | "limit" | "cancelled" = "done", more: object = {}): NewEvent => ({
  ...{ type: "turn.finished", turn: 1, outcome, ...more },
});

test("each step and each call is shown with its times, its tokens, what it was given and what came of it [C3][C4]", () => {
  const calls = [call("c1", '{"path":"a.csv","n":null,"of":[1],"in":{"b":2}}'), call("c2", "broken"), call("c3", "")];
  const cached = { input: 10, output: 2, cachedInput: 4 };
  const { content, ext } = shown(
    [3_000, step(1)],
    [4_000, answered(1, "I look.", { reasoning: "hm", calls, usage: cached, firstTokenMs: 40 })],
    [4_100, started("c1")],
    [5_000, ran("c1", '{"rows":[1,2]}')],
    [5_100, ran("c2", "no such file", "error")],
    [5_200, ran("c3", '<data source="a" mark="x1">\n[]\n</data mark="x1">', "rejected")],
    [6_000, step(2)],
    [8_500, answered(2, "Two.", { firstTokenMs: 7 })],
    [8_600, finished()],
  ).message;
  const skill = (args: object[]) => ({ type: "TOOL", name: "look", args, checked: true });
  const item = (id: string, stage: "llm" | "skill", start_time: number, more: object) => ({
    ...firstProgress({ id, agent_name: "general", stage, skill_info: null, start_time }),
    ...{ status: "completed", ...more },
  });
  const tokens = (cached_tokens: number) => ({
    ...{ prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
    prompt_tokens_details: { cached_tokens, uncached_tokens: 10 - cached_tokens },
  });
  const first = [
    { name: "path", value: "a.csv", type: "string" },
    { name: "n", value: null, type: "null" },
    { name: "of", value: [1], type: "array" },
    { name: "in", value: { b: 2 }, type: "object" },
  ];
  const broken = [{ name: "arguments", value: "broken", type: "string" }];
  assert.deepEqual(content.middle_answer.progress, [
    item("r-1", "llm", 3_000, { answer: "I look.", think: "hm", end_time: 4_000, token_usage: tokens(4) }),
    item("r-1-1", "skill", 4_100, { answer: { rows: [1, 2] }, skill_info: skill(first), end_time: 5_000 }),
    item("r-1-2", "skill", 4_000, {
      ...{ answer: "no such file", skill_info: skill(broken), end_time: 5_100, status: "failed" },
    }),
    item("r-1-3", "skill", 4_000, { answer: [], skill_info: skill([]), end_time: 5_200, status: "failed" }),
    item("r-2", "llm", 6_000, { answer: "Two.", end_time: 8_500, token_usage: tokens(0) }),
  ]);
  assert.deepEqual([content.final_answer.answer.text, content.final_answer.thinking], ["Two.", ""]);
  // The wait before the first step counts for whoever waits for the first word.
  assert.deepEqual([ext.ttft, ext.total_tokens, ext.total_time], [2_040, 24, 5.5]);
});

test("a call that was asked about is shown with what was decided: left as it was, with other arguments, or not done [C4][H2]", () => {
  const calls = ["c1", "c2", "c3"].map((id) => call(id, '{"path":"a.csv"}'));
  const begun: Timed[] = [
    [2_000, step(1)],
    [2_100, answered(1, "", { calls })],
  ];
  const questions = ["1", "2", "3"].map((id): Timed => [2_200, asked(`d${id}`, `c${id}`)]);
  const of = (...events: readonly Timed[]) => {
    const { content, ext } = shown(...begun, ...events).message;
    const skills = content.middle_answer.progress.slice(1).map(({ interrupted, skill_info }) => {
      return [interrupted, skill_info?.checked, skill_info?.args[0]?.value];
    });
    return { skills, asks: ext.interrupt_info?.handle.resume_token };
  };
  const open = [true, false, "a.csv"];
  assert.deepEqual(of(...questions), { skills: [open, open, open], asks: "d1" });
  const first: Timed = [2_300, made("d1", "approve")];
  assert.deepEqual(of(...questions, first), { skills: [[false, true, "a.csv"], open, open], asks: "d2" });
  const second: Timed = [2_400, made("d2", "edit", { arguments: '{"path":"b.csv"}' })];
  const third: Timed = [2_500, made("d3", "reject")];
  const decided = [
    [false, true, "a.csv"],
    [false, true, "b.csv"],
    [false, false, "a.csv"],
  ];
  assert.deepEqual(of(...questions, first, second, third), { skills: decided, asks: undefined });
  const anew: Timed = [2_300, asked("d4", "c1", { instead: "d1" })];
  assert.deepEqual(of(...questions, anew).asks, "d2", "asked anew, it stands behind the others");
});

test("a turn that ends without an answer shows the last words that the agent said [C3][L4]", () => {
  const calls = [call("c1", "{}")];
  const words: Timed[] = [
    [2_000, step(1)],
    [2_100, answered(1, "I look.", { reasoning: "hm", calls })],
    [2_200, ran("c1", "nothing")],
    [2_300, step(2)],
    [2_400, answered(2, "", { reasoning: "and now?", calls })],
    [2_500, ran("c1", "nothing")],
  ];
  const { content, ext } = shown(...words, [2_600, finished("limit")]).message;
  assert.deepEqual([content.final_answer.answer.text, content.final_answer.thinking], ["I look.", "hm"]);
  assert.equal(ext.error, null);
  const stopped = shown(...words, [2_600, step(3)], [2_700, finished("cancelled")]).message;
  assert.equal(stopped.content.final_answer.answer.text, "I look.");
  const last = stopped.content.middle_answer.progress.at(-1);
  assert.deepEqual([last?.id, last?.status, last?.end_time], ["r-3", "failed", 2_700]);
});

const turnPlace: ChatPlace = {
  ...{ message: messageEvent, index: 1, reply: "a", runId: "r", agent: { id: "general", name: "general" } },
  ...{ isAnswered: true, isWithdrawn: false },
};
const withProgress = { place: turnPlace, needsProgress: true, language: "en" } as const;

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
  const document = firstDocument("c", turnPlace);
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
      const plays = anyTurn(chosen);
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

/** Six bytes in JSON each: the worst that a text can have. */
const worst = (length: number) => "\u0000".repeat(length);

test("a long list comes empty and then element by element, in the way in which it was to come [C3]", () => {
  const [long, short] = [worst(9_000), "short"];
  for (const action of ["append", "upsert"] as const) {
    const pieces = [...inPieces({ key: ["list"], content: [long, short, long], action })];
    assert.deepEqual(pieces, [
      { key: ["list"], content: [], action },
      { key: ["list", 0], content: long, action: "append" },
      { key: ["list", 1], content: short, action: "append" },
      { key: ["list", 2], content: long, action: "append" },
    ]);
  }
});

test("an object of as many members as a document has stays below 64 KB in each piece, whatever they are [C3]", () => {
  const members = Array.from({ length: 20 }, (_, at) => [`member${at}`, worst(333)]);
  const longer = Array.from({ length: 20 }, (_, at) => [`member${at}`, worst(3_000)]);
  for (const entries of [members, longer]) {
    const pieces = [...inPieces({ key: ["o"], content: Object.fromEntries(entries), action: "upsert" })];
    for (const piece of pieces) assert.ok(Buffer.byteLength(JSON.stringify(piece)) < 64 * 1024);
  }
});

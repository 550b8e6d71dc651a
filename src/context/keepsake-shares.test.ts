import assert from "node:assert/strict";
import { test } from "node:test";
import { numbered } from "../../test/world/any-log.ts";
import { foldHistory } from "../log/log.ts";
import { estimateTokens } from "../models/models.ts";
import type { NewEvent } from "../protocol/events.ts";
import { forModels } from "../words/words.ts";
import { pinsOf } from "./keepsake-text.ts";

const turnOf = (text: string, n: number): NewEvent[] => [
  { type: "message.user", id: `m${n}`, text, mode: "queue" },
  { type: "turn.started", turn: n, message: `m${n}`, epoch: 1 },
  { type: "turn.finished", turn: n, outcome: "done" },
];
const talk = (texts: readonly string[]) => texts.flatMap((text, index) => turnOf(text, index + 1));
const pinned = (events: readonly NewEvent[], tokensMax: number) =>
  pinsOf(foldHistory(numbered(events)), { tokensMax, isGone: () => true, canSearch: true });
const numbersIn = (text: string, what: RegExp) => [...text.matchAll(what)].map(([, number]) => Number(number));
const many = (count: number, line: (n: number) => string) => Array.from({ length: count }, (_, n) => line(n + 1));

const question: NewEvent = {
  ...{ type: "decision.asked", turn: 1, id: "d1", call: "c1", kind: "question", tool: "ask_user" },
  question: `Which of the ${"many ".repeat(30)}colours?`,
};

test("of very many files the forty that something was done to last are named, newest first, with what was done in its order [Z3]", () => {
  const after = { bytes: 1, mode: 0o644, hash: "h" };
  const changed = (path: string): NewEvent => ({ type: "file.changed", path, by: "tool", after });
  const read = (path: string): NewEvent => ({ type: "file.known", path, hash: "h" });
  const { text, kept } = pinned([read("f3"), ...many(41, (n) => `f${n}`).map(changed), read("f2")], 10_000);
  assert.deepEqual(kept, { files: 40 });
  const others = many(39, String).map((_, at) => 41 - at);
  assert.deepEqual(numbersIn(text, /^- f(\d+)/gm), [2, ...others]);
  for (const line of [forModels.compact.file("f2", ["made", "read"]), forModels.compact.file("f3", ["read", "made"])])
    assert.ok(text.includes(line), line);
});

test("what waits for a person is kept, what a caller's own program is to answer is not [Z3][C5]", () => {
  assert.deepEqual(pinned([question], 1_000).kept, { open: 1 });
  assert.deepEqual(pinned([{ ...question, kind: "function" }], 1_000), { text: "", kept: {} });
});

test("of a list that there is no room for, what is still to be done is kept before what is done [Z3]", () => {
  const todos = many(12, (n) => `${n} ${"word ".repeat(20)}`).map((content, index) => ({
    ...{ id: `${index}`, content, priority: "high" as const },
    status: index < 9 ? ("completed" as const) : ("pending" as const),
  }));
  const { text, kept } = pinned([{ type: "todo.set", todos }], 200);
  const shown = todos.filter(({ content }) => text.includes(content.slice(0, 12)));
  assert.ok((kept.todos ?? 0) > 3 && (kept.todos ?? 0) < 9, JSON.stringify(kept));
  assert.deepEqual(shown.slice(-3), todos.slice(-3));
});

test("the user's instructions have most of the room, the newest first; what is open has its part, and what is not needed for that they have, too [Z3]", () => {
  const rules = talk(many(60, (n) => `Always mind rule ${n} of the house, whatever comes.`));
  const [alone, beside] = [pinned(rules, 600), pinned([...rules, question], 600)];
  assert.deepEqual([alone.kept.open, beside.kept.open], [undefined, 1]);
  for (const { text, kept } of [alone, beside]) {
    const kinds = numbersIn(text, /rule (\d+)/g);
    assert.deepEqual(
      kinds,
      many(kept.standing ?? 0, String).map((_, at) => 61 - (kept.standing ?? 0) + at),
    );
    assert.ok(estimateTokens(text) <= 600 && estimateTokens(text) > 540, `${estimateTokens(text)}`);
  }
});

test("what the user only said has three quarters of the room, the newest first, and what is asked for a third, 2,000 tokens at the most [Z3]", () => {
  const lines = talk(many(60, (n) => `the price of part ${n} is on the list`));
  const { text, kept } = pinned(lines, 600);
  const count = kept.said ?? 0;
  assert.deepEqual(numbersIn(text, /part (\d+)/g), [60, ...many(count, String).map((_, at) => 60 - count + at)]);
  assert.ok(estimateTokens(text) <= 530 && estimateTokens(text) > 430, `${estimateTokens(text)}`);
  const long = talk([`the text: ${"word ".repeat(8_000)}`]);
  const within = [
    [1_000, 300, 400],
    [100_000, 1_900, 2_060],
  ] as const;
  for (const [tokensMax, least, most] of within) {
    const size = estimateTokens(pinned(long, tokensMax).text);
    assert.ok(size > least && size <= most, `${size} of ${tokensMax}`);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { numbered, step } from "../../test/world/any-log.ts";
import { foldHistory } from "../log/log.ts";
import type { EventBody, NewEvent } from "../protocol/events.ts";
import type { Todo } from "../protocol/todo.ts";
import { forModels } from "../words/words.ts";
import { pinsOf } from "./keepsake-text.ts";

const { sections, words, wordForWord, notRepeated } = forModels.compact;
const turnOf = (text: string, n: number, more: object = {}): NewEvent[] => [
  { type: "message.user", id: `m${n}`, text, mode: "queue", ...more },
  { type: "turn.started", turn: n, message: `m${n}`, epoch: 1 },
  { type: "turn.finished", turn: n, outcome: "done" },
];
const asked = (id: string, more: Partial<EventBody<"decision.asked">>): NewEvent => ({
  ...{ type: "decision.asked", turn: 1, id, call: id, kind: "approval", tool: "pay", ...more },
});
const made = (id: string, more: Partial<EventBody<"decision.made">>): NewEvent => ({
  ...{ type: "decision.made", id, verdict: "approve", by: "me", argumentsHash: "", previous: "", ...more },
});
const todo = (content: string, status: Todo["status"]): Todo => ({ id: content, content, status, priority: "low" });
const pinned = (events: readonly NewEvent[], more: Partial<Parameters<typeof pinsOf>[1]> = {}) =>
  pinsOf(foldHistory(numbered(events)), { tokensMax: 4_000, isGone: () => true, canSearch: true, ...more });

test("what is never lost stands in a fixed order under its headings, word for word as the log has it [Z3][H2]", () => {
  const events: NewEvent[] = [
    ...[...turnOf("Always use euros.", 1), ...turnOf("The shop is in Rome.", 2), ...turnOf("Always use euros.", 3)],
    { type: "todo.set", todos: [todo("done it", "completed"), todo("do\nit", "pending")] },
    ...[asked("a", { arguments: "5\neuros" }), made("a", { verdict: "reject", reason: "too\nmuch" })],
    ...[asked("b", { kind: "question", question: "Which?" }), made("b", { verdict: "answer", answer: "both" })],
    ...[asked("c", { arguments: "6 euros" }), made("c", { verdict: "edit", arguments: "4 euros", reason: "" })],
    asked("d", { arguments: "7 euros" }),
    asked("e", { kind: "elicitation", question: "Sure?", arguments: "8 euros" }),
    { type: "file.known", path: "uploads/a.csv", hash: "h" },
    { type: "message.user", id: "m4", text: "And now?", mode: "queue" },
    { type: "turn.started", turn: 4, message: "m4", epoch: 1 },
  ];
  const parts = [
    [sections.request, words("And now?")],
    [sections.standing, words("Always use euros.")],
    [sections.said, words("The shop is in Rome.")],
    [sections.todos, "- [completed] done it (low)", "- [pending] do it (low)"],
    [sections.open, "- waits: pay 7 euros", "- waits: pay Sure?"],
    [
      sections.decided,
      ...["- rejected: pay 5 euros (too much)", "- answered: pay Which? (both)"],
      "- approved with other arguments: pay 4 euros",
    ],
    [sections.files, "- uploads/a.csv: read"],
  ];
  const { text, kept } = pinned(events);
  assert.equal(text, [wordForWord, ...parts.map((lines) => lines.join("\n"))].join("\n\n"));
  assert.deepEqual(kept, { request: 1, standing: 1, said: 1, todos: 2, open: 2, decided: 3, files: 1 });
});

test("what is still sent is not repeated, and what was said twice stands where it was said last [Z3]", () => {
  const events = [...turnOf("one fish", 1), ...turnOf("two fish", 2), ...turnOf("one fish", 3), ...turnOf("end", 4)];
  const saidWith = (isGone: (seq: number) => boolean) =>
    [...pinned(events, { isGone }).text.matchAll(/<user_words>\n(.*)\n/g)].map(([, line]) => line);
  assert.deepEqual(
    saidWith(() => true),
    ["end", "two fish", "one fish"],
  );
  assert.deepEqual(
    saidWith((seq) => seq <= 5),
    ["one fish", "two fish"],
  );
  assert.deepEqual(
    saidWith(() => false),
    [],
  );
});

test("of what there is no room for the number is told, and whether it can be found [Z3][Z4]", () => {
  const rules = Array.from({ length: 60 }, (_, n) => turnOf(`Always mind rule ${n} of the house.`, n + 1)).flat();
  for (const canSearch of [true, false]) {
    const { text, kept } = pinned(rules, { tokensMax: 300, canSearch });
    const { standing = 0 } = kept;
    assert.ok(standing > 3 && standing < 30, `${standing}`);
    assert.ok(text.includes(`\n${notRepeated(60 - standing, canSearch)}`), text);
  }
  const none = pinned(rules, { tokensMax: 0 });
  assert.deepEqual(none.kept, {});
  assert.ok(none.text.includes(`${sections.standing}\n${notRepeated(60, true)}`), none.text);
});

test("of selected files the forty newest are named, and nothing that the user only said beyond its share [Z3][C2]", () => {
  const files = Array.from({ length: 41 }, (_, n) => `/w/${n}.csv`);
  const selected = { root: "/w/", session: "sess-me", files };
  const named = pinned(turnOf("look", 1, { selected }));
  const shown = [...named.text.matchAll(/^- \/w\/(\d+)\.csv$/gm)].map(([, number]) => Number(number));
  assert.deepEqual(
    shown,
    Array.from({ length: 40 }, (_, index) => 40 - index),
  );
  assert.deepEqual(named.kept, { request: 1, selected: 40 });
  const lines = Array.from({ length: 20 }, (_, n) => turnOf(`the price of part ${n}`, n + 1)).flat();
  const count = (saidTokensMax?: number) => pinned(lines, { saidTokensMax }).kept.said ?? 0;
  assert.deepEqual([count(), count(-1)], [19, 0]);
  assert.ok(count(1_100) > 2 && count(1_100) < 12, `${count(1_100)}`);
});

test("of a long message the lines that sound like instructions are kept as such, and the rest of it by its ends [Z3]", () => {
  const filler = "and so on and on ".repeat(150);
  const long = `It begins. ${filler}\n  Never touch uploads.  \n${filler} It ends.`;
  const { text, kept } = pinned([...turnOf(long, 1), ...turnOf("thanks", 2)]);
  assert.deepEqual(kept, { request: 1, standing: 1, said: 1 });
  assert.ok(text.includes(`${sections.standing}\n${words("Never touch uploads.")}`), text);
  const rest = text.slice(text.indexOf(sections.said));
  assert.match(rest, /<user_words>\nIt begins\. [^[]*\n\[\.\.\. shortened [^\n]*\n[^[]* It ends\.\n<\/user_words>/);
});

test("an instruction stands among the instructions alone, and blanks that were thrown in are nothing that was said [Z3][L7]", () => {
  const { text, kept } = pinned([
    { type: "message.user", id: "m", text: "Always be brief.", mode: "queue" },
    { type: "turn.started", turn: 1, message: "m", epoch: 1 },
    { type: "message.user", id: "n", text: "  ", mode: "steer" },
    { type: "message.user", id: "o", text: "Count the rows.", mode: "steer" },
    step(1, { joined: ["n", "o"] }),
  ]);
  assert.deepEqual(kept, { request: 1, standing: 1 });
  assert.ok(text.includes(`${sections.request}\n${words("Count the rows.")}\n`), text);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { numbered } from "../../test/world/any-log.ts";
import { foldHistory } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { pinsOf } from "./keepsake-text.ts";

const root = "/workspace/c/uploads/temparea/";
const said = (id: string, ...files: string[]): NewEvent[] => [
  { type: "message.user", id, text: id, mode: "queue", selected: { root, session: "sess-me", files } },
  { type: "turn.started", turn: 1, message: id, epoch: 1 },
  { type: "turn.finished", turn: 1, outcome: "done" },
];

test("of very many decisions the newest are kept: what was refused just now is not forgotten [Z3][H2]", () => {
  const decided = (n: number): NewEvent[] => [
    {
      type: "decision.asked",
      ...{ turn: 1, id: `d${n}`, call: `c${n}`, kind: "approval", tool: "sign", arguments: `page ${n}` },
      ...{ risk: "medium", options: ["approve", "reject"] },
    },
    {
      type: "decision.made",
      id: `d${n}`,
      verdict: n === 40 ? "reject" : "approve",
      by: "me",
      argumentsHash: "",
      previous: "",
    },
  ];
  const history = foldHistory(numbered(Array.from({ length: 40 }, (_, n) => decided(n + 1)).flat()));
  const linesFor = (tokensMax: number) =>
    pinsOf(history, { tokensMax, isGone: () => true, canSearch: true })
      .text.split("\n")
      .filter((line) => line.startsWith("- "));
  const newest = [
    ...Array.from({ length: 39 }, (_, n) => `- approved: sign page ${n + 1}`),
    "- rejected: sign page 40",
  ];
  assert.deepEqual(linesFor(4_000), newest.slice(-30));
  const [few, none] = [linesFor(60), linesFor(0)];
  assert.deepEqual([few, few.length > 2 && few.length < 10, none], [newest.slice(-few.length), true, []]);
});

test("files that the user selected are never lost: those whose message is left out are named again [Z3][C2]", () => {
  const events = numbered([
    ...said("one", `${root}a.csv`, `${root}b.csv`),
    ...said("two", `${root}c\u202e.csv`, `${root}a.csv`),
    ...said("three", `${root}b.csv`),
  ]);
  const history = foldHistory(events);
  const textFor = (upTo: number) =>
    pinsOf(history, { tokensMax: 1_000, isGone: (seq) => seq <= upTo, canSearch: true }).text;
  const section = "## Files that the user selected, newest first";
  assert.equal(textFor(0), "");
  assert.ok(textFor(2).includes(`${section}\n- /workspace/c/uploads/temparea/a.csv`) === false, "it is still sent");
  assert.ok(
    textFor(5).includes(`${section}\n- ${root}a.csv\n- "${root}c\\u202e.csv"`),
    "and what a later message selected again is there with it",
  );
  assert.ok(textFor(8).includes(`${section}\n- ${root}b.csv\n- ${root}a.csv\n- "${root}c\\u202e.csv"`));
});

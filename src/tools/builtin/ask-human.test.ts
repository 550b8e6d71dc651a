import assert from "node:assert/strict";
import { test } from "node:test";
import { toolContext } from "../../../test/world/tools.ts";
import { builtins, openToolkit } from "../tools.ts";

const toolkit = openToolkit(builtins);

test("a question goes to the user with all that was said about it [H3]", () => {
  const input = { question: " Which file? ", context: "There are two.", default: "a.csv", required: "true" };
  assert.deepEqual(open(input).ask, {
    kind: "question",
    question: "Which file?",
    context: "There are two.",
    default: "a.csv",
    required: true,
  });
  assert.deepEqual(open({ message: "Which?", default: "" }).ask, { kind: "question", question: "Which?" });
});

const answers: readonly [input: object, answer: string, text: string][] = [
  [{ question: "Which?" }, " that one ", "that one"],
  [{ question: "Which?", default: "a.csv" }, "b.csv", "b.csv"],
  [{ question: "Which?", default: "a.csv" }, "  ", "a.csv\n(no answer, default used)"],
  [{ question: "Which?" }, "", "(the user gave no answer; go on with a stated assumption)"],
];

for (const [input, answer, text] of answers) {
  test(`the model reads the answer, or what counts in its place: ${JSON.stringify([input, answer])} [H3]`, async () => {
    assert.deepEqual(await open(input).run(contextWith(answer)), { ok: true, value: { text } });
  });
}

function open(input: object) {
  const found = toolkit.open({ id: "1", name: "ask_human", arguments: JSON.stringify(input) });
  assert.ok(found.ok);
  return found.value.opened;
}

function contextWith(answer: string) {
  const made = { type: "decision.made", seq: 1, at: 0, id: "1", verdict: "answer", by: "me", answer } as const;
  return toolContext({ decision: { ...made, argumentsHash: "", previous: "" } });
}

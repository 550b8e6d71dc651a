import assert from "node:assert/strict";
import { test } from "node:test";
import { applyChange } from "./document.ts";
import { firstDocument, firstProgress } from "./first-document.ts";

const place: Parameters<typeof firstDocument>[1] = {
  message: { type: "message.user", id: "m", text: "how many?", mode: "queue", seq: 1, at: 1_000 },
  ...{ index: 1, reply: "a", runId: "r", agent: { id: "general", name: "general" } },
  ...{ isAnswered: true, isWithdrawn: false },
};
const first = () => firstDocument("c", place);

test("a change that two documents show is changed further in one of them alone [C3]", () => {
  const [one, other] = [first(), first()];
  const begun = () =>
    firstProgress({ id: "r-1", agent_name: "general", stage: "llm", skill_info: null, start_time: 1 });
  const item = begun();
  const key = ["message", "content", "middle_answer", "progress", 0];
  for (const document of [one, other]) applyChange(document, { key, content: item, action: "append" });
  applyChange(one, { key: [...key, "status"], content: "completed", action: "upsert" });
  assert.deepEqual(
    [one, other].map(({ message }) => message.content.middle_answer.progress),
    [[{ ...begun(), status: "completed" }], [begun()]],
  );
});

test("a text goes on with what is appended, and begins anew with what is put in its place [C3]", () => {
  const document = first();
  const key = ["message", "content", "final_answer", "answer", "text"];
  for (const content of ["It ", "was"]) applyChange(document, { key, content, action: "append" });
  assert.equal(document.message.content.final_answer.answer.text, "It was");
  applyChange(document, { key, content: "No.", action: "upsert" });
  assert.equal(document.message.content.final_answer.answer.text, "No.");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { type FormField, readForm } from "../protocol/form.ts";
import { wordsFor } from "../words/words.ts";
import { askFields } from "./form-questions.ts";

const fields: readonly FormField[] = [
  { name: "name", title: "Your name", kind: "text", required: true },
  { name: "pet", kind: "choice", required: false, choices: [{ value: "c", title: "Cat" }], default: "c" },
  { name: "age", kind: "integer", required: false },
];

test("a form is asked field by field, and what is left empty has its default [G1][U1]", async () => {
  const prompts: string[] = [];
  const answers = ["Ada", "", " 36 "];
  const asked = await askFields(fields, wordsFor("en"), async (prompt) => ({
    text: answers[prompts.push(prompt) - 1] ?? "",
  }));
  assert.deepEqual(prompts, [
    "Your name (name), a text, needed: ",
    "pet, one of: c = Cat [c]: ",
    "age, a whole number: ",
  ]);
  assert.ok("answer" in asked);
  const read = readForm(fields, asked.answer);
  assert.deepEqual(read, { ok: true, value: { name: "Ada", pet: "c", age: 36 } });
});

test("whoever does something else than answer ends a form [G1][U1]", async () => {
  const asked = await askFields([{ name: "a", kind: "text", required: false }], wordsFor("zh"), async () => ({
    other: "stop",
  }));
  assert.deepEqual(asked, { other: "stop" });
});

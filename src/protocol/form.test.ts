import assert from "node:assert/strict";
import { test } from "node:test";
import { type FormField, readForm } from "./form.ts";

const fields: readonly FormField[] = [
  { name: "name", kind: "text", required: true },
  { name: "age", kind: "integer", required: false },
  { name: "share", kind: "number", required: false, default: "0.5" },
  { name: "agree", kind: "boolean", required: false },
  { name: "pet", kind: "choice", required: false, choices: [{ value: "c", title: "Cat" }] },
  {
    ...{ name: "days", kind: "choices", required: false },
    choices: [
      { value: "1", title: "Monday" },
      { value: "2", title: "Tuesday" },
    ],
  },
];

test("a form is answered as JSON, in lines, or by the value alone, and defaults are filled in [G1]", () => {
  const whole = { name: "Ada", age: 36, share: 0.5, agree: true, pet: "c", days: ["1", "2"] };
  for (const answer of [
    '{"name":"Ada","age":36,"agree":true,"pet":"c","days":["1","2"]}',
    "name: Ada\nage = 36\nagree: yes\npet: cat\ndays: Monday, tuesday",
  ])
    assert.deepEqual(readForm(fields, answer), { ok: true, value: whole });
  assert.deepEqual(readForm(fields.slice(0, 1), "Ada: the first"), { ok: true, value: { name: "Ada: the first" } });
});

test("an answer that does not fit a form names the field [G1]", () => {
  const faults = ['{"age":1}', "name: A\nage: old", '{"name":{}}', "name: A\npet: dog", "name: A\ndays: Sunday"].map(
    (answer) => readForm(fields, answer),
  );
  assert.deepEqual(
    faults.map((read) => !read.ok && read.failure),
    [
      { field: "name", why: "missing" },
      { field: "age", why: "integer" },
      { field: "name", why: "text" },
      { field: "pet", why: "choice" },
      { field: "days", why: "choices" },
    ],
  );
});

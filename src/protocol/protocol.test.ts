import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type FormField, readForm } from "./form.ts";
import { openEventReader, type ServerEventText } from "./server-events.ts";

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

function read(pieces: readonly string[]): ServerEventText[] {
  const events: ServerEventText[] = [];
  const reader = openEventReader({ onEvent: (event) => events.push(event) });
  for (const piece of pieces) reader.feed(piece);
  return events;
}

const stream = [
  "\uFEFF: a comment",
  "retry: 10",
  "",
  "id: 1",
  "event: told",
  "data: one",
  "data:two",
  "data:  three",
  "data",
  "",
  "event: nothing",
  "",
  "unknown: x",
  "data: 数",
  "",
  "data: never ended",
];

const events = [
  { name: "told", id: "1", data: "one\ntwo\n three\n" },
  { name: undefined, id: undefined, data: "数" },
];

test("an event stream says the same with every kind of line end and however it is cut [M3][C3]", () => {
  const lineEnds = fc.array(fc.constantFrom("\n", "\r\n", "\r"), {
    minLength: stream.length,
    maxLength: stream.length,
  });
  fc.assert(
    fc.property(lineEnds, fc.array(fc.nat({ max: 200 }), { maxLength: 20 }), (ends, cuts) => {
      // A line end of two characters is not to be told from two of one where an empty line follows.
      const text = stream
        .map((line, at) => line + (ends[at] === "\r" ? "\n" : ends[at]))
        .join("")
        .slice(0, -2);
      const places = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      assert.deepEqual(read(places.map((from, at) => text.slice(from, places[at + 1] ?? from))), events);
    }),
  );
  const returned = stream.join("\r");
  assert.deepEqual(read([returned]), events);
  assert.deepEqual(read([...returned]), events);
});

test("an event that grows beyond its limit is told once, and nothing more is read [M3]", () => {
  for (const endless of [["data: ", "a".repeat(11)], ["data: aaaaa\n", "data: aaaaa\n"], ["data: aaaaaaaaaaa\n\n"]]) {
    const told: string[] = [];
    const reader = openEventReader({
      ...{ charactersMax: 10, onEvent: () => told.push("event"), onTooLong: () => told.push("too long") },
    });
    reader.feed("data: a\n\n");
    for (const piece of endless) reader.feed(piece);
    reader.feed("\n\ndata: b\n\n");
    assert.deepEqual(told, ["event", "too long"]);
  }
});

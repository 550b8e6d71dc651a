import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openEventReader, type ServerEventText } from "./server-events.ts";

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

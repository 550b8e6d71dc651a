import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countLines, lineTaker, type Wanted } from "./take-lines.ts";

const everything: Wanted = {
  first: 1,
  linesMax: Number.POSITIVE_INFINITY,
  charactersMax: Number.POSITIVE_INFINITY,
  bytesMax: Number.POSITIVE_INFINITY,
};

test("lines are the same, in whatever pieces the text comes [F1]", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "汉", "😀", "\n", "\r\n", " "), maxLength: 60 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), fc.integer({ min: 1, max: 8 }), (pieces, first) => {
      const whole = pieces.join("");
      const lines = whole.replace(/\n$/, "").split("\n");
      const total = whole === "" ? 0 : lines.length;
      assert.deepEqual(taken(pieces, { ...everything, first }), { lines: lines.slice(first - 1, total), total });
      assert.equal(countLines(whole), total);
    }),
  );
});

test("each limit is kept to the line, and one line is always shown [F1]", () => {
  const pieces = ["12345\n汉字\nabc\n"];
  const lines = (limits: Partial<Wanted>) => taken(pieces, { ...everything, ...limits }).lines;
  assert.deepEqual(
    [
      lines({ linesMax: 2 }),
      lines({ charactersMax: 9 }),
      lines({ charactersMax: 8 }),
      lines({ bytesMax: 15 }),
      lines({ bytesMax: 14 }),
      lines({ bytesMax: 3 }),
    ],
    [["12345", "汉字"], ["12345", "汉字"], ["12345"], ["12345", "汉字"], ["12345"], ["123..."]],
  );
});

function taken(pieces: readonly string[], wanted: Wanted) {
  const taker = lineTaker(wanted);
  for (const piece of pieces) taker.add(piece);
  return taker.end();
}

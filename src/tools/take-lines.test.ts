import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { outputBytes } from "./output.ts";
import { countLines, lineTaker, type Wanted } from "./take-lines.ts";

const everything: Wanted = {
  first: 1,
  column: 1,
  linesMax: Number.POSITIVE_INFINITY,
  charactersMax: Number.POSITIVE_INFINITY,
  bytesMax: Number.POSITIVE_INFINITY,
};

const text = fc.string({ unit: fc.constantFrom("a", "汉", "😀", "\n", "\r\n", " "), maxLength: 60 });

test("lines are the same, in whatever pieces the text comes [F1]", () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), fc.integer({ min: 1, max: 8 }), (pieces, first) => {
      const whole = pieces.join("");
      const lines = whole.replace(/\n$/, "").split("\n");
      const total = whole === "" ? 0 : lines.length;
      assert.deepEqual(taken(pieces, { ...everything, first }), {
        ...{ lines: lines.slice(first - 1, total), total, next: undefined },
        firstLength: first > total ? 0 : lines[first - 1]?.length,
      });
      assert.equal(countLines(whole), total);
    }),
  );
});

test("page after page gives the whole text, each within its limits, cut only where a line is longer than a page [F1]", () => {
  const limits = fc.record({
    ...{ linesMax: fc.integer({ min: 1, max: 5 }), charactersMax: fc.integer({ min: 4, max: 40 }) },
    bytesMax: fc.integer({ min: 4, max: 60 }),
  });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), limits, (pieces, limited) => {
      let seen = "";
      for (let at: ReturnType<typeof taken>["next"] = { line: 1, column: 1 }; at !== undefined; ) {
        const { lines, next } = taken(pieces, { first: at.line, column: at.column, ...limited });
        const page = lines.join("\n");
        assert.ok(lines.length <= limited.linesMax && page.length <= limited.charactersMax);
        assert.ok(outputBytes(page) <= limited.bytesMax && page.isWellFormed());
        seen += next === undefined || next.column > 1 ? page : `${page}\n`;
        at = next;
      }
      assert.equal(seen, pieces.join("").replace(/\n$/, ""));
    }),
    { numRuns: 500 },
  );
});

test("each limit is kept to the line; a line that fits on no page is cut, and goes on at a column [F1]", () => {
  const part = (limits: Partial<Wanted>, pieces = ["12345\n汉字\nabc\n"]) => {
    const { lines, next } = taken(pieces, { ...everything, ...limits });
    return [lines, next?.line, next?.column];
  };
  const long = [`short\n${"x".repeat(3_000)}\nlast\n`];
  assert.deepEqual(
    [
      part({ linesMax: 2 }),
      part({ charactersMax: 9 }),
      part({ charactersMax: 8 }),
      part({ bytesMax: 15 }),
      part({ bytesMax: 14 }),
      part({ bytesMax: 3 }),
      part({ bytesMax: 3, column: 4 }),
      part({ column: 4 }),
      part({ bytesMax: 2_000 }, long),
      part({ bytesMax: 1_005 }, long),
      part({ bytesMax: 3_001 }, long),
      part({ bytesMax: 2_000, first: 2, column: 1_995 }, long),
    ],
    [
      [["12345", "汉字"], 3, 1],
      [["12345", "汉字"], 3, 1],
      [["12345"], 2, 1],
      [["12345", "汉字"], 3, 1],
      [["12345"], 2, 1],
      [["123"], 1, 4],
      [["45"], 2, 1],
      [["45", "汉字", "abc"], undefined, undefined],
      [["short", "x".repeat(1_994)], 2, 1_995],
      [["short"], 2, 1],
      [["short"], 2, 1],
      [["x".repeat(1_006), "last"], undefined, undefined],
    ],
  );
});

function taken(pieces: readonly string[], wanted: Wanted) {
  const taker = lineTaker(wanted);
  for (const piece of pieces) taker.add(piece);
  return taker.end();
}

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../test/world/any-text.ts";
import { estimateTokens } from "../models/models.ts";
import { boundOutput, cutAround, outputBytes, outputBytesMax, shortened } from "./output.ts";
import { countLines, lineTaker, type Wanted } from "./take-lines.ts";

const windows = [8_000, 32_000, 128_000, 1_000_000];

test("a result takes a fifth of the window at the most, and no more than 25,000 tokens [R1]", () => {
  assert.deepEqual(windows.map(outputBytesMax), [8_000, 25_600, 100_000, 100_000]);
});

const fillings: readonly [what: string, unit: string][] = [
  ["ASCII in one line", "x"],
  ["lines", "a line of text\n"],
  ["Han", "汉"],
  ["emoji", "😀"],
  ["Cyrillic", "я"],
  ["kana", "か"],
  ["mixed", "a汉😀é\n"],
  ["halves of characters", "\ud83d"],
  ["binary", "\u0000\u001b[31m\u200b"],
];

test("results of any size fit into any window, in bytes and in tokens, and are cut between characters [R1]", () => {
  for (const [what, unit] of fillings) {
    for (const bytesMax of windows.map(outputBytesMax)) {
      for (const sizeBytes of [0, bytesMax - 1, bytesMax, bytesMax * 10]) {
        const text = unit.repeat(Math.ceil(sizeBytes / Buffer.byteLength(unit)));
        const bounded = boundOutput(text, bytesMax);
        assert.ok(Buffer.byteLength(bounded.text) <= bytesMax, `${sizeBytes} bytes`);
        assert.ok(estimateTokens(bounded.text) <= bytesMax / 4, `${sizeBytes} bytes: tokens`);
        assert.ok(bounded.text.isWellFormed());
        if (!bounded.isCut) assert.equal(bounded.text, text.toWellFormed(), what);
      }
    }
  }
});

test("a long result keeps its beginning and its end, and says between them how much is missing and how to see it [R1]", () => {
  const text = `first line\n${"middle\n".repeat(10_000)}Error: the last line`;
  const shown = boundOutput(text, 8_000).text;
  assert.match(shown, /^first line\nmiddle\n/);
  assert.match(shown, /middle\nError: the last line$/);
  const [, missing, sizeBytes] =
    /\n\[\.\.\. (\d+) of (\d+) bytes left out here; to see them, ask for a smaller part \.\.\.\]\n/.exec(shown) ?? [];
  assert.equal(Number(sizeBytes), Buffer.byteLength(text));
  const note = /\n\[\.\.\. .*\]\n/.exec(shown)?.[0] ?? "";
  assert.equal(Number(missing), Buffer.byteLength(text) - (Buffer.byteLength(shown) - Buffer.byteLength(note)));
});

test("whatever a tool says, what is shown begins and ends as the whole does [R1]", () => {
  const text = anyText({ maxLength: 2_000 });
  fc.assert(
    fc.property(text, fc.integer({ min: 150, max: 3_000 }), (whole, bytesMax) => {
      const { text: shown, isCut } = boundOutput(whole, bytesMax);
      const [head = "", tail = ""] = shown.split(/\n\[\.\.\. \d+ of \d+ bytes left out [^\n]*\n/);
      assert.ok(Buffer.byteLength(shown) <= bytesMax);
      assert.ok(whole.startsWith(head) && whole.endsWith(tail));
      assert.equal(isCut, shown !== whole);
    }),
  );
});

test("a shortened text ends between characters and shows that something is missing [R1]", () => {
  assert.deepEqual(
    [
      shortened("short", 5),
      shortened("longer", 5),
      shortened("汉字汉字", 8),
      shortened("a😀", 4),
      shortened("\ud83d", 9),
    ],
    ["short", "longe...", "汉字...", "a...", "\ufffd"],
  );
});

test("a text that is cut around a place shows the place, and dots where something is missing [R1]", () => {
  const digits = "0123456789".repeat(3);
  assert.deepEqual(
    [
      cutAround(digits, 15, 30),
      cutAround(digits, 15, 9),
      cutAround(digits, 1, 9),
      cutAround(digits, 29, 9),
      cutAround("汉字😀汉字", 3, 8),
      cutAround("abcd😀efgh", 5, 6),
    ],
    [digits, "...234567890...", "012345678...", "...123456789", "...😀汉...", "...cd😀..."],
  );
});

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

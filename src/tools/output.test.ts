import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../test/world/any-text.ts";
import { estimateTokens } from "../models/models.ts";
import { boundOutput, cutAround, outputBytesMax, shortened } from "./output.ts";

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

for (const [what, unit] of fillings) {
  test(`results of any size fit into any window, in bytes and in tokens, and are cut between characters: ${what} [R1]`, () => {
    for (const bytesMax of windows.map(outputBytesMax)) {
      for (const sizeBytes of [0, 1, bytesMax - 1, bytesMax, bytesMax * 10, 5_000_000]) {
        const text = unit.repeat(Math.ceil(sizeBytes / Buffer.byteLength(unit)));
        const bounded = boundOutput(text, bytesMax);
        assert.ok(Buffer.byteLength(bounded.text) <= bytesMax, `${sizeBytes} bytes`);
        assert.ok(estimateTokens(bounded.text) <= bytesMax / 4, `${sizeBytes} bytes: tokens`);
        assert.ok(bounded.text.isWellFormed());
        if (!bounded.isCut) assert.equal(bounded.text, text.toWellFormed());
      }
    }
  });
}

test("a text of exactly the limit is shown whole, one byte more is cut [R1]", () => {
  const bytesMax = outputBytesMax(8_000);
  assert.deepEqual(boundOutput("x".repeat(bytesMax), bytesMax), { text: "x".repeat(bytesMax), isCut: false });
  assert.equal(boundOutput("x".repeat(bytesMax + 1), bytesMax).isCut, true);
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

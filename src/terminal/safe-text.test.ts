import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../test/world/any-text.ts";
import { openProgramText } from "./program-text.ts";
import { cellsOf, padCells, safeLine, safeText } from "./safe-text.ts";

test("control characters and marks that reorder text become visible [Q1]", () => {
  assert.equal(safeText("a\u001b[2Jb\u0007\u009b\u202ec\u007f"), "a␛[2Jb␇��c␡");
  assert.equal(safeText("line\r\nnext\tcell\rover"), "line\nnext\tcellover");
});

test("what nobody sees becomes visible: no command hides words from who approves it [Q1][H1]", () => {
  const hidden = Array.from("rm -rf /", (sign) => String.fromCodePoint(0xe0000 + (sign.codePointAt(0) ?? 0))).join("");
  assert.equal(safeText(`ls${hidden}`), `ls${"\ufffd".repeat(8)}`);
  assert.equal(safeText("r\u200bm\u2060 \ufeff-\u00adrf\u3164\u2028x"), "r\ufffdm\ufffd \ufffd-\ufffdrf\ufffd\ufffdx");
  const shown = ["👩\u200d👧 ok", "مى\u200cخواهم", "❤\ufe0f", "你好，世界"];
  assert.deepEqual(shown.map(safeText), shown);
});

test("text can be cleaned in pieces, and nothing dangerous is left [Q1]", () => {
  const piece = anyText();
  fc.assert(
    fc.property(piece, piece, (one, other) => {
      assert.equal(safeText(one) + safeText(other), safeText(one + other));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be left.
      assert.doesNotMatch(safeText(one), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    }),
  );
});

test("a line is cut by the cells it takes, not by its characters", () => {
  assert.equal(safeLine("  a\n b  ", 10), "a b");
  assert.equal(safeLine("你好世界", 8), "你好世界");
  assert.equal(safeLine("你好世界", 7), "你好世…");
  assert.equal(safeLine("a".repeat(30), 10), `${"a".repeat(9)}…`);
  assert.deepEqual([cellsOf("你好 👍"), cellsOf("é")], [7, 1]);
  assert.equal(padCells("槽位", 6), "槽位  ");
});

function shown(pieces: readonly string[], color = true): string {
  const text = openProgramText({ color });
  return [...pieces.map(text.add), text.end()].join("");
}

const cases: readonly (readonly [says: string, text: string, shown: string])[] = [
  ["a line that counts up", "\r1%\r2%", "\r1%\r2%"],
  ["a colour", "\u001b[1;38;5;200mred", "\u001b[1;38;5;200mred\u001b[0m"],
  ["a colour that is over already", "\u001b[mred", "\u001b[mred\u001b[0m"],
  ["a move of the cursor", "\u001b[2A\u001b[1;1H", "␛[2A␛[1;1H"],
  ["a title of the window", "\u001b]0;x\u0007", "␛]0;x␇"],
  ["what looks like a colour and is a mode of the keyboard", "\u001b[>4;1m\u001b[?4m", "␛[>4;1m␛[?4m"],
  ["a colour with more numbers than any has", `\u001b[${"1;".repeat(20)}m`, `␛[${"1;".repeat(20)}m`],
  ["the beginning of a colour at the end", "x\u001b[3", "x␛[3"],
];
for (const [says, text, wanted] of cases) {
  test(`a terminal gets ${says} as it may have it, in whatever pieces it comes [P2][X1]`, () => {
    assert.equal(shown([text]), wanted);
    assert.equal(shown([...text]), wanted);
  });
}

test("where no colours are wanted they are left out [P2]", () => {
  assert.equal(shown(["\u001b[31mred\u001b[0m\u001b[K"], false), "red␛[K");
});

test("whatever a program says, a terminal gets no other sequence, however it is cut [P2][X1]", () => {
  const word = fc.oneof(anyText(), fc.constantFrom("\u001b", "[", "3", ";", "m", "\r", "\u001b[1m"));
  fc.assert(
    fc.property(fc.array(word), (pieces) => {
      const text = shown(pieces);
      assert.equal(text, shown([pieces.join("")]));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what may be there.
      const rest = text.replaceAll(/\u001b\[[0-9;:]{0,32}m/g, "");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be left.
      assert.doesNotMatch(rest, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    }),
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../test/world/any-text.ts";
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

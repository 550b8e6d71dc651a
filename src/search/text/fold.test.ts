import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fold, foldWithOrigins } from "./fold.ts";

const texts = fc.string({ unit: "grapheme", maxLength: 60 });

test("what is written in several ways is found by each of them [D2]", () => {
  assert.equal(fold("ＡＢＣ ﬁle № Ⅷ"), "abc file no viii");
  assert.equal(fold("Ångström naïve İstanbul ΟΔΟΣ"), "angstrom naive istanbul οδοσ");
  assert.equal(fold("軟體發展、電腦與網路設定"), "软体发展、电脑与网路设定");
  assert.equal(fold("一台電\u200b腦 co\u00adoperate e\u0301"), "一台电脑 cooperate e");
  assert.equal(fold("がぎ ｶﾞ 한글"), "がぎ カ\u3099 한글");
});

test("the fold of a part is a part of the fold of the whole, so that a prefilter loses nothing [D3]", () => {
  fc.assert(fc.property(texts, texts, (one, other) => assert.equal(fold(one + other), fold(one) + fold(other))));
});

test("each place of a folded text leads back to where it comes from [D3]", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const { folded, origins } = foldWithOrigins(text);
      assert.equal(folded, fold(text));
      assert.equal(origins.length, folded.length + 1);
      assert.equal(origins.at(-1), text.length);
      for (let at = 0; at < folded.length; at += 1) {
        const [start = 0, end = 0] = [origins[at], origins.slice(at).find((each) => each > (origins[at] ?? 0))];
        assert.ok(fold(text.slice(start, end)).includes(folded[at] ?? "?"));
      }
    }),
  );
});

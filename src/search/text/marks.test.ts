import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openMarker } from "./marks.ts";
import { stem } from "./stem.ts";

const pieces = "install installed installing installation in pins pin 4 4s 包 裹 软件 件 \u{20000} . - / é".split(" ");
const texts = fc.array(fc.constantFrom(...pieces, " ", "\n"), { maxLength: 40 }).map((parts) => parts.join(""));

test("a word marks each word of its stem, and nothing else [D3]", () => {
  fc.assert(
    fc.property(texts, fc.constantFrom("install", "pin", "4", "in"), (text, word) => {
      const words = text.matchAll(/[[\p{L}\p{N}]--\p{sc=Han}]+/gv);
      const wanted = [...words].filter(([written]) => stem(written) === stem(word));
      const found = openMarker([{ match: "", stems: [stem(word)] }])(text);
      assert.deepEqual(
        found,
        wanted.map(({ 0: written, index }) => ({ unit: 0, start: index, end: index + written.length })),
      );
    }),
  );
});

test("characters are marked wherever they follow each other, over the end of a line too [D3]", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const found = openMarker([{ match: "", characters: "软件" }])(text);
      const wanted = [...text.matchAll(/软\s{0,2}件/g)];
      assert.deepEqual(
        found,
        wanted.map(({ 0: written, index }) => ({ unit: 0, start: index, end: index + written.length })),
      );
    }),
  );
});

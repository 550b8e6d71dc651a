import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import fc from "fast-check";
import { stem } from "./stem.ts";

/** Roots and endings of all rules, so that each is met with several measures. */
const roots =
  "hop happ relat condition valent digit operat feudal decis hope rate tr tree agre plast motor conflat bl fall ss ski";
const endings = [
  ..."s es ies sses ed eed ing y ational tional enci anci izer logi bli alli entli eli ousli ization ation ator alism".split(
    " ",
  ),
  ..."iveness fulness ousness aliti iviti biliti icate ative alize iciti ical ful ness al ance ence er ic able ible".split(
    " ",
  ),
  ..."ant ement ment ent ion sion tion ou ism ate iti ous ive ize e ll led ting 4 4s x2ing".split(" "),
];

function stemsOfFts5(words: readonly string[]): string[] {
  const database = new DatabaseSync(":memory:");
  database.exec(`CREATE VIRTUAL TABLE t USING fts5 (w, tokenize = 'porter unicode61');
    CREATE VIRTUAL TABLE v USING fts5vocab (t, instance)`);
  const insert = database.prepare("INSERT INTO t (rowid, w) VALUES (?, ?)");
  words.forEach((word, index) => void insert.run(index + 1, word));
  const stems: string[] = [];
  for (const row of database.prepare("SELECT doc, term FROM v").iterate())
    stems[Number(row.doc) - 1] = String(row.term);
  database.close();
  return stems;
}

test("a word has the stem that the index gives it [D2]", () => {
  const words = roots.split(" ").flatMap((root) => ["", ...endings].map((ending) => root + ending));
  assert.deepEqual(words.map(stem), stemsOfFts5(words));
});

test("so has any word of small letters and digits, also one that is far too long [D2]", () => {
  const letters = fc.string({ unit: fc.constantFrom(..."aeiouysltndgrzb4"), minLength: 1, maxLength: 80 });
  const words = fc.sample(letters, { numRuns: 3_000, seed: 7 });
  assert.deepEqual(words.map(stem), stemsOfFts5(words));
});

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import fc from "fast-check";
import type { Block } from "../../extract/extracted.ts";
import { unitsOf } from "./cut-block.ts";
import { fold, foldWithOrigins } from "./fold.ts";
import { trigramsOf } from "./literals.ts";
import { openMarker } from "./marks.ts";
import { openPassageMaker, type Passage } from "./passages.ts";
import { parseQuery } from "./query.ts";
import { unitsOf as unitsOfTelling } from "./rank.ts";
import { cutIntoPairs } from "./runs.ts";
import { stem } from "./stem.ts";
import { tellingOf } from "./telling.ts";

function passagesOf(blocks: readonly Block[]): Passage[] {
  const maker = openPassageMaker();
  return [...blocks.flatMap((block) => [...maker.add(block)]), ...maker.end()];
}

const heading = (text: string, level: number, page: number): Block => ({
  kind: "heading",
  text,
  level,
  from: { page },
});
const paragraph = (text: string, page: number, to = page): Block => ({
  kind: "paragraph",
  text,
  from: { page },
  to: { page: to },
});

test("a section is a passage under its headings, over the pages that its text really lies on [D2]", () => {
  const passages = passagesOf([
    heading("1 Tools", 1, 3),
    heading("1.1\nSaws", 2, 3),
    paragraph("They cut.", 3),
    paragraph("And rust.", 4),
    heading("1.2 Files", 2, 4),
    heading("1.3 Nails", 2, 4),
    paragraph("They hold.", 4, 5),
  ]);
  assert.deepEqual(
    passages.map(({ path, text, from, to }) => [path, text, from.page, to.page]),
    [
      [["1 Tools", "1.1 Saws"], "1 Tools\n1.1\nSaws\nThey cut.\nAnd rust.", 3, 4],
      [["1 Tools", "1.2 Files"], "1.2 Files", 4, 4],
      [["1 Tools", "1.3 Nails"], "1.3 Nails\nThey hold.", 4, 5],
    ],
  );
});

test("each part of a long block says on which of its pages it lies [D2][D3]", () => {
  const lines = Array.from({ length: 90 }, (_, index) => `line ${index} of a program that is printed on three pages`);
  const text = lines.join("\n");
  const pageStarts = [30, 60].map((line, index) => ({ at: text.indexOf(`line ${line} `), place: { page: index + 5 } }));
  const passages = passagesOf([{ kind: "code", text, from: { page: 4 }, to: { page: 6 }, pageStarts }]);
  const pageOf = (line: string | undefined) => 4 + Math.floor(Number(line?.split(" ")[1]) / 30);
  assert.ok(passages.length > 3);
  assert.deepEqual(
    passages.map(({ from, to }) => [from.page, to.page]),
    passages.map((passage) => {
      const own = passage.text.trimEnd().split("\n");
      return [pageOf(own[0]), pageOf(own.at(-1))];
    }),
  );
});

test("each part of a long table has its head and says which rows it holds [D2]", () => {
  const rows = Array.from({ length: 120 }, (_, row) => `name ${row}\tvalue ${row}`);
  const table: Block = {
    kind: "table",
    text: ["Name\tValue", ...rows].join("\n"),
    headRows: 1,
    from: { sheet: "Stock", row: 1 },
    to: { sheet: "Stock", row: 121 },
  };
  const passages = passagesOf([table]);
  assert.ok(passages.length >= 3);
  assert.ok(passages.every(({ text }) => text.startsWith("Name\tValue\nname ")));
  assert.deepEqual(
    passages.flatMap(({ text }) => text.split("\n").slice(1)),
    rows,
  );
  assert.deepEqual(passages[0]?.from, { sheet: "Stock", row: 1 });
  for (const [index, { from, to, text }] of passages.entries()) {
    const count = text.split("\n").length - 1;
    assert.equal((to.row ?? 0) - (from.row ?? 0) + (index === 0 ? 0 : 1), count);
  }
});

test("a head that is longer than half a passage is not repeated: a wide table grows by little [D2]", () => {
  const row = (first: number) => Array.from({ length: 3_000 }, (_, column) => `${first}_${column}`).join("\t");
  const rows = Array.from({ length: 20 }, (_, index) => row(index));
  const table: Block = { kind: "table", text: rows.join("\n"), headRows: 1, from: { row: 1 }, to: { row: 20 } };
  const passages = passagesOf([table]);
  const characters = passages.reduce((sum, { text }) => sum + text.length, 0);
  assert.ok(characters < table.text.length * 1.01, `${table.text.length} characters became ${characters}`);
  const bare = (text: string) => text.replaceAll("\n", "");
  assert.equal(bare(passages.map(({ text }) => text).join("")), bare(table.text));
  assert.ok(passages.every(({ text }) => unitsOf(text) <= 1_200 + 2));

  const short = passagesOf([{ ...table, text: ["Name\tValue".padEnd(600, "."), ...rows.slice(1)].join("\n") }]);
  assert.ok(short.every(({ text }) => text.startsWith("Name\tValue....")));
});

test("nothing is lost or doubled by cutting, and no passage is much larger than it should be [D2]", () => {
  const words = fc.string({ unit: fc.constantFrom(..."abc 。.\n软件包𠮷"), maxLength: 4_000 });
  const kinds = fc.constantFrom<Block["kind"][]>("heading", "paragraph", "list", "code", "note");
  const blocks = fc.array(fc.record({ kind: kinds, text: words, level: fc.integer({ min: 1, max: 4 }) }), {
    maxLength: 12,
  });
  const bare = (texts: readonly string[]) => texts.join("").replaceAll(/\s/g, "");
  fc.assert(
    fc.property(blocks, (drawn) => {
      const given: Block[] = drawn.map((block, index) => ({ ...block, from: { page: index + 1 } }));
      const passages = passagesOf(given);
      assert.equal(bare(passages.map(({ text }) => text)), bare(given.map(({ text }) => text)));
      const longest = Math.max(0, ...given.filter(({ kind }) => kind === "heading").map(({ text }) => unitsOf(text)));
      for (const { text } of passages) assert.ok(unitsOf(text) <= 1_200 + 4 * longest + 20);
    }),
    { numRuns: 60 },
  );
});

test("a text without any space or end of a sentence is cut between whole characters [D2]", () => {
  const passages = passagesOf([paragraph("𠮷".repeat(3_000), 1)]);
  assert.ok(passages.length > 1);
  assert.ok(passages.every(({ text }) => /^𠮷+$/u.test(text)));
  assert.deepEqual(
    passages.map(({ runsOn }) => runsOn),
    [...passages.slice(1).map(() => true), false],
  );
});

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

test("what a pattern cannot do without is asked of the index [D3]", () => {
  assert.equal(
    trigramsOf("purge\\s+packages?"),
    '("pur" AND "urg" AND "rge" AND "pac" AND "ack" AND "cka" AND "kag" AND "age")',
  );
  assert.equal(trigramsOf("dpkg|apt-get"), '("dpk" AND "pkg") OR ("apt" AND "pt-" AND "t-g" AND "-ge" AND "get")');
  assert.equal(trigramsOf("^軟體包$"), '("软体包")');
  assert.equal(trigramsOf('say "yes"'), '("say" AND "ay " AND "y """ AND " ""y" AND """ye" AND "yes" AND "es""")');
});

test("a pattern that may do without any three characters is left to a scan [D3]", () => {
  for (const pattern of [
    "ab",
    "a.c.e",
    "[abc]{9}",
    "(?:abcdef)?",
    "abc|d",
    "x*",
    "\\d+\\.\\d+",
    "(abc",
    "ab\\",
    "[abc",
    "abc\0def",
  ])
    assert.equal(trigramsOf(pattern), undefined, pattern);
});

test("whatever the pattern, the index proposes each text that matches [D3]", () => {
  const atoms = fc.constantFrom(
    "a",
    "b",
    "ab",
    "abc",
    "cab",
    ".",
    "\\.",
    "[ab]",
    "(ab|c)",
    "(?:bca)",
    "\\b",
    "^",
    "\\w",
    "包件",
    "\\u0061",
    "\\x62c",
  );
  const signs = fc.constantFrom("", "", "", "?", "*", "+", "{2}", "{0,1}", "+?", "|");
  const patterns = fc
    .array(fc.tuple(atoms, signs), { minLength: 1, maxLength: 7 })
    .map((parts) => parts.flat().join(""));
  const texts = fc.array(fc.string({ unit: fc.constantFrom(..."abcABC.包件 "), minLength: 2, maxLength: 40 }), {
    minLength: 1,
    maxLength: 8,
  });
  let asked = 0;
  fc.assert(
    fc.property(patterns, texts, (source, samples) => {
      const compiled = compile(source);
      const expression = trigramsOf(source);
      if (compiled === undefined || expression === undefined) return;
      asked += 1;
      const proposed = proposedBy(expression, samples);
      for (const sample of samples) if (compiled.test(sample)) assert.ok(proposed.has(sample), `/${source}/ ${sample}`);
    }),
    { numRuns: 600 },
  );
  assert.ok(asked > 15, `only ${asked} patterns had something to ask for`);
});

function compile(source: string): RegExp | undefined {
  try {
    return new RegExp(source, "imu");
  } catch {
    return undefined;
  }
}

function proposedBy(expression: string, samples: readonly string[]): Set<string> {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE VIRTUAL TABLE t USING fts5 (x, detail = none, tokenize = 'trigram')");
  const insert = database.prepare("INSERT INTO t (rowid, x) VALUES (?, ?)");
  samples.forEach((sample, index) => void insert.run(index + 1, fold(sample)));
  const rows = database.prepare("SELECT rowid AS id FROM t WHERE t MATCH ?").all(expression);
  database.close();
  return new Set(rows.map(({ id }) => samples[Number(id) - 1] ?? ""));
}

const pieces = "install installed installing installation in pins pin 4 4s 包 裹 软件 件 \u{20000} . - / é".split(" ");
const textsMarks = fc.array(fc.constantFrom(...pieces, " ", "\n"), { maxLength: 40 }).map((parts) => parts.join(""));

test("a word marks each word of its stem, and nothing else [D3]", () => {
  fc.assert(
    fc.property(textsMarks, fc.constantFrom("install", "pin", "4", "in"), (text, word) => {
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
    fc.property(textsMarks, (text) => {
      const found = openMarker([{ match: "", characters: "软件" }])(text);
      const wanted = [...text.matchAll(/软\s{0,2}件/g)];
      assert.deepEqual(
        found,
        wanted.map(({ 0: written, index }) => ({ unit: 0, start: index, end: index + written.length })),
      );
    }),
  );
});

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

/** What each pair tells, as a share of what it would tell by its rarity alone. */
function sharesIn(text: string, counts: Readonly<Record<string, number>>): Record<string, number> {
  const units = unitsOfTelling(parseQuery(text, cutIntoPairs));
  const all = units.map((unit) => counts[unit.characters ?? ""] ?? 0);
  const telling = tellingOf(units, all, 10_000);
  const plain = all.map((count) => Math.log(1 + (10_000 - count + 0.5) / (count + 0.5)));
  return Object.fromEntries(
    units.map(({ characters = "" }, index) => [
      characters,
      Number(((telling[index] ?? 0) / (plain[index] ?? 1)).toFixed(2)),
    ]),
  );
}

test("where two words meet, a pair of characters tells little, however rare it is [D3]", () => {
  const counts = { 软件: 839, 件包: 806, 包无: 5, 无法: 57, 法删: 2, 删除: 142 };
  assert.deepEqual(sharesIn("软件包无法删除", counts), { 软件: 1, 件包: 1, 包无: 0.3, 无法: 1, 法删: 0.3, 删除: 1 });
  // A name that stands in one passage: all pairs are equally rare, and all of them are meant.
  assert.deepEqual(sharesIn("沈眉庄园", { 沈眉: 1, 眉庄: 1, 庄园: 1 }), { 沈眉: 1, 眉庄: 1, 庄园: 1 });
});

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import fc from "fast-check";
import { fold } from "./fold.ts";
import { trigramsOf } from "./literals.ts";

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
    { numRuns: 1_500 },
  );
  assert.ok(asked > 50, `only ${asked} patterns had something to ask for`);
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

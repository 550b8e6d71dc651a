import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { matches } from "../../test/world/pattern-matches.ts";
import { countSteps } from "../../test/world/steps.ts";
import { compilePattern } from "./pattern.ts";

const single = fc.constantFrom(
  ...[
    "a",
    "b",
    "A",
    "1",
    " ",
    ".",
    "\\d",
    "\\w",
    "\\s",
    "\\S",
    "\\.",
    "\\x41",
    "[ab]",
    "[^a1]",
    "[a-f_]",
    "[\\d-]",
    "é",
  ],
);
const place = fc.constantFrom("^", "$", "\\b", "\\B");
const count = fc.constantFrom("", "", "*", "+", "?", "*?", "{2}", "{1,}", "{0,2}");
const pattern = fc.letrec<{ all: string; piece: string }>((tie) => ({
  all: fc
    .array(
      fc.array(tie("piece"), { maxLength: 3 }).map((pieces) => pieces.join("")),
      { minLength: 1, maxLength: 2 },
    )
    .map((branches) => branches.join("|")),
  piece: fc.oneof(
    // The reference is slow where ours is not: deeper ones would wait for it, not for us.
    { maxDepth: 2 },
    fc.tuple(single, count).map((parts) => parts.join("")),
    place,
    fc.tuple(fc.constantFrom("(", "(?:", "(?<n>"), tie("all"), fc.constant(")"), count).map((parts) => parts.join("")),
  ),
})).all;
const text = fc.string({ unit: fc.constantFrom("a", "b", "A", "B", "1", "_", " ", "\n", "-", "é", "É"), maxLength: 7 });

test("a pattern of the operator finds what the regular expressions of JavaScript find [H1]", () => {
  fc.assert(
    fc.property(pattern, text, (source, subject) => {
      fc.pre(source !== "" && (source.match(/\(\?<n>/g) ?? []).length < 2);
      const compiled = compilePattern(source);
      if (compiled.ok) assert.equal(compiled.value.matches(subject), new RegExp(source, "i").test(subject));
      else assert.deepEqual(compiled.failure, { fault: "too_large" });
    }),
    { numRuns: 1_000 },
  );
});

const costly: [pattern: string, text: string][] = [
  ["(a+)+$", "a".repeat(20_000)],
  ["(a|a)*b", "a".repeat(20_000)],
  [".*foo.*bar.*baz", "foo".repeat(20_000)],
  ["(\\w+\\s?)*=", "word ".repeat(8_000)],
  ["a{150}b", "a".repeat(20_000)],
  ["(a|b)*a(a|b){40}c", Array.from({ length: 8_000 }, (_, at) => (at ** 2 % 7 > 3 ? "a" : "b")).join("")],
];
test("no text makes a pattern slow [H1]", async () => {
  const texts = costly.flatMap(([source, subject]) =>
    [subject.slice(0, subject.length / 2), subject].map((text) => ({ name: "matches", with: [source, `${text}!`] })),
  );
  const counted = await countSteps(new URL("../../test/world/pattern-matches.ts", import.meta.url), texts);
  for (const [at, [source, subject]] of costly.entries()) {
    const [half, whole] = [counted[2 * at] ?? assert.fail(), counted[2 * at + 1] ?? assert.fail()];
    assert.deepEqual([half.value, whole.value], [false, false], source);
    assert.ok(
      half.steps > subject.length / 2 && whole.steps < 2.1 * half.steps,
      `${source}: ${half.steps}, ${whole.steps}`,
    );
  }
});

const refused: [pattern: string, failure: object][] = [
  ["", { fault: "empty" }],
  ["(?i)", { fault: "empty" }],
  ["a".repeat(1_001), { fault: "too_long" }],
  ["(a{1000}){1000}", { fault: "too_large" }],
  ["rm (-rf", { fault: "syntax", why: "Unterminated group" }],
  ["(?=rm)", { fault: "unsupported", what: "(?=" }],
  ["(rm) \\1", { fault: "unsupported", what: "\\1" }],
  ...["(?=", "(?!", "(?<=", "(?<!"].map((what): [string, object] => [`a${what}b)`, { fault: "unsupported", what }]),
  ...["(?i:", "(?-i:"].map((what): [string, object] => [`${what}b)`, { fault: "unsupported", what }]),
  ...["\\9", "\\p{", "\\P{", "\\k<"].map((what): [string, object] => [`a${what}L}>`, { fault: "unsupported", what }]),
  ["\\\\\\1", { fault: "unsupported", what: "\\1" }],
  ["a{201}", { fault: "too_large" }],
];
test("a pattern that cannot be used is refused with its reason [H1][P5]", () => {
  assert.deepEqual(
    refused.map(([source]) => [source, compilePattern(source)]),
    refused.map(([source, failure]) => [source, { ok: false, failure }]),
  );
});

test("large and small letters are the same, and Python's (?i) is taken [H1]", () => {
  assert.deepEqual(
    ["(?i)DROP TABLE", "drop\\s+table", "[d]rop"].map((source) => matches(source, "x; DROP  table, drop TABLE")),
    [true, true, true],
  );
  assert.equal(matches("密码[:：]", "我的密码：123"), true);
});

test("a pattern may be as long and as large as the limits say, and what is in brackets or escaped is no look ahead [H1]", () => {
  const taken = ["a".repeat(200), "a{199}", `(?i)[${"b".repeat(998)}]`, "[(?=]", "\\(\\?=", "\\\\1", "(?<name>a)(?:b)"];
  assert.deepEqual([taken.filter((source) => !compilePattern(source).ok)], [[]]);
  assert.deepEqual(compilePattern("a".repeat(201)), { ok: false, failure: { fault: "too_large" } });
  assert.deepEqual(compilePattern(`[${"b".repeat(999)}]`), { ok: false, failure: { fault: "too_long" } });
});

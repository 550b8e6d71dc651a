import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countSteps } from "../../../test/world/steps.ts";
import { applyEdits, type Plan, placesMax, planEdit } from "./match.ts";

type Row = readonly [what: string, text: string, old: string, wanted: string, result: string, likeness: string];

const made: readonly Row[] = [
  ["exact text", "a = 1\nb = 2\n", "b = 2", "b = 3", "a = 1\nb = 3\n", "exact"],
  ["a deletion", "a\nb\nc\n", "b\n", "", "a\nc\n", "exact"],
  ["an exact place counts before a similar one", '“x” "x"\n', '"x"', "y", "“x” y\n", "exact"],
  ["LF for CRLF", "a\r\nb\r\nc\r\n", "a\nb", "a\nB\nnew", "a\r\nB\r\nnew\r\nc\r\n", "blanks"],
  ["new lines in a CRLF file, exact place", "a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n", "exact"],
  ["an exact line end in a file that has both", "a\r\nb\r\nc\nd\n", "c\nd", "c\nD", "a\r\nb\r\nc\nD\n", "exact"],
  ["CRLF for LF", "a\nb\nc\n", "a\r\nb", "a\r\nB\r\nnew", "a\nB\nnew\nc\n", "blanks"],
  ["a line end at its beginning, CRLF", "a\r\nb\r\nc", "\nb", "\nnew\nb", "a\r\nnew\r\nb\r\nc", "blanks"],
  ["nothing but a line end, CRLF", "a\r\nb", "\n", "\n\n", "a\r\n\r\nb", "blanks"],
  ["a line end at its beginning in a file that has both", "a\r\nb\nc\n", "\nb", "\nB", "a\r\nB\nc\n", "blanks"],
  ["the plain one of two line ends", "a\r\nb\nb\r\n", "\nb", "\nB", "a\r\nb\nB\r\n", "exact"],
  [
    "blanks at line ends in the file",
    "if x:  \n  y\t\nz\n",
    "if x:\n  y",
    "if x:\n  Y",
    "if x:  \n  Y\t\nz\n",
    "blanks",
  ],
  ["blanks at line ends in the wanted text", "if x:\n  y\n", "if x:  \n  y", "if x:  \n  Y", "if x:\n  Y\n", "blanks"],
  ["blanks to be taken away", "a\t\nb\n", "a  \nb", "a\nb", "a\nb\n", "blanks"],
  ["blanks at the very end of the wanted text", "foobar\nfoo\n", "\nfoo  ", "\nbaz", "foobar\nbaz\n", "blanks"],
  ["blanks behind what is changed", "x\t\ny\n", "x\ny", "X\ny", "X\t\ny\n", "blanks"],
  ["known blanks behind what is changed", "x\t\ny\n", "x \ny", "X\ny", "X\ny\n", "blanks"],
  ["a last line without an end", "a\nb", "a\nb\n", "a\nc\n", "a\nc", "blanks"],
  ["lines after a last line without an end", "a\nb", "b\n", "b\nc\n", "a\nb\nc\n", "blanks"],
  [
    "smart quotes",
    "say “hello” now ‘x’\n",
    'say "hello" now',
    'say "hello" then',
    "say “hello” then ‘x’\n",
    "characters",
  ],
  ["dashes", "1990–1999 — old\n", "1990-1999 - old", "1990-2000 - old", "1990–2000 — old\n", "characters"],
  [
    "full width",
    "价格：１００元（含税）。\n",
    "价格:100元(含税)",
    "价格:200元(含税)",
    "价格：2００元（含税）。\n",
    "characters",
  ],
  ["half width in the file", "名称: 甲, 乙\n", "名称： 甲， 乙", "名称： 甲， 丙", "名称: 甲, 丙\n", "characters"],
  ["Chinese stops", "第一。第二、第三\n", "第一.第二,第三", "第一.第二,第四", "第一。第二、第四\n", "characters"],
  ["no-break spaces", "a\u00a0=\u20031\n", "a = 1", "a = 2", "a\u00a0=\u20032\n", "characters"],
  [
    "composed and decomposed letters",
    "cafe\u0301 au lait\n",
    "caf\u00e9 au lait",
    "caf\u00e9 noir",
    "cafe\u0301 noir\n",
    "characters",
  ],
  ["letters that nobody sees", "a\u200bb c\n", "ab c", "ab d", "a\u200bb d\n", "characters"],
  ["emoji that share a half", "x “😀”\n", 'x "😀"', 'x "😁"', "x “😁”\n", "characters"],
  ["quotes and line ends at once", "“a”\r\n“b”  \r\n", '"a"\n"b"', '"a"\n"c"', "“a”\r\n“c”  \r\n", "characters"],
];

for (const [what, text, old, wanted, result, likeness] of made) {
  test(`an edit finds its place and changes nothing else: ${what} [F2]`, () => {
    const plan = planEdit(text, { old, new: wanted, isForAll: false });
    assert.ok(plan.kind === "edits", plan.kind);
    assert.deepEqual([applyEdits(text, plan.edits), plan.likeness], [result, likeness]);
  });
}

const nowhere: readonly [what: string, text: string, old: string][] = [
  ["other words", "a\nb\n", "c"],
  ["another indentation", "\tif x:\n\t\ty\n", "    if x:\n        y"],
  ["another case", "Hello\n", "hello"],
  ["a part of a letter", "ﬁne\n", "i"],
  ["a letter without its accent", "caf\u00e9s\n", "cafes"],
  ["blanks that are not at the end of a line", "foobar\n", "foo  "],
  ["nothing but blanks", "a\nb\n", " \n \n"],
  ["a power for a number", "x\u00b2 + 1\n", "x2 + 1"],
  ["a lower index for a number", "H\u2082O\n", "H2O"],
  ["a circled number for a number", "\u2460 first\n", "1 first"],
  ["a Roman number for letters", "part \u2163\n", "part IV"],
  ["a fraction for numbers", "\u00bd cup\n", "1/2 cup"],
];

for (const [what, text, old] of nowhere) {
  test(`an edit is not forced where the text is not: ${what} [F2]`, () => {
    assert.deepEqual(planEdit(text, { old, new: "x", isForAll: false }), { kind: "none" });
  });
}

test("a text that stands there several times is not changed unless all are meant [F2]", () => {
  const text = "x = 1\ny\nx = 1\n";
  assert.deepEqual(planEdit(text, { old: "x = 1", new: "x = 2", isForAll: false }), {
    kind: "several",
    starts: [0, 8],
    likeness: "exact",
  });
  assert.equal(edited(text, "x = 1", "x = 2"), "x = 2\ny\nx = 2\n");
  assert.equal(edited("“a” “a”", '"a"', '"b"'), "“b” “b”");
});

test("places that overlap are several places; all of them means one after the other [F2]", () => {
  assert.equal(planEdit("aaa", { old: "aa", new: "b", isForAll: false }).kind, "several");
  assert.equal(edited("aaaaa", "aa", "b"), "bba");
});

test("more places than can be looked after are several places, whatever was asked [F2]", () => {
  const plan = (count: number) => planEdit("a".repeat(count), { old: "a", new: "b", isForAll: true }).kind;
  assert.deepEqual([plan(placesMax), plan(placesMax + 1)], ["edits", "several"]);
});

test("a very long text is matched exactly, but for its line ends, or not at all [F2]", () => {
  const plan = (text: string, old: string) => planEdit(text, { old, new: "b\nc", isForAll: false });
  const long = `“a”\r\nz\r\n${"x".repeat(200_000)}`;
  assert.equal(plan(long, '"a"').kind, "none");
  assert.equal(plan(long, "“a”").kind, "edits");
  assert.deepEqual(plan(long, "“a”\nz"), {
    kind: "edits",
    edits: [{ start: 0, end: 6, text: "b\r\nc" }],
    likeness: "blanks",
  });
  assert.equal(plan(`“a”\n${"x".repeat(199_000)}`, '"a"').kind, "edits");
});

test("a text that is nowhere in a long one is given up after going through it once [F2][Q2]", async () => {
  const lines = ["plain words in a line\n", "很长的段落，有许多“句子”。é\n"];
  const texts = lines.map((line) => line.repeat(Math.floor(199_000 / line.length)));
  const wanted = { old: "nowhere “at” all", new: "", isForAll: false };
  const calls = texts.map((text) => ({ name: "planEdit", with: [text, wanted] }));
  for (const { value, steps } of await countSteps<Plan>(new URL("./match.ts", import.meta.url), calls)) {
    assert.equal(value.kind, "none");
    assert.ok(steps < 30 * 199_000, `${steps} steps`);
  }
});

/** Pieces of text with the ways in which a model may write them. */
const pieces: readonly (readonly [there: string, written: readonly string[]])[] = [
  ["a", ["a"]],
  ["汉", ["汉"]],
  ["😀", ["😀"]],
  ["“", ['"', "“"]],
  ["’", ["'", "’"]],
  ["—", ["-", "–"]],
  ["，", [",", "，"]],
  ["（", ["(", "（"]],
  ["１", ["1"]],
  ["é", ["e\u0301", "é"]],
  ["…", ["...", "…"]],
  ["\u3000", [" "]],
  ["  \r\n", ["\n", "  \n", "\r\n"]],
  ["\n", ["\n", "\t\n"]],
  ["\t", ["\t"]],
];

const piece = fc
  .record({ index: fc.nat(pieces.length - 1), way: fc.nat(5) })
  .map(({ index, way }): { there: string; written: string } => {
    const [there, ways] = pieces[index] ?? ["", [""]];
    return { there, written: ways[way % ways.length] ?? "" };
  });
const run = fc.array(piece, { maxLength: 6 });
const there = (all: readonly { there: string }[]) => all.map((one) => one.there).join("");
const written = (all: readonly { written: string }[]) => all.map((one) => one.written).join("");

test("however a model writes what is there, only what it wanted to change is changed [F2]", () => {
  fc.assert(
    fc.property(run, run, run, run, fc.constantFrom("NEW", "", "新“"), (before, head, tail, after, change) => {
      const text = `${there(before)}[${there(head)}OLD${there(tail)}]${there(after)}`;
      const old = `[${written(head)}OLD${written(tail)}]`;
      const plan = planEdit(text, { old, new: old.replace("OLD", () => change), isForAll: false });
      assert.ok(plan.kind === "edits", plan.kind);
      assert.equal(applyEdits(text, plan.edits), text.replace("OLD", change));
    }),
    { numRuns: 2_000 },
  );
});

test("exact text is replaced as plain text, once or everywhere [F2]", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "汉", "😀", "\n", "“"), maxLength: 40 });
  const old = fc.string({ unit: fc.constantFrom("a", "b", "汉", "😀", "\n", "“"), minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(text, old, fc.string({ maxLength: 3 }), (whole, wanted, change) => {
      fc.pre(whole.includes(wanted));
      const all = planEdit(whole, { old: wanted, new: change, isForAll: true });
      assert.ok(all.kind === "edits");
      assert.equal(applyEdits(whole, all.edits), whole.split(wanted).join(change));
    }),
  );
});

test("whatever the text and the wish, all outside the changed ranges stays [F2]", () => {
  const unit = fc.constantFrom(
    "a",
    "A",
    " ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "“",
    '"',
    "－",
    "-",
    "é",
    "e\u0301",
    "ﬁ",
    "fi",
    "\u200b",
    "\ud83d",
  );
  const text = fc.string({ unit, maxLength: 30 });
  fc.assert(
    fc.property(
      text,
      fc.string({ unit, minLength: 1, maxLength: 5 }),
      text,
      fc.boolean(),
      (whole, old, change, isForAll) => {
        const plan = planEdit(whole, { old, new: change, isForAll });
        if (plan.kind !== "edits") return;
        let from = 0;
        for (const { start, end } of plan.edits) {
          assert.ok(from <= start && start <= end && end <= whole.length);
          from = end;
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

function edited(text: string, old: string, wanted: string): string {
  const plan = planEdit(text, { old, new: wanted, isForAll: true });
  assert.ok(plan.kind === "edits", plan.kind);
  return applyEdits(text, plan.edits);
}

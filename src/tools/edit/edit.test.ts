import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countSteps } from "../../../test/world/steps.ts";
import { applyEdits, type Plan, placesMax, planEdit } from "./match.ts";
import { findNearMiss } from "./near-miss.ts";
import { spliceBytes } from "./splice.ts";

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
    { numRuns: 500 },
  );
});

function edited(text: string, old: string, wanted: string): string {
  const plan = planEdit(text, { old, new: wanted, isForAll: true });
  assert.ok(plan.kind === "edits", plan.kind);
  return applyEdits(text, plan.edits);
}

test("edits in bytes are the edits of the text, however many and wherever [F2]", () => {
  const unit = fc.constantFrom("a", "é", "汉", "😀", "\n", "“");
  const arbitrary = fc.string({ unit, minLength: 1, maxLength: 40 });
  const encoding = fc.constantFrom("utf-8", "utf-16le", "utf-16be");
  fc.assert(
    fc.property(
      arbitrary,
      unit,
      fc.string({ unit, maxLength: 3 }),
      encoding,
      fc.boolean(),
      (words, old, change, name, hasBom) => {
        const plan = planEdit(words, { old, new: change, isForAll: true });
        fc.pre(plan.kind === "edits");
        if (plan.kind !== "edits") return;
        const encode = (written: string) => {
          const marked = `${hasBom ? "\ufeff" : ""}${written}`;
          if (name === "utf-8") return Buffer.from(marked);
          const bytes = Buffer.from(marked, "utf16le");
          return name === "utf-16le" ? bytes : bytes.swap16();
        };
        const { bytes } = spliceBytes({ bytes: encode(words), text: words, encoding: name, hasBom }, plan.edits);
        assert.deepEqual(bytes, encode(applyEdits(words, plan.edits)));
      },
    ),
  );
});

const code = [
  "import math",
  "",
  "def area(r):",
  "\treturn math.pi * r ** 2",
  "",
  "def round_up(x):",
  "\treturn math.ceil(x)",
  "",
  "print(area(2))",
].join("\n");

test("lines that differ in their indentation are shown, with the line that differs [F2]", () => {
  assert.deepEqual(findNearMiss(code, "def area(r):\n    return math.pi * r ** 2"), {
    kind: "near",
    first: 2,
    lines: ["", "def area(r):", "\treturn math.pi * r ** 2", "", "def round_up(x):"],
    difference: { kind: "indentation", line: 4 },
    focus: { line: 4, column: 0 },
  });
});

const inside: readonly [line: string, wanted: string, column: number, there: string, old: string][] = [
  ["    total = price * quantity + tax", "price * quantity - tax", 30, "+ tax", "- tax"],
  ["x; totals = price * quantity", "total = price * quantity", 9, "s = price * quantity", " = price * quantity"],
  ["if (isReady && hasName) {", "isready & hasName) {", 7, "Ready && hasName) {", "ready & hasName) {"],
  ["call(first, second, third)", "Xirst, second, third)", 6, "first, second, third", "Xirst, second, third"],
  ["say 😀😁 to all of them", "😀😂 to all of them", 7, "😁 to all of them", "😂 to all of them"],
];

test("a text that begins in the middle of a line is compared from there [F2]", () => {
  for (const [line, wanted, column, there, old] of inside)
    assert.deepEqual(
      near(`first line\n${line}\nlast line`, wanted).difference,
      { kind: "characters", line: 2, column, there, wanted: old },
      wanted,
    );
});

const sentence = (number: number) => `第${number}句话说的是第${number * 7}件事情，大家都应该记住它。`;
const paragraph = Array.from({ length: 300 }, (_, index) => sentence(index)).join("");

test("in a long paragraph without line ends the place is found, with what differs there [F2]", () => {
  const wanted = `${sentence(150)}${sentence(151).replace("记住", "忘记")}${sentence(152)}`;
  const column = paragraph.indexOf("记住", paragraph.indexOf(sentence(151)));
  const { lines, difference, focus } = near(`开头\n${paragraph}\n结尾`, wanted);
  assert.deepEqual(difference, {
    ...{ kind: "characters", line: 2, column: column + 1 },
    ...{ there: paragraph.slice(column, column + 20), wanted: `忘记它。${sentence(152)}`.slice(0, 20) },
  });
  assert.deepEqual([lines, focus], [["开头", paragraph, "结尾"], { line: 2, column }]);
  const long = near(`开头\n${paragraph}\n结尾`, `开头\n${paragraph.replace("第299句", "第300句")}`);
  assert.deepEqual(long.focus, { line: 2, column: paragraph.indexOf("299句") });
});

test("of a very long text only a part is looked at, the one where a line stands as it was wanted [F2]", () => {
  const lines = Array.from({ length: 60_000 }, (_, index) => `${index} ${"x".repeat(20)}`);
  const text = lines.join("\n");
  assert.deepEqual(findNearMiss(text, "completely other words"), { kind: "none", isAll: false });
  assert.deepEqual(findNearMiss(text, "49998 yyy\n49999 xxxxxxxxxxxxxxxxxxxx\n50000 z"), {
    kind: "near",
    first: 49_998,
    lines: lines.slice(49_997, 50_002),
    difference: { kind: "characters", line: 49_999, column: 7, there: "x".repeat(20), wanted: "yyy" },
    focus: { line: 49_999, column: 6 },
  });
  const blanks = `a${" ".repeat(5_000_000)}b`;
  assert.deepEqual(findNearMiss(blanks, "c".repeat(5_000_000)), { kind: "none", isAll: false });
});

test("files and wishes of nothing but brackets are gone through a few times, not once for each bracket [F2][Q2]", async () => {
  const pairs = [
    ["}\n".repeat(100_000), `${"}\n".repeat(2_000)}{`],
    ["\n".repeat(200_000), "a\n".repeat(1_000)],
    ["ab".repeat(100_000), `${"ba".repeat(1_000)}c`],
    [`x${"ab ".repeat(60_000)}`, `${"ab,".repeat(400)}c`],
  ];
  const calls = pairs.map((pair) => ({ name: "findNearMiss", with: pair }));
  const counted = await countSteps<ReturnType<typeof findNearMiss>>(new URL("./near-miss.ts", import.meta.url), calls);
  assert.deepEqual([counted.map(({ value }) => value.kind)], [["near", "none", "near", "none"]]);
  for (const { steps } of counted) assert.ok(steps < 4_000_000, `${steps} steps`);
});

function near(text: string, wanted: string) {
  const found = findNearMiss(text, wanted);
  assert.ok(found.kind === "near", `nothing is like ${wanted}`);
  return found;
}

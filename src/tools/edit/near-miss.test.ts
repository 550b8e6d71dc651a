import assert from "node:assert/strict";
import { test } from "node:test";
import { countSteps } from "../../../test/world/steps.ts";
import { findNearMiss } from "./near-miss.ts";

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

test("line numbers that were copied along are recognised [F2]", () => {
  for (const wanted of ["3: def area(r):\n4: \treturn math.pi * r ** 2", "  3\tdef area(r):", "   3→def area(r):"]) {
    const { difference, lines } = near(code, wanted);
    assert.deepEqual([difference, lines.includes("def area(r):")], [{ kind: "line_numbers" }, true], wanted);
  }
});

test("a file that has numbers of its own is not said to have none [F2]", () => {
  const list = "1: buy apples\n2: buy pears\n3: buy plums\n";
  assert.deepEqual(near(list, "2: buy pear\n3: buy plums").difference, {
    ...{ kind: "characters", line: 2, column: 12, there: "s", wanted: "" },
  });
  assert.deepEqual(near("a,b\n1|x|200\n2|y|300\n", "2|y|400").difference, {
    ...{ kind: "characters", line: 3, column: 5, there: "300", wanted: "400" },
  });
});

test("backslashes that were written twice are recognised [F2]", () => {
  const { difference, lines } = near(code, "def area(r):\\n\\treturn math.pi * r ** 2");
  assert.deepEqual([difference, lines], [{ kind: "escapes" }, code.split("\n").slice(1, 6)]);
});

test("another case, another word: the first difference is named [F2]", () => {
  assert.deepEqual(near(code, "Def Area(r):").difference, { kind: "case", line: 3 });
  assert.deepEqual(near("x = Total + tax", "total + tax").difference, { kind: "case", line: 1 });
  assert.deepEqual(findNearMiss(code, "def area(r):\n\treturn math.pi * r ** 3\n\ndef round_up(x):"), {
    kind: "near",
    first: 3,
    lines: code.split("\n").slice(2, 7),
    difference: { kind: "characters", line: 4, column: 24, there: "2", wanted: "3" },
    focus: { line: 4, column: 23 },
  });
});

test("one line that is a little different is found by what it has in common [F2]", () => {
  assert.deepEqual(findNearMiss(code, "return math.ceiling(x)"), {
    kind: "near",
    first: 5,
    lines: code.split("\n").slice(4, 9),
    difference: { kind: "characters", line: 7, column: 18, there: "(x)", wanted: "ing(x)" },
    focus: { line: 7, column: 17 },
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

test("of many wanted lines ten are shown, with the difference among them [F2]", () => {
  const lines = Array.from({ length: 40 }, (_, index) => `line number ${index + 1} of the file`);
  const wanted = lines.slice(4, 34).map((line) => (line.includes(" 25 ") ? "line number XXV of the file" : line));
  assert.deepEqual(findNearMiss(lines.join("\n"), wanted.join("\n")), {
    kind: "near",
    first: 20,
    lines: lines.slice(19, 29),
    difference: { kind: "characters", line: 25, column: 13, there: "25 of the file", wanted: "XXV of the file" },
    focus: { line: 25, column: 12 },
  });
});

test("where nothing is like the wanted text, nothing is shown, and a bracket in common is nothing [F2]", () => {
  const none = { kind: "none", isAll: true };
  for (const [text, wanted] of [
    [code, "completely other words"],
    [code, "\n \n"],
    ["", "a"],
    ["if (x) {\n  y();\n}\n", "while (isOpen) {\n  close(door);\n}\n"],
  ] as const)
    assert.deepEqual(findNearMiss(text, wanted), none, wanted);
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
    ["}\n".repeat(500_000), `${"}\n".repeat(10_000)}{`],
    ["\n".repeat(1_000_000), "a\n".repeat(1_000)],
    ["ab".repeat(500_000), `${"ba".repeat(5_000)}c`],
    [`x${"ab ".repeat(300_000)}`, `${"ab,".repeat(400)}c`],
  ];
  const calls = pairs.map((pair) => ({ name: "findNearMiss", with: pair }));
  const counted = await countSteps<ReturnType<typeof findNearMiss>>(new URL("./near-miss.ts", import.meta.url), calls);
  assert.deepEqual(
    counted.map(({ value }) => value.kind),
    ["near", "none", "near", "none"],
  );
  for (const { steps } of counted) assert.ok(steps < 20_000_000, `${steps} steps`);
});

function near(text: string, wanted: string) {
  const found = findNearMiss(text, wanted);
  assert.ok(found.kind === "near", `nothing is like ${wanted}`);
  return found;
}

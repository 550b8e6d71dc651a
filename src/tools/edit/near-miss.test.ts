import assert from "node:assert/strict";
import { test } from "node:test";
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
    first: 2,
    lines: ["", "def area(r):", "\treturn math.pi * r ** 2", "", "def round_up(x):"],
    difference: { kind: "indentation", line: 4 },
  });
});

test("line numbers that were copied along are recognised [F2]", () => {
  for (const wanted of ["3: def area(r):\n4: \treturn math.pi * r ** 2", "  3\tdef area(r):", "   3→def area(r):"]) {
    const near = findNearMiss(code, wanted);
    assert.deepEqual(
      [near?.difference, near?.lines.includes("def area(r):")],
      [{ kind: "line_numbers" }, true],
      wanted,
    );
  }
});

test("backslashes that were written twice are recognised [F2]", () => {
  const near = findNearMiss(code, "def area(r):\\n\\treturn math.pi * r ** 2");
  assert.deepEqual(near?.difference, { kind: "escapes" });
});

test("another case, another word: the first difference is named [F2]", () => {
  assert.deepEqual(findNearMiss(code, "Def Area(r):")?.difference, { kind: "case", line: 3 });
  assert.deepEqual(findNearMiss(code, "def area(r):\n\treturn math.pi * r ** 3\n\ndef round_up(x):"), {
    first: 3,
    lines: code.split("\n").slice(2, 7),
    difference: { kind: "characters", line: 4, column: 24, there: "2", wanted: "3" },
  });
});

test("one line that is a little different is found by what it has in common [F2]", () => {
  assert.deepEqual(findNearMiss(code, "return math.ceiling(x)"), {
    first: 5,
    lines: code.split("\n").slice(4, 9),
    difference: { kind: "characters", line: 7, column: 18, there: "(x)", wanted: "ing(x)" },
  });
});

test("of many wanted lines ten are shown, with the difference among them [F2]", () => {
  const lines = Array.from({ length: 40 }, (_, index) => `line number ${index + 1} of the file`);
  const wanted = lines.slice(4, 34).map((line) => (line.includes(" 25 ") ? "line number XXV of the file" : line));
  const near = findNearMiss(lines.join("\n"), wanted.join("\n"));
  assert.deepEqual(near, {
    first: 20,
    lines: lines.slice(19, 29),
    difference: { kind: "characters", line: 25, column: 13, there: "25 of the file", wanted: "XXV of the file" },
  });
});

test("where nothing is like the wanted text, nothing is shown [F2]", () => {
  assert.deepEqual(
    [findNearMiss(code, "completely other words"), findNearMiss("", "a"), findNearMiss(code, "\n \n")],
    [undefined, undefined, undefined],
  );
});

test("long files and long lines are looked through in a moment [F2][Q2]", () => {
  const text = Array.from({ length: 60_000 }, (_, index) => `${index} ${"x".repeat(20)}`).join("\n");
  assert.equal(findNearMiss(text, "49999 xxxxxxxxxxxxxxxxxxxY")?.difference?.kind, "characters");
  assert.equal(findNearMiss(`a${" ".repeat(5_000_000)}b`, "c".repeat(5_000_000)), undefined);
});

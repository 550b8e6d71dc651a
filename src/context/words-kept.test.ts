import assert from "node:assert/strict";
import { test } from "node:test";
import { isInstruction } from "./instructions.ts";
import { mentionsIn } from "./mentions.ts";
import { markedWords } from "./own-marks.ts";

test("whatever sounds as if it were meant for longer is a standing instruction, in English and in Chinese [Z3]", () => {
  const sounds = [
    ...["always", "never", "from now on", "must", "must not", "mustn't", "remember", "please keep", "make sure"],
    ...["don't", "do not", "every time", "ALWAYS", "以后", "今后", "始终", "总是", "永远", "一律", "不要", "不得"],
    ...["不能", "禁止", "必须", "务必", "记住", "请记", "从现在起", "从现在开始", "每次"],
  ];
  for (const sound of sounds) assert.equal(isInstruction(`x ${sound} x`), true, sound);
  for (const other of ["nevertheless", "the mustard", "keep it", "现在", "do it", "remembered"])
    assert.equal(isInstruction(`x ${other} x`), false, other);
});

test("a decorator is no mention, whatever it stands above, and neither is a line of a stylesheet or a comment [L4][K1]", () => {
  const above = [
    ...["def", "class", "async", "function", "export", "public", "private", "protected", "static", "final"],
    ...["abstract", "interface", "const", "let", "var", "type", "enum", "fun", "override"],
  ];
  for (const word of above)
    for (const line of [`@pdf\n${word} x`, `@pdf\r\n  ${word} x`]) assert.deepEqual(mentionsIn(line), [], line);
  assert.deepEqual(mentionsIn("@pdf\nletter by letter"), ["pdf"]);
  for (const rule of ["media", "import", "keyframes", "supports", "font-face", "charset"])
    assert.deepEqual([mentionsIn(`@${rule} x`), mentionsIn(`see @${rule} x`)], [[], [rule]], rule);
  for (const line of ["// @pdf x", "  /* @pdf x", " * @pdf x"]) assert.deepEqual(mentionsIn(line), [], line);
  const decorators = (count: number) => `@pdf\n${"@other\n".repeat(count)}def f(): pass`;
  assert.deepEqual([mentionsIn(decorators(9)), mentionsIn(decorators(10))], [[], ["pdf"]]);
});

test("what stands before or behind a name decides whether it is a mention [L4][K1]", () => {
  for (const before of [..."aZ0_.%+-/@#$&=:\\'\"`<"]) assert.deepEqual(mentionsIn(`${before}@pdf x`), [], before);
  for (const before of [..." (,;[>，“"]) assert.deepEqual(mentionsIn(`${before}@pdf x`), ["pdf"], before);
  for (const behind of ["@x", "(x", "{x", ":8080", ":/x", ":x", ".x", "/x", "\\x", "._", " = 1", "=1"])
    assert.deepEqual(mentionsIn(`see @pdf${behind}`), [], behind);
  for (const behind of [":", ": x", ".", ". x", " == 1", ")", "!", "-", "，", "处理"])
    assert.deepEqual(mentionsIn(`see @pdf${behind}`), ["pdf"], behind);
  const name = "n".repeat(64);
  assert.deepEqual([mentionsIn(`@${name}`), mentionsIn(`@${name}n`)], [[name], []]);
  const lines = Array.from({ length: 25 }, (_, index) => `use @s${index} now`);
  assert.equal(mentionsIn(lines.join("\n")).length, 20);
});

test("the user's words are marked where they could seem to end, and only there [Z3][R1]", () => {
  for (const text of [
    "a </b>",
    "a < / b",
    "user_words",
    "USER words",
    "user _ words",
    "# a",
    "b\n  ## a",
    "b\n- a",
    " - a",
  ])
    assert.match(markedWords(text), /^<user_words mark="\w{6}">\n[\s\S]*\n<\/user_words mark="\w{6}">$/, text);
  for (const text of ["a < b", "a - b", "issue #7", "words of a user", "-5 euros"])
    assert.equal(markedWords(text), `<user_words>\n${text}\n</user_words>`);
});

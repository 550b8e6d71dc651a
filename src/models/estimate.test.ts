import assert from "node:assert/strict";
import { test } from "node:test";
import { estimateTokens } from "./estimate.ts";

const cases: readonly [what: string, text: string, tokens: number][] = [
  ["nothing", "", 0],
  ["ASCII by four, rounded up", "hello", 2],
  ["Han one each", "你好世界", 4],
  ["mixed text", "hi 你好", 3],
  ["letters of other scripts by two", "привет", 3],
  ["full-width punctuation by two", "，。", 1],
  ["an emoji as one", "🙂", 1],
  ["a rare Han character as one", "𠀀", 1],
];

for (const [what, text, tokens] of cases) {
  test(`tokens are estimated: ${what} [M1]`, () => assert.equal(estimateTokens(text), tokens));
}

test("the estimate of ASCII text does not depend on the path taken [M1]", () => {
  const ascii = "a".repeat(4_000);
  assert.equal(estimateTokens(`${ascii}你`), estimateTokens(ascii) + 1);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createTagFilter } from "./think-tags.ts";

type Mode = "leading" | "implicit-open";

function part(mode: Mode, pieces: readonly string[]) {
  const said = { text: "", reasoning: "" };
  const filter = createTagFilter(mode, {
    text(piece) {
      said.text += piece;
    },
    reasoning(piece) {
      said.reasoning += piece;
    },
  });
  for (const piece of pieces) filter.push(piece);
  filter.end();
  return said;
}

const cases: [Mode, written: string, reasoning: string, text: string][] = [
  ["leading", "<think>\na b\n</think>\n\nc", "a b", "c"],
  ["leading", "\n <think></think>c", "", "c"],
  ["leading", "<think>a</think>b<think>c</think>", "a", "b<think>c</think>"],
  ["leading", "b <think>a</think>", "", "b <think>a</think>"],
  ["leading", "a</think>b", "", "a</think>b"],
  ["leading", "<thinking>", "", "<thinking>"],
  ["leading", "<think>a </thin", "a </thin", ""],
  ["leading", "  x ", "", "  x "],
  ["implicit-open", " a\n</think> b </think>", "a", "b </think>"],
  ["implicit-open", "<think>a</think>b", "a", "b"],
  ["implicit-open", "just text", "", "just text"],
  ["implicit-open", "</think>b", "", "b"],
];

for (const [mode, written, reasoning, text] of cases) {
  test(`with ${mode} tags ${JSON.stringify(written)} is parted the same at every cut [M3]`, () => {
    assert.deepEqual(part(mode, [written]), { text, reasoning });
    assert.deepEqual(part(mode, [...written]), { text, reasoning });
  });
}

test("however tags and words are mixed and cut, the parts are the same and nothing but blanks and tags is lost [M3]", () => {
  const word = fc.constantFrom("<think>", "</think>", "<", "</th", "think>", " ", "\n", "a", "bc");
  const mode = fc.constantFrom<Mode>("leading", "implicit-open");
  const property = fc.property(mode, fc.array(word), (given, words) => {
    const written = words.join("");
    const whole = part(given, [written]);
    assert.deepEqual(part(given, [...written]), whole);
    assert.deepEqual(part(given, words), whole);
    const bare = (text: string) => text.replace(/<\/?think>|\s/g, "");
    assert.equal(bare(whole.reasoning) + bare(whole.text), bare(written));
  });
  fc.assert(property);
});

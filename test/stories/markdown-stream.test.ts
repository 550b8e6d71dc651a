import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { blocksOf } from "../../web/src/markdown/parse.ts";
import { GrowingText, type Parsed, parseWhole, ReadTexts } from "../../web/src/markdown/stream.ts";

// Answers come in pieces; what was finished once is not read again.

const pieces = [
  ...["# Heading\n\n", "Some *words*, `code`\n", "and 中文。\n\n", "- one\n- two\n\n", "1. first\n", "   more\n\n"],
  ...[
    "```ts\nconst a = 1;\n\n",
    "```\n\n",
    "| a | b |\n| - | - |\n| 1 | 2 |\n\n",
    "> quoted\n\n",
    "$$x^2$$\n\n",
    "---\n\n",
  ],
  ...["    indented\n\n", "<b>markup</b>\n\n", "***\n", "\n", "text", " $y$ "],
];

const rawOf = ({ groups, tail }: Parsed) =>
  [...groups.flatMap(({ blocks }) => blocks), ...tail].map(({ raw }) => raw).join("");

test("a text that grows piece by piece ends as the same blocks as the whole, and nothing of it is lost [B1]", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 60 }), (parts) => {
      const growing = new GrowingText();
      let text = "";
      let last: Parsed = { groups: [], tail: [] };
      for (const part of parts) {
        text += part;
        last = growing.grow(text);
        assert.equal(rawOf(last).trimEnd(), text.trimEnd());
      }
      const whole = parseWhole(text).groups.flatMap(({ blocks }) => blocks);
      const kinds = (blocks: readonly { type: string }[]) =>
        blocks.map(({ type }) => type).filter((type) => type !== "space");
      const grown = [...last.groups.flatMap(({ blocks }) => blocks), ...last.tail];
      assert.deepEqual(kinds(grown), kinds(whole));
    }),
    { numRuns: 300 },
  );
});

test("a line that looks like the head of a table and is none stays in its paragraph, whatever follows [B1]", () => {
  const text = "Some *words*\ntext| a | b |\n| - | - |\n| 1 | [two] |\n\n[two]: https://example.com\n\n";
  for (const whole of [text, `${text}$$x^2$$\n\n`]) {
    const [paragraph, next] = blocksOf(whole);
    assert.deepEqual([paragraph?.type, next?.type], ["paragraph", "space"]);
    assert.equal(`${paragraph?.raw}${next?.raw}`, whole.slice(0, whole.indexOf("[two]:")));
    assert.match(JSON.stringify(paragraph), /"href":"https:\/\/example\.com"/);
    assert.match(JSON.stringify(paragraph), /"type":"em"/);
  }
});

test("finished blocks stay the same objects, so that nothing of them is drawn again [B1]", () => {
  const growing = new GrowingText();
  const text = Array.from({ length: 100 }, (_, index) => `Paragraph ${index}.\n\n`).join("");
  const before = growing.grow(text.slice(0, text.length / 2));
  const after = growing.grow(text);
  assert.ok(before.groups.length > 2);
  for (const [index, group] of before.groups.slice(0, -1).entries()) assert.equal(after.groups[index], group);
  // Another text begins anew.
  assert.deepEqual(rawOf(growing.grow("other")), "other");
});

test("a link that is explained at the end of a text is one when the text is finished [B1]", () => {
  const { groups } = parseWhole("See [the page][1].\n\n[1]: https://example.com\n");
  assert.match(JSON.stringify(groups), /"href":"https:\/\/example\.com"/);
});

test("the end of an answer is no new text, unless something is explained in it [B1]", () => {
  const texts = new ReadTexts();
  const [plain, linked] = ["One.\n\nTwo.", "See [it].\n\n[it]: https://example.com"];
  const beginning = (text: string) => {
    const growing = new GrowingText();
    growing.grow(text.slice(0, 7));
    texts.grown(growing);
  };
  beginning(plain);
  const types = ({ groups }: Parsed) => groups.flatMap(({ blocks }) => blocks.map(({ type }) => type));
  assert.deepEqual(types(texts.whole(plain)), types(parseWhole(plain)));
  beginning(linked);
  assert.match(JSON.stringify(texts.whole(linked)), /"type":"link"/);
  assert.equal(texts.whole(linked), texts.whole(linked));
});

test("maths is told from money, and what nests thousands deep is text [B1]", () => {
  const inlineOf = (text: string) => JSON.stringify(blocksOf(text));
  for (const text of ["$x^2$", "\\(x\\)", "a $$y$$ b", "$$\nz\n$$", "\\[z\\]"])
    assert.match(inlineOf(text), /"type":"math"/, text);
  for (const text of ["$5 and $6", "costs $ 5 $", "`$x$`", "\\$x\\$"])
    assert.doesNotMatch(inlineOf(text), /"type":"math"/, text);
  const deep = `${"> ".repeat(20_000)}x`;
  assert.equal(
    blocksOf(deep)
      .map(({ raw }) => raw)
      .join(""),
    deep,
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Block } from "../../extract/extracted.ts";
import { unitsOf } from "./cut-block.ts";
import { openPassageMaker, type Passage } from "./passages.ts";

function passagesOf(blocks: readonly Block[]): Passage[] {
  const maker = openPassageMaker();
  return [...blocks.flatMap((block) => [...maker.add(block)]), ...maker.end()];
}

const heading = (text: string, level: number, page: number): Block => ({
  kind: "heading",
  text,
  level,
  from: { page },
});
const paragraph = (text: string, page: number, to = page): Block => ({
  kind: "paragraph",
  text,
  from: { page },
  to: { page: to },
});

test("a NUL in a text is a blank in its passage [D2]", () => {
  const maker = openPassageMaker();
  const made = [...maker.add({ kind: "paragraph", text: "before\0behind", from: {} }), ...maker.end()];
  assert.deepEqual(
    made.map(({ text }) => text),
    ["before behind"],
  );
});

test("a section is a passage under its headings, over the pages that its text really lies on [D2]", () => {
  const passages = passagesOf([
    heading("1 Tools", 1, 3),
    heading("1.1\nSaws", 2, 3),
    paragraph("They cut.", 3),
    paragraph("And rust.", 4),
    heading("1.2 Files", 2, 4),
    heading("1.3 Nails", 2, 4),
    paragraph("They hold.", 4, 5),
  ]);
  assert.deepEqual(
    passages.map(({ path, text, from, to }) => [path, text, from.page, to.page]),
    [
      [["1 Tools", "1.1 Saws"], "1 Tools\n1.1\nSaws\nThey cut.\nAnd rust.", 3, 4],
      [["1 Tools", "1.2 Files"], "1.2 Files", 4, 4],
      [["1 Tools", "1.3 Nails"], "1.3 Nails\nThey hold.", 4, 5],
    ],
  );
});

test("each part of a long block says on which of its pages it lies [D2][D3]", () => {
  const lines = Array.from({ length: 90 }, (_, index) => `line ${index} of a program that is printed on three pages`);
  const text = lines.join("\n");
  const pageStarts = [30, 60].map((line, index) => ({ at: text.indexOf(`line ${line} `), place: { page: index + 5 } }));
  const passages = passagesOf([{ kind: "code", text, from: { page: 4 }, to: { page: 6 }, pageStarts }]);
  const pageOf = (line: string | undefined) => 4 + Math.floor(Number(line?.split(" ")[1]) / 30);
  assert.ok(passages.length > 3);
  assert.deepEqual(
    passages.map(({ from, to }) => [from.page, to.page]),
    passages.map((passage) => {
      const own = passage.text.trimEnd().split("\n");
      return [pageOf(own[0]), pageOf(own.at(-1))];
    }),
  );
});

test("a passage that begins with a page is cited with that page, and the one before it ends on the page before [D2][D3]", () => {
  const text = Array.from({ length: 90 }, (_, index) => `line ${index} of a program on two pages`).join("\n");
  const code: Block = { kind: "code", text, from: { page: 4 }, to: { page: 5 } };
  const second = passagesOf([code])[1]?.text ?? "";
  const passages = passagesOf([{ ...code, pageStarts: [{ at: text.indexOf(second), place: { page: 5 } }] }]);
  assert.ok(passages.length > 2 && second.startsWith("line "));
  assert.deepEqual(
    passages.map(({ from, to }) => [from.page, to.page]),
    passages.map((_, index) => (index === 0 ? [4, 4] : [5, 5])),
  );
});

test("each part of a long text says on which lines it stands, where the text has just these [D2][D3]", () => {
  const lines = Array.from({ length: 80 }, (_, index) => `${index + 11}: a line of a text without any blank one.`);
  const text = lines.join("\n");
  const passages = passagesOf([{ kind: "paragraph", text, from: { line: 11 }, to: { line: 90 } }]);
  assert.ok(passages.length > 2);
  const numberOf = (line: string | undefined) => Number.parseInt(line ?? "", 10);
  assert.deepEqual(
    passages.map(({ from, to }) => [from.line, to.line]),
    passages.map((passage) => {
      const own = passage.text.trimEnd().split("\n");
      return [numberOf(own[0]), numberOf(own.at(-1))];
    }),
  );
  // A reader that joins lines has other ones: then the whole is named.
  const [first] = passagesOf([{ kind: "paragraph", text, from: { line: 11 }, to: { line: 95 } }]);
  assert.deepEqual([first?.from, first?.to], [{ line: 11 }, { line: 95 }]);
});

test("contents are passages of their own, and no text belongs to them [D2]", () => {
  const contents: Block = { kind: "contents", text: "1 Tools ..... 3", from: { page: 1 } };
  const passages = passagesOf([paragraph("before", 1), contents, paragraph("behind", 2)]);
  assert.deepEqual(
    passages.map(({ kind, text }) => [kind, text]),
    [
      ["body", "before"],
      ["contents", "1 Tools ..... 3"],
      ["body", "behind"],
    ],
  );
});

test("each part of a long table has its head and says which rows it holds [D2]", () => {
  const rows = Array.from({ length: 120 }, (_, row) => `name ${row}\tvalue ${row}`);
  const table: Block = {
    kind: "table",
    text: ["Name\tValue", ...rows].join("\n"),
    headRows: 1,
    from: { sheet: "Stock", row: 1 },
    to: { sheet: "Stock", row: 121 },
  };
  const passages = passagesOf([table]);
  assert.ok(passages.length >= 3);
  assert.ok(passages.every(({ text }) => text.startsWith("Name\tValue\nname ")));
  assert.deepEqual(
    passages.flatMap(({ text }) => text.split("\n").slice(1)),
    rows,
  );
  assert.deepEqual(passages[0]?.from, { sheet: "Stock", row: 1 });
  for (const [index, { from, to, text }] of passages.entries()) {
    const count = text.split("\n").length - 1;
    assert.equal((to.row ?? 0) - (from.row ?? 0) + (index === 0 ? 0 : 1), count);
  }
});

test("a head that is longer than half a passage is not repeated: a wide table grows by little [D2]", () => {
  const row = (first: number) => Array.from({ length: 3_000 }, (_, column) => `${first}_${column}`).join("\t");
  const rows = Array.from({ length: 20 }, (_, index) => row(index));
  const table: Block = { kind: "table", text: rows.join("\n"), headRows: 1, from: { row: 1 }, to: { row: 20 } };
  const passages = passagesOf([table]);
  const characters = passages.reduce((sum, { text }) => sum + text.length, 0);
  assert.ok(characters < table.text.length * 1.01, `${table.text.length} characters became ${characters}`);
  const bare = (text: string) => text.replaceAll("\n", "");
  assert.equal(bare(passages.map(({ text }) => text).join("")), bare(table.text));
  assert.ok(passages.every(({ text }) => unitsOf(text) <= 1_200 + 2));

  const short = passagesOf([{ ...table, text: ["Name\tValue".padEnd(600, "."), ...rows.slice(1)].join("\n") }]);
  assert.ok(short.every(({ text }) => text.startsWith("Name\tValue....")));
});

test("the parts of a table are made when they are asked for, not all at once [D2]", () => {
  const rows = Array.from({ length: 1_000 }, (_, row) => `name ${row}`);
  const maker = openPassageMaker();
  const [first] = maker.add({ kind: "table", text: ["Name", ...rows].join("\n"), headRows: 1, from: {} });
  assert.match(first?.text ?? "", /^Name\nname 0\n/);
  assert.deepEqual(maker.end(), []);
});

test("nothing is lost or doubled by cutting, and no passage is much larger than it should be [D2]", () => {
  const words = fc.string({ unit: fc.constantFrom(..."abc 。.\n软件包𠮷"), maxLength: 4_000 });
  const kinds = fc.constantFrom<Block["kind"][]>("heading", "paragraph", "list", "code", "note");
  const blocks = fc.array(fc.record({ kind: kinds, text: words, level: fc.integer({ min: 1, max: 4 }) }), {
    maxLength: 12,
  });
  const bare = (texts: readonly string[]) => texts.join("").replaceAll(/\s/g, "");
  fc.assert(
    fc.property(blocks, (drawn) => {
      const given: Block[] = drawn.map((block, index) => ({ ...block, from: { page: index + 1 } }));
      const passages = passagesOf(given);
      assert.equal(bare(passages.map(({ text }) => text)), bare(given.map(({ text }) => text)));
      const longest = Math.max(0, ...given.filter(({ kind }) => kind === "heading").map(({ text }) => unitsOf(text)));
      for (const { text } of passages) assert.ok(unitsOf(text) <= 1_200 + 4 * longest + 20);
    }),
    { numRuns: 60 },
  );
});

test("a text without any space or end of a sentence is cut between whole characters [D2]", () => {
  const passages = passagesOf([paragraph("𠮷".repeat(3_000), 1)]);
  assert.ok(passages.length > 1);
  assert.ok(passages.every(({ text }) => /^𠮷+$/u.test(text)));
  assert.deepEqual(
    passages.map(({ runsOn }) => runsOn),
    [...passages.slice(1).map(() => true), false],
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Extracted } from "../extracted.ts";
import { charactersMax, lineCharactersMax } from "../limits.ts";
import type { Reader } from "../reading.ts";
import { readCsv } from "./csv.ts";
import { readMarkdown } from "./markdown.ts";
import { readText } from "./text.ts";

async function read(reader: Reader, text: string | Uint8Array): Promise<Extracted> {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const found = await reader({ name: "a", bytes }, { onProgress() {} });
  assert(found.ok);
  return found.value;
}

test("Markdown: front matter, headings of both kinds, fences, lists and tables, at their lines [D1]", async () => {
  const { blocks, receipt } = await read(
    readMarkdown,
    "---\ntitle: 'The title'\n---\n# One ##\n\ntext **bold**\nmore\n\nTwo\n---\n\n```sh\n# no heading\n\nmake\n```\n- a\n  b\n\n- c\n\nend ![x](y)\n\n| k | v \\| w |\n|---|---|\n| 1 | 2 |\n\n    indented\n",
  );
  assert.deepEqual(blocks, [
    { kind: "heading", text: "One", level: 1, from: { line: 4 } },
    { kind: "paragraph", text: "text **bold**\nmore", from: { line: 6 }, to: { line: 7 } },
    { kind: "heading", text: "Two", level: 2, from: { line: 9 } },
    { kind: "code", text: "# no heading\n\nmake", from: { line: 13 }, to: { line: 15 } },
    { kind: "list", text: "- a\n  b\n\n- c", from: { line: 17 }, to: { line: 20 } },
    { kind: "paragraph", text: "end ![x](y)", from: { line: 22 } },
    { kind: "table", text: "k\tv | w\n1\t2", headRows: 1, from: { line: 24 }, to: { line: 26 } },
    { kind: "code", text: "    indented", from: { line: 28 } },
  ]);
  assert.deepEqual([receipt.title, receipt.images, receipt.tables], ["The title", 1, 1]);
});

test("a line of a million blanks or marks does not keep the reader of Markdown [D1]", async () => {
  const { blocks } = await read(
    readMarkdown,
    `# ${" ".repeat(900_000)}x\n${"#".repeat(900_000)}\n| ${"|".repeat(200_000)}`,
  );
  assert.deepEqual([blocks[0]?.kind, blocks[0]?.text], ["heading", "x"]);
});

test("tables in text: the delimiter is found, quotes hold line ends, and formulas are text [D1]", async () => {
  const { blocks, receipt } = await read(readCsv, 'name;sum\n"a ""b""\nc";1,5\n=1+1;"x;y"\n\nlast\n');
  assert.deepEqual(blocks, [
    {
      kind: "table",
      text: 'name\tsum\na "b" c\t1,5\n=1+1\tx;y\nlast',
      headRows: 1,
      from: { line: 1, row: 1 },
      to: { line: 6, row: 4 },
    },
  ]);
  assert.deepEqual([receipt.tables, receipt.losses], [1, []]);
  const tabs = await read(readCsv, "1\t2\n3\t4");
  assert.deepEqual([tabs.blocks[0]?.text, tabs.blocks[0]?.headRows], ["1\t2\n3\t4", 0]);
});

test("cells with many quotes and line ends are counted once, not in the square of their number [D1]", async () => {
  const { blocks } = await read(readCsv, `a,b\n"${'x""\n'.repeat(100_000)}",1\nlast,2\n`);
  assert.deepEqual(blocks[0]?.to, { line: 100_003, row: 3 });
});

test("one quote that nobody closes does not swallow the rest of a table [D1]", async () => {
  const { blocks, receipt } = await read(readCsv, 'a,b\n"open,1\n2,3\n');
  assert.equal(blocks[0]?.text, 'a\tb\n"open\t1\n2\t3');
  assert.deepEqual(receipt.losses, [{ kind: "open_quotes", count: 1, places: [{ line: 2 }] }]);
});

test("texts are paragraphs as they stand, in whatever encoding [D1] [F1]", async () => {
  const plain = await read(readText, "One\r\n  two\r\n\r\nthree");
  assert.deepEqual(plain.blocks, [
    { kind: "paragraph", text: "One\n  two", from: { line: 1 }, to: { line: 2 } },
    { kind: "paragraph", text: "three", from: { line: 4 } },
  ]);
  const wide = await read(readText, Buffer.from("十六位的文字，没有标记。\n第二行。\n", "utf16le"));
  assert.deepEqual([wide.blocks[0]?.text, wide.receipt.encoding], ["十六位的文字，没有标记。\n第二行。", "utf-16le"]);
  const gbk = await read(readText, Buffer.from("d6d0cec4b5c4cec4b5b5a3acbfc9d2d4b1bbd5fdc8b7b5d8b6c1c8a1a1a3", "hex"));
  assert.deepEqual([gbk.blocks[0]?.text, gbk.receipt.encoding], ["中文的文档，可以被正确地读取。", "gb18030"]);
});

test("a line of more than a million characters is divided, and a text of more than twenty is cut: both are told [D1]", async () => {
  const long = await read(readText, "x".repeat(lineCharactersMax + 1));
  assert.deepEqual(
    long.blocks.map(({ text }) => text.length),
    [lineCharactersMax, 1],
  );
  assert.deepEqual(long.receipt.losses, [{ kind: "long_lines", count: 1, places: [{ line: 1 }] }]);
  const cut = await read(readText, `${"y".repeat(999)}\n`.repeat(charactersMax / 1_000 + 1));
  assert.deepEqual(cut.receipt.stopped, { limit: "characters", at: { line: charactersMax / 1_000 + 1 } });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Parts, type Relations, type SheetPart, xlsx } from "../../../test/world/packed-files.ts";
import type { Extracted } from "../extracted.ts";
import { readXlsx } from "./xlsx.ts";
import { numberText } from "./xlsx-formats.ts";

type More = { parts?: Parts; links?: Relations; book?: string };

async function read(sheets: readonly SheetPart[], more: More = {}): Promise<Extracted> {
  const found = await readXlsx({ name: "a.xlsx", bytes: xlsx(sheets, more) }, { onProgress() {} });
  assert(found.ok);
  return found.value;
}

const strings: More = {
  parts: {
    "xl/sharedStrings.xml":
      "<sst><si><t>Name</t></si><si><r><t>Rich </t></r><r><t>text</t></r><rPh><t>spoken</t></rPh></si></sst>",
  },
  links: { t: ["sharedStrings", "sharedStrings.xml"] },
};
const tables = ({ blocks }: Extracted) => blocks.filter(({ kind }) => kind === "table");

test("cells of every type are read, texts joined without how they are spoken [D1]", async () => {
  const rows =
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>' +
    '<row r="2"><c r="A2" t="inlineStr"><is><t>inline</t></is></c><c r="B2"><v>9007199254740993</v></c><c r="C2" t="b"><v>1</v></c></row>' +
    '<row r="3"><c r="A3" t="str"><f>A1</f><v>cached</v></c><c r="B3"><v>0.30000000000000004</v></c><c r="C3" t="e"><v>#DIV/0!</v></c></row>' +
    '<row r="4"><c r="A4"><f>NOW()</f></c><c r="B4" t="s"><v>7</v></c><c r="C4" t="s"><v>0</v></c></row>';
  const found = await read([{ name: "All", rows }], strings);
  assert.deepEqual(found.blocks, [
    { kind: "heading", text: "All", level: 1, from: { sheet: "All" } },
    {
      kind: "table",
      text: "Name\tRich text\ninline\t9007199254740993\tTRUE\ncached\t0.3\t#DIV/0!\n\t\tName",
      headRows: 1,
      from: { sheet: "All", row: 1 },
      to: { sheet: "All", row: 4 },
    },
  ]);
  assert.deepEqual(found.receipt.losses, [
    { kind: "formulas_without_value", count: 1, places: [{ sheet: "All", row: 4 }] },
    { kind: "texts_missing", count: 1, places: [{ sheet: "All", row: 4 }] },
  ]);
  assert.deepEqual(found.receipt.parts, { kind: "sheet", count: 1 });
});

test("one far cell makes neither rows nor columns, and rows apart are tables of their own [D1]", async () => {
  const rows =
    '<row r="2"><c r="A2"><v>1</v></c><c r="Z2"><v>2</v></c></row><row r="99999"><c r="XFD99999"><v>3</v></c></row>';
  assert.deepEqual(tables(await read([{ name: "Far", rows }])), [
    { kind: "table", text: "1\t2", headRows: 0, from: { sheet: "Far", row: 2 } },
    { kind: "table", text: "3", headRows: 0, from: { sheet: "Far", row: 99_999 } },
  ]);
});

test("the order and names of sheets are the workbook's, and hidden ones are read and told [D1]", async () => {
  const row = (text: string) => `<row><c t="inlineStr"><is><t>${text}</t></is></c></row>`;
  const found = await read([
    { name: "Second part", rows: row("a"), part: "worksheets/sheet2.xml" },
    { name: "First &amp; last", rows: row("b"), part: "worksheets/sheet1.xml", state: "veryHidden" },
  ]);
  assert.deepEqual(
    found.blocks.map(({ text }) => text),
    ["Second part", "a", "First & last", "b"],
  );
  assert.deepEqual(found.receipt.losses, [{ kind: "hidden_sheets", count: 1, places: [{ sheet: "First & last" }] }]);
});

test("dates, times, durations and percentages are what their style says, from 1900 and from 1904 [D1]", async () => {
  const styles =
    '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="0.00%"/><numFmt numFmtId="166" formatCode="[h]:mm"/><numFmt numFmtId="167" formatCode="[Red]0.0 &quot;days&quot;"/></numFmts>' +
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="167"/></cellXfs></styleSheet>';
  const cells = [1, 2, 3, 4, 5].map(
    (style, index) => `<c s="${style}"><v>${[45_352, 45_352.5, 0.256, 1.5, 2.5][index]}</v></c>`,
  );
  const more = { parts: { "xl/styles.xml": styles }, links: { s: ["styles", "styles.xml"] } } as const;
  const sheet = { name: "D", rows: `<row>${cells.join("")}</row>` };
  const text = async (book: string) => tables(await read([sheet], { ...more, book }))[0]?.text;
  assert.equal(await text(""), "2024-03-01\t2024-03-01 12:00:00\t25.6%\t36:00:00\t2.5");
  assert.equal(await text('<workbookPr date1904="1"/>'), "2028-03-02\t2028-03-02 12:00:00\t25.6%\t36:00:00\t2.5");
});

test("cells in Excel's own formats for dates, times, both and percentages are read as what is shown [D1]", async () => {
  const shown = new Map<number, readonly [written: string, text: string]>([
    ...[14, 15, 16, 17, 27, 36, 50, 58].map((id) => [id, ["45292", "2024-01-01"]] as const),
    ...[18, 19, 20, 21, 45, 47].map((id) => [id, ["0.75", "18:00:00"]] as const),
    [22, ["45292.75", "2024-01-01 18:00:00"]],
    [46, ["1.5", "36:00:00"]],
    ...[9, 10].map((id) => [id, ["0.256", "25.6%"]] as const),
    ...[1, 2, 13, 23, 37, 44, 48, 49, 59].map((id) => [id, ["45292.75", "45292.75"]] as const),
  ]);
  const styles = [...shown.keys()].map((id) => `<xf numFmtId="${id}"/>`);
  const rows = [...shown.values()].map(([written], style) => `<row><c s="${style}"><v>${written}</v></c></row>`);
  const found = await read([{ name: "F", rows: rows.join("") }], {
    parts: { "xl/styles.xml": `<styleSheet><cellXfs>${styles.join("")}</cellXfs></styleSheet>` },
    links: { s: ["styles", "styles.xml"] },
  });
  const texts = tables(found).flatMap(({ text }) => text.split("\n"));
  const ids = [...shown.keys()];
  assert.deepEqual(
    texts.map((text, index) => [ids[index], text]),
    [...shown].map(([id, [, text]]) => [id, text]),
  );
});

test("the days around the one that 1900 never had are right [D1]", () => {
  const days = ["1", "59", "60", "61"].map((day) => numberText(day, "date", false));
  assert.deepEqual(days, ["1900-01-01", "1900-02-28", "1900-02-29", "1900-03-01"]);
  assert.deepEqual(numberText("0.75", "time", false), "18:00:00");
  assert.deepEqual(numberText("-5", "date", false), "-5");
});

test("what is noted at cells is a note of its row, and joined cells have their value once [D1]", async () => {
  const rows = '<row r="3"><c r="A3" t="inlineStr"><is><t>over two</t></is></c><c r="B3"/></row>';
  const parts: Parts = {
    "xl/worksheets/_rels/sheet1.xml.rels":
      '<Relationships><Relationship Id="c" Type="x/comments" Target="../comments1.xml"/></Relationships>',
    "xl/comments1.xml":
      '<comments><commentList><comment ref="A3"><text><r><t>Checked</t></r></text></comment></commentList></comments>',
  };
  assert.deepEqual((await read([{ name: "N", rows }], { parts })).blocks.slice(1), [
    { kind: "table", text: "over two", headRows: 0, from: { sheet: "N", row: 3 } },
    { kind: "note", text: "Checked", from: { sheet: "N", row: 3 } },
  ]);
});

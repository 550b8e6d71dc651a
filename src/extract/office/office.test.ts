import assert from "node:assert/strict";
import { test } from "node:test";
import {
  docx,
  type Parts,
  pptx,
  type Relations,
  relations,
  type SheetPart,
  xlsx,
} from "../../../test/world/packed-files.ts";
import type { Block, Extracted } from "../extracted.ts";
import { readDocx } from "./docx.ts";
import { readPptx } from "./pptx.ts";
import { readXlsx } from "./xlsx.ts";
import { numberText } from "./xlsx-formats.ts";

async function read(body: string, more: { parts?: Parts; links?: Relations } = {}): Promise<Extracted> {
  const found = await readDocx({ name: "a.docx", bytes: docx(body, more) }, { onProgress() {} });
  assert(found.ok);
  return found.value;
}

const p = (text: string, properties = "") =>
  `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
const cell = (inner: string) => `<w:tc>${inner}</w:tc>`;
const shown = (blocks: readonly Block[]) => blocks.map(({ kind, text }) => [kind, text]);

test("a body is read in its order, tables among paragraphs, with the numbers of paragraphs [D1]", async () => {
  const table = `<w:tbl><w:tblPr><w:tblLook w:firstRow="1"/></w:tblPr><w:tr>${cell(p("Name"))}${cell(p("Size"))}</w:tr><w:tr>${cell(p("one") + p("two"))}${cell("<w:p/>")}</w:tr></w:tbl>`;
  const { blocks, receipt } = await read(`${p("Before")}${table}${p("After &amp; more")}`);
  assert.deepEqual(blocks, [
    { kind: "paragraph", text: "Before", from: { paragraph: 1 } },
    { kind: "table", text: "Name\tSize\none two\t", headRows: 1, from: { paragraph: 1 } },
    { kind: "paragraph", text: "After & more", from: { paragraph: 2 } },
  ]);
  assert.deepEqual(receipt, { characters: 36, tables: 1, images: 0, losses: [] });
});

test("notes, comments, headers, text boxes and content controls are read too [D1]", async () => {
  const note = (tag: string, id: number, text: string, more = "") =>
    `<w:${tag} w:id="${id}"${more}>${p(text)}</w:${tag}>`;
  const links: Relations = {
    n1: ["footnotes", "footnotes.xml"],
    n2: ["endnotes", "endnotes.xml"],
    n3: ["comments", "comments.xml"],
    n4: ["header", "header1.xml"],
    n5: ["footer", "header1.xml"],
  };
  const parts: Parts = {
    "word/footnotes.xml": `<w:footnotes>${note("footnote", 0, "line", ' w:type="separator"')}${note("footnote", 2, "See below.")}</w:footnotes>`,
    "word/endnotes.xml": `<w:endnotes>${note("endnote", 2, "At the end.")}</w:endnotes>`,
    "word/comments.xml": `<w:comments>${note("comment", 5, "Is this so?")}</w:comments>`,
    "word/header1.xml": `<w:hdr>${p("Company papers")}</w:hdr>`,
  };
  const marked =
    '<w:p><w:r><w:t>Claim</w:t></w:r><w:r><w:footnoteReference w:id="2"/><w:endnoteReference w:id="2"/><w:commentReference w:id="5"/></w:r></w:p>';
  const box = `<w:p><w:r><w:txbxContent>${p("In a box")}</w:txbxContent><w:t>Around it</w:t></w:r></w:p>`;
  const control = `<w:sdt><w:sdtContent>${p("In a control")}</w:sdtContent></w:sdt>`;
  const { blocks } = await read(marked + box + control, { parts, links });
  assert.deepEqual(shown(blocks), [
    ["paragraph", "Claim"],
    ["note", "See below."],
    ["note", "At the end."],
    ["note", "Is this so?"],
    ["paragraph", "In a box"],
    ["paragraph", "Around it"],
    ["paragraph", "In a control"],
    ["note", "Company papers"],
  ]);
});

test("what was deleted is not read, what was inserted is, and the receipt counts deletions [D1]", async () => {
  const changed =
    '<w:p><w:r><w:t xml:space="preserve">We </w:t></w:r><w:del><w:r><w:delText>hate</w:delText></w:r></w:del><w:ins><w:r><w:t>like</w:t></w:r></w:ins><w:moveFrom><w:r><w:t> moved</w:t></w:r></w:moveFrom><w:r><w:t xml:space="preserve"> it</w:t></w:r></w:p>';
  const { blocks, receipt } = await read(changed);
  assert.deepEqual(shown(blocks), [["paragraph", "We like it"]]);
  assert.deepEqual(receipt.losses, [
    { kind: "tracked_deletions", count: 2, places: [{ paragraph: 1 }, { paragraph: 1 }] },
  ]);
});

test("the level of a heading follows its style in any language, and circles of styles end [D1]", async () => {
  const style = (id: string, name: string, inner = "") =>
    `<w:style w:styleId="${id}"><w:name w:val="${name}"/>${inner}</w:style>`;
  const styles = [
    style("1", "heading 1"),
    style("标题2", "标题 2", '<w:pPr><w:outlineLvl w:val="1"/></w:pPr>'),
    style("mine", "Mine", '<w:basedOn w:val="标题2"/>'),
    style("a", "A", '<w:basedOn w:val="b"/>'),
    style("b", "B", '<w:basedOn w:val="a"/>'),
    style("toc1", "toc 1"),
  ];
  const parts: Parts = { "word/styles.xml": `<w:styles>${styles.join("")}</w:styles>` };
  const of = (id: string, text: string) => p(text, `<w:pStyle w:val="${id}"/>`);
  const body = [
    of("toc1", "One 1") + of("toc1", "Two 2") + of("1", "One") + of("标题2", "二") + of("mine", "Two"),
    of("a", "Body") + p("Three", '<w:outlineLvl w:val="2"/>') + p("item", "<w:numPr/>") + p("item 2", "<w:numPr/>"),
  ];
  const { blocks } = await read(body.join(""), { parts, links: { s: ["styles", "styles.xml"] } });
  assert.deepEqual(
    blocks.map(({ kind, text, level }) => [kind, text, level]),
    [
      ["contents", "One 1\nTwo 2", undefined],
      ["heading", "One", 1],
      ["heading", "二", 2],
      ["heading", "Two", 2],
      ["paragraph", "Body", undefined],
      ["heading", "Three", 3],
      ["list", "- item\n- item 2", undefined],
    ],
  );
});

test("cells over several columns and tables in cells keep the columns in place [D1]", async () => {
  const inner = `<w:tbl><w:tr>${cell(p("x"))}${cell(p("y"))}</w:tr></w:tbl>`;
  const wide = `<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>${p("wide")}</w:tc>`;
  const { blocks } = await read(
    `<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>${wide}${cell(p("c"))}</w:tr><w:tr>${cell(p("1"))}${cell(inner)}${cell(p("3"))}</w:tr></w:tbl>`,
  );
  assert.deepEqual(blocks, [{ kind: "table", text: "wide\t\tc\n1\tx y\t3", headRows: 1, from: { paragraph: 1 } }]);
});

test("other prefixes than the usual ones are read as well, and remote parts are left alone [D1]", async () => {
  const body = '<q:p xmlns:q="w"><q:r><q:t>Other prefix</q:t></q:r></q:p>';
  const links: Relations = { t: ["attachedTemplate", "https://example.com/a.dotx"] };
  assert.deepEqual(shown((await read(body, { links })).blocks), [["paragraph", "Other prefix"]]);
});

const words = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`;
const shape = (text: string, place = "") =>
  `<p:sp><p:nvSpPr><p:nvPr>${place === "" ? "" : `<p:ph type="${place}"/>`}</p:nvPr></p:nvSpPr><p:txBody>${words(text)}</p:txBody></p:sp>`;

test("slides come in the order in which they are shown, with notes, tables, diagrams and charts [D1]", async () => {
  const table = `<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody>${words("Year")}</a:txBody></a:tc><a:tc><a:txBody>${words("Sum")}</a:txBody></a:tc></a:tr><a:tr><a:tc><a:txBody>${words("2024")}</a:txBody></a:tc><a:tc><a:txBody>${words("5")}</a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>`;
  const bytes = pptx(
    [
      [2, `${shape("Plan", "title")}${shape("First point")}${shape("7", "sldNum")}${table}<p:pic/>`],
      [1, `${shape("Body first")}${shape("Then the title", "ctrTitle")}`],
    ],
    {
      hidden: [1],
      parts: {
        "ppt/slides/_rels/slide2.xml.rels": relations({
          n: ["notesSlide", "../notesSlides/notesSlide1.xml"],
          d: ["diagramData", "../diagrams/data1.xml"],
          c: ["chart", "../charts/chart1.xml"],
          l: ["slideLayout", "../slideLayouts/layout1.xml"],
        }),
        "ppt/notesSlides/notesSlide1.xml": `<p:notes>${shape("", "sldImg")}${shape("Say hello", "body")}${shape("2", "sldNum")}</p:notes>`,
        "ppt/diagrams/data1.xml": `<dgm:dataModel>${words("Step one")}</dgm:dataModel>`,
        "ppt/charts/chart1.xml": "<c:chart><c:v>North</c:v><c:v>12</c:v></c:chart>",
        "ppt/slideLayouts/layout1.xml": shape("Click to add a title", "title"),
      },
    },
  );
  const found = await readPptx({ name: "a.pptx", bytes }, { onProgress() {} });
  assert(found.ok);
  assert.deepEqual(found.value.blocks, [
    { kind: "heading", text: "Plan", level: 1, from: { slide: 1 } },
    { kind: "paragraph", text: "First point", from: { slide: 1 } },
    { kind: "table", text: "Year\tSum\n2024\t5", headRows: 1, from: { slide: 1 } },
    { kind: "paragraph", text: "Step one", from: { slide: 1 } },
    { kind: "paragraph", text: "North\n12", from: { slide: 1 } },
    { kind: "note", text: "Say hello", from: { slide: 1 } },
    { kind: "heading", text: "Then the title", level: 1, from: { slide: 2 } },
    { kind: "paragraph", text: "Body first", from: { slide: 2 } },
  ]);
  assert.deepEqual(found.value.receipt, {
    ...{ parts: { kind: "slide", count: 2 }, characters: 79, tables: 1, images: 1 },
    losses: [{ kind: "hidden_slides", count: 1, places: [{ slide: 2 }] }],
  });
});

type More = { parts?: Parts; links?: Relations; book?: string };

async function readWorkbook(sheets: readonly SheetPart[], more: More = {}): Promise<Extracted> {
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
  const found = await readWorkbook([{ name: "All", rows }], strings);
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
  assert.deepEqual(tables(await readWorkbook([{ name: "Far", rows }])), [
    { kind: "table", text: "1\t2", headRows: 0, from: { sheet: "Far", row: 2 } },
    { kind: "table", text: "3", headRows: 0, from: { sheet: "Far", row: 99_999 } },
  ]);
});

test("the order and names of sheets are the workbook's, and hidden ones are read and told [D1]", async () => {
  const row = (text: string) => `<row><c t="inlineStr"><is><t>${text}</t></is></c></row>`;
  const found = await readWorkbook([
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
  const text = async (book: string) => tables(await readWorkbook([sheet], { ...more, book }))[0]?.text;
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
  const found = await readWorkbook([{ name: "F", rows: rows.join("") }], {
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
  assert.deepEqual((await readWorkbook([{ name: "N", rows }], { parts })).blocks.slice(1), [
    { kind: "table", text: "over two", headRows: 0, from: { sheet: "N", row: 3 } },
    { kind: "note", text: "Checked", from: { sheet: "N", row: 3 } },
  ]);
});

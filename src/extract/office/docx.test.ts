import assert from "node:assert/strict";
import { test } from "node:test";
import { docx, type Parts, type Relations } from "../../../test/world/packed-files.ts";
import type { Block, Extracted } from "../extracted.ts";
import { readDocx } from "./docx.ts";

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

test("a note that is referred to again and again is read once [D1]", async () => {
  const links: Relations = { n1: ["footnotes", "footnotes.xml"] };
  const parts: Parts = {
    "word/footnotes.xml": `<w:footnotes><w:footnote w:id="2">${p("See below.")}</w:footnote></w:footnotes>`,
  };
  const marked = `<w:p><w:r><w:t>Claim</w:t></w:r>${'<w:r><w:footnoteReference w:id="2"/></w:r>'.repeat(1_000)}</w:p>`;
  const { blocks } = await read(`${marked}<w:tbl><w:tr><w:tc>${marked}</w:tc></w:tr></w:tbl>`, { parts, links });
  assert.deepEqual(shown(blocks), [
    ["paragraph", "Claim"],
    ["note", "See below."],
    ["table", "Claim"],
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

test("tabs, line ends and hyphens that are elements become characters, and alternatives are read once [D1]", async () => {
  const run =
    "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:cr/><w:t>d</w:t><w:noBreakHyphen/><w:t>e</w:t><w:softHyphen/><w:t>f</w:t></w:r>";
  const twice =
    "<mc:AlternateContent><mc:Choice><w:r><w:t> once</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t> twice</w:t></w:r></mc:Fallback></mc:AlternateContent>";
  const field = "<w:r><w:instrText> PAGE </w:instrText></w:r>";
  const ruby =
    "<w:r><w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby></w:r>";
  const { blocks } = await read(`<w:p>${run}${twice}${field}${ruby}</w:p>`);
  assert.deepEqual(shown(blocks), [["paragraph", "a\tb\nc\nd-ef once漢"]]);
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

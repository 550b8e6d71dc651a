import assert from "node:assert/strict";
import { before, test } from "node:test";
import { type PdfOptions, type PdfPage, type Printed, paragraph, pdf, printed } from "../../../test/world/pdf-files.ts";
import type { Extracted } from "../extracted.ts";
import type { Reader } from "../reading.ts";
import { pdfReader } from "./pdf.ts";
import { loadPdfium, type Pdfium } from "./pdfium.ts";

let pdfium: Pdfium;
let reader: Reader;
before(async () => {
  pdfium = await loadPdfium();
  reader = pdfReader(pdfium);
});

async function read(pages: readonly (readonly Printed[] | PdfPage)[], options: PdfOptions = {}): Promise<Extracted> {
  const made = pages.map((page) => ("content" in page ? page : { content: printed(page) }));
  const found = await reader({ name: "a.pdf", bytes: pdf(made, options) }, { onProgress() {} });
  assert(found.ok);
  return found.value;
}

const shown = ({ blocks }: Extracted) => blocks.map(({ kind, text, level }) => [kind, text, level ?? 0]);
const long = [
  "The first line of this paragraph goes to the very end of its column and",
  "the second goes on where the first one ended, as lines of text do, and",
  "ends.",
];

test("lines become paragraphs again, words that were broken are whole, programs keep their lines [D1]", async () => {
  const found = await read([
    [
      ...paragraph(780, [
        "A second paragraph that reaches to the right edge of this page has a bro-",
        "ken word in it.",
      ]),
      ...paragraph(700, long),
      ...paragraph(640, ["make install", "  # with care"], "F3"),
      ...paragraph(600, ["- one item", "- another item"]),
    ],
  ]);
  const [first, second, code, list] = found.blocks;
  assert.match(first?.text ?? "", /has a bro-?\s?ken word in it\.$/);
  assert.deepEqual(second, { kind: "paragraph", text: long.join(" "), from: { page: 1 } });
  assert.deepEqual([code?.kind, code?.text.split("\n")[0]], ["code", "make install"]);
  assert.deepEqual([list?.kind, list?.text], ["list", "- one item\n- another item"]);
});

test("a paragraph that goes on over the end of a page is one, from its first page to its last [D1]", async () => {
  const found = await read([
    paragraph(100, long.slice(0, 2)),
    paragraph(780, ["ends on the next page.", "Then something else is said."]),
  ]);
  assert.deepEqual(found.blocks[0]?.from, { page: 1 });
  assert.deepEqual(found.blocks[0]?.to, { page: 2 });
  assert.match(found.blocks[0]?.text ?? "", /^The first line .* as lines of text do, and ends on the next page\./);
});

test("what runs over pages knows where each of them begins in it, programs and lists too [D1]", async () => {
  const found = await read([
    paragraph(100, ["first line", "second line"], "F3"),
    paragraph(780, ["third line", "fourth line"], "F3"),
    [...paragraph(780, ["fifth line"], "F3"), ...paragraph(100, ["- an item", "- another item"])],
    paragraph(780, ["- the last item"]),
  ]);
  assert.deepEqual(
    found.blocks.map(({ kind, from, to, pageStarts, text }) => [
      ...[kind, from.page, to?.page],
      pageStarts?.map(({ at, place }) => [place.page, text.slice(at, at + 10)]),
    ]),
    [
      [
        ...["code", 1, 3],
        [
          [2, "third line"],
          [3, "fifth line"],
        ],
      ],
      ["list", 3, 4, [[4, "- the last"]]],
    ],
  );
});

const outline = (
  titles: readonly string[],
  next = (index: number) => (index + 1 < titles.length ? `/Next ${101 + index + 1} 0 R` : ""),
): PdfOptions => ({
  catalogue: "/Outlines 100 0 R",
  objects: {
    100: `<< /Type /Outlines /First 101 0 R /Last ${100 + titles.length} 0 R /Count ${titles.length} >>`,
    ...Object.fromEntries(
      titles.map((title, index) => [
        101 + index,
        `<< /Title (${title}) /Parent 100 0 R ${next(index)} /Dest [${10 + index * 2} 0 R /XYZ 0 800 0] >>`,
      ]),
    ),
  },
});

test("bookmarks are headings at their line, in the words of the page, over two lines too [D1]", async () => {
  const page = (lines: readonly Printed[]) => [...lines, ...paragraph(600, ["Text of this part."])];
  const found = await read(
    [
      page([
        { text: "Chapter 1", at: [72, 780], size: 20 },
        { text: "How to Begin", at: [72, 750], size: 20 },
      ]),
      page([
        { text: "2. A title that is", at: [72, 780], size: 14 },
        { text: "longer than a line", at: [72, 764], size: 14 },
      ]),
      page([]),
    ],
    outline(["How to begin", "A title that is longer than a line", "Not printed"]),
  );
  assert.deepEqual(shown(found), [
    ["heading", "Chapter 1 How to Begin", 1],
    ["paragraph", "Text of this part.", 0],
    ["heading", "2. A title that is longer than a line", 1],
    ["paragraph", "Text of this part.", 0],
    ["heading", "Not printed", 1],
    ["paragraph", "Text of this part.", 0],
  ]);
});

test("bookmarks that lead in a circle come to an end [D1]", async () => {
  const found = await read(
    [paragraph(700, ["One"]), paragraph(700, ["Two"])],
    outline(["One", "Two"], (index) => `/Next ${101 + ((index + 1) % 2)} 0 R`),
  );
  assert.deepEqual(shown(found), [
    ["heading", "One", 1],
    ["heading", "Two", 1],
  ]);
});

test("without bookmarks, what is printed larger or bold with a number is a heading [D1]", async () => {
  const found = await read([
    [
      { text: "The Whole Thing", at: [72, 780], size: 24 },
      ...paragraph(740, long),
      { text: "1.2 Numbered", at: [72, 690], font: "F2", size: 10 },
      ...paragraph(660, long),
    ],
  ]);
  assert.deepEqual(
    shown(found).filter(([kind]) => kind === "heading"),
    [
      ["heading", "The Whole Thing", 1],
      ["heading", "1.2 Numbered", 2],
    ],
  );
});

test("running heads and page numbers are left out, and counted; titles of chapters are not taken for them [D1]", async () => {
  const found = await read(
    [1, 2, 3, 4].map((page) => [
      { text: "The Manual", at: [72, 810] },
      ...paragraph(700, [`Page ${page} says its own.`]),
      { text: String(page), at: [300, 30] },
    ]),
  );
  assert.deepEqual(
    found.blocks.map(({ text }) => text),
    [1, 2, 3, 4].map((page) => `Page ${page} says its own.`),
  );
  assert.deepEqual(
    found.receipt.losses.map(({ kind, count }) => [kind, count]),
    [["running_heads", 4]],
  );
});

test("a table of contents is told from the text that it lists [D1]", async () => {
  const entries = ["One", "Two", "Three", "Four"].map((name, index) => `${name} . . . . . . . . . . . . ${index + 3}`);
  const found = await read([[...paragraph(780, entries)], paragraph(700, ["One is text."])]);
  assert.deepEqual(found.blocks, [
    { kind: "contents", text: entries.join("\n"), from: { page: 1 } },
    { kind: "paragraph", text: "One is text.", from: { page: 2 } },
  ]);
});

test("lines with gaps at the same places are a table with its cells [D1]", async () => {
  const row = (height: number, cells: readonly string[], font = "F1"): Printed[] =>
    cells.map((text, index) => ({ text, at: [72 + index * 150, height], font }));
  const found = await read([
    [
      ...row(700, ["Name", "Size", "Use"], "F2"),
      ...row(686, ["one", "12", "first"]),
      ...row(672, ["two", "7", "second"]),
    ],
  ]);
  assert.deepEqual(found.blocks, [
    { kind: "table", text: "Name\tSize\tUse\none\t12\tfirst\ntwo\t7\tsecond", headRows: 1, from: { page: 1 } },
  ]);
});

test("pages have the number that is printed on them beside their own, and a scan without text is told [D1]", async () => {
  const image = { content: "q 100 0 0 100 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q" };
  const labels = {
    catalogue: "/PageLabels << /Nums [0 << /S /r >> 2 << /S /D >>] >>",
    info: "<< /Title (The \\376 title) >>",
  };
  const found = await read([paragraph(700, ["First"]), image, paragraph(700, ["Third"]), { content: "" }], labels);
  assert.deepEqual(
    found.blocks.map(({ from }) => from),
    [
      { page: 1, pageLabel: "i" },
      { page: 3, pageLabel: "1" },
    ],
  );
  assert.deepEqual(found.receipt, {
    ...{ title: "The þ title", parts: { kind: "page", count: 4 }, characters: 10, tables: 0, images: 1 },
    losses: [{ kind: "pages_without_text", count: 1, places: [{ page: 2, pageLabel: "ii" }] }],
  });
});

test("Chinese without a font in the file is read by the maps that PDFium brings along [D1]", async () => {
  const font = (encoding: string, ordering: string) => ({
    100: `<< /Type /Font /Subtype /Type0 /BaseFont /Song /Encoding /${encoding} /DescendantFonts [101 0 R] >>`,
    101: `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Song /CIDSystemInfo << /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >> /FontDescriptor 102 0 R >>`,
    102: "<< /Type /FontDescriptor /FontName /Song /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
  });
  const page = (hex: string): PdfPage => ({
    content: `BT /F9 12 Tf 72 700 Td <${hex}> Tj ET`,
    more: "/Resources << /Font << /F9 100 0 R >> >>",
  });
  const text = async (hex: string, encoding: string, ordering: string) =>
    (await read([page(hex)], { objects: font(encoding, ordering) })).blocks[0]?.text;
  assert.equal(await text("d6d0cec4", "GBK-EUC-H", "GB1"), "中文");
  assert.equal(await text("4e2d6587", "UniGB-UCS2-H", "GB1"), "中文");
  assert.equal(await text("a4a4a4e5", "ETen-B5-H", "CNS1"), "中文");
});

test("what PDFium does not open is told by its reason [D1]", async () => {
  const open = async (bytes: Uint8Array) => {
    const found = await reader({ name: "a.pdf", bytes }, { onProgress() {} });
    return found.ok ? "read" : found.failure;
  };
  const locked = pdf([{ content: "" }], {
    objects: {
      100: `<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <${"11".repeat(32)}> /U <${"22".repeat(32)}> >>`,
    },
    trailer: `/Encrypt 100 0 R /ID [<${"33".repeat(16)}> <${"33".repeat(16)}>]`,
  });
  assert.deepEqual(await open(locked), { why: "password" });
  assert.deepEqual(await open(Buffer.from("%PDF-1.7\nnothing")), { why: "damaged", type: "PDF" });
  assert.deepEqual(await open(new Uint8Array()), { why: "damaged", type: "PDF" });
});

test("PDFs are read wherever the program lies, also in a folder with a Chinese name [D1]", async (t) => {
  const [, program = ""] = process.argv;
  t.after(() => {
    process.argv[1] = program;
  });
  process.argv[1] = "/家/我的 程序/agentyard.mjs";
  const { call } = await loadPdfium();
  assert.ok(call("malloc", 8) > 0);
});

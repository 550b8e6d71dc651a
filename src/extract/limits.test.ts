import assert from "node:assert/strict";
import { before, test } from "node:test";
import { pptx, xlsx } from "../../test/world/packed-files.ts";
import { paragraph, pdf, printed, unfoldingPdf } from "../../test/world/pdf-files.ts";
import type { Extracted } from "./extracted.ts";
import { cellsMax, pagesMax, pdfiumBytesMax, pdfiumOverstep, rowsMax, slidesMax } from "./limits.ts";
import { openLosses } from "./losses.ts";
import { openPackage } from "./office/open-package.ts";
import { readPptx } from "./office/pptx.ts";
import { readSheet } from "./office/xlsx-sheet.ts";
import { pdfReader } from "./pdf/pdf.ts";
import { loadPdfium, type Pdfium } from "./pdf/pdfium.ts";
import { readCsv } from "./plain/csv.ts";
import type { Reader } from "./reading.ts";

// Each limit is reached once: what was read until then is kept, and the receipt says where it ended.

let pdfium: Pdfium;
before(async () => {
  pdfium = await loadPdfium();
});

async function read(reader: Reader, name: string, bytes: Uint8Array): Promise<Extracted> {
  const found = await reader({ name, bytes: new Uint8Array(bytes) }, { onProgress() {} });
  assert(found.ok);
  return found.value;
}

test("of a PDF with more pages than are read, the first ones are there [D1]", async () => {
  const page = { content: printed(paragraph(700, ["A page."])) };
  const blank = { content: "" };
  const pages = [page, ...Array.from({ length: pagesMax - 1 }, () => blank), page];
  const { blocks, receipt } = await read(pdfReader(pdfium), "a.pdf", pdf(pages));
  assert.deepEqual(
    [blocks.map(({ text, from }) => [text, from.page]), receipt.stopped],
    [[["A page.", 1]], { limit: "pages", at: { page: pagesMax + 1 } }],
  );
});

test("of more slides than are read, the first ones are there [D1]", async () => {
  const said = (text: string) => `<p:sp><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const slides = Array.from({ length: slidesMax + 1 }, (_, index) => [index + 1, said(`Slide ${index + 1}`)] as const);
  const { blocks, receipt } = await read(readPptx, "a.pptx", pptx(slides));
  assert.deepEqual(
    [blocks.length, blocks.at(-1)?.text, receipt.stopped],
    [slidesMax, `Slide ${slidesMax}`, { limit: "slides", at: { slide: slidesMax + 1 } }],
  );
});

test("of more rows than are read, the first ones are there [D1]", async () => {
  const { blocks, receipt } = await read(readCsv, "a.csv", Buffer.from(`head\n${"x\n".repeat(rowsMax)}`));
  assert.deepEqual(
    [blocks[0]?.to, receipt.stopped],
    [
      { line: rowsMax, row: rowsMax },
      { limit: "rows", at: { line: rowsMax } },
    ],
  );
});

test("of more rows or cells than a workbook may have, those before are there [D1]", () => {
  const count = 10_000;
  const rows = `${"<row><c><v>1</v></c></row>".repeat(count)}<row><c><v>7</v></c></row>`;
  const losses = openLosses();
  const opened = openPackage(xlsx([{ name: "Long", rows }]), "XLSX", losses);
  assert(opened.ok);
  const { archive } = opened.value;
  const readAfter = (spent: { rows: number; cells: number }) => {
    const book = { strings: [], formats: [], is1904: false, losses, spent: { ...spent, characters: 0 } };
    const { blocks, limit } = readSheet(archive, "xl/worksheets/sheet1.xml", "Long", book);
    return { limit, last: blocks.at(-1)?.to?.row ?? 0 };
  };
  assert.deepEqual(readAfter({ rows: rowsMax - count - 1, cells: 0 }), { limit: undefined, last: count + 1 });
  // A million rows of an earlier sheet need not be read for it.
  for (const [name, spent] of [
    ["rows", { rows: rowsMax - 100, cells: 0 }],
    ["cells", { rows: 0, cells: cellsMax - 100 }],
  ] as const) {
    const { limit, last } = readAfter(spent);
    assert.deepEqual([limit?.name, limit?.row], [name, last]);
    assert.ok(last >= 100 && last < count, String(last));
  }
});

test("PDFium gets no more memory than there is for it, and goes on without it [D1]", async () => {
  assert.equal(pdfium.call("malloc", 1024 ** 3), 0);
  const { blocks } = await read(
    pdfReader(pdfium),
    "a.pdf",
    pdf([{ content: printed(paragraph(700, ["Still here."])) }]),
  );
  assert.deepEqual(
    blocks.map(({ text }) => text),
    ["Still here."],
  );
});

test("a page that unfolds to most of a gigabyte takes no more memory than there is for it [D1]", async () => {
  // Its memory does not shrink, and other tests use the one that all of them share.
  const own = await loadPdfium();
  const read = () => pdfReader(own)({ name: "a.pdf", bytes: unfoldingPdf(96) }, { onProgress() {} });
  assert.throws(read, { code: "ERR_WORKER_OUT_OF_MEMORY" });
  const took = own.memory.buffer.byteLength;
  assert.ok(took <= pdfiumBytesMax * pdfiumOverstep, `${took} bytes`);
});

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { testDocuments } from "../../../test/world/documents.ts";
import { docx, pptx, xlsx } from "../../../test/world/packed-files.ts";
import { paragraph, pdf, printed } from "../../../test/world/pdf-files.ts";
import { fileTools } from "../../../test/world/tools.ts";

const documents = testDocuments();
after(documents.close);

async function opened(t: Parameters<typeof fileTools>[0], files: Readonly<Record<string, Uint8Array>>) {
  const tools = await fileTools(t);
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(tools.folder, "uploads", name), bytes);
  return async (name: string, more: object = {}, outputBytesMax = 100_000) => {
    const called = await tools.call("read_file", { path: `uploads/${name}`, ...more }, { documents, outputBytesMax });
    return called.text;
  };
}

const pages = (count: number, words: (page: number) => string) =>
  pdf(Array.from({ length: count }, (_, index) => ({ content: printed(paragraph(700, [words(index + 1)])) })));

test("of a PDF the first ten pages are shown, and the last line says how to read on [F1]", async (t) => {
  const read = await opened(t, { "a.pdf": pages(23, (page) => `Words of page ${page}`) });
  const first = await read("a.pdf");
  assert.match(
    first,
    /^=== uploads\/a\.pdf \(pages 1–10 of 23, PDF, [\d.,]+ KB\) ===\n--- page 1 ---\nWords of page 1\n/,
  );
  assert.match(first, /Words of page 10\n\[more: read_file uploads\/a\.pdf offset=11\]$/);
  const last = await read("a.pdf", { offset: 21, limit: 5 });
  assert.match(last, /\(pages 21–23 of 23, .*\n--- page 21 ---\nWords of page 21\n(?:.*\n)*Words of page 23$/);
  assert.match(
    await read("a.pdf", { offset: 24 }),
    /^Error: tool_arguments_unfit: .*offset 24 is past the end of uploads\/a\.pdf, which has 23 pages/,
  );
});

test("a document has no pages of its own: those of about 3,000 characters are counted [F1]", async (t) => {
  const body = Array.from(
    { length: 100 },
    (_, n) => `<w:p><w:r><w:t>${`Paragraph ${n} `.repeat(100)}</w:t></w:r></w:p>`,
  );
  const read = await opened(t, { "a.docx": docx(body.join("")) });
  const seen: string[] = [];
  for (let next: object | undefined = {}; next !== undefined; ) {
    const text = await read("a.docx", next);
    assert.ok(text.length <= 32_000);
    seen.push(...text.matchAll(/Paragraph (\d+) Paragraph/g).map(([, n = ""]) => n));
    const more: RegExpExecArray | null = /offset=(\d+)(?: column=(\d+))?\]$/.exec(text);
    next = more === null ? undefined : { offset: Number(more[1]), column: Number(more[2] ?? 1) };
  }
  assert.deepEqual(
    [...new Set(seen)],
    body.map((_, n) => String(n)),
  );
  assert.match(await read("a.docx"), /\(pages of about 3,000 characters 1–9 of \d+, DOCX/);
});

test("three sheets and fifteen slides are shown; one that is too long is cut and goes on at a character [F1]", async (t) => {
  const sheet = (name: string, count: number) => ({
    name,
    rows: Array.from(
      { length: count },
      (_, n) => `<row><c t="inlineStr"><is><t>${name} ${n}</t></is></c><c><v>${n}</v></c></row>`,
    ).join(""),
  });
  const shape = (n: number) => `<p:sp><p:txBody><a:p><a:r><a:t>Slide words ${n}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const read = await opened(t, {
    "a.xlsx": xlsx([sheet("One", 2), sheet("Two", 2), sheet("Three", 2), sheet("Four", 5_000)]),
    "a.pptx": pptx(Array.from({ length: 17 }, (_, n) => [n + 1, shape(n + 1)] as const)),
  });
  const first = await read("a.xlsx");
  assert.match(first, /\(sheets 1–3 of 4, XLSX/);
  assert.match(first, /--- sheet "One" ---\n# One\nOne 0\t0\nOne 1\t1\n--- sheet "Two" ---/);
  assert.match(first, /\[more: read_file uploads\/a\.xlsx offset=4\]$/);
  const long = await read("a.xlsx", { offset: 4 });
  const column = Number(/offset=4 column=(\d+)\]$/.exec(long)?.[1]);
  assert.ok(column > 15_000 && column <= 20_001);
  assert.match(await read("a.xlsx", { offset: 4, column }), /from character \d+ of the first/);
  const slides = await read("a.pptx");
  assert.match(
    slides,
    /\(slides 1–15 of 17, PPTX[\s\S]*Slide words 15\n\[more: read_file uploads\/a\.pptx offset=16\]$/,
  );
  const narrow = await read("a.xlsx", { offset: 4 }, 8_000);
  assert.ok(Buffer.byteLength(narrow) <= 8_000);
});

test("what could not be read is told, and what cannot be read says what to do [F1] [D1]", async (t) => {
  const scan = { content: "q 9 0 0 9 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q" };
  const read = await opened(t, {
    "scan.pdf": pdf([scan, scan]),
    "broken.pdf": Buffer.from("%PDF-1.7\nnothing"),
    "old.doc": Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(600)]),
  });
  assert.match(
    await read("scan.pdf"),
    /--- 1: no text ---\n--- 2: no text ---\n\[2 pages are pictures without text, a scan say: they cannot be read without OCR \(1, 2\)\]$/,
  );
  assert.match(
    await read("broken.pdf"),
    /^Error: document_damaged: uploads\/broken\.pdf cannot be read as PDF: .* ask for it again\.$/,
  );
  assert.match(
    await read("old.doc"),
    /^Error: document_unknown: uploads\/old\.doc is no document that can be read here \(doc\)/,
  );
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { open, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { type DocumentSource, openExtractor } from "../../src/extract/extract.ts";
import { docx, pptx, relations, xlsx, zipped } from "../world/packed-files.ts";
import { paragraph, pdf, printed } from "../world/pdf-files.ts";
import { quietLogger, testWorkspace } from "../world/workspace.ts";

const signal = new AbortController().signal;
/** What reading them may add to the process, threads and all. */
const memoryMegabytesMax = 1_500;

test("no file harms its reader: each is read as far as it makes sense, or says what it is [D1]", async (t) => {
  const before = process.resourceUsage().maxRSS;
  const logged: string[] = [];
  const extractor = openExtractor({ clock: systemClock, logger: quietLogger(logged) });
  t.after(extractor.close);
  const wrong: string[] = [];
  await Promise.all(
    hostileFiles.map(async ([what, name, make, becomes]) => {
      const bytes = new Uint8Array(make());
      const found = await extractor.extract({ name, bytes, sizeBytes: bytes.length }, { signal });
      const came = found.ok ? found.value.blocks.map(({ text }) => text).join("\n") : found.failure.code;
      const isRight = typeof becomes === "string" ? came === becomes : becomes.test(came);
      if (!isRight) wrong.push(`${what}: ${came.slice(0, 200)}`);
    }),
  );
  assert.deepEqual([wrong, logged], [[], []]);
  assert.ok((process.resourceUsage().maxRSS - before) / 1024 < memoryMegabytesMax);
});

test("pipes, devices, files of a terabyte and files that are cut while they are read are no trouble [D1]", async (t) => {
  const { workspace, folder } = await testWorkspace(t);
  const extractor = openExtractor({ clock: systemClock, logger: quietLogger([]) });
  t.after(extractor.close);
  const uploads = join(folder, "uploads");
  execFileSync("mkfifo", [join(uploads, "pipe.pdf")]);
  const sparse = await open(join(uploads, "sparse.pdf"), "w");
  await sparse.truncate(1024 ** 4);
  await sparse.close();
  await writeFile(join(uploads, "cut.txt"), "x".repeat(100_000));
  const opened = await workspace.openDescriptor("uploads");
  assert(opened.ok && opened.value !== undefined);
  const { fd, path, close } = opened.value;
  const codeOf = async (name: string) => {
    const source: DocumentSource = { name, root: fd, path: `${path === "" ? "" : `${path}/`}${name}`, sizeBytes: 0 };
    const found = await extractor.extract(source, { signal });
    return found.ok ? found.value.format : found.failure.code;
  };
  assert.equal(await codeOf("pipe.pdf"), "not_a_file");
  assert.equal(await codeOf("sparse.pdf"), "document_too_large");
  const reading = codeOf("cut.txt");
  await truncate(join(uploads, "cut.txt"), 10);
  assert.match(await reading, /^(text|not_a_file)$/);
  close();
});

/** What a file may come to: the beginning of what is read, or the code of the failure. */
export type Hostile = readonly [what: string, name: string, bytes: () => Uint8Array, becomes: string | RegExp];

const p = (words: string) => `<w:p><w:r><w:t>${words}</w:t></w:r></w:p>`;
const cell = (reference: string, words: string) => `<c r="${reference}" t="inlineStr"><is><t>${words}</t></is></c>`;
const page = (words: string) => ({ content: printed(paragraph(700, [words])) });
const deflatedBomb = (megabytes: number) => Buffer.alloc(megabytes * 1024 * 1024, "a");

/** Bytes that differ from what was made, in one place. */
function changed(bytes: Uint8Array, find: string, put: string): Uint8Array {
  const copy = Buffer.from(bytes);
  for (let at = copy.indexOf(find, 0, "latin1"); at !== -1; at = copy.indexOf(find, at + put.length, "latin1"))
    copy.write(put, at, "latin1");
  return copy;
}

const archives: readonly Hostile[] = [
  ["a bomb", "a.docx", () => docx(`<w:p><w:r><w:t>${"a".repeat(10_600_000)}`), /^a{100}/],
  ["an archive in an archive", "a.docx", () => zipped({ "a.zip": zipped({ b: "x" }) }), "document_unknown"],
  [
    "a size that is not true",
    "a.docx",
    () => changed(docx(p("small")), "PK\x01\x02\x14\0", "PK\x01\x02\xff\0"),
    /^small/,
  ],
  [
    "names that lead elsewhere",
    "a.docx",
    () => docx(p("ours"), { parts: { "../../etc/passwd": "x", "/abs": "y" } }),
    /^ours/,
  ],
  ["odd names", "a.docx", () => docx(p("odd"), { parts: { "a\0b": "x", "word\\other.xml": "y" } }), /^odd/],
];

const markup: readonly Hostile[] = [
  [
    "an entity from outside",
    "a.docx",
    () => entities('<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]>'),
    "document_damaged",
  ],
  ["50,000 nested tables", "a.docx", () => docx(`${p("top")}${"<w:tbl><w:tr><w:tc>".repeat(50_000)}`), /^top/],
  ["an attribute of 2 MB", "a.docx", () => docx(`<w:p w:a="${"x".repeat(2_000_000)}"/>${p("after")}`), /^after/],
  [
    "100,000 attributes",
    "a.docx",
    () => docx(`<w:p ${Array.from({ length: 100_000 }, (_, n) => `a${n}="1"`).join(" ")}/>${p("after")}`),
    /^after/,
  ],
  [
    "an encoding that is declared and not so",
    "a.docx",
    () =>
      docx(p("as it is"), {
        parts: { "word/document.xml": `<?xml version="1.0" encoding="UTF-7"?><d>${p("as it is")}</d>` },
      }),
    /^as it is/,
  ],
];

function entities(declared: string): Uint8Array {
  return docx("", {
    parts: { "word/document.xml": `${declared}<w:document><w:body>${p("&a;&b;")}</w:body></w:document>` },
  });
}

const manyStrings = () => `<sst>${"<si><t/></si>".repeat(300_000)}</sst>`;

const office: readonly Hostile[] = [
  [
    "a sheet that says it is full",
    "a.xlsx",
    () => xlsx([{ name: "S", rows: `<dimension ref="A1:XFD1048576"/><row>${cell("A1", "one")}</row>` }]),
    /^S\none/,
  ],
  [
    "a far cell",
    "a.xlsx",
    () => xlsx([{ name: "S", rows: `<row r="1048576">${cell("XFD1048576", "far")}</row>` }]),
    /^S\nfar$/,
  ],
  [
    "many texts",
    "a.xlsx",
    () =>
      xlsx([{ name: "S", rows: `<row>${cell("A1", "few")}</row>` }], {
        parts: { "xl/sharedStrings.xml": manyStrings() },
        links: { t: ["sharedStrings", "sharedStrings.xml"] },
      }),
    /^S\nfew/,
  ],
  [
    "parts in a circle",
    "a.pptx",
    () =>
      pptx([[1, `<p:sp>${"<a:p><a:r><a:t>slide</a:t></a:r></a:p>"}</p:sp>`]], {
        parts: {
          "ppt/slides/_rels/slide1.xml.rels": relations({
            a: ["notesSlide", "slide1.xml"],
            b: ["chart", "slide1.xml"],
          }),
        },
      }),
    /^slide/,
  ],
  ["macros", "a.docm", () => docx(p("macro"), { parts: { "word/vbaProject.bin": deflatedBomb(1) } }), /^macro/],
  [
    "no main part",
    "a.docx",
    () => zipped({ "[Content_Types].xml": "<Types/>", "word/other.xml": "x" }),
    "document_damaged",
  ],
];

const loop = "<< /Type /Pages /Kids [2 0 R 10 0 R] /Count 3 >>";
const claim = "<< /Type /Pages /Kids [10 0 R] /Count 1000000 >>";
const bombStream = (content: Buffer) =>
  Buffer.concat([
    Buffer.from(`<< /Filter [/ASCIIHexDecode /ASCIIHexDecode] /Length ${content.length} >>\nstream\n`),
    content,
    Buffer.from("\nendstream"),
  ]).toString("latin1");
const toUnicodeless = {
  100: "<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [101 0 R] >>",
  101: "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
};

const pdfs: readonly Hostile[] = [
  [
    "nothing behind the mark",
    "a.pdf",
    () =>
      Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.from(Array.from({ length: 5_000 }, (_, n) => (n * 31) % 256))]),
    "document_damaged",
  ],
  ["pages in a circle", "a.pdf", () => pdf([page("round")], { objects: { 2: loop } }), /^$|^round|document_damaged/],
  [
    "a million pages",
    "a.pdf",
    () => pdf([page("one of many")], { objects: { 2: claim } }),
    /^one of many|document_damaged/,
  ],
  [
    "a stream behind several filters",
    "a.pdf",
    () => pdf([page("beside")], { objects: { 100: bombStream(Buffer.alloc(1_000_000, "3")) } }),
    /^beside/,
  ],
  [
    "letters without a meaning",
    "a.pdf",
    () =>
      pdf([{ content: "BT /F9 12 Tf 72 700 Td <00410042> Tj ET", more: "/Resources << /Font << /F9 100 0 R >> >>" }], {
        objects: toUnicodeless,
      }),
    /^.{0,4}$/,
  ],
  [
    "scripts and files inside",
    "a.pdf",
    () =>
      pdf([page("beside a script")], {
        catalogue: "/OpenAction << /S /JavaScript /JS (app.alert(1)) >> /Names << /EmbeddedFiles << /Names [] >> >>",
      }),
    /^beside a script/,
  ],
  [
    "huge coordinates",
    "a.pdf",
    () => pdf([{ content: `1e30 0 0 1e30 0 0 cm ${page("far out").content}` }, page("near")]),
    /near$/,
  ],
];

const texts: readonly Hostile[] = [
  ["one line of 5 MB", "a.txt", () => Buffer.alloc(5_000_000, "x"), /^x{1000}/],
  ["NUL bytes", "a.txt", () => Buffer.alloc(5_000), "document_unknown"],
  ["many marks", "a.txt", () => Buffer.from(`a${"\u0301".repeat(200_000)}`), /^a\u0301/],
  [
    "an image of 1 MB in a page",
    "a.html",
    () => Buffer.from(`<p>before<img src="data:image/png;base64,${"A".repeat(1_000_000)}">after</p>`),
    /^beforeafter$/,
  ],
  ["blanks without an end", "a.html", () => Buffer.from(`<pre>a${" ".repeat(2_000_000)}b</pre>`), /^a .* b$|^a +b$/],
  [
    "blanks in a paragraph",
    "a.docx",
    () => docx(`<w:p><w:r><w:t>a${" ".repeat(2_000_000)}b</w:t></w:r></w:p>`),
    /^a +b$/,
  ],
  ["a hundred thousand cells", "a.html", () => Buffer.from(`<table><tr>${"<td>x".repeat(100_000)}</table>`), /^x\tx/],
  ["end tags alone", "a.html", () => Buffer.from("</div>".repeat(500_000)), /^$/],
  ["marks of a list", "a.md", () => Buffer.from(`${"> ".repeat(300_000)}end`), /end$/],
];

export const hostileFiles: readonly Hostile[] = [...archives, ...markup, ...office, ...pdfs, ...texts];

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, test } from "node:test";
import { Worker } from "node:worker_threads";
import { manualClock } from "../../test/world/manual-clock.ts";
import { pptx, xlsx } from "../../test/world/packed-files.ts";
import { paragraph, pdf, printed, unfoldingPdf } from "../../test/world/pdf-files.ts";
import { quietLogger, testWorkspace } from "../../test/world/workspace.ts";
import { type DocumentSource, type Extractor, openExtractor } from "./extract.ts";
import type { Extracted } from "./extracted.ts";
import { cellsMax, fileBytesMax, pagesMax, pdfiumBytesMax, pdfiumOverstep, rowsMax, slidesMax } from "./limits.ts";
import { openLosses } from "./losses.ts";
import { openPackage } from "./office/open-package.ts";
import { readPptx } from "./office/pptx.ts";
import { readSheet } from "./office/xlsx-sheet.ts";
import { pdfReader } from "./pdf/pdf.ts";
import { loadPdfium, type Pdfium } from "./pdf/pdfium.ts";
import { readCsv } from "./plain/csv.ts";
import type { Reader } from "./reading.ts";
import type { Job } from "./threads/job.ts";
import { threadsFor } from "./threads/pool.ts";
import { resultOf } from "./threads/result-of.ts";
import { type Limits, type Outcome, startThread, threadOptions } from "./threads/thread.ts";

const signal = new AbortController().signal;
const bytesOf = (name: string, bytes: Uint8Array<ArrayBuffer>): DocumentSource => ({
  name,
  bytes,
  sizeBytes: bytes.length,
});
const textOf = (name: string, text: string) => bytesOf(name, new Uint8Array(Buffer.from(text)));
const manual = (pages: number) =>
  pdf(Array.from({ length: pages }, (_, page) => ({ content: printed(paragraph(700, [`Page ${page + 1}`])) })));

async function codeOf(extractor: Extractor, source: DocumentSource): Promise<string> {
  const found = await extractor.extract(source, { signal });
  return found.ok ? found.value.format : found.failure.code;
}

test("a file of a workspace is read in a thread, page by page, and the name may promise something else [D1]", async (t) => {
  const { workspace, folder } = await testWorkspace(t);
  await writeFile(join(folder, "uploads", "manual.docx"), manual(3));
  const opened = await workspace.openDescriptor("uploads/manual.docx");
  assert(opened.ok && opened.value !== undefined);
  const { fd, path, close } = opened.value;
  const extractor = openExtractor({ clock: manualClock(), logger: quietLogger([]) });
  t.after(extractor.close);
  const seen: string[] = [];
  const source = { name: "manual.docx", root: fd, path, sizeBytes: 0 };
  const found = await extractor.extract(source, {
    signal,
    onProgress: ({ done, total }) => seen.push(`${done}/${total}`),
  });
  assert(found.ok);
  assert.deepEqual(seen, ["1/3", "2/3", "3/3"]);
  assert.deepEqual(
    found.value.blocks.map(({ text, from }) => [text, from.page]),
    [1, 2, 3].map((page) => [`Page ${page}`, page]),
  );
  assert.deepEqual(found.value.receipt.losses, [{ kind: "type_differs", count: 1, places: [] }]);
  for (const missing of ["uploads", "uploads/none.pdf"])
    assert.equal(await codeOf(extractor, { ...source, path: missing }), "not_a_file");
  close();
});

test("what cannot be read says why, and the next file is read [D1]", async (t) => {
  const extractor = openExtractor({ clock: manualClock(), logger: quietLogger([]) });
  t.after(extractor.close);
  const ole = Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(600)]);
  const sealed = Buffer.concat([ole, Buffer.from("EncryptedPackage", "utf16le")]);
  const cases: readonly (readonly [name: string, bytes: Uint8Array, code: string])[] = [
    ["sealed.docx", sealed, "document_locked"],
    ["old.doc", ole, "document_unknown"],
    ["a.pdf", Buffer.from("%PDF-1.4\nno"), "document_damaged"],
    ["a.docx", Buffer.from("PK\x03\x04broken"), "document_damaged"],
    ["a.png", Buffer.from("\x89PNG\r\n\x1a\n\0\0", "latin1"), "document_unknown"],
    ["huge.txt", new Uint8Array(100 * 1024 * 1024 + 1), "document_too_large"],
    ...["a.txt", "a.constructor", "a.__proto__"].map((name) => [name, Buffer.from("fine"), "text"] as const),
  ];
  for (const [name, bytes, code] of cases)
    assert.equal(await codeOf(extractor, bytesOf(name, new Uint8Array(bytes))), code, name);
  const locked = await extractor.extract(bytesOf("sealed.docx", new Uint8Array(sealed)), { signal });
  const { code, params } = Object(!locked.ok && locked.failure);
  assert.deepEqual([code, params], ["document_locked", { name: "sealed.docx", why: "password" }]);
});

test("a reader that is stopped, late or closed says so; those who wait for a thread get theirs [D1]", async (t) => {
  const clock = manualClock();
  const extractor = openExtractor({ clock, logger: quietLogger([]) });
  t.after(extractor.close);
  const stop = new AbortController();
  const long = () => bytesOf("a.pdf", manual(400));
  // One after the other: a clock that is moved makes everybody late who reads then.
  const stopped = await extractor.extract(long(), { signal: stop.signal, onProgress: () => stop.abort() });
  assert.equal(stopped.ok || stopped.failure.code, "document_stopped");
  const late = await extractor.extract(long(), { signal, onProgress: () => clock.move(61_000) });
  assert.equal(late.ok || late.failure.code, "document_too_slow");
  const waiting = [1, 2, 3, 4, 5].map((n) => codeOf(extractor, textOf(`${n}.txt`, "waits")));
  assert.deepEqual(await Promise.all(waiting), ["text", "text", "text", "text", "text"]);
  const closed = await extractor.extract(long(), { signal, onProgress: () => void extractor.close() });
  assert.equal(closed.ok || closed.failure.code, "document_stopped");
});

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
  // All but the last two are only listed.
  const slides = Array.from({ length: slidesMax + 1 }, (_, index) => {
    const slide = index + 1;
    return [slide, slide < slidesMax ? undefined : said(`Slide ${slide}`)] as const;
  });
  const { blocks, receipt } = await read(readPptx, "a.pptx", pptx(slides));
  assert.deepEqual(
    [blocks.map(({ text }) => text), receipt.stopped],
    [[`Slide ${slidesMax}`], { limit: "slides", at: { slide: slidesMax + 1 } }],
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

const job = (): Job => ({ name: "a.txt", sizeBytes: 5, bytes: new Uint8Array(Buffer.from("hello")) });
const limits = (signal = new AbortController().signal): Limits => ({ timeMs: 1_000, signal, onProgress() {} });
const parts = (clock = manualClock(), lines: string[] = []) => ({ clock, logger: quietLogger(lines) });
/** A thread that runs this when it gets a job. */
function doing(what: string): Worker {
  const program = `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => { ${what} });`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), threadOptions);
}

test("a thread that breaks down, ends or takes too much memory ends its job and nothing else [D1]", async () => {
  const outcomes = [];
  for (const what of [
    "throw new Error('broken')",
    "process.exit(3)",
    "const all = []; for (;;) all.push(new Array(1e5).fill(all.length + 0.5))",
  ]) {
    const thread = startThread(parts(), doing(what));
    const outcome = await thread.run(job(), limits());
    outcomes.push([outcome.kind, outcome.kind === "crashed" ? outcome.error.message : "", thread.isFit]);
  }
  assert.deepEqual(outcomes, [
    ["crashed", "broken", false],
    ["crashed", "the thread ended", false],
    ["memory", "", false],
  ]);
});

test("a thread that takes too long, or that nobody waits for, is ended in the middle of its work [D1]", async () => {
  const clock = manualClock();
  const busy = "parentPort.postMessage({ progress: { done: 1, total: 2 } }); for (;;);";
  const late = startThread(parts(clock), doing(busy));
  const outcome = late.run(job(), { ...limits(), onProgress: () => clock.move(1_000) });
  assert.deepEqual([await outcome, late.isFit], [{ kind: "late" }, false]);
  const stop = new AbortController();
  const stopped = startThread(parts(clock), doing(busy));
  assert.deepEqual(await stopped.run(job(), { ...limits(stop.signal), onProgress: () => stop.abort() }), {
    kind: "stopped",
  });
  assert.deepEqual(await startThread(parts(clock)).run(job(), limits(AbortSignal.abort())), { kind: "stopped" });
  assert.equal(clock.timers(), 0);
});

test("a PDF that wants more memory than there is for it is too costly, and its thread makes room [D1]", async () => {
  const thread = startThread(parts());
  const bytes = unfoldingPdf(96);
  const outcome = await thread.run({ name: "a.pdf", sizeBytes: bytes.length, bytes }, limits());
  assert.deepEqual([outcome, thread.isFit], [{ kind: "memory" }, false]);
});

const root = join(import.meta.dirname, "..", "..");
const mebibyte = 1024 ** 2;
const gibibyte = 1024 ** 3;

/** What a container of the server has, as the file says it. */
function limitIn(path: string, pattern: RegExp): number {
  const found = pattern.exec(readFileSync(join(root, path), "utf8"));
  assert.ok(found !== null, path);
  return Number(found[1]) * gibibyte;
}

test("a server has room for the largest documents that are read at once, in the containers that come along [N1][D1]", () => {
  /** What a server takes that works, and the thread of the index at its limit. */
  const rest = (512 + 1024) * mebibyte;
  const heap = threadOptions.resourceLimits.maxOldGenerationSizeMb * mebibyte;
  // The file, and the copy of it that PDFium has or an archive is unpacked to.
  const document = pdfiumBytesMax * pdfiumOverstep + heap + 2 * fileBytesMax;
  const limits = [
    limitIn("compose.yaml", /x-server: &server\n.*?\n {2}mem_limit: (\d+)g\n/s),
    limitIn("deploy/kubernetes/server.yaml", /limits: \{ cpu: "2", memory: (\d+)Gi \}/),
  ];
  for (const limit of limits) assert.ok(rest + threadsFor(limit) * document <= limit, `${limit} bytes`);
  assert.deepEqual([threadsFor(2 * gibibyte), threadsFor(4 * gibibyte)], [1, 2]);
});

test("whatever ends a reader has a code of its own [D1]", () => {
  const outcomes: readonly Outcome[] = [
    { kind: "late" },
    { kind: "memory" },
    { kind: "stopped" },
    { kind: "crashed", error: new Error("broken") },
    { kind: "unread", why: { why: "memory" } },
    { kind: "unread", why: { why: "rights" } },
  ];
  const said = outcomes.map((outcome) => {
    const found = resultOf(outcome, "a.pdf", 61);
    return found.ok ? [] : [found.failure.code, found.failure.params];
  });
  assert.deepEqual(said, [
    ["document_too_slow", { name: "a.pdf", seconds: 61 }],
    ["document_too_costly", { name: "a.pdf" }],
    ["document_stopped", { name: "a.pdf" }],
    ["document_reader_crashed", { name: "a.pdf" }],
    ["document_too_costly", { name: "a.pdf" }],
    ["document_locked", { name: "a.pdf", why: "rights" }],
  ]);
});

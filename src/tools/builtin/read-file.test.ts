import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { testDocuments } from "../../../test/world/documents.ts";
import { docx, pptx, xlsx } from "../../../test/world/packed-files.ts";
import { paragraph, pdf, printed } from "../../../test/world/pdf-files.ts";
import { type FileTools, fileTools } from "../../../test/world/tools.ts";
import { boundOutput } from "../output.ts";
import { outputBytesMax } from "../tools.ts";

test("a text file is shown whole and exactly, with its size and encoding, and is known from then on [F1][F2]", async (t) => {
  const tools = await fileTools(t);
  const text = "# Title\n\n  indented\tand “quoted”\nlast";
  put(tools, "uploads/a.md", text);
  assert.deepEqual(await tools.call("read_file", { path: "./uploads//a.md" }), {
    text: `=== uploads/a.md (lines 1–4 of 4, 41 bytes, utf-8) ===\n${text}`,
    events: [{ type: "file.known", path: "uploads/a.md", hash: hashOf(text) }],
    images: 0,
  });
});

test("reading page by page shows every line of a large file once, whatever the model's window [F1]", async (t) => {
  const tools = await fileTools(t);
  const lines = Array.from({ length: 4_000 }, (_, index) => `第 ${index + 1} 行: ${"words ".repeat(6)}😀`);
  put(tools, "uploads/large.txt", lines.join("\n"));
  for (const windowTokens of [8_000, 128_000]) {
    const seen: string[] = [];
    const bytesMax = outputBytesMax(windowTokens);
    for (let offset: number | undefined = 1; offset !== undefined; ) {
      const { text } = await tools.call(
        "read_file",
        { path: "uploads/large.txt", offset },
        { outputBytesMax: bytesMax },
      );
      assert.ok(text.length <= 50_200, "a page has at most 50,000 characters");
      assert.equal(boundOutput(text, bytesMax).isCut, false);
      const [, ...shown] = text.split("\n");
      const next = /^\[more: read_file uploads\/large\.txt offset=(\d+)\]$/.exec(shown.at(-1) ?? "")?.[1];
      seen.push(...(next === undefined ? shown : shown.slice(0, -1)));
      offset = next === undefined ? undefined : Number(next);
    }
    assert.deepEqual(seen, lines);
  }
});

test("a text below 100 KB is whole, one of 100 KB begins with its first 50,000 characters [F1]", async (t) => {
  const tools = await fileTools(t);
  const line = `${"x".repeat(99)}\n`;
  const below = line.repeat(1_023);
  put(tools, "uploads/below.txt", below);
  put(tools, "uploads/above.txt", line.repeat(1_024));
  const wide = { outputBytesMax: 1_000_000 };
  const whole = await tools.call("read_file", { path: "uploads/below.txt" }, wide);
  assert.equal(whole.text, `=== uploads/below.txt (lines 1–1023 of 1023, 100 KB, utf-8) ===\n${below.slice(0, -1)}`);
  const part = await tools.call("read_file", { path: "uploads/above.txt" }, wide);
  assert.match(part.text, /^=== uploads\/above\.txt \(lines 1–500 of 1024, 100 KB, utf-8\) ===\n/);
  assert.match(part.text, /\n\[more: read_file uploads\/above\.txt offset=501\]$/);
});

test("a file of any size can be read from any line on, and is known in part [F1][F2]", async (t) => {
  const tools = await fileTools(t);
  const line = `${"汉字 and words ".repeat(6)}\n`;
  const text = line.repeat(200_000); // More than is read at once, and cut there in the middle of a character.
  put(tools, "uploads/huge.log", text);
  const { text: shown, events } = await tools.call("read_file", {
    path: "uploads/huge.log",
    offset: 199_999,
    limit: 5,
  });
  assert.equal(
    shown,
    `=== uploads/huge.log (lines 199999–200000 of 200000, 20 MB, utf-8) ===\n${(line + line).slice(0, -1)}`,
  );
  assert.deepEqual(events, [{ type: "file.known", path: "uploads/huge.log", hash: hashOf(text), part: true }]);
});

test("a line that is longer than the room is read on at a column, between characters, until all of it is seen [F1]", async (t) => {
  const tools = await fileTools(t);
  const lines = ["first", `${"汉字😀 and words ".repeat(9_000)}.`, "last"];
  put(tools, "uploads/a.txt", lines.join("\n"));
  for (const windowTokens of [8_000, 128_000]) {
    const bytesMax = outputBytesMax(windowTokens);
    let seen = "";
    for (let next: object | undefined = {}; next !== undefined; ) {
      const input = { path: "uploads/a.txt", ...next };
      const { text, events } = await tools.call("read_file", input, { outputBytesMax: bytesMax });
      assert.equal(boundOutput(text, bytesMax).isCut, false);
      assert.ok(text.isWellFormed() && events.every((event) => event.type === "file.known" && event.part === true));
      const [, page = "", line, column] =
        /^===.*===\n(.*?)(?:\n\[more: read_file uploads\/a\.txt offset=(\d+)(?: column=(\d+))?\])?$/s.exec(text) ?? [];
      seen += line !== undefined && column === undefined ? `${page}\n` : page;
      next = line === undefined ? undefined : { offset: line, ...(column === undefined ? {} : { column }) };
    }
    assert.equal(seen, lines.join("\n"));
  }
  const { text: part } = await tools.call("read_file", { path: "uploads/a.txt", offset: 2, column: 3, limit: 1 });
  assert.match(
    part,
    /^=== uploads\/a\.txt \(lines 2–2 of 3, from character 3 of the first, \d+ KB, utf-8\) ===\n😀 and/,
  );
  const { text: past } = await tools.call("read_file", { path: "uploads/a.txt", offset: 3, col: 9 });
  assert.match(
    past,
    /^Error: tool_arguments_unfit: .*column 9 is past the end of line 3 of uploads\/a\.txt, which has 4/,
  );
  assert.match(past, /\{"path": "uploads\/a\.txt", "offset": 3\}\.$/);
});

test("encodings are recognised, and Windows line ends are named [F1]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "uploads/utf16.txt", Buffer.from("\ufeff第一行\r\nzwei\r\n", "utf16le"));
  put(tools, "uploads/bom.txt", "\ufeffa");
  put(
    tools,
    "uploads/gbk.txt",
    Buffer.from([0xd6, 0xd0, 0xce, 0xc4, 0xa3, 0xac, 0xca, 0xc7, 0xd6, 0xd0, 0xb9, 0xfa, 0xbb, 0xb0]),
  );
  const read = async (path: string) => (await tools.call("read_file", { path })).text;
  assert.deepEqual(await Promise.all(["uploads/utf16.txt", "uploads/bom.txt", "uploads/gbk.txt"].map(read)), [
    "=== uploads/utf16.txt (lines 1–2 of 2, 24 bytes, utf-16le, CRLF) ===\n第一行\r\nzwei\r",
    "=== uploads/bom.txt (lines 1–1 of 1, 4 bytes, utf-8) ===\na",
    "=== uploads/gbk.txt (lines 1–1 of 1, 14 bytes, gb18030) ===\n中文，是中国话",
  ]);
});

test("an empty file is empty; in a task workspace every file is, until something was written [F1][W2]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "uploads/empty", "");
  const { text, events } = await tools.call("read_file", { path: "uploads/empty" });
  assert.deepEqual([text, events.length], ["=== uploads/empty (empty, 0 bytes, utf-8) ===", 1]);
  const task = await fileTools(t, { kind: "task" });
  assert.deepEqual(await task.call("read_file", { path: "notes.md" }), {
    text: "=== notes.md (empty, 0 bytes) ===\n[nothing was written to this workspace yet: every file in it is empty]",
    events: [],
    images: 0,
  });
  put(task, "other.md", "x");
  assert.match((await task.call("read_file", { path: "notes.md" })).text, /^Error: file_not_found: /);
  assert.deepEqual((await task.call("read_file", { path: "other.md" }, { agent: "agent-7" })).events, [
    { type: "file.known", agent: "agent-7", workspace: "w1", path: "other.md", hash: hashOf("x") },
  ]);
});

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

test("an image is shown as an image, whatever its name; a text with the name of one is a text [F1]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "uploads/photo.txt", png);
  put(tools, "uploads/photo.png", "no image\n");
  const image = await tools.call("read_file", { path: "uploads/photo.txt" });
  assert.deepEqual(image, {
    text: "=== uploads/photo.txt (image/png, shown with this result, 70 bytes) ===",
    events: [{ type: "file.known", path: "uploads/photo.txt", hash: hashOf(png) }],
    images: 1,
  });
  const { text, images } = await tools.call("read_file", { path: "uploads/photo.png" });
  assert.deepEqual([text, images], ["=== uploads/photo.png (lines 1–1 of 1, 9 bytes, utf-8) ===\nno image", 0]);
});

test("an image of 5 MB is the largest that is shown [F1]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "uploads/a.png", png);
  truncateSync(join(tools.folder, "uploads/a.png"), 5 * 1024 * 1024);
  assert.equal((await tools.call("read_file", { path: "uploads/a.png" })).images, 1);
  truncateSync(join(tools.folder, "uploads/a.png"), 5 * 1024 * 1024 + 1);
  assert.match((await tools.call("read_file", { path: "uploads/a.png" })).text, /^Error: too_large: .*limit is 5 MB/);
});

const refused: readonly [what: string, path: string, error: RegExp][] = [
  [
    "a program",
    "uploads/a.bin",
    /^Error: unsupported_type: uploads\/a\.bin is of a type .*\(elf\)\. Work on it with code/,
  ],
  ["a folder", "uploads", /^Error: not_a_file: .*Call list_files with this path/],
  [
    "a name with a typing error",
    "uploads/reprot.md",
    /^Error: file_not_found: .*Did you mean: uploads\/report\.md\? Call/,
  ],
  ["a name in another folder", "outputs/report.md", /^Error: file_not_found: .*Did you mean: uploads\/report\.md\?/],
  ["a way out", "uploads/../../secret", /^Error: path_traversal_blocked: /],
  ["another place of the machine", "/etc/hostname", /^Error: path_traversal_blocked: /],
];

test("what cannot be read is refused with what to do instead [F1][W5][W7]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "uploads/a.bin", Buffer.from("\x7fELF\x02\x01\x01\0\0\0\0", "latin1"));
  put(tools, "uploads/report.md", "x");
  for (const [what, path, error] of refused) {
    const { text } = await tools.call("read_file", { path });
    assert.match(text, error, what);
    assert.ok(!text.includes(tools.base), what);
  }
});

function put({ folder }: FileTools, path: string, content: string | Buffer): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), content);
}

function hashOf(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

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

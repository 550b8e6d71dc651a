import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { paragraph, pdf, printed } from "../../test/world/pdf-files.ts";
import { quietLogger, testWorkspace } from "../../test/world/workspace.ts";
import { type DocumentSource, type Extractor, openExtractor } from "./extract.ts";

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

test("how far a long manual is read is told in a hundred steps, and not for each page [D4]", async (t) => {
  const extractor = openExtractor({ clock: manualClock(), logger: quietLogger([]) });
  t.after(extractor.close);
  const seen: number[] = [];
  const source = bytesOf("manual.pdf", manual(250));
  const found = await extractor.extract(source, { signal, onProgress: ({ done }) => seen.push(done) });
  assert.ok(found.ok);
  // The first page, then each that makes another hundredth of them full.
  assert.deepEqual(seen, [1, ...Array.from({ length: 100 }, (_, step) => Math.ceil((step + 1) * 2.5))]);
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

test("those who give up while they wait hold nobody up and start nothing [D1]", async (t) => {
  const extractor = openExtractor({ clock: manualClock(), logger: quietLogger([]) });
  t.after(extractor.close);
  const gone = new AbortController();
  const busy = [1, 2].map(() => codeOf(extractor, bytesOf("a.pdf", manual(30))));
  const left = [1, 2, 3].map(() => extractor.extract(textOf("a.txt", "gone"), { signal: gone.signal }));
  const waiting = [1, 2, 3].map((n) => codeOf(extractor, textOf(`${n}.txt`, "waits")));
  gone.abort();
  const fates = (await Promise.all(left)).map((found) => found.ok || found.failure.code);
  assert.deepEqual(fates, ["document_stopped", "document_stopped", "document_stopped"]);
  assert.deepEqual(await Promise.all([...busy, ...waiting]), ["pdf", "pdf", "text", "text", "text"]);
});

test("a document of many blocks comes over whole and in its order [D1]", async (t) => {
  const extractor = openExtractor({ clock: manualClock(), logger: quietLogger([]) });
  t.after(extractor.close);
  const text = Array.from({ length: 5_000 }, (_, n) => `Paragraph ${n}`).join("\n\n");
  const found = await extractor.extract(textOf("a.txt", text), { signal });
  assert(found.ok);
  assert.equal(found.value.blocks.map((block) => block.text).join("\n\n"), text);
});

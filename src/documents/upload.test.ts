import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { testWorkspace } from "../../test/world/workspace.ts";
import { failed } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { defaultUploadPolicy } from "../protocol/upload-policy.ts";
import { shownPath, type Workspace } from "../workspace/workspace.ts";
import type { UploadPolicy } from "./documents.ts";
import { attachedText, describeAttached } from "./files-in-message.ts";
import { receiveUpload } from "./upload.ts";

const program = Buffer.from("MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0", "latin1");

test("the same name again replaces the file and says so, or stands beside it by choice [F3]", async (t) => {
  const { upload, read } = await uploads(t);
  const names = async (name: string, text: string, keep = false) => {
    const received = await upload(name, [text], { keep });
    return received.ok ? [received.value.uploaded.name, received.value.uploaded.replaced] : received.failure.code;
  };
  assert.deepEqual(await names("a.txt", "one"), ["a.txt", false]);
  assert.deepEqual(await names("a.txt", "two"), ["a.txt", true]);
  assert.deepEqual(await names("a.txt", "three", true), ["a (2).txt", false]);
  assert.deepEqual(await names("a.txt", "four", true), ["a (3).txt", false]);
  assert.deepEqual(await names("new.tar.txt", "five", true), ["new.tar.txt", false]);
  assert.deepEqual(await names(".profile", "six", true), [".profile", false]);
  assert.deepEqual(await names(".profile", "seven", true), [".profile (2)", false]);
  const long = `${"名".repeat(83)}.txt`;
  assert.deepEqual(await names(long, "eight", true), [long, false]);
  assert.deepEqual(await names(long, "nine", true), [`${"名".repeat(82)} (2).txt`, false]);
  assert.deepEqual([await read("a.txt"), await read("a (2).txt")], ["two", "three"]);
});

test("of many uploads of one name at once each has a place of its own, where all are to stay, also when files were cleaned up [F3][W11]", async (t) => {
  for (const isCleaned of [false, true]) {
    const { upload, read, folder } = await uploads(t);
    if (isCleaned) rmSync(folder, { recursive: true });
    const texts = Array.from({ length: 10 }, (_, index) => `text ${index}`);
    const received = await Promise.all(texts.map((text) => upload("a.txt", [text], { keep: true })));
    const names = received.map((one) => (one.ok ? one.value.uploaded.name : one.failure.code));
    const expected = ["a.txt", ...Array.from({ length: 9 }, (_, index) => `a (${index + 2}).txt`)];
    assert.deepEqual(names.toSorted(), expected.toSorted());
    assert.deepEqual(await Promise.all(names.map(read)), texts);
  }
});

test("the upload area takes so many files, also of many at once; replacing one of them is still possible [F4]", async (t) => {
  const { upload, workspace } = await uploads(t, "uploads/temparea");
  const policy = { ...defaultUploadPolicy, filesMax: 2 };
  const full = failure("quota_exceeded", {
    ...{ path: "uploads/temparea/c.txt", what: "files", limit: 2, setting: "uploads.files_max" },
  });
  assert.equal((await upload("a.txt", ["a"], { policy })).ok, true);
  assert.equal((await upload(".b", ["b"], { policy })).ok, true);
  assert.deepEqual(await upload("c.txt", ["c"], { policy }), full);
  assert.equal((await upload("a.txt", ["again"], { policy })).ok, true);
  assert.equal((await upload("a.txt", ["beside"], { policy, keep: true })).ok, false);
  const wide = { ...defaultUploadPolicy, filesMax: 5 };
  const many = await Promise.all(Array.from({ length: 20 }, (_, index) => upload(`${index}`, ["x"], { policy: wide })));
  assert.equal(many.filter(({ ok }) => ok).length, 3);
  const listed = await workspace.list("uploads/temparea", { hidden: true });
  assert.equal(listed.ok && listed.value.entries.length, 5);
});

test("types are judged by content: a renamed program is refused, a log with valid text is taken [F4]", async (t) => {
  const { upload } = await uploads(t);
  const verdict = async (name: string, chunks: Chunks, types: readonly string[] = defaultUploadPolicy.types) => {
    const received = await upload(name, chunks, { policy: { ...defaultUploadPolicy, types } });
    return received.ok ? received.value.uploaded.type : received.failure.code;
  };
  const png = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
  assert.deepEqual(
    [
      await verdict("a.csv", [program]),
      await verdict("server.log", ["GET / 200\n"]),
      await verdict("日志.log", [Buffer.from("GET /\n", "utf16le")]),
      await verdict("a.csv", [Buffer.from("a,b\n\0\0")]),
      await verdict("photo.jpeg", [Buffer.from("\xff\xd8\xff\xe0", "latin1")], ["JPG"]),
      await verdict("a.log", ["text"], ["csv"]),
      await verdict("a.csv", ["text"], [".csv"]),
      await verdict("a.png", ["text"], ["png"]),
      await verdict("a.png", [png], ["png"]),
      await verdict("empty.csv", []),
    ],
    [
      "unsupported_type",
      "text",
      "text",
      "unsupported_type",
      "image",
      "unsupported_type",
      "csv",
      "unsupported_type",
      "image",
      "csv",
    ],
  );
});

test("a text has to be one to its end: what follows pages of text is looked at too [F4]", async (t) => {
  const { upload, workspace } = await uploads(t);
  const page = "a line of text\n".repeat(10_000);
  const source = { pulled: 0 };
  async function* hidden() {
    yield Buffer.from(page);
    yield Buffer.from(page);
    yield program;
    yield* endless(source, page);
  }
  const refused = await upload("a.txt", hidden());
  assert.equal(refused.ok ? "" : refused.failure.code, "unsupported_type");
  assert.equal(source.pulled, 0);
  assert.deepEqual((await workspace.stat("uploads/a.txt")).ok, false);

  const small = await upload("b.txt", [`${"a line of text\n".repeat(1_000)}\0`]);
  assert.equal(small.ok ? "" : small.failure.code, "unsupported_type");

  const late = [page, page, Buffer.from([0xc4, 0xe3, 0xba, 0xc3, 0x0a])];
  assert.equal((await upload("gbk at the end.txt", late)).ok, true);
  assert.equal((await upload("wide.txt", [Buffer.from(page, "utf16le"), Buffer.from("end", "utf16le")])).ok, true);
});

test("a stored name cannot lead elsewhere, start a line or be endless [S5][W5]", async (t) => {
  const { upload } = await uploads(t);
  const invalid = (path: string, why: "control_character" | "slash" | "backslash" | "no_name" | "too_long") =>
    failed({ code: "path_invalid", params: { path: shownPath(path), why }, retryable: false });
  assert.deepEqual(
    [
      await upload("../a.txt", ["x"]),
      await upload("..", ["x"]),
      await upload("sub/a.txt", ["x"]),
      await upload("sub\\a.txt", ["x"]),
      await upload("a\nb.txt", ["x"]),
      await upload("", ["x"]),
      await upload(" ", ["x"]),
      await upload(".", ["x"]),
      await upload(`${"n".repeat(252)}.txt`, ["x"]),
    ].map((received) => (received.ok ? received.value.uploaded : received)),
    [
      failure("path_traversal_blocked", { path: "../a.txt" }),
      failure("path_traversal_blocked", { path: ".." }),
      invalid("sub/a.txt", "slash"),
      invalid("uploads/sub\\a.txt", "backslash"),
      invalid("uploads/a\nb.txt", "control_character"),
      invalid("", "no_name"),
      invalid(" ", "no_name"),
      invalid(".", "no_name"),
      invalid(`${"n".repeat(252)}.txt`, "too_long"),
    ],
  );
  assert.equal((await upload(`${"n".repeat(251)}.txt`, ["x"])).ok, true);
});

test("a link among the uploads is replaced by nobody and followed by nobody [W5]", async (t) => {
  const { upload, base, folder } = await uploads(t);
  await symlink(join(base, "outside.txt"), join(folder, "uploads", "a.txt"));
  const refused = await upload("a.txt", ["x"]);
  assert.equal(refused.ok ? "" : refused.failure.code, "permission_denied");
  const beside = await upload("a.txt", ["x"], { keep: true });
  assert.equal(beside.ok && beside.value.uploaded.name, "a (2).txt");
});

type Chunks = readonly (string | Buffer)[] | AsyncIterable<Uint8Array>;

async function uploads(t: TestContext, folder = "uploads") {
  const made = await testWorkspace(t);
  const upload = (name: string, chunks: Chunks, options: { keep?: boolean; policy?: UploadPolicy } = {}) =>
    receiveUpload(
      made.workspace,
      {
        name,
        chunks: Symbol.asyncIterator in chunks ? chunks : each(chunks),
        folder,
        keep: options.keep ?? false,
      },
      options.policy ?? defaultUploadPolicy,
    );
  return { ...made, upload, read: (name: string) => contentOf(made.workspace, `${folder}/${name}`) };
}

async function contentOf(workspace: Workspace, path: string): Promise<string> {
  const read = await workspace.read(path);
  return read.ok ? read.value.bytes.toString() : read.failure.code;
}

async function* each(chunks: readonly (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function* endless(source: { pulled: number }, text: string): AsyncGenerator<Uint8Array> {
  for (; source.pulled < 1_000_000; ) {
    source.pulled += 1;
    yield Buffer.from(text);
  }
}

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

test("small texts and images go into the message, everything else is named [F3]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const files = {
    "notes.txt": Buffer.from("hello"),
    "list.csv": Buffer.from([0xd0, 0xd5, 0xc3, 0xfb, 0x2c, 0xc4, 0xea, 0xc1, 0xe4, 0x0a]),
    "at the limit.txt": Buffer.alloc(10 * 1024, "a"),
    "above it.txt": Buffer.alloc(10 * 1024 + 1, "a"),
    "chart.png": png,
    "broken.png": png.subarray(0, 20),
    "large.png": Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]),
    "scan.bmp": Buffer.from("BM\0\0\0\0\0\0\0\0\0", "latin1"),
  };
  for (const [name, bytes] of Object.entries(files)) await workspace.write(`uploads/${name}`, bytes);
  const about = (name: keyof typeof files, type: string) => ({
    ...{ path: `uploads/${name}`, name, type, bytes: files[name].length },
  });
  const hashOf = (name: keyof typeof files) => createHash("sha256").update(files[name]).digest("hex");
  const paths = Object.keys(files).map((name) => `uploads/${name}`);
  assert.deepEqual(await describeAttached(workspace, [...paths, "./uploads/notes.txt", "uploads/notes.txt"]), {
    ok: true,
    value: [
      { ...about("notes.txt", "text"), text: "hello", hash: hashOf("notes.txt") },
      { ...about("list.csv", "csv"), text: "姓名,年龄\n", hash: hashOf("list.csv") },
      { ...about("at the limit.txt", "text"), text: "a".repeat(10 * 1024), hash: hashOf("at the limit.txt") },
      about("above it.txt", "text"),
      { ...about("chart.png", "image"), image: { mime: "image/png", base64: png.toString("base64") } },
      about("broken.png", "image"),
      about("large.png", "image"),
      about("scan.bmp", "image"),
    ],
  });
});

test("a file that is not there, a folder and a way out are refused before the message is stored [F3][W5]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const { workspace: unwritten } = await testWorkspace(t, { kind: "task" });
  const codes = [];
  for (const [where, path] of [
    [workspace, "uploads/none.txt"],
    [workspace, "uploads"],
    [workspace, "../a.txt"],
    [unwritten, "a.txt"],
  ] as const) {
    const described = await describeAttached(where, [path]);
    codes.push(described.ok ? "" : described.failure.code);
  }
  assert.deepEqual(codes, ["file_not_found", "not_a_file", "path_traversal_blocked", "file_not_found"]);
  assert.deepEqual(
    await describeAttached(unwritten, ["a.txt"]),
    failure("file_not_found", { path: "a.txt", near: "" }),
  );
});

/** The marks themselves are the engine's. */
const wrap = (source: string, text: string) => `<${source}>${text}</>`;

test("a name that is not plain is quoted, and what hides in it is shown [S5]", () => {
  const listed = (name: string) =>
    attachedText([{ path: `uploads/${name}`, name, type: "text", bytes: 1 }], "en", wrap)
      .split("\n")
      .at(-1);
  assert.deepEqual(
    ["quarter 1 (final).txt", "a → b.txt", 'say "hi".txt', "exe\u202Etxt.md", " a.txt", "tag\u{E0041}.txt"].map(listed),
    [
      "- quarter 1 (final).txt → uploads/quarter 1 (final).txt (text)",
      '- "a → b.txt" → "uploads/a → b.txt" (text)',
      '- "say \\"hi\\".txt" → "uploads/say \\"hi\\".txt" (text)',
      '- "exe\\u202etxt.md" → "uploads/exe\\u202etxt.md" (text)',
      '- " a.txt" → "uploads/ a.txt" (text)',
      '- "tag\\udb40\\udc41.txt" → "uploads/tag\\udb40\\udc41.txt" (text)',
    ],
  );
});

test("images fill a message only so far; the others are named [F3]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const large = Buffer.concat([png, Buffer.alloc(4.5 * 1024 * 1024)]);
  const paths = Array.from({ length: 5 }, (_, index) => `uploads/${index}.png`);
  for (const path of paths) await workspace.write(path, large);
  const attached = await describeAttached(workspace, paths);
  const withImage = attached.ok ? attached.value.map(({ image }) => image !== undefined) : [];
  assert.deepEqual(withImage, [true, true, true, true, false], "20 MB hold four of them");
});

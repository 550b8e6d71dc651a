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
import { BrokenOff, shownPath, type Workspace } from "../workspace/workspace.ts";
import type { UploadPolicy } from "./documents.ts";
import { receiveUpload } from "./upload.ts";

const program = Buffer.from("MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0", "latin1");

test("a file is put into the uploads, with its type, its size and its line for the ledger [F3]", async (t) => {
  const { upload, read } = await uploads(t);
  const text = "name,age\nAda,36\n";
  assert.deepEqual(await upload("people.csv", [text.slice(0, 5), text.slice(5)]), {
    ok: true,
    value: {
      uploaded: { name: "people.csv", path: "uploads/people.csv", type: "csv", bytes: 16, replaced: false },
      change: {
        path: "uploads/people.csv",
        before: undefined,
        after: { hash: createHash("sha256").update(text).digest("hex"), bytes: 16, mode: 0o644 },
        lost: undefined,
      },
    },
  });
  assert.equal(await read("people.csv"), text);
});

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

test("of two that want the same free name the later one gets the next, and takes nobody's place [F3][W11]", async (t) => {
  const { upload, read } = await uploads(t);
  const gate = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  async function* slow() {
    started.resolve();
    await gate.promise;
    yield Buffer.from("slow");
  }
  const first = upload("a.txt", slow(), { keep: true });
  await started.promise;
  assert.equal((await upload("a.txt", ["quick"], { keep: true })).ok, true);
  gate.resolve();
  const late = await first;
  assert.equal(late.ok && late.value.uploaded.name, "a (2).txt");
  assert.deepEqual([await read("a.txt"), await read("a (2).txt")], ["quick", "slow"]);
  const long = `a.${"b".repeat(253)}`;
  assert.ok((await upload(long, ["one"], { keep: true })).ok);
  const second = await upload(long, ["two"], { keep: true });
  assert.equal(second.ok && second.value.uploaded.name, `a.${"b".repeat(249)} (2)`);
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

test("the limit of a file is refused as soon as it is passed, and nothing is left behind [F4]", async (t) => {
  const { upload, workspace } = await uploads(t);
  const policy = { ...defaultUploadPolicy, fileBytesMax: 10 };
  const source = { pulled: 0 };
  assert.deepEqual(await upload("a.txt", endless(source, "12345678"), { policy }), {
    ...failure("too_large", {
      ...{ path: "uploads/a.txt", sizeBytes: 16, limitBytes: 10, setting: "uploads.file_bytes_max" },
    }),
  });
  assert.equal(source.pulled, 2);
  assert.equal((await upload("a.txt", ["1234567890"], { policy })).ok, true);
  assert.deepEqual(await upload("a.txt", ["12345678901"], { policy }), {
    ...failure("too_large", {
      ...{ path: "uploads/a.txt", sizeBytes: 11, limitBytes: 10, setting: "uploads.file_bytes_max" },
    }),
  });
  assert.equal(await contentOf(workspace, "uploads/a.txt"), "1234567890");
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

test("a refusal names the file, what is taken, and the setting that says so [F4]", async (t) => {
  const { upload } = await uploads(t);
  assert.deepEqual(await upload("a.csv", [program], { policy: { ...defaultUploadPolicy, types: ["csv", "text"] } }), {
    ...failure("unsupported_type", {
      ...{ path: "uploads/a.csv", type: "program", allowed: "csv, text", setting: "uploads.types" },
    }),
  });
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

test("a program is refused at its first bytes, not when all of it has come in [F4]", async (t) => {
  const { upload } = await uploads(t);
  const source = { pulled: 0 };
  async function* large() {
    yield Buffer.concat([program, Buffer.alloc(100_000)]);
    yield* endless(source, "\0".repeat(1_000));
  }
  const refused = await upload("a.csv", large());
  assert.equal(refused.ok ? "" : refused.failure.code, "unsupported_type");
  assert.equal(source.pulled, 0);
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

test("a source that breaks off leaves the file as it was [F4]", async (t) => {
  const { upload, read } = await uploads(t);
  await upload("a.txt", ["before"]);
  async function* broken() {
    yield Buffer.from("half");
    throw new BrokenOff("the connection is gone");
  }
  assert.deepEqual(
    await upload("a.txt", broken()),
    failure("write_failed", { path: "uploads/a.txt", why: "broken_off" }),
  );
  assert.equal(await read("a.txt"), "before");
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

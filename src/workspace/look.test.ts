import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { fstatSync, openSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { testWorkspace } from "../../test/world/workspace.ts";
import { Refused } from "./faults.ts";
import { digestOf, openStream, readRange } from "./look.ts";

function openFile(t: TestContext, content: string | Uint8Array) {
  const path = join(folderWith(t, { a: content }), "a");
  const fd = openSync(path, "r");
  const stat = { path: "outputs/a", type: "file", bytes: content.length, mode: 0o644, modifiedAt: 0 } as const;
  return { path, file: { fd, stat }, isOpen: () => attempt(() => fstatSync(fd)) };
}

function attempt(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

test("of a file exactly the bytes are read that were asked for, as far as there are any [W8][F2]", async (t) => {
  const { file, path } = openFile(t, "0123456789");
  const read = async (offset: number, bytesMax: number) => String(await readRange(file, offset, bytesMax));
  assert.deepEqual(
    [await read(0, 3), await read(7, 3), await read(7, 99), await read(10, 5), await read(99, 5), await read(2, 0)],
    ["012", "789", "789", "", "", ""],
  );
  assert.equal(await digestOf(file), hash("sha256", "0123456789"));
  truncateSync(path, 4);
  assert.deepEqual([await read(2, 9), await digestOf(file)], ["23", hash("sha256", "0123")], "it has become shorter");
});

test("a part of a file comes piece by piece and whole, and the file is let go of with the last one, or by whoever leaves [W8][F4]", async (t) => {
  const large = Buffer.from(Uint8Array.from({ length: 600_000 }, (_, index) => index % 251));
  const whole = async (range?: { offset?: number; length?: number }) => {
    const { file, isOpen } = openFile(t, large);
    const pieces: Buffer[] = [];
    const { chunks, stat } = openStream(file, range);
    for await (const piece of chunks) pieces.push(Buffer.from(piece));
    assert.deepEqual([isOpen(), stat], [false, file.stat]);
    return Buffer.concat(pieces);
  };
  assert.ok((await whole()).equals(large));
  assert.ok((await whole({ offset: 262_143, length: 262_146 })).equals(large.subarray(262_143, 524_289)));
  assert.ok((await whole({ offset: 599_999 })).equals(large.subarray(599_999)));
  assert.ok((await whole({ offset: 10, length: 10_000_000 })).equals(large.subarray(10)));
  assert.equal((await whole({ offset: 600_000 })).length, 0);
  assert.equal((await whole({ offset: 5, length: 0 })).length, 0);

  const left = openFile(t, large);
  const { chunks } = openStream(left.file);
  await chunks.next();
  assert.equal(left.isOpen(), true);
  for (let times = 0; times < 2; times += 1) assert.deepEqual(await chunks.return(), { done: true, value: undefined });
  assert.equal(left.isOpen(), false);
  assert.equal((await chunks.next()).done, true);
});

test("a file that becomes shorter while it is sent is told as changed, never as whole, and is let go of [W8][F4]", async (t) => {
  const { file, path, isOpen } = openFile(t, "x".repeat(600_000));
  const { chunks } = openStream(file);
  await chunks.next();
  truncateSync(path, 300_000);
  assert.equal((await chunks.next()).value?.length, 300_000 - 262_144);
  await assert.rejects(chunks.next(), (error) => {
    assert.ok(error instanceof Refused);
    assert.deepEqual(error.reason.params, { path: "outputs/a", why: "changed" });
    return true;
  });
  assert.equal(isOpen(), false);
});

test("a task in which nothing was written is an empty folder to whoever looks; a conversation's missing file is missing [W2][F2]", async (t) => {
  const { workspace } = await testWorkspace(t, { kind: "task" });
  const [root, missing] = [await workspace.stat("."), await workspace.stat("a")];
  assert.deepEqual(root.ok && root.value, { path: ".", type: "folder", bytes: 0, mode: 0o755, modifiedAt: 0 });
  assert.equal(missing.ok || missing.failure.code, "file_not_found");
  const info = await workspace.info();
  assert.deepEqual(info.ok && info.value, { fileCount: 0, dirCount: 0, totalSize: 0, lastModified: null });
  const listed = await workspace.list();
  assert.deepEqual(listed.ok && listed.value, { path: ".", entries: [], isUnwritten: true });
});

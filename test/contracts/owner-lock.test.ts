import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type OwnerInfo, readOwner, takeOwnership } from "../../src/storage/sqlite/owner-lock.ts";
import { startChild } from "./child.ts";
import { unwrap } from "./storage-place.ts";

test("a data directory has one owner, and a second process is told who [P3]", async (t) => {
  const directory = folder(t);
  const [first, second] = [startChild(t, "own", directory), startChild(t, "own", directory)];
  for (const child of [first, second]) assert.equal(await child.line(), "ready");
  first.tell();
  assert.equal(await first.line(), "owner");
  second.tell();
  assert.equal(await second.line(), `owned by ${first.pid}`);
  assert.deepEqual(readOwner(directory), infoOf(first.pid));
  first.tell();
  assert.equal(await first.line(), "released");
  assert.equal(readOwner(directory), undefined);
  second.tell();
  assert.equal(await second.line(), "owner");
});

test("when the owner is killed the next process owns the directory at once [P3]", async (t) => {
  const directory = folder(t);
  const [first, second] = [startChild(t, "own", directory), startChild(t, "own", directory)];
  for (const child of [first, second]) assert.equal(await child.line(), "ready");
  first.tell();
  assert.equal(await first.line(), "owner");
  await first.kill();
  assert.deepEqual(readOwner(directory), infoOf(first.pid));
  second.tell();
  assert.equal(await second.line(), "owner");
  assert.deepEqual(readOwner(directory), infoOf(second.pid));
});

test("of twenty processes that want a directory at the same moment exactly one gets it, again and again [P3]", async (t) => {
  const directory = folder(t);
  let children = Array.from({ length: 20 }, () => startChild(t, "own", directory));
  for (const child of children) assert.equal(await child.line(), "ready");
  for (let round = 1; round <= 8; round += 1) {
    for (const child of children) child.tell();
    const answers = await Promise.all(children.map((child) => child.line()));
    assert.equal(answers.filter((answer) => answer === "owner").length, 1, answers.join(", "));
    const owner = children[answers.indexOf("owner")];
    await owner?.kill();
    children = children.filter((child) => child !== owner);
  }
});

test("one process cannot own a directory twice, and can own it again after it let go [P3]", (t) => {
  const directory = join(folder(t), "not", "there", "yet");
  const lock = unwrapLock(directory);
  const again = takeOwnership(directory, infoOf(2));
  assert.deepEqual(again.ok || again.failure, { kind: "owned", owner: infoOf(1) });
  lock.release();
  lock.release();
  unwrapLock(directory).release();
});

test("what stands in owner.json decides nothing [P3]", (t) => {
  const directory = folder(t);
  for (const content of ["", "{", "[]", '{"pid":"x"}', JSON.stringify(infoOf(process.ppid))]) {
    writeFileSync(join(directory, "owner.json"), content);
    const lock = unwrapLock(directory);
    assert.deepEqual(readOwner(directory), infoOf(1));
    lock.release();
  }
  assert.deepEqual(readdirSync(directory), ["owner.lock"]);
});

test("a directory that cannot be used is told as a failure [P3]", (t) => {
  const directory = folder(t);
  writeFileSync(join(directory, "file"), "");
  const lock = takeOwnership(join(directory, "file"), infoOf(1));
  assert.equal(lock.ok || (lock.failure.kind === "failed" && lock.failure.failure.code), "storage_broken");
});

function infoOf(pid: number): OwnerInfo {
  return { pid, startedAt: 1, socket: "s", protocol: "1" };
}

function unwrapLock(directory: string) {
  const lock = takeOwnership(directory, infoOf(1));
  return unwrap(lock.ok ? lock : { ok: false, failure: { code: lock.failure.kind } });
}

function folder(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "owner-"));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

import assert from "node:assert/strict";
import { closeSync, globSync, openSync, readdirSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeBackup } from "../../src/backup.ts";
import { folderOf, restore } from "../world/backups.ts";
import { startYard } from "../world/yard.ts";

// A disk that gives back other bytes than it took: here somebody else writes to it meanwhile.

test("a backup that does not read back as it was written is none, and nothing of it is left [Q3][P4]", async (t) => {
  const folder = folderOf(t);
  await using yard = await startYard();
  await yard.client.call("createConversation", { body: { id: "c" } });
  await yard.client.upload("c", "a.txt", Buffer.from("some content"));
  const path = join(folder, "b.tar");
  const parts: string[] = [];
  const spoil = ({ part, bytes }: { part: string; bytes: number }) => {
    if (parts.at(-1) !== part) parts.push(part);
    if (part === "write" && bytes > spoilt) writeOver(`${path}.part`, spoilt);
  };
  const made = await makeBackup({ fetch: yard.fetch, path, includesKey: false, onProgress: spoil });
  assert.ok(!made.ok);
  const { code, params } = made.failure;
  assert.deepEqual([code, params, parts], ["backup_failed", { why: "unequal" }, ["write", "compare"]]);
  assert.deepEqual(readdirSync(folder), []);
  assert.ok((await makeBackup({ fetch: yard.fetch, path, includesKey: false })).ok, "another disk, or a sound one");
});

test("a restore that does not read back as it was written changes nothing [Q3][P4]", async (t) => {
  const folder = folderOf(t);
  const path = join(folder, "b.tar");
  {
    await using yard = await startYard();
    await yard.client.call("createConversation", { body: { id: "c" } });
    for (const name of ["a", "b"]) writeFileSync(join(yard.data, "workspace/c/uploads", name), large);
    assert.ok((await makeBackup({ fetch: yard.fetch, path, includesKey: false })).ok);
  }
  const data = join(folder, "data");
  let isSpoilt = false;
  // While the second of the two is read, the first is there.
  const spoil = () => {
    const whole = globSync(join(data, "*/workspace/c/uploads/*")).find((file) => statSync(file).size === large.length);
    if (whole === undefined || isSpoilt) return;
    writeOver(whole, 0);
    isSpoilt = true;
  };
  const restored = await restore(path, data, { onProgress: spoil });
  assert.ok(isSpoilt);
  assert.ok(!restored.ok);
  const { code, params } = restored.failure;
  assert.deepEqual([code, params], ["restore_failed", { why: "unequal" }]);
  assert.deepEqual(readdirSync(folder), ["b.tar"]);
  assert.ok((await restore(path, data)).ok, "the backup is as good as it was");
});

/** An archive is read in pieces of a quarter of this. */
const large = Buffer.alloc(4 * 1024 ** 2, 7);
/** In the database, which comes first. */
const spoilt = 10_000;

function writeOver(path: string, at: number): void {
  const file = openSync(path, "r+");
  try {
    writeSync(file, "other", at);
  } finally {
    closeSync(file);
  }
}

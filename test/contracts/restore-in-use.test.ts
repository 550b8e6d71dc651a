import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { takeOwnership } from "../../src/storage/sqlite/owner-lock.ts";
import { folderOf, restore } from "../world/backups.ts";

test("a directory that a process uses is left alone by a restore [Q3]", async (t) => {
  const folder = folderOf(t);
  const data = join(folder, "data");
  const taken = takeOwnership(data, { pid: process.pid, startedAt: 1, socket: "s", protocol: "1" });
  assert.ok(taken.ok);
  const before = readdirSync(data);
  const restored = await restore(join(folder, "none.tar"), data, { replaces: true });
  assert.equal(restored.ok ? "" : restored.failure.code, "data_in_use");
  assert.deepEqual(readdirSync(data), before);
  taken.value.release();
  const again = await restore(join(folder, "none.tar"), data, { replaces: true });
  assert.equal(again.ok ? "" : again.failure.code, "backup_broken");
});

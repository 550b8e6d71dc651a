import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { syncFolder, syncNamesOf } from "./sync-folder.ts";

test("a folder whose names cannot be made safe is told, but for those where nothing of ours is new [Q2]", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-sync-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  syncNamesOf(folder);
  // This file system syncs no folders.
  syncFolder("/proc");
  assert.throws(() => syncFolder(join(folder, "gone")), { code: "ENOENT" });
});

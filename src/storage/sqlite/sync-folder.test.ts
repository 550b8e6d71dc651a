import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { withoutPermission } from "../../../test/world/folder.ts";
import { openFiles } from "../../../test/world/open-files.ts";
import { syncFolder, syncNamesOf } from "./sync-folder.ts";

test("a folder whose names cannot be made safe is told, but for those where nothing of ours is new [Q2]", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-sync-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  syncNamesOf(folder);
  // This file system syncs no folders.
  syncFolder("/proc");
  assert.throws(() => syncFolder(join(folder, "gone")), { code: "ENOENT" });
});

test("a folder that was made safe is not held open, and one that we may not read is passed over [Q2]", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-sync-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const held = () => openFiles().filter((file) => ["/", "/proc", tmpdir(), folder].includes(file));
  syncFolder(folder);
  syncNamesOf(folder);
  syncFolder("/proc");
  await withoutPermission([folder], async () => syncFolder(folder));
  assert.deepEqual(held(), []);
});

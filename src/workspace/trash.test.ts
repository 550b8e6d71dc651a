import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { noted, partly } from "../../test/world/partly.ts";
import { ok } from "../base/result.ts";
import { localOwner } from "../protocol/ids.ts";
import { cleanUnused, type TrashParts } from "./trash.ts";

test("a workspace in which not everything can be looked at is left as it is: what it holds could not be told [W10]", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "task-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const told: unknown[] = [];
  const row = { folder: "workspaces/t", kind: "task", number: 1, owner: localOwner };
  const counts = { fileCount: 0, dirCount: 1, totalSize: 0, lastModified: undefined };
  const parts = partly<TrashParts>({
    clock: { now: () => 9 },
    storage: {
      unusedWorkspaces: async () => [row],
      updateWorkspace: async () => void told.push("removed"),
      putTrash: async () => noted(told, "moved", ok(undefined)),
    },
    layout: { hostPath: () => folder },
    plots: { open: async () => ok({ folder, isImage: false }) },
    inUse: { has: () => false },
    filesOf: () => ({ info: async () => ok({ ...counts, isPartial: true }) }),
    logger: { warn: (_, { why } = {}) => void told.push(why) },
    isHere: async () => true,
    isClosing: () => false,
  });
  assert.deepEqual(await cleanUnused(parts, { unusedMs: 1 }), { workspaces: 0, bytes: 0, skipped: 1 });
  assert.deepEqual(told, ["some of its folders may not be read"]);
});

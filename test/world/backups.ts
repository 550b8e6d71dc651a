import { createHash } from "node:crypto";
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { type RestoreWanted, restoreBackup } from "../../src/restore.ts";

/** A folder of this test's own. */
export function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "backup-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Restores into a directory below the folder. */
export function restore(path: string, dataDir: string, more: Partial<RestoreWanted> = {}) {
  const parts = { clock: systemClock, ids: systemIds, replaces: false };
  return restoreBackup({ path, dataDir, sessionDbPath: join(dataDir, "sessions.db"), ...parts, ...more });
}

/** Everything below the folders of files: kind, mode, time and content of each, by path. */
export function treeOf(
  dataDir: string,
  folders = ["workspace", "workspaces", "kept", "trash"],
): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (path: string) => {
    for (const name of readdirSync(Buffer.from(`${dataDir}/${path}`, "latin1"), { encoding: "latin1" }).sort()) {
      const below = `${path}/${name}`;
      const place = Buffer.from(`${dataDir}/${below}`, "latin1");
      const stat = lstatSync(place);
      const facts = `${(stat.mode & 0o777).toString(8)} ${Math.round(stat.mtimeMs)}`;
      if (stat.isDirectory()) found[below] = `folder ${facts}`;
      else if (stat.isSymbolicLink()) found[below] = `link ${readlinkSync(place)}`;
      else if (stat.isFile()) found[below] = `file ${facts} ${hashOf(readFileSync(place))}`;
      else found[below] = "odd";
      if (stat.isDirectory()) walk(below);
    }
  };
  const there = new Set(readdirSync(dataDir));
  for (const folder of folders) if (there.has(folder)) walk(folder);
  return found;
}

function hashOf(data: Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";

/** A folder of this machine with files in it, as somebody at a terminal has one. A path that ends with `/` is a folder. */
export function folderWith(t: TestContext, files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-folder-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    const isFolder = path.endsWith("/");
    mkdirSync(isFolder ? join(folder, path) : dirname(join(folder, path)), { recursive: true });
    if (!isFolder) writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** As somebody who is not permitted to read these: who runs the tests as root may read everything otherwise. */
export async function withoutPermission<T>(paths: readonly string[], action: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0;
  for (const path of paths) chmodSync(path, 0);
  if (isRoot) process.seteuid?.(nobody);
  try {
    return await action();
  } finally {
    if (isRoot) process.seteuid?.(0);
    for (const path of paths) chmodSync(path, 0o700);
  }
}

const nobody = 65_534;

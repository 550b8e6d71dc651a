import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Ids } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { attemptDisk } from "./faults.ts";
import type { Layout } from "./layout.ts";
import type { FileFailure } from "./one-workspace.ts";

/** Writes a file where every upload begins, reads it back and takes it away. */
export async function checkDisk({ layout, ids }: { layout: Layout; ids: Ids }): Promise<Result<void, FileFailure>> {
  const content = ids.hex(32);
  const path = join(layout.stagingFolder, ids.hex(24));
  const tried = await attemptDisk(async () => {
    await mkdir(layout.stagingFolder, { recursive: true, mode: 0o700 });
    await writeFile(path, content, { flag: "wx", mode: 0o600, flush: true });
    const read = await readFile(path, "utf8");
    await rm(path);
    return read;
  });
  if (!tried.ok) return failure("write_failed", { path: ".", why: tried.failure });
  return tried.value === content ? ok(undefined) : failure("read_failed", { path: ".", why: "changed" });
}

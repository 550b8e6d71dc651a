import { ok, type Result } from "../base/result.ts";
import type { FileFailure, Workspace } from "./port.ts";

/** What people put in and what agents made of it; `temp` and the rest are made anew by whoever needs them. */
const copiedFolders = ["uploads", "outputs"];

/** Copies file by file and stops at the first that cannot be copied. */
export async function copyFiles(from: Workspace, to: Workspace): Promise<Result<{ files: number }, FileFailure>> {
  let files = 0;
  for (const folder of copiedFolders) {
    const entries = await from.walk(folder, { hidden: true });
    if (!entries.ok && entries.failure.code === "file_not_found") continue;
    if (!entries.ok) return entries;
    for await (const { type, path, mode } of entries.value) {
      if (type === "folder") continue;
      const source = await from.stream(path);
      if (!source.ok) return source;
      const written = await to.write(path, source.value.chunks, { mode });
      await source.value.chunks.return();
      if (!written.ok) return written;
      files += 1;
    }
  }
  return ok({ files });
}

import { open } from "node:fs/promises";
import { ok, type Result } from "../base/result.ts";
import type { FileState } from "../protocol/events.ts";
import { attempt } from "./faults.ts";
import type { Kept } from "./kept.ts";
import type { FileFailure, Workspace } from "./one-workspace.ts";
import { shownPath } from "./path.ts";

/** What people put in and what agents made of it, then their scratch, for which there need not be room. */
const copiedFolders = ["uploads", "outputs", "temp"];

/** `leftOut`: paths of files that cannot be read or named, or were gone by then. */
export type Copied = { readonly files: number; readonly leftOut: readonly string[] };

/** Copies file by file; odd ones are left out, and it stops where there is no room for more. */
export async function copyFiles(from: Workspace, to: Workspace): Promise<Result<Copied, FileFailure>> {
  let files = 0;
  const leftOut: string[] = [];
  for (const folder of copiedFolders) {
    const entries = await from.walk(folder, { hidden: true });
    if (!entries.ok && entries.failure.code === "file_not_found") continue;
    if (!entries.ok) return entries;
    for await (const { type, path, mode } of entries.value) {
      if (type === "folder") continue;
      const source = await from.stream(path);
      if (!source.ok) {
        leftOut.push(shownPath(path));
        continue;
      }
      const written = await to.write(path, source.value.chunks, { mode });
      await source.value.chunks.return();
      if (!written.ok && folder === "temp" && written.failure.code === "quota_exceeded") break;
      if (!written.ok) return written;
      files += 1;
    }
  }
  return ok({ files, leftOut });
}

/** Copies what is still kept of these earlier contents, so that they can be given back on the other side too. */
export async function copyKept(from: Kept, to: Kept, states: readonly FileState[]): Promise<Result<void, FileFailure>> {
  const byHash = new Map(states.flatMap((state) => (state.hash === undefined ? [] : [[state.hash, state]])));
  return attempt("write", ".", async () => {
    for (const [hash, state] of byHash) {
      const source = await from.find(hash);
      if (source === undefined) continue;
      const file = await open(source);
      try {
        await to.keep(file.fd, { ...state, hash });
      } finally {
        await file.close();
      }
    }
  });
}

import { ok, type Result } from "../../base/result.ts";
import { typeOfName } from "../../documents/documents.ts";
import type { Failure } from "../../protocol/failure.ts";
import type { SandboxFile } from "../../protocol/sandbox-file-routes.ts";
import type { WalkEntry } from "../../workspace/workspace.ts";
import { tagOf } from "../download.ts";
import type { Sought } from "./seek-file.ts";
import { isoTime } from "./session-answer.ts";

export type Listed = { readonly items: SandboxFile[]; readonly hasMore: boolean };

/** Everything below the folder that was sought, sorted by path. `src` is a folder, and never the beginning of `src2`. */
export async function listBelow(
  { workspace, row, path }: Sought,
  { limit, mayBeMissing }: { readonly limit: number; readonly mayBeMissing: boolean },
): Promise<Result<Listed, Failure>> {
  const walk = await workspace.walk(path, { hidden: true });
  if (!walk.ok)
    return mayBeMissing && walk.failure.code === "file_not_found" ? ok({ items: [], hasMore: false }) : walk;
  const files: WalkEntry[] = [];
  const sortAndCut = () => files.sort((one, other) => (one.path < other.path ? -1 : 1)).splice(limit + 1);
  for await (const entry of walk.value) {
    if (entry.type !== "file" || entry.path === ownFile) continue;
    files.push(entry);
    // Whoever asks for ten must not cost the memory of all paths that programs made.
    if (files.length > 2 * (limit + 1)) sortAndCut();
  }
  sortAndCut();
  const cut = path === "." ? 0 : files[0]?.path === path ? path.lastIndexOf("/") + 1 : path.length + 1;
  const items = files.slice(0, limit).map((file) => toFile(file, row.id, cut));
  return ok({ items, hasMore: files.length > limit });
}

/** Belongs to the conversation's folder, and is no file of its user. */
const ownFile = ".metadata.json";

function toFile(file: WalkEntry, conversationId: string, cut: number): SandboxFile {
  const path = `${conversationId}/${file.path}`;
  return {
    name: file.path.slice(cut),
    path,
    container_path: `/workspace/${path}`,
    size: file.bytes,
    modified_time: isoTime(file.modifiedAt),
    etag: tagOf(file),
    type: typeOfName(file.path.slice(file.path.lastIndexOf("/") + 1)),
  };
}

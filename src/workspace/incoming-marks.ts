import { createHash } from "node:crypto";
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { OwnerId } from "../protocol/ids.ts";
import { ifThere } from "./faults.ts";

/** Which uploads are whose, so that one who has thousands makes nobody else wait while theirs are counted. */
export type IncomingMarks = {
  of(owner: OwnerId): Promise<string[]>;
  /** Before the upload itself: one that nobody counts would be one too many. */
  add(owner: OwnerId, id: string): Promise<void>;
  drop(owner: OwnerId, id: string): Promise<void>;
  /** Drops the marks, older than that, of uploads that are no more. */
  sweep(isThere: (id: string) => Promise<boolean>, before: number): Promise<void>;
};

/** `{folder}/{owner}/{id}`, empty files. Owners are told by a hash: their ids may be no names for folders. */
export function openIncomingMarks(folder: string): IncomingMarks {
  const folderOf = (owner: OwnerId) => join(folder, createHash("sha256").update(owner).digest("hex").slice(0, 32));
  return {
    of: async (owner) => (await ifThere(readdir(folderOf(owner)))) ?? [],
    async add(owner, id) {
      await mkdir(folderOf(owner), { recursive: true, mode: 0o700 });
      await (await open(join(folderOf(owner), id), "w", 0o600)).close();
    },
    drop: (owner, id) => rm(join(folderOf(owner), id), { force: true }),
    async sweep(isThere, before) {
      for (const owner of (await ifThere(readdir(folder))) ?? [])
        for (const id of (await ifThere(readdir(join(folder, owner)))) ?? []) {
          const mark = join(folder, owner, id);
          if (await isThere(id)) continue;
          // Its upload may just be about to be written, by another server.
          const { mtimeMs = 0 } = (await ifThere(stat(mark))) ?? {};
          if (mtimeMs <= before) await rm(mark, { force: true });
        }
    },
  };
}

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { parsedJson } from "../../base/json.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { type DatabaseFailure, failureOf } from "./failures.ts";

/** What others may know about the process that owns a data directory. For information: the lock alone decides. */
export const OwnerInfo = z.object({
  pid: z.number().int(),
  startedAt: z.number(),
  /** Where it answers. */
  socket: z.string(),
  /** What it speaks there. */
  protocol: z.string(),
  /** Where others reach it, if it serves. */
  address: z.string().optional(),
});
export type OwnerInfo = z.infer<typeof OwnerInfo>;

/** Keep it referenced: a lock that is collected as garbage is released. */
export type OwnerLock = {
  readonly info: OwnerInfo;
  /** Says where others reach it. */
  tellAddress(address: string): void;
  release(): void;
};

/** `owner` is missing, or the one before, for the moment in which a new owner has not yet written who it is. */
export type NotOwner =
  | { readonly kind: "owned"; readonly owner: OwnerInfo | undefined }
  | { readonly kind: "failed"; readonly failure: DatabaseFailure };

/**
 * Makes this process the owner of a data directory, or tells who is. The lock is the write lock of an empty SQLite file:
 * the kernel takes it back when the process ends, however it ends, so no lock is ever stale. IMMEDIATE, not EXCLUSIVE:
 * one lock byte decides, while EXCLUSIVE also waits for shared locks, and two racing processes could both lose.
 * POSIX locks go with the first close of the file by the process: nobody else may open `owner.lock`, not even to copy it.
 */
export function takeOwnership(directory: string, info: OwnerInfo): Result<OwnerLock, NotOwner> {
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    database = new DatabaseSync(join(directory, "owner.lock"), { timeout: 0 });
    database.exec("BEGIN IMMEDIATE");
    writeInfo(directory, info);
    return ok({
      info,
      tellAddress: (address) => writeInfo(directory, { ...info, address }),
      release: releasing(directory, database),
    });
  } catch (error) {
    database?.close();
    const failure = failureOf(error);
    if (failure === undefined) throw error;
    if (failure.code === "storage_busy") return failed({ kind: "owned", owner: readOwner(directory) });
    return failed({ kind: "failed", failure });
  }
}

/** Who owns the directory, or owned it last and was killed. */
export function readOwner(directory: string): OwnerInfo | undefined {
  const path = infoPath(directory);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
  return OwnerInfo.safeParse(parsedJson(text)).data;
}

function writeInfo(directory: string, info: OwnerInfo): void {
  const unfinished = `${infoPath(directory)}.${info.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(info)}\n`, { mode: 0o600 });
  renameSync(unfinished, infoPath(directory));
}

function releasing(directory: string, database: DatabaseSync): () => void {
  let isReleased = false;
  return () => {
    if (isReleased) return;
    isReleased = true;
    // First the name, then the lock: the next owner's name must not be removed.
    rmSync(infoPath(directory), { force: true });
    database.close();
  };
}

function infoPath(directory: string): string {
  return join(directory, "owner.json");
}

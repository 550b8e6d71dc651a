import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { failed, ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { versionAt } from "./connections.ts";
import { failureOf } from "./failures.ts";

/**
 * Whether the database could be opened, and its format; undefined where there is none yet. Nothing is made, migrated or
 * held. `isInUse`: one of our own processes writes to it, so that a lock is no news.
 */
export function lookAtDatabase(
  path: string,
  { isInUse }: { readonly isInUse: boolean },
): Result<number | undefined, Failure> {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return ok(undefined);
    if (!found.isFile()) return failure("storage_broken", { why: "not_a_file" });
    // Before SQLite looks: it would leave a log beside a file that cannot be written.
    for (const place of [path, dirname(path)]) accessSync(place, constants.W_OK);
    const version = versionAt(path, busyTimeoutMs);
    if (version.ok && !isInUse) tryLock(path);
    return version;
  } catch (error) {
    const reason = failureOf(error);
    if (reason === undefined) throw error;
    return failed(reason);
  }
}

const busyTimeoutMs = 500;

function tryLock(path: string): void {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    database.exec("BEGIN IMMEDIATE; ROLLBACK");
  } finally {
    database.close();
  }
}

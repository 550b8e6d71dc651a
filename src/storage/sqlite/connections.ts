import { accessSync, chmodSync, constants, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { text } from "../rows.ts";
import { isHalfDone } from "./failures.ts";
import { migrate, readVersion } from "./migrations.ts";
import { syncNamesOf } from "./sync-folder.ts";

export type Connections = { readonly writer: DatabaseSync; readonly reader: DatabaseSync };

/**
 * Opens the file, makes or migrates it, and proves that it can be written. Throws what the world does to it as SQLite
 * or system errors; the connections it had opened by then are closed.
 */
export function openConnections(options: {
  path: string;
  synchronous: "full" | "normal";
  busyTimeoutMs: number;
}): Result<Connections, Failure<"storage_newer" | "storage_broken">> {
  const { path, synchronous, busyTimeoutMs } = options;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  accessSync(dirname(path), constants.W_OK);
  const version = lookAt(path, busyTimeoutMs);
  if (!version.ok) return version;
  const opened: DatabaseSync[] = [];
  try {
    const writer = new DatabaseSync(path, { timeout: busyTimeoutMs });
    opened.push(writer);
    // The files of the write-ahead log take over this mode.
    chmodSync(path, 0o600);
    const mode = writer.prepare("PRAGMA journal_mode = WAL").get();
    if (mode === undefined || text(mode, "journal_mode") !== "wal") {
      writer.close();
      return failure("storage_broken", { why: "no_wal" });
    }
    writer.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA journal_size_limit = ${walBytesMax}`);
    // SQLite sees to the names in its own folder, and nobody to those above, which may be as new: a power cut would take
    // all with them. Before the first migration, so that a start that is killed here does it the next time.
    if (version.value === 0) syncNamesOf(dirname(path));
    migrate(writer, { path, from: version.value });
    // A file that may only be read opens without a word, and a lock shows at the first write: ask for both now.
    writer.exec("BEGIN IMMEDIATE; DELETE FROM wake WHERE false; ROLLBACK");
    // From here on a lock is waited for without blocking the process; see group-commit.ts.
    writer.exec(`PRAGMA busy_timeout = ${blockingMsMax}`);
    const reader = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
    opened.push(reader);
    return ok({ writer, reader });
  } catch (error) {
    for (const database of opened) database.close();
    throw error;
  }
}

/** Leaves one file: the log is folded into the database, and nothing is lost when it alone is copied. */
export function closeConnections({ writer, reader }: Connections): void {
  reader.close();
  try {
    writer.exec("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // A full disk or a foreign lock. What was acknowledged is in the write-ahead log and is found at the next start.
  }
  writer.close();
}

const walBytesMax = 64 * 1024 * 1024;
const blockingMsMax = 10;

/** Read-only, and closed again: a database that is not ours to change must not even get its log folded in. */
function lookAt(path: string, timeout: number): Result<number, Failure<"storage_newer" | "storage_broken">> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return ok(0);
  if (!found.isFile()) return failure("storage_broken", { why: "not_a_file" });
  // Before SQLite looks: it would leave a log beside a read-only file that cannot be written either, ever after.
  accessSync(path, constants.W_OK);
  return versionAt(path, timeout);
}

/** Reads the version of a database that is there. */
export function versionAt(path: string, timeout: number): ReturnType<typeof readVersion> {
  try {
    return readAt(path, { readOnly: true, timeout });
  } catch (error) {
    // Ended in the middle of being made, or of becoming one with a log: the change is undone by whoever may write.
    if (isHalfDone(error)) return readAt(path, { timeout });
    throw error;
  }
}

function readAt(path: string, options: { readOnly?: boolean; timeout: number }): ReturnType<typeof readVersion> {
  const database = new DatabaseSync(path, options);
  try {
    return readVersion(database);
  } finally {
    database.close();
  }
}

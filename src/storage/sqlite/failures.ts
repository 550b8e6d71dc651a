import { systemCode } from "../../base/fault.ts";
import { type Failure, makeFailure } from "../../protocol/failure.ts";

export type DatabaseFailure = Failure<"storage_busy" | "storage_full" | "storage_read_only" | "storage_broken">;

/** What the world did to the database, as a value. Undefined: our own mistake, to be thrown on. */
export function failureOf(error: unknown): DatabaseFailure | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("errcode" in error && typeof error.errcode === "number") return failureOfSqlite(error.errcode, error.message);
  return failureOfSystem(systemCode(error));
}

/** A change was cut off that only a connection that may write can undo. */
export function isHalfDone(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === readOnlyRollback;
}

/** https://sqlite.org/rescode.html: the low byte is the primary code. */
function failureOfSqlite(errcode: number, message: string): DatabaseFailure | undefined {
  if (errcode === readOnlyMoved) return makeFailure("storage_broken", { why: "removed" });
  if (errcode === writeError || errcode === sharedMemoryError) return makeFailure("storage_full", {});
  switch (errcode & 0xff) {
    case 5: // BUSY
    case 6: // LOCKED
    case 15: // PROTOCOL: a race for the locks of the write-ahead log
      return makeFailure("storage_busy", {});
    case 13: // FULL
      return makeFailure("storage_full", {});
    case 8: // READONLY
    case 14: // CANTOPEN: the write-ahead log cannot be made beside the file
      return makeFailure("storage_read_only", {});
    case 10: // IOERR
      return makeFailure("storage_broken", { why: "io", said: `${message} (SQLite ${errcode})` });
    case 11: // CORRUPT
    case 26: // NOTADB
      return makeFailure("storage_broken", { why: "damaged", said: `${message} (SQLite ${errcode})` });
    default:
      return undefined;
  }
}

/**
 * SQLite answers FULL for ENOSPC alone. A used-up quota and a file size limit arrive as a failed write; a failing disk
 * shows when it is read or synced.
 */
const writeError = 778;
const sharedMemoryError = 4874;
const readOnlyMoved = 1032;
const readOnlyRollback = 776;

function failureOfSystem(code: string | undefined): DatabaseFailure | undefined {
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return makeFailure("storage_full", {});
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return makeFailure("storage_read_only", {});
    case "ENOTDIR":
    case "EEXIST":
    case "ELOOP":
    case "ENAMETOOLONG":
      return makeFailure("storage_broken", { why: "place", said: code });
    case "EIO":
      return makeFailure("storage_broken", { why: "io", said: code });
    default:
      return undefined;
  }
}

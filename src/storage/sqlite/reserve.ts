import { existsSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../base/clock.ts";

export type Reserve = {
  /** Gives the room back, so that a cancel and a failure can still be recorded on a full disk. */
  free(): void;
  /** Takes it again when there is plenty. Cheap while it is there. */
  restore(): void;
};

/** A file beside the database that only takes up room. */
export function openReserve(path: string, writer: DatabaseSync, clock: Clock): Reserve {
  const file = `${path}.reserve`;
  let isThere = existsSync(file);
  let triedAt = Number.NEGATIVE_INFINITY;

  function restore(): void {
    if (isThere) return;
    const now = clock.monotonic();
    if (now - triedAt < retryMs) return;
    triedAt = now;
    if (!hasRoom(dirname(path))) return;
    isThere = fill(file);
    writer.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
  }

  restore();
  return {
    free() {
      isThere = false;
      triedAt = clock.monotonic();
      freeReserve(path);
      // Folding the log into the database would eat up what was freed, and fail all the same.
      writer.exec("PRAGMA wal_autocheckpoint = 0");
    },
    restore,
  };
}

/** True when there was something to free. */
export function freeReserve(path: string): boolean {
  const wasThere = existsSync(`${path}.reserve`);
  rmSync(`${path}.reserve`, { force: true });
  return wasThere;
}

const reserveBytes = 1024 * 1024;
/** Taking the last free megabyte would make the disk full by ourselves. */
const roomBytesMin = 8 * reserveBytes;
const retryMs = 30_000;
/** SQLite's own default. */
const checkpointPages = 1000;

function hasRoom(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize >= roomBytesMin;
  } catch {
    return false;
  }
}

/** With written bytes: a file that was only made longer takes no room. */
function fill(file: string): boolean {
  try {
    writeFileSync(file, Buffer.alloc(reserveBytes, "reserve "), { mode: 0o600 });
    return true;
  } catch {
    // A quota that statfs does not know of. The next try may be luckier; storing goes on without.
    rmSync(file, { force: true });
    return false;
  }
}

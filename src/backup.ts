import { existsSync } from "node:fs";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { createGzip } from "node:zlib";
import { systemCodeOrThrow, throwUnlessNetwork } from "./base/fault.ts";
import { ok, type Result } from "./base/result.ts";
import type { Fetch } from "./client/client.ts";
import { backupRoutes } from "./protocol/backup-routes.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import type { BackupReport } from "./terminal/terminal.ts";
import type { BackupFault, RestoreFault } from "./words/words.ts";
import { BrokenOff, joined, readArchive } from "./workspace/workspace.ts";

export type BackupWanted = {
  /** The way to the yard: `Attached.fetch`. It may be in another process, and be busy. */
  readonly fetch: Fetch;
  /** The new file; with the ending `.gz` it is compressed. */
  readonly path: string;
  readonly includesKey: boolean;
  readonly onProgress?: ((news: BackupProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};
export type BackupProgress = { readonly part: "write" | "compare"; readonly bytes: number };

export type BackupMade = Omit<BackupReport, "path">;

/** Writes a backup of the yard into a new file, reads it back and compares; otherwise nothing is left behind. */
export async function makeBackup(wanted: BackupWanted): Promise<Result<BackupMade, Failure>> {
  const { path, onProgress } = wanted;
  // Looked at before anything is asked for, and again before the file gets its name.
  if (existsSync(path)) return failure("backup_exists", { path });
  const part = `${path}.part`;
  try {
    const written = await write(part, wanted);
    if (!written.ok) return written;
    let hasKey = false;
    const lookForKey = async ({ path: taken }: { path: string }) => {
      hasKey ||= taken === "key";
    };
    const read = await readArchive(part, { take: lookForKey }, (bytes) => onProgress?.({ part: "compare", bytes }));
    if (!read.ok)
      return "fault" in read.failure ? failure("backup_failed", { why: faultOf(read.failure.fault.code) }) : unequal;
    if (existsSync(path)) return failure("backup_exists", { path });
    const { size: bytes } = await stat(part);
    await rename(part, path);
    await sync(dirname(path));
    const { conversations, files, leftOut, leftOutCount, changing } = read.value.end;
    return ok({ bytes, conversations, files, leftOut, leftOutCount, changing, hasKey });
  } catch (error) {
    const code = codeOf(error);
    return failure("backup_failed", { why: /^ENO(?:ENT|TDIR)$/.test(code) ? "no_folder" : faultOf(code) });
  } finally {
    // In a folder that may not be entered there is nothing of ours.
    await rm(part, { force: true }).catch(codeOf);
  }
}

const unequal = failure("backup_failed", { why: "unequal" });

async function write(part: string, wanted: BackupWanted): Promise<Result<void, Failure>> {
  const { fetch, includesKey, path, signal, onProgress } = wanted;
  await rm(part, { force: true });
  const file = await open(part, "wx", 0o600);
  try {
    const query = includesKey ? "?key=true" : "";
    const init = { method: "GET", headers: {}, ...(signal && { signal }) };
    const answer = await fetch(`${baseUrl}${backupRoutes.backup.path}${query}`, init).catch((error: unknown) =>
      throwUnlessNetwork(error, signal),
    );
    if (answer?.ok !== true || answer.body === null) return failure("backup_failed", { why: "broken_off" });
    const pieces = brokenOffWords(answer.body);
    await take(path.endsWith("gz") ? joined(pieces, createGzip()) : pieces, file, (bytes) =>
      onProgress?.({ part: "write", bytes }),
    );
    await file.sync();
    return ok(undefined);
  } finally {
    await file.close();
  }
}

/** Requests over a socket or in this process do not look at it. */
const baseUrl = "http://localhost";

async function take(pieces: AsyncIterable<Uint8Array>, file: FileHandle, onBytes: (bytes: number) => void) {
  let bytes = 0;
  for await (const piece of pieces) {
    await file.writeFile(piece);
    bytes += piece.length;
    onBytes(bytes);
  }
}

/** An end before its time is told from a disk that is full. */
async function* brokenOffWords(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new BrokenOff("the server broke off", { cause });
      });
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Makes a file, or the names in a folder, durable. */
export async function sync(path: string): Promise<void> {
  const opened = await open(path);
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

/** What the world did to the disk or to the way there; our own mistakes are thrown on. */
export function codeOf(error: unknown): string {
  return error instanceof BrokenOff ? "BROKEN_OFF" : systemCodeOrThrow(error);
}

/** Codes of the system, and of failures that a server told. */
function faultOf(code: string): BackupFault {
  return /^(?:BROKEN_OFF|ECONN.*|UND_.*|ERR_STREAM.*)$/.test(code) ? "broken_off" : diskFaultOf(code);
}

/** What the disk does to whoever writes or reads it back. */
export function diskFaultOf(code: string): RestoreFault {
  if (/^(?:ENOSPC|EDQUOT|EFBIG|storage_full)$/.test(code)) return "full";
  if (/^(?:EACCES|EPERM|EROFS|ENOENT|ENOTDIR|EISDIR|storage_read_only)$/.test(code)) return "read_only";
  return "io";
}

import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fsync,
  mkdirSync,
  openSync,
  statSync,
  unlinkSync,
  write,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { whenOver } from "../base/background.ts";
import { systemCode } from "../base/fault.ts";
import { makeFailure } from "../protocol/failure.ts";
import { giveTo } from "./descend.ts";
import { BrokenOff, Refused } from "./faults.ts";
import type { Visit } from "./files.ts";
import type { FileData, WriteOptions } from "./one-workspace.ts";
import { shownPath } from "./path.ts";

const writeSome = promisify(write);
const sync = promisify(fsync);

/** A whole file on the disk that has no place yet. */
export type Staged = { readonly path: string; readonly bytes: number; readonly hash: string; readonly mode: number };

/** Takes in what comes, as long as it is allowed; a failure leaves nothing behind. */
export async function stage(visit: Visit, data: FileData, options: WriteOptions): Promise<Staged> {
  const folder = await stagingFor(visit);
  const path = join(folder, visit.ids.hex(24));
  const fd = openNew(path, folder);
  try {
    const { bytes, hash } = await takeIn(fd, data, visit, options);
    const refused = options.inspect?.();
    if (refused !== undefined) throw new Refused(refused);
    const { mode = 0o644 } = options;
    if (visit.at.uid !== undefined) giveTo(fd, visit.at.uid);
    fchmodSync(fd, mode);
    await sync(fd);
    return { path, bytes, hash, mode };
  } catch (error) {
    discard(path);
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** An image that is not there yet is made for it: nothing can be moved from one file system to another. */
async function stagingFor({ at, stagingFolder }: Visit): Promise<string> {
  if (at.image === undefined || at.image.isMade) return stagingFolder;
  const made = await at.make();
  if (!made.ok) throw new Refused(made.failure);
  return at.image.staging;
}

/**
 * What the disk takes for now, as files there bear it; undefined when it takes nothing. No file is made for that: the
 * next sync of anybody would wait for it.
 */
export function timeOfDisk({ stagingFolder }: Pick<Visit, "stagingFolder">): number | undefined {
  try {
    if (!existsSync(stagingFolder)) mkdirSync(stagingFolder, { recursive: true, mode: 0o700 });
    // The mode that it has: only the time of the change is new. Where even that stays, files count as changed later.
    chmodSync(stagingFolder, statSync(stagingFolder).mode & 0o7777);
    return statSync(stagingFolder).ctimeMs;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

function openNew(path: string, folder: string): number {
  try {
    return openSync(path, "wx", 0o600);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return openSync(path, "wx", 0o600);
  }
}

async function takeIn(fd: number, data: FileData, visit: Visit, options: WriteOptions) {
  const { limit, signal } = options;
  const hash = createHash("sha256");
  let [bytes, bytesSynced] = [0, 0];
  let syncing: Promise<void> | undefined;
  try {
    for await (const chunk of chunksOf(data, visit, signal)) {
      bytes += chunk.length;
      checkSize(bytes, visit, limit);
      // Both at once; the next piece is taken when this one is done with, for its memory may be used again.
      const writing = writeAll(fd, chunk);
      hash.update(chunk);
      await writing;
      if (bytes - bytesSynced < syncEachBytes) continue;
      await syncing;
      bytesSynced = bytes;
      syncing = sync(fd);
      void whenOver(syncing); // It is told where it is waited for.
    }
    await syncing;
  } catch (error) {
    if (syncing !== undefined) await whenOver(syncing); // Nobody may be at it any more when the file is closed.
    throw error;
  }
  return { bytes, hash: hash.digest("hex") };
}

/** The disk begins while the rest of a large file comes in: there is less to wait for at its end. */
const syncEachBytes = 8 * 1024 * 1024;

/** A source that breaks off is the transfer's fault, not ours. */
async function* chunksOf(
  data: FileData,
  { path }: Visit,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void> {
  if (typeof data === "string") return yield Buffer.from(data);
  if (data instanceof Uint8Array) return yield asBuffer(data);
  try {
    for await (const chunk of signal === undefined ? data : stoppable(data, signal)) yield asBuffer(chunk);
  } catch (error) {
    if (!(error instanceof BrokenOff)) throw error;
    throw new Refused(makeFailure("write_failed", { path: shownPath(path), why: "broken_off" }), { cause: error });
  }
}

/** Ends with an error when it is stopped, also while the source says nothing; then nobody waits for the source any more. */
async function* stoppable<T>(data: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void> {
  const source = data[Symbol.asyncIterator]();
  let stop = () => {};
  const stopped = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
    signal.addEventListener("abort", stop);
  });
  try {
    for (;;) {
      const next = signal.aborted ? undefined : await Promise.race([source.next(), stopped]);
      if (next === undefined) throw new BrokenOff("it was stopped", { cause: signal.reason });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    const ended = whenOver(Promise.resolve(source.return?.()));
    if (!signal.aborted) await ended;
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** No single file can be larger than its workspace: what is more need not even be taken in. */
function checkSize(sizeBytes: number, { path, limits }: Visit, limit: WriteOptions["limit"]): void {
  if (limit !== undefined && sizeBytes > limit.bytes)
    throw new Refused(
      makeFailure("too_large", { path: shownPath(path), sizeBytes, limitBytes: limit.bytes, setting: limit.setting }),
    );
  if (sizeBytes <= limits.bytesMax) return;
  const quota = { what: "bytes", limit: limits.bytesMax, setting: "workspace.bytes_max" } as const;
  throw new Refused(makeFailure("quota_exceeded", { path: shownPath(path), ...quota }));
}

async function writeAll(fd: number, chunk: Buffer): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    written += (await writeSome(fd, chunk, written, chunk.length - written, null)).bytesWritten;
  }
}

/** Nothing to do when it has found its place. */
export function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}

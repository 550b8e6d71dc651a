import { closeSync, fstatSync, mkdirSync, openSync, read, unlinkSync, write } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemCode } from "../base/fault.ts";
import type { Ids } from "../base/ids.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { makeFailure } from "../protocol/failure.ts";
import { BrokenOff, failureOf } from "./faults.ts";
import type { Layout } from "./layout.ts";
import { readRange } from "./look.ts";
import type { FileFailure } from "./one-workspace.ts";
import { shownPath } from "./path.ts";

const readSome = promisify(read);
const writeSome = promisify(write);

/** Bytes whose place is not known yet, in a file that has no name: it is gone with us, however we end. */
export type Spooled = {
  readonly bytes: number;
  /** From the beginning; each piece is good until the next one is asked for. */
  chunks(): AsyncIterable<Uint8Array>;
  read(offset: number, bytesMax: number): Promise<Buffer>;
  /** Lets go of the bytes. Can be called twice. */
  close(): void;
};

export type SpoolOptions = {
  /** As the sender calls it, for refusals. */
  readonly name: string;
  /** `too_large` as soon as more has come in. */
  readonly limit: { readonly bytes: number; readonly setting: string };
};

/** Takes in what comes, before it is known where it goes. */
export async function openSpool(
  { layout, ids }: { readonly layout: Layout; readonly ids: Ids },
  source: AsyncIterable<Uint8Array>,
  { name, limit }: SpoolOptions,
): Promise<Result<Spooled, FileFailure>> {
  const path = shownPath(name);
  let fd: number | undefined;
  try {
    fd = openNameless(layout.stagingFolder, ids);
    let sizeBytes = 0;
    for await (const chunk of orBrokenOff(source)) {
      if (chunk === "broken off") return refused(fd, makeFailure("write_failed", { path, why: "broken_off" }));
      await writeAll(fd, chunk);
      sizeBytes += chunk.length;
      if (sizeBytes <= limit.bytes) continue;
      const sizes = { sizeBytes, limitBytes: limit.bytes, setting: limit.setting };
      return refused(fd, makeFailure("too_large", { path, ...sizes }));
    }
    return ok(spooledAt(fd));
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    if (systemCode(error) === undefined) throw error;
    return failed(failureOf(error, "write", name));
  }
}

function openNameless(folder: string, ids: Ids): number {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, ids.hex(24));
  const fd = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  return fd;
}

/** A sender that broke off, as a value: what the disk throws is told apart from it. */
export async function* orBrokenOff(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array | "broken off", void> {
  const pieces = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      let next: IteratorResult<Uint8Array>;
      try {
        next = await pieces.next();
      } catch (error) {
        if (!(error instanceof BrokenOff)) throw error;
        return yield "broken off";
      }
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await pieces.return?.();
  }
}

function refused(fd: number, reason: FileFailure) {
  closeSync(fd);
  return failed(reason);
}

async function writeAll(fd: number, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; )
    written += (await writeSome(fd, chunk, written, chunk.length - written, null)).bytesWritten;
}

function spooledAt(fd: number): Spooled {
  const { size: bytes } = fstatSync(fd);
  let isOpen = true;
  return {
    bytes,
    chunks: () => inOneBuffer((buffer, position) => readSome(fd, buffer, 0, buffer.length, position)),
    read: (offset, bytesMax) => readRange({ fd, stat: { bytes } }, offset, bytesMax),
    close() {
      if (isOpen) closeSync(fd);
      isOpen = false;
    },
  };
}

/** Each costs a way to the disk's thread and back. */
const pieceBytes = 1024 * 1024;

/** A large file read into new memory each time would be as much garbage as it has bytes. */
export async function* inOneBuffer(
  read: (buffer: Buffer, position: number) => Promise<{ readonly bytesRead: number }>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const buffer = Buffer.allocUnsafeSlow(pieceBytes);
  for (let position = 0; ; ) {
    const { bytesRead } = await read(buffer, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

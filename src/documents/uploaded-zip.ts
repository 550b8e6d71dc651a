import { isUtf8 } from "node:buffer";
import { crc32, createInflateRaw } from "node:zlib";
import { ok, type Result } from "../base/result.ts";
import { decodeText } from "../extract/decode.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { ArchiveFault } from "../words/words.ts";
import { BrokenOff, joined, parsePath, type Spooled, shownPath } from "../workspace/workspace.ts";

// Archives that a caller unpacks into a workspace: read piece by piece from the disk, and refused wherever they are not plain.
// extract/packed/ has another reader, for documents: it has all bytes in memory, and passes over what other programs write oddly.

/** A file in an archive. `chunks` throws `BrokenOff` where it is not what the archive says of it. */
export type ArchivedFile = {
  /** Below the folder that it is unpacked into; checked. */
  readonly path: string;
  readonly bytes: number;
  readonly chunks: () => AsyncGenerator<Uint8Array, void, undefined>;
};

const unpackLimits = { entriesMax: 10_000, bytesMax: 512 * 1024 ** 2, ratioMax: 100, ratioFreeBytes: 1024 ** 2 };

type Unfit = Failure<"archive_unfit" | "archive_too_large">;
type Source = Pick<Spooled, "bytes" | "read">;

/**
 * The files of a ZIP archive. Everything that its directory says is checked before one byte is unpacked: names that
 * lead elsewhere, links, sizes, and entries that share their bytes. What it says of sizes is held to when they are read.
 */
export async function readUploadedZip(source: Source, name: string): Promise<Result<readonly ArchivedFile[], Unfit>> {
  const shown = shownPath(name);
  const unfit = (why: ArchiveFault, entry = "") =>
    failure("archive_unfit", { name: shown, entry: entry === "" ? "" : shownPath(entry), why });
  const tooLarge = (what: "files" | "bytes" | "ratio", limit: number) =>
    failure("archive_too_large", { name: shown, what, limit });

  const directory = await findDirectory(source);
  if (directory === undefined) return unfit("broken");
  if (directory.entries > unpackLimits.entriesMax) return tooLarge("files", unpackLimits.entriesMax);
  const entries = parseDirectory(await source.read(directory.offset, directory.bytes), directory.entries);
  if (entries === undefined) return unfit("broken");
  for (const entry of entries) {
    const why = faultOf(entry);
    if (why !== undefined) return unfit(why, entry.name);
  }
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  if (bytes > unpackLimits.bytesMax) return tooLarge("bytes", unpackLimits.bytesMax);
  if (bytes > unpackLimits.ratioFreeBytes && bytes > source.bytes * unpackLimits.ratioMax)
    return tooLarge("ratio", unpackLimits.ratioMax);
  const places = await placesOf(source, entries, directory.offset);
  if (places === undefined) return unfit("broken");
  return ok(
    places
      .filter(({ entry }) => !entry.isFolder)
      .map(({ entry, start }) => ({
        path: entry.name
          .split("/")
          .filter((part) => part !== "" && part !== ".")
          .join("/"),
        bytes: entry.bytes,
        chunks: () => unpacked(source, entry, start),
      })),
  );
}

type Directory = { readonly entries: number; readonly offset: number; readonly bytes: number };

const endBytes = 22;
const commentBytesMax = 65_535;
const readBytesMax = 16 * 1024 ** 2;

/** The record at the end that says where the directory is. */
async function findDirectory(source: Source): Promise<Directory | undefined> {
  const start = Math.max(0, source.bytes - endBytes - commentBytesMax);
  const tail = await source.read(start, source.bytes - start);
  for (let at = tail.length - endBytes; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== 0x06054b50 || at + endBytes + tail.readUInt16LE(at + 20) !== tail.length) continue;
    const entries = tail.readUInt16LE(at + 10);
    const [bytes, offset] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)];
    const isOne = tail.readUInt16LE(at + 4) === 0 && tail.readUInt16LE(at + 8) === entries;
    const fits = offset + bytes <= start + at && bytes <= readBytesMax;
    return isOne && fits ? { entries, offset, bytes } : undefined;
  }
  return undefined;
}

type Entry = {
  readonly name: string;
  readonly isFolder: boolean;
  readonly isLink: boolean;
  readonly isEncrypted: boolean;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly bytes: number;
  readonly offset: number;
};

const entryBytes = 46;

function parseDirectory(bytes: Buffer, count: number): Entry[] | undefined {
  const entries: Entry[] = [];
  let at = 0;
  while (entries.length < count) {
    if (at + entryBytes > bytes.length || bytes.readUInt32LE(at) !== 0x02014b50) return undefined;
    const nameEnd = at + entryBytes + bytes.readUInt16LE(at + 28);
    const end = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    if (end > bytes.length) return undefined;
    const flags = bytes.readUInt16LE(at + 8);
    const name = nameOf(bytes.subarray(at + entryBytes, nameEnd), (flags & 0x800) !== 0);
    // Only systems with such modes write them; elsewhere these bits are zero.
    const kind = (bytes.readUInt32LE(at + 38) >>> 16) & 0o170000;
    entries.push({
      name,
      isFolder: name.endsWith("/") || kind === 0o040000,
      isLink: kind !== 0 && kind !== 0o100000 && kind !== 0o040000,
      isEncrypted: (flags & 1) !== 0,
      method: bytes.readUInt16LE(at + 10),
      crc: bytes.readUInt32LE(at + 16),
      packedBytes: bytes.readUInt32LE(at + 20),
      bytes: bytes.readUInt32LE(at + 24),
      offset: bytes.readUInt32LE(at + 42),
    });
    at = end;
  }
  return entries;
}

/** In UTF-8 where the archive says so; others write them in whatever their system uses, GB18030 for one. */
function nameOf(bytes: Buffer, isMarked: boolean): string {
  if (isMarked || isUtf8(bytes)) return bytes.toString("utf8");
  return decodeText(bytes)?.text ?? bytes.toString("latin1");
}

function faultOf({ name, isFolder, isLink, isEncrypted, method, bytes, packedBytes }: Entry): ArchiveFault | undefined {
  if (isLink) return "link";
  if (isEncrypted) return "encrypted";
  const names = parsePath(name);
  if (!names.ok || names.value.length === 0) return "path";
  if (isFolder) return undefined;
  if (method !== stored && method !== deflated) return "method";
  return method === stored && bytes !== packedBytes ? "broken" : undefined;
}

const stored = 0;
const deflated = 8;
const headBytes = 30;

type Placed = { readonly entry: Entry; readonly start: number };

/** Where the bytes of each begin. Entries that share bytes are how a small archive claims to hold a large one. */
async function placesOf(source: Source, entries: readonly Entry[], end: number): Promise<Placed[] | undefined> {
  const placed: Placed[] = [];
  let limit = end;
  for (const entry of entries.toSorted((one, other) => other.offset - one.offset)) {
    const head = await source.read(entry.offset, headBytes);
    if (head.length < headBytes || head.readUInt32LE(0) !== 0x04034b50) return undefined;
    const start = entry.offset + headBytes + head.readUInt16LE(26) + head.readUInt16LE(28);
    if (start + entry.packedBytes > limit) return undefined;
    limit = entry.offset;
    placed.push({ entry, start });
  }
  return placed.reverse();
}

const pieceBytes = 64 * 1024;

async function* unpacked(source: Source, entry: Entry, start: number): AsyncGenerator<Uint8Array, void, undefined> {
  const packed = rangeOf(source, start, entry.packedBytes);
  const pieces = entry.method === stored ? packed : inflated(packed);
  let [bytes, crc] = [0, 0];
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > entry.bytes) throw new BrokenOff("more than the archive says");
    crc = crc32(piece, crc);
    yield piece;
  }
  if (bytes !== entry.bytes || crc !== entry.crc) throw new BrokenOff("not what the archive says");
}

async function* inflated(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* joined(packed, createInflateRaw());
  } catch (error) {
    // Those of zlib alone: a disk that cannot be read is no fault of the archive.
    if (!(error instanceof Error && "code" in error && String(error.code).startsWith("Z_"))) throw error;
    throw new BrokenOff("cannot be unpacked", { cause: error });
  }
}

async function* rangeOf(source: Source, start: number, bytes: number): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < bytes; at += pieceBytes) yield source.read(start + at, Math.min(pieceBytes, bytes - at));
}

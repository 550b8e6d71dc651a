import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import type { Header } from "tar-stream";
import { z } from "zod";
import { systemCode } from "../base/fault.ts";
import { parsedJson } from "../base/json.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { type Failure, failure, makeFailure } from "../protocol/failure.ts";
import type { BrokenBackupFault } from "../words/words.ts";
import {
  ArchiveEnd,
  ArchiveFault,
  ArchiveHead,
  archiveFormat,
  faultName,
  headName,
  type Listed,
  lineOf,
  listName,
  sha256,
} from "./archive-format.ts";
import { Refused } from "./faults.ts";
import { joined } from "./joined.ts";

/** What takes the entries of an archive; what it throws is thrown on. */
export type ArchiveTaker = {
  /** `pieces` are those of a file; they must be read to their end. */
  take(listed: Listed, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  /** The list of all entries with their hashes, as it stands in the archive. */
  list?(pieces: Uint8Array): Promise<void>;
};

export type ArchiveRead = { readonly head: ArchiveHead; readonly end: ArchiveEnd };
/** `fault`: what the server said when it broke off. */
export type ArchiveFailure = Failure<"backup_broken" | "backup_newer"> | { readonly fault: ArchiveFault };

/** Smaller entries of our own: the head, the reason of a failure, and the last line of the list. */
const smallBytesMax = 2 * 1024 ** 2;

/** Reads an archive from its first to its last byte and compares every file with the list at its end. */
export async function readArchive(
  path: string,
  taker: ArchiveTaker,
  onProgress: (readBytes: number) => void = () => {},
): Promise<Result<ArchiveRead, ArchiveFailure>> {
  let missing: BrokenBackupFault = "unreadable";
  const source = await openSource(path, onProgress).catch((error: unknown) => {
    const code = systemCode(error);
    if (code === undefined) throw error;
    if (code === "ENOENT" || code === "ENOTDIR") missing = "no_file";
    return undefined;
  });
  if (source === undefined) return broken(missing);
  const { extract } = await import("tar-stream");
  let isOurs = false;
  try {
    return await readEntries(joined(source, extract()), taker, () => {
      isOurs = true;
    });
  } catch (error) {
    if (error instanceof Unusable) return failed(error.failure);
    if (error instanceof TakerFault) throw error.cause;
    const fault = faultOf(error);
    if (fault === undefined) throw error;
    return broken(fault === "changed" && !isOurs ? "no_backup" : fault);
  }
}

/** Thrown inside this file alone. */
class Unusable extends Error {
  readonly failure: ArchiveFailure;

  constructor(reason: ArchiveFailure) {
    super("the archive cannot be used");
    this.failure = reason;
  }
}

/** What went wrong is not the archive's. */
class TakerFault extends Error {}

function broken(why: BrokenBackupFault) {
  return failure("backup_broken", { why });
}

function unusable(why: BrokenBackupFault): Unusable {
  return new Unusable(makeFailure("backup_broken", { why }));
}

/** What the readers of tar and gzip throw; anything else is our own mistake. */
function faultOf(error: unknown): BrokenBackupFault | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = systemCode(error);
  if (/unexpected end/i.test(error.message)) return "cut";
  // Those of zlib have a code, but none of the system. Whoever waits for a piece then hears that the stream is gone.
  const isUnpackable = "code" in error && String(error.code).startsWith("Z_");
  if (isUnpackable || /tar header|premature close|checksum|stream was destroyed/i.test(error.message)) return "changed";
  return code === undefined ? undefined : "unreadable";
}

async function openSource(path: string, onProgress: (readBytes: number) => void): Promise<AsyncIterable<Uint8Array>> {
  const file = await open(path);
  const magic = Buffer.alloc(2);
  try {
    await file.read(magic, 0, 2, 0);
  } finally {
    await file.close();
  }
  async function* counted(): AsyncGenerator<Uint8Array, void, undefined> {
    let bytes = 0;
    for await (const piece of createReadStream(path, { highWaterMark: 1024 ** 2 })) {
      bytes += piece.length;
      onProgress(bytes);
      yield piece;
    }
  }
  return magic.equals(gzipMagic) ? joined(counted(), createGunzip()) : counted();
}

const gzipMagic = Buffer.from([0x1f, 0x8b]);

/** An entry as the reader of tar gives it. */
type Archived = AsyncIterable<unknown> & { readonly header: Header };

async function readEntries(
  entries: AsyncIterable<Archived>,
  taker: ArchiveTaker,
  onHead: () => void,
): Promise<Result<ArchiveRead, ArchiveFailure>> {
  let head: ArchiveHead | undefined;
  let end: ArchiveEnd | undefined;
  const lines = { hash: sha256(), bytes: 0 };
  for await (const entry of entries) {
    const { header } = entry;
    const pieces = bytesOf(entry);
    if (end !== undefined) throw unusable("changed");
    if (head === undefined) {
      if (header.name !== headName) throw unusable("no_backup");
      const text = await small(header, pieces);
      head = readHead(text);
      onHead();
      const bytes = Buffer.from(text);
      note(lines, { ...listedOf(header), bytes: bytes.length, hash: sha256().update(bytes).digest("hex") });
    } else if (header.name === faultName) {
      const fault = parsed(ArchiveFault, await small(header, pieces));
      return failed({ fault });
    } else if (header.name === listName) {
      end = await readList(pieces, lines, taker);
    } else {
      note(lines, await takeEntry(header, pieces, taker));
    }
  }
  if (head === undefined) return broken("no_backup");
  return end === undefined ? broken("cut") : ok({ head, end });
}

type Lines = { readonly hash: ReturnType<typeof sha256>; bytes: number };

function note(lines: Lines, listed: Listed): void {
  const line = Buffer.from(lineOf(listed));
  lines.hash.update(line);
  lines.bytes += line.length;
}

async function takeEntry(header: Header, pieces: AsyncIterable<Uint8Array>, taker: ArchiveTaker): Promise<Listed> {
  const listed = listedOf(header);
  const hash = sha256();
  let bytes = 0;
  async function* counted() {
    for await (const piece of pieces) {
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  const source = counted();
  await taker.take(listed, source).catch((cause: unknown) => {
    throw faultFrom(cause) ?? new TakerFault("what takes the entries broke down", { cause });
  });
  for await (const _ of source); // A taker that is not interested leaves it to us.
  return listed.type === "file" ? { ...listed, bytes, hash: hash.digest("hex") } : listed;
}

/** What a taker throws because of the archive: it broke off, has a name twice, or one below a link or a file. */
function faultFrom(cause: unknown): Error | undefined {
  if (cause instanceof Unusable) return cause;
  if (cause instanceof Refused) {
    const isDisk = cause.reason.code === "write_failed";
    return isDisk ? new TakerFault("the disk did not take it", { cause: cause.cause }) : unusable("unsafe");
  }
  const fault = systemCode(cause) === "EEXIST" ? "changed" : faultOf(cause);
  return fault === "cut" || fault === "changed" ? unusable(fault) : undefined;
}

/** The list begins with exactly the lines that we would have written. */
async function readList(pieces: AsyncIterable<Uint8Array>, lines: Lines, taker: ArchiveTaker): Promise<ArchiveEnd> {
  const hash = sha256();
  let left = lines.bytes;
  const rest: Uint8Array[] = [];
  let restBytes = 0;
  for await (const piece of pieces) {
    const own = piece.subarray(0, left);
    hash.update(own);
    await taker.list?.(own);
    left -= own.length;
    restBytes += piece.length - own.length;
    if (restBytes > smallBytesMax) throw unusable("changed");
    if (own.length < piece.length) rest.push(piece.subarray(own.length));
  }
  if (hash.digest("hex") !== lines.hash.digest("hex")) throw unusable("changed");
  return parsed(LastLine, Buffer.concat(rest).toString()).end;
}

const LastLine = z.object({ end: ArchiveEnd });

function readHead(text: string): ArchiveHead {
  const head = parsed(z.looseObject({ format: z.number().int() }), text, "no_backup");
  if (head.format > archiveFormat)
    throw new Unusable(makeFailure("backup_newer", { found: head.format, known: archiveFormat }));
  return parsed(ArchiveHead, text, "no_backup");
}

function parsed<T>(schema: z.ZodType<T>, text: string, fault: BrokenBackupFault = "changed"): T {
  const read = schema.safeParse(parsedJson(text));
  if (!read.success) throw unusable(fault);
  return read.data;
}

async function small({ size }: Header, pieces: AsyncIterable<Uint8Array>): Promise<string> {
  if (size > smallBytesMax) throw unusable("changed");
  const read: Uint8Array[] = [];
  for await (const piece of pieces) read.push(piece);
  return Buffer.concat(read).toString();
}

const types: Readonly<Record<string, Listed["type"]>> = { file: "file", directory: "folder", symlink: "link" };

/** Only names that we would have given: nothing that lies elsewhere can be named. */
function listedOf(header: Header): Listed {
  const { mode, linkname } = header;
  const type = types[header.type];
  const pax = Pax.safeParse(header.pax);
  if (type === undefined || !pax.success) throw unusable("changed");
  const raw = pax.data["AGENTYARD.path"];
  const path = type === "folder" ? header.name.replace(/\/$/, "") : header.name;
  if (!isOurPath[type].test(path) || path.split("/").some((name) => isUnsafe.test(name))) throw unusable("unsafe");
  // The bytes say of the path what it cannot, and nothing else: what was checked of one counts for both.
  if (raw !== undefined && Buffer.from(raw, "base64").toString("utf8") !== path) throw unusable("unsafe");
  const target = type === "link" ? linkname : undefined;
  return { path, raw, type, mode: mode & 0o777, mtime: pax.data["AGENTYARD.mtime"], bytes: 0, target };
}

const Pax = z.looseObject({ "AGENTYARD.path": z.string().optional(), "AGENTYARD.mtime": z.coerce.number() });
/** What we go to by its path later on (the key, the database, folders of conversations, earlier contents) is never a link. */
const isOurPath: Readonly<Record<Listed["type"], RegExp>> = {
  file: /^(?:(?:agentyard-backup\.json|sessions\.db|key)$|(?:workspaces?|trash|kept)\/)/,
  folder: /^(?:workspaces?|trash|kept)(?:\/|$)/,
  link: /^(?:workspaces?|trash)\/[^/]+\//,
};
const isUnsafe = /^(?:|\.|\.\.)$|\0/;

async function* bytesOf(entry: AsyncIterable<unknown>): AsyncGenerator<Uint8Array, void> {
  for await (const piece of entry) if (piece instanceof Uint8Array) yield piece;
}

import { crc32 } from "node:zlib";
import { Inflate } from "fflate";
import type { Losses } from "../losses.ts";
import { type Entry, readDirectory } from "./zip-directory.ts";

/** The parts of a packed document. */
export type Archive = {
  readonly names: readonly string[];
  has(name: string): boolean;
  /**
   * Hands out a part piece by piece, until `take` answers false. `missing` and `damaged` parts are no reason to give up
   * on the others; a `limit` is one for all of them.
   */
  read(name: string, take: (piece: Uint8Array) => boolean): PartEnd;
};
export type PartEnd = "whole" | "left" | "missing" | "damaged" | "limit";

export type ArchiveFault = "damaged" | "password" | "too_many";

/** Text packs to a tenth; what packs to less than a two hundredth is made to be large, but for its first megabytes. */
export const archiveLimits = {
  partBytesMax: 100 * 1024 * 1024,
  inflatedBytesMax: 500 * 1024 * 1024,
  ratioMax: 200,
  ratioFreeBytes: 10 * 1024 * 1024,
};
/** One piece of this can become a thousand times as much. */
const pieceBytes = 16 * 1024;
const handedBytes = 64 * 1024;
const headBytes = 30;
const stored = 0;
const deflated = 8;

/** Opens an archive in memory: nothing is ever written anywhere, so that names mean nothing but themselves. */
export function openArchive(data: Uint8Array, losses: Losses, limits = archiveLimits): Archive | ArchiveFault {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const entries = readDirectory(bytes);
  if (entries === undefined) return "damaged";
  if (entries === "too_many") return "too_many";
  const byName = new Map<string, Entry>();
  for (const entry of entries) {
    const key = entry.name.toLowerCase();
    if (byName.has(key)) losses.add("duplicate_parts", {});
    else byName.set(key, entry);
  }
  if (entries.some(({ isEncrypted }) => isEncrypted)) return "password";
  let inflated = 0;
  return {
    names: [...byName.values()].map(({ name }) => name),
    has: (name) => byName.has(name.toLowerCase()),
    read(name, take) {
      const entry = byName.get(name.toLowerCase());
      if (entry === undefined) return "missing";
      const end = unpack(bytes, entry, (piece, ofPart) => {
        inflated += piece.length;
        if (ofPart > limits.partBytesMax || inflated > limits.inflatedBytesMax) return "limit";
        if (ofPart > limits.ratioFreeBytes && ofPart > limits.ratioMax * entry.packedBytes) return "limit";
        return take(piece) ? "more" : "left";
      });
      if (end === "damaged") losses.add("damaged_parts", {});
      return end;
    },
  };
}

type Take = (piece: Uint8Array, ofPart: number) => "more" | "left" | "limit";

/** Sizes are held to what is really there; what the directory says of them is compared at the end. */
function unpack(bytes: Buffer, entry: Entry, take: Take): PartEnd {
  const { offset, method } = entry;
  if (offset < 0 || offset + headBytes > bytes.length || bytes.readUInt32LE(offset) !== 0x04034b50) return "damaged";
  const start = offset + headBytes + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
  const end = Math.min(start + entry.packedBytes, bytes.length);
  if (method !== stored && method !== deflated) return "damaged";
  let [length, crc] = [0, 0];
  for (const piece of method === stored ? piecesOf(bytes, start, end) : inflatedPieces(bytes, start, end)) {
    if (piece === "damaged") return "damaged";
    crc = crc32(piece, crc);
    // What one piece became may be over a limit by itself: it is handed out as far as it goes.
    for (let from = 0; from < piece.length; from += handedBytes) {
      const handed = piece.subarray(from, from + handedBytes);
      length += handed.length;
      const answer = take(handed, length);
      if (answer !== "more") return answer;
    }
  }
  return length === entry.bytes && crc === entry.crc ? "whole" : "damaged";
}

function* piecesOf(bytes: Buffer, start: number, end: number): Generator<Uint8Array, void> {
  for (let at = start; at < end; at += pieceBytes) yield bytes.subarray(at, Math.min(at + pieceBytes, end));
}

function* inflatedPieces(bytes: Buffer, start: number, end: number): Generator<Uint8Array | "damaged", void> {
  let out: Uint8Array[] = [];
  const inflate = new Inflate((piece) => out.push(piece));
  for (let at = start; at < end; at += pieceBytes) {
    const next = Math.min(at + pieceBytes, end);
    if (!push(inflate, bytes.subarray(at, next), next === end)) {
      yield* out;
      return yield "damaged";
    }
    yield* out;
    out = [];
  }
}

function push(inflate: Inflate, piece: Uint8Array, isLast: boolean): boolean {
  try {
    inflate.push(piece, isLast);
    return true;
  } catch {
    return false;
  }
}

import type { ShownOutput } from "./sandbox.ts";

/** What one stream of a program said: all that the guest let through, and what of it is shown. */
export interface Collected {
  add(bytes: Uint8Array): void;
  /** So many bytes more were said; the guest sent only the last of them. */
  cut(bytes: number, end?: Uint8Array): void;
  /** Nothing more comes: what is not used is let go. */
  end(): void;
  /** Bytes up to the last character that is complete by now. */
  whole(): number;
  /** After the end: so many bytes are lost behind those, then the last ones come. */
  rest(): { readonly lostBytes: number; readonly bytes: Uint8Array };
  keptBytes(): number;
  /** A piece of it from a byte on, not beyond another; `cutBytes`: so many are gone from there on. */
  piece(from: number, to: number): { readonly text: string; readonly cutBytes: number; readonly to: number };
  /** The beginning and the end, at most so many bytes of them; never a part of a character. */
  shown(bytesMax: number): Pick<ShownOutput, "text" | "cutBytes" | "keptBytes">;
  /** All that was collected; it may be asked for until it is shortened. */
  all(): Uint8Array;
  /** Keeps so many bytes of its beginning and its end; after the end. */
  shorten(bytesMax: number): void;
}

/** Stands in a text where its middle was cut out. */
const gap = "\n[…]\n";

export function createCollected(): Collected {
  // One buffer that grows: pieces would hold on to what they were cut from.
  let buffer = new Uint8Array(0);
  let length = 0;
  let cutBytes = 0;
  /** The last bytes of what was cut. */
  let end = new Uint8Array(0);
  let rest: (ReturnType<Collected["rest"]> & { readonly from: number }) | undefined;
  /** From here to there nothing is kept any more. */
  let gone = { from: Number.POSITIVE_INFINITY, to: Number.POSITIVE_INFINITY };
  const all = () => buffer.subarray(0, length);

  return {
    add(bytes) {
      if (length + bytes.length > buffer.length) {
        const larger = new Uint8Array(Math.max(2 * buffer.length, length + bytes.length, firstBytes));
        larger.set(all());
        buffer = larger;
      }
      buffer.set(bytes, length);
      length += bytes.length;
    },
    cut(bytes, last) {
      cutBytes += bytes;
      if (last !== undefined) end = Uint8Array.from(last);
    },
    end() {
      if (length < buffer.length) buffer = buffer.slice(0, length);
      rest ??= restOf(buffer, cutBytes, end);
    },
    whole: () => rest?.from ?? wholeLength(all()),
    rest: () => rest ?? { lostBytes: 0, bytes: end },
    keptBytes: () => buffer.length + end.length,
    piece(from, to) {
      if (from >= gone.from && from < gone.to) {
        const back = Math.min(gone.to, to);
        return { text: "", cutBytes: back - from, to: back };
      }
      const isBefore = from < gone.from;
      const moved = isBefore ? 0 : gone.to - gone.from;
      const start = from - moved;
      const last = (isBefore ? Math.min(to, gone.from) : to) - moved;
      const end = pieceEnd(buffer, start, last);
      return { text: textOf(buffer.subarray(start, end)), cutBytes: 0, to: end + moved };
    },
    shown(bytesMax) {
      const known = end.length === 0 ? all() : Buffer.concat([all(), end]);
      // Between what was kept and its end.
      const lostBytes = cutBytes - end.length;
      if (lostBytes === 0 && known.length <= bytesMax) return { text: textOf(known), cutBytes: 0 };
      const tailBytes = Math.min(Math.floor(bytesMax / 2), lostBytes > 0 ? end.length : known.length);
      const head = characterStart(all(), Math.min(length, bytesMax - tailBytes), -1);
      const tail = characterStart(known, known.length - tailBytes, 1);
      return {
        text: `${textOf(known.subarray(0, head))}${gap}${textOf(known.subarray(tail))}`,
        cutBytes: tail - head + lostBytes,
        ...(cutBytes > 0 ? { keptBytes: length } : {}),
      };
    },
    all,
    shorten(bytesMax) {
      if (length <= bytesMax || gone.to !== Number.POSITIVE_INFINITY) return;
      const bytes = all();
      const { head, tail } = ends(bytes, bytesMax);
      gone = { from: head, to: tail };
      buffer = Buffer.concat([bytes.subarray(0, head), bytes.subarray(tail)]);
    },
  };
}

const firstBytes = 1024;
/** In JSON a byte becomes at most six: a piece is never too long for one event of a stream. */
const pieceBytesMax = 10_000;

/** How far the next piece goes that begins there. */
export function pieceEnd(bytes: Uint8Array, start: number, last: number): number {
  return last - start > pieceBytesMax ? characterStart(bytes, start + pieceBytesMax, -1) : last;
}

/** A character has so many bytes after its first one. */
const followingMax = 3;

/** Where the beginning that is kept ends, and where the end begins. */
function ends(bytes: Uint8Array, bytesMax: number): { readonly head: number; readonly tail: number } {
  return {
    head: characterStart(bytes, Math.ceil(bytesMax / 2), -1),
    tail: characterStart(bytes, bytes.length - Math.floor(bytesMax / 2), 1),
  };
}

/** What comes behind the last whole character: joined to what was cut, if nothing is lost between them. */
function restOf(bytes: Uint8Array, cutBytes: number, end: Uint8Array) {
  if (cutBytes === 0) return { from: bytes.length, lostBytes: 0, bytes: end };
  const from = wholeLength(bytes);
  if (cutBytes === end.length) return { from, lostBytes: 0, bytes: Buffer.concat([bytes.subarray(from), end]) };
  const last = end.subarray(characterStart(end, 0, 1));
  return { from, lostBytes: bytes.length - from + cutBytes - last.length, bytes: last };
}

/** Without the beginning of a character of which more is to come. */
function wholeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= followingMax; back += 1) {
    const byte = bytes[bytes.length - back];
    if (byte === undefined) break;
    if (isFollowing(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** The nearest place in this direction where no character is cut; where there is none, the bytes are no text anyway. */
function characterStart(bytes: Uint8Array, place: number, step: 1 | -1): number {
  for (let moved = 0; moved <= followingMax; moved += 1) {
    const byte = bytes[place + moved * step];
    if (byte === undefined || !isFollowing(byte)) return place + moved * step;
  }
  return place;
}

function isFollowing(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** What is no UTF-8 becomes a sign for it. Where it is cut before the first byte of a character, nothing changes. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

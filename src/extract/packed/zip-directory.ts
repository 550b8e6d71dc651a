/** What the directory of an archive says of one of its parts. */
export type Entry = {
  /** With `/` between its parts, and none in front. */
  readonly name: string;
  readonly isEncrypted: boolean;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly bytes: number;
  /** Where its own head stands. */
  readonly offset: number;
};

export const entriesMax = 10_000;

const endBytes = 22;
const commentBytesMax = 65_535;
/** Some programs put something behind the end of an archive. */
const behindBytesMax = 1024 * 1024;
const whole32 = 0xff_ff_ff_ff;
const whole16 = 0xff_ff;

/** All parts; undefined where there is no directory, `too_many` where it has more than anybody would need. */
export function readDirectory(bytes: Buffer): readonly Entry[] | "too_many" | undefined {
  const end = findEnd(bytes);
  if (end === undefined) return undefined;
  if (end.entries > entriesMax) return "too_many";
  const entries: Entry[] = [];
  let at = end.start;
  while (entries.length < end.entries) {
    const read = readEntry(bytes, at, end.shift);
    if (read === undefined) return undefined;
    entries.push(read.entry);
    at = read.next;
  }
  return entries;
}

type End = { readonly entries: number; readonly start: number; readonly shift: number };

/** The record at the end. `shift`: how much stands in front of the archive, which its offsets do not count. */
function findEnd(bytes: Buffer): End | undefined {
  const first = Math.max(0, bytes.length - endBytes - commentBytesMax - behindBytesMax);
  for (let at = bytes.length - endBytes; at >= first; at -= 1) {
    if (bytes[at] !== 0x50 || bytes.readUInt32LE(at) !== 0x06054b50) continue;
    const [entries, size, offset] = [
      bytes.readUInt16LE(at + 10),
      bytes.readUInt32LE(at + 12),
      bytes.readUInt32LE(at + 16),
    ];
    const isLarge = entries === whole16 || size === whole32 || offset === whole32;
    const found = isLarge ? largeEnd(bytes, at) : { entries, size, offset, at };
    if (found === undefined) return undefined;
    const start = found.at - found.size;
    return start < 0 ? undefined : { entries: found.entries, start, shift: start - found.offset };
  }
  return undefined;
}

/** Archives with fields of 64 bits have two more records in front of the last. */
function largeEnd(bytes: Buffer, end: number) {
  const locator = end - 20;
  if (locator < 0 || bytes.readUInt32LE(locator) !== 0x07064b50) return undefined;
  const at = Number(bytes.readBigUInt64LE(locator + 8));
  if (at + 56 > locator || bytes.readUInt32LE(at) !== 0x06064b50) return undefined;
  const entries = Number(bytes.readBigUInt64LE(at + 32));
  return { entries, size: Number(bytes.readBigUInt64LE(at + 40)), offset: Number(bytes.readBigUInt64LE(at + 48)), at };
}

const entryBytes = 46;

function readEntry(bytes: Buffer, at: number, shift: number): { entry: Entry; next: number } | undefined {
  if (at + entryBytes > bytes.length || bytes.readUInt32LE(at) !== 0x02014b50) return undefined;
  const nameEnd = at + entryBytes + bytes.readUInt16LE(at + 28);
  const extraEnd = nameEnd + bytes.readUInt16LE(at + 30);
  const next = extraEnd + bytes.readUInt16LE(at + 32);
  if (next > bytes.length) return undefined;
  const written = [bytes.readUInt32LE(at + 24), bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 42)];
  const [size = 0, packedBytes = 0, offset = 0] = largeFields(bytes.subarray(nameEnd, extraEnd), written);
  const entry = {
    name: bytes
      .toString("utf8", at + entryBytes, nameEnd)
      .replaceAll("\\", "/")
      .replace(/^\/+/, ""),
    isEncrypted: (bytes.readUInt16LE(at + 8) & 1) !== 0,
    method: bytes.readUInt16LE(at + 10),
    crc: bytes.readUInt32LE(at + 16),
    ...{ packedBytes, bytes: size, offset: offset + shift },
  };
  return { entry, next };
}

/** Fields that are full stand in an extra one, in this order, with 64 bits. */
function largeFields(extra: Buffer, written: readonly number[]): readonly number[] {
  if (!written.includes(whole32)) return written;
  for (let at = 0; at + 4 <= extra.length; ) {
    const size = extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === 1) {
      let from = at + 4;
      return written.map((value) => {
        if (value !== whole32 || from + 8 > extra.length) return value;
        from += 8;
        return Number(extra.readBigUInt64LE(from - 8));
      });
    }
    at += 4 + size;
  }
  return written;
}

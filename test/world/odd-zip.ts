import { crc32 } from "node:zlib";

export type Entry = {
  readonly name: string | Buffer;
  readonly content?: Buffer;
  /** As it stands in the archive; stored as it is unless said otherwise. */
  readonly packed?: Buffer;
  readonly method?: number;
  /** What its directory says of it. */
  readonly bytes?: number;
  readonly crc?: number;
  readonly flags?: number;
  readonly mode?: number;
  /** Of the head before its bytes. */
  readonly extra?: number;
  /** Of its row in the directory: what other programs add to it, and what somebody says of it. */
  readonly added?: readonly Buffer[];
  /** Where the directory says that it is. */
  readonly at?: number;
};

type End = {
  readonly comment?: Buffer;
  readonly disk?: number;
  readonly entriesHere?: number;
  readonly bytesMore?: number;
  /** Its counts and places stand in fields of 64 bits. */
  readonly isLarge?: boolean;
};

/** An archive, byte by byte as the format has it. */
export function zip(entries: readonly Entry[], options: End = {}): Buffer<ArrayBuffer> {
  const { comment = Buffer.alloc(0), disk = 0, entriesHere, bytesMore = 0, isLarge = false } = options;
  const [files, directory]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const entry of entries) {
    const { content = Buffer.alloc(0), packed = content, method = 0, extra = 0 } = entry;
    const name = Buffer.from(entry.name);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(name.length, 26);
    head.writeUInt16LE(extra, 28);
    const row = Buffer.alloc(46);
    row.writeUInt32LE(0x02014b50, 0);
    row.writeUInt16LE(entry.flags ?? 0, 8);
    row.writeUInt16LE(method, 10);
    row.writeUInt32LE(entry.crc ?? crc32(content), 16);
    row.writeUInt32LE(packed.length, 20);
    row.writeUInt32LE(entry.bytes ?? content.length, 24);
    row.writeUInt16LE(name.length, 28);
    for (const [at, { length }] of (entry.added ?? []).entries()) row.writeUInt16LE(length, 30 + 2 * at);
    row.writeUInt32LE(((entry.mode ?? 0) << 16) >>> 0, 38);
    row.writeUInt32LE(entry.at ?? offset, 42);
    const file = Buffer.concat([head, name, Buffer.alloc(extra), packed]);
    files.push(file);
    directory.push(row, name, ...(entry.added ?? []));
    offset += file.length;
  }
  const rows = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(disk, 4);
  end.writeUInt16LE(entriesHere ?? entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(rows.length + bytesMore, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  const large = isLarge ? inLarge(end, offset, rows.length) : [];
  return Buffer.concat([...files, rows, ...large, end, comment]);
}

/** What stands before the end where the end itself says nothing. */
function inLarge(end: Buffer, offset: number, length: number): Buffer[] {
  const large = Buffer.alloc(56);
  large.writeUInt32LE(0x06064b50, 0);
  large.writeBigUInt64LE(BigInt(end.readUInt16LE(10)), 32);
  large.writeBigUInt64LE(BigInt(length), 40);
  large.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(offset + length), 8);
  end.fill(0xff, 10, 20);
  return [large, locator];
}

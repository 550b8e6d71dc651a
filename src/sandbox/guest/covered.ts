import { createHash } from "node:crypto";

/**
 * What a supervisor says, where somebody on the way keeps a copy: a cluster writes the output of every container to a log.
 * Each piece is covered with bytes that follow from a key and its number, and the key goes in by the input, of which nobody
 * keeps a copy. `stdio.py` does the same. The stream itself is protected otherwise: this is for what is kept of it.
 */
export const keyBytes = 32;

/** Uncovers pieces in their order: `next` begins one, `open` takes its bytes as they come. */
export function createUncovering(key: Buffer) {
  let number = 0n;
  let cover: Buffer = Buffer.alloc(0);
  return {
    next(length: number): void {
      const count = Buffer.alloc(8);
      count.writeBigUInt64BE(number);
      number += 1n;
      // A hash of no bytes is none for Node.
      cover =
        length === 0
          ? Buffer.alloc(0)
          : createHash("shake256", { outputLength: length }).update(key).update(count).digest();
    },
    open(bytes: Buffer): Buffer {
      const opened = Buffer.allocUnsafe(bytes.length);
      for (let index = 0; index < bytes.length; index += 1) opened[index] = (bytes[index] ?? 0) ^ (cover[index] ?? 0);
      cover = cover.subarray(bytes.length);
      return opened;
    },
  };
}

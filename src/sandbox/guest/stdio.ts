import { Duplex } from "node:stream";
import { createUncovering } from "./covered.ts";
import { type Cut, createPieces } from "./pieces.ts";

/** The two sockets of a supervisor that was started with nothing but standard input and output. */
export type StdioLinks = { readonly control: Duplex; readonly network: Duplex };

const headBytes = 5;
const pieceBytesMax = 64 * 1024;

type LinkOptions = {
  /** What may wait in a link for whoever reads it; without it nobody is so slow. */
  readonly waitingBytesMax?: number;
  /** What the supervisor says is covered, see `covered.ts`. */
  readonly key?: Buffer | undefined;
};

/**
 * Carries both over one stream of bytes: pieces with one byte that says for which, four bytes of length, and the bytes. The
 * other end is `stdio.py`, which is not believed: one wrong word, and all of it is over. The stream ends with the control
 * link, and both links with the stream.
 */
export function linksOver(
  stream: Duplex,
  { waitingBytesMax = Number.POSITIVE_INFINITY, key }: LinkOptions = {},
): StdioLinks {
  const uncovering = key && createUncovering(key);
  const control = linkOver(stream, 0, () => stream.destroy());
  const network = linkOver(stream, 1, () => {});
  const links = [control, network];
  const take = createPieces(cutWith(uncovering?.next), (number, bytes) => {
    const link = links[number];
    if (link === undefined) return false;
    const opened = uncovering?.open(bytes) ?? bytes;
    if (!link.destroyed) link.push(opened);
    return link.readableLength <= waitingBytesMax;
  });
  const end = () => {
    for (const link of links) link.destroy();
  };
  stream.on("data", (bytes: Buffer) => {
    if (!take(bytes)) stream.destroy();
  });
  // What broke it is told by its end.
  stream.on("error", end);
  stream.once("end", end);
  stream.once("close", end);
  return { control, network };
}

/** No piece is longer: a head that says more is no head. */
function cutWith(onPiece?: (length: number) => void): Cut {
  return {
    headBytes,
    read(head) {
      const length = head.readUInt32BE(1);
      if (length > pieceBytesMax) return undefined;
      onPiece?.(length);
      return { number: head.readUInt8(0), length };
    },
  };
}

function linkOver(stream: Duplex, number: number, onEnd: () => void): Duplex {
  return new Duplex({
    read() {},
    write(chunk: Buffer, _, done) {
      if (!stream.writable) return done();
      stream.write(inPieces(number, chunk), () => done());
    },
    destroy(error, done) {
      onEnd();
      done(error);
    },
  });
}

function inPieces(number: number, bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += pieceBytesMax) {
    const piece = bytes.subarray(start, start + pieceBytesMax);
    const head = Buffer.alloc(headBytes);
    head.writeUInt8(number, 0);
    head.writeUInt32BE(piece.length, 1);
    pieces.push(head, piece);
  }
  return Buffer.concat(pieces);
}

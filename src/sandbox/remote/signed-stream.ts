import { createHmac, timingSafeEqual } from "node:crypto";
import { Duplex } from "node:stream";

/** Of one stream: what the server signs with, and what the host does. */
export type StreamKeys = { readonly server: string; readonly host: string };

const lengthBytes = 4;
const macBytes = 32;
const headBytes = lengthBytes + macBytes;
const pieceBytesMax = 64 * 1024;

/**
 * Carries bytes in pieces that only a holder of the secret can make: four bytes of length, the proof, the bytes. The proof is
 * of the number of the piece, too, so that who sits on the way can change, repeat, leave out or move none of them; a wrong one
 * is the end of the stream. What is said can be read all the same: against that there is TLS.
 */
export function signedOver(socket: Duplex, keys: StreamKeys, side: keyof StreamKeys): Duplex {
  const sign = createMacs(keys[side]);
  const take = createOpening(keys[side === "server" ? "host" : "server"], (bytes) => {
    if (!stream.push(bytes)) socket.pause();
  });
  const stream = new Duplex({
    read: () => void socket.resume(),
    write(chunk: Buffer, _, done) {
      if (!socket.writable) return done();
      socket.write(inPieces(chunk, sign), () => done());
    },
    final: (done) => void socket.end(() => done()),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (bytes: Buffer) => {
    if (!stream.destroyed && !take(bytes)) stream.destroy();
  });
  socket.on("error", () => {});
  socket.once("end", () => stream.push(null));
  socket.once("close", () => stream.destroy());
  return stream;
}

/** The proofs of one side, in the order of its pieces. */
function createMacs(key: string): (bytes: Buffer) => Buffer {
  let number = 0n;
  return (bytes) => {
    const count = Buffer.alloc(8);
    count.writeBigUInt64BE(number);
    number += 1n;
    return createHmac("sha256", key).update(count).update(bytes).digest();
  };
}

function inPieces(bytes: Buffer, sign: (bytes: Buffer) => Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += pieceBytesMax) {
    const piece = bytes.subarray(start, start + pieceBytesMax);
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt32BE(piece.length);
    pieces.push(length, sign(piece), piece);
  }
  return Buffer.concat(pieces);
}

/** Takes bytes as they come, and gives those of whole pieces that are proven. False: all of it is over. */
function createOpening(key: string, give: (bytes: Buffer) => void): (bytes: Buffer) => boolean {
  const macOf = createMacs(key);
  let held: Buffer[] = [];
  let heldBytes = 0;
  let needed = headBytes;
  return (chunk) => {
    held.push(chunk);
    heldBytes += chunk.length;
    // Joined only when something can come of it: a piece in a thousand chunks is copied once, not a thousand times.
    if (heldBytes < needed) return true;
    let bytes = Buffer.concat(held, heldBytes);
    for (;;) {
      const length = bytes.length < headBytes ? 0 : bytes.readUInt32BE();
      if (length > pieceBytesMax) return false;
      needed = headBytes + length;
      if (bytes.length < needed) break;
      const piece = bytes.subarray(headBytes, needed);
      if (length === 0 || !timingSafeEqual(bytes.subarray(lengthBytes, headBytes), macOf(piece))) return false;
      give(piece);
      bytes = bytes.subarray(needed);
    }
    held = bytes.length > 0 ? [bytes] : [];
    heldBytes = bytes.length;
    return true;
  };
}

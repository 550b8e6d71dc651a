/** How a stream is cut: what a head says of the piece that follows it, undefined where nobody who means well says it. */
export type Cut = {
  readonly headBytes: number;
  read(head: Buffer): { readonly number: number; readonly length: number } | undefined;
};

/** Takes bytes as they come and hands on what they carry, without waiting for whole pieces. False: all of it is over. */
export function createPieces(
  { headBytes, read }: Cut,
  give: (number: number, bytes: Buffer) => boolean,
): (bytes: Buffer) => boolean {
  let head = Buffer.alloc(0);
  let piece = { number: 0, length: 0 };
  return (bytes) => {
    let rest = bytes;
    while (rest.length > 0) {
      if (piece.length === 0) {
        const missing = headBytes - head.length;
        head = Buffer.concat([head, rest.subarray(0, missing)]);
        rest = rest.subarray(missing);
        if (head.length < headBytes) return true;
        const told = read(head);
        if (told === undefined) return false;
        [piece, head] = [told, Buffer.alloc(0)];
      }
      const part = rest.subarray(0, piece.length);
      rest = rest.subarray(part.length);
      piece = { ...piece, length: piece.length - part.length };
      if (part.length > 0 && !give(piece.number, part)) return false;
    }
    return true;
  };
}

import { Duplex } from "node:stream";
import { keepFirstWords } from "../guest/first-words.ts";
import { type Cut, createPieces } from "../guest/pieces.ts";

/** What a container reads and writes, over the stream that the engine attached. */
export type Attached = {
  /** Its standard input and its standard output. */
  readonly stdio: Duplex;
  /** The beginning of what it wrote to its standard error. */
  said(): string;
};

const streams = { stdout: 1, stderr: 2 };

/** The engine carries both outputs over one stream. What is no framing of its ends it. */
export function readAttached(socket: Duplex): Attached {
  const said = keepFirstWords();
  const stdio = new Duplex({
    read() {},
    write(chunk: Buffer, _, done) {
      if (!socket.writable) return done();
      socket.write(chunk, () => done());
    },
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  const read = createPieces(cut, (stream, bytes) => {
    if (stream !== streams.stdout) said.add(bytes);
    else if (!stdio.destroyed) stdio.push(bytes);
    return true;
  });
  socket.on("data", (bytes: Buffer) => {
    if (!read(bytes)) socket.destroy();
  });
  const end = () => stdio.destroy();
  socket.on("error", end);
  socket.once("end", end);
  socket.once("close", end);
  return { stdio, said: said.text };
}

/** One byte that says of which stream a piece is, three of nothing, four of length. */
const cut: Cut = {
  headBytes: 8,
  read(head) {
    const number = head.readUInt8(0);
    return Object.values(streams).includes(number) ? { number, length: head.readUInt32BE(4) } : undefined;
  },
};

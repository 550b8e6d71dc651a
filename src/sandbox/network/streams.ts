import { Duplex } from "node:stream";

/**
 * The connections of a guest's programs, all over one socket. Each has its own window, so that one which nobody reads
 * holds up no other. Whoever is at the other end is not believed: one wrong word, and all of it is over.
 *
 * A frame is one byte of kind, the number of the stream, and a number: for `data` how many bytes follow, for `credit` how
 * many more may be sent. `guest/forward.py` speaks the same.
 */
export function acceptStreams(link: Duplex, options: StreamsOptions): void {
  const state: State = { ...options, link, streams: new Map() };
  let pending: Buffer = Buffer.alloc(0);
  link.on("data", (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    const taken = takeFrames(state, pending);
    if (taken === "wrong") link.destroy();
    else pending = pending.subarray(taken);
  });
  const endAll = () => {
    for (const { duplex } of [...state.streams.values()]) duplex.destroy();
  };
  link.on("error", () => {});
  link.once("end", endAll);
  link.once("close", endAll);
}

export type StreamsOptions = {
  readonly streamsMax: number;
  readonly onStream: (stream: Duplex) => void;
};

/** What may be under way in each direction of a stream: sent, and not yet taken. */
const windowBytes = 128 * 1024;
const pieceBytesMax = 32 * 1024;
const headBytes = 9;
const kinds = { open: 0, data: 1, end: 2, reset: 3, credit: 4 } as const;

type State = StreamsOptions & { readonly link: Duplex; readonly streams: Map<number, Stream> };

type Stream = {
  readonly id: number;
  readonly duplex: Duplex;
  /** What came and was not asked for yet; null is the end. */
  readonly came: (Buffer | null)[];
  cameBytes: number;
  /** Taken, and not yet told to the other end. */
  takenBytes: number;
  mayBytes: number;
  isWanted: boolean;
  leaving: { bytes: Buffer; done: () => void } | undefined;
  isOverThere: boolean;
  isOverHere: boolean;
};

/** How many bytes were used up. */
function takeFrames(state: State, bytes: Buffer): number | "wrong" {
  let at = 0;
  while (bytes.length - at >= headBytes) {
    const [kind, id, number] = [bytes.readUInt8(at), bytes.readUInt32BE(at + 1), bytes.readUInt32BE(at + 5)];
    // A piece of nothing takes nothing of the window, and would still take room here.
    if (kind === kinds.data && (number === 0 || number > pieceBytesMax)) return "wrong";
    const end = at + headBytes + (kind === kinds.data ? number : 0);
    if (bytes.length < end) break;
    if (!takeFrame(state, { kind, id, number, payload: bytes.subarray(at + headBytes, end) })) return "wrong";
    at = end;
  }
  return at;
}

type Frame = { readonly kind: number; readonly id: number; readonly number: number; readonly payload: Buffer };

/** False for what nobody says who means well. */
function takeFrame(state: State, { kind, id, number, payload }: Frame): boolean {
  const stream = state.streams.get(id);
  if (kind === kinds.open) return stream === undefined && open(state, id);
  // What was under way when we gave it up.
  if (stream === undefined) return kind <= kinds.credit;
  switch (kind) {
    case kinds.data:
      stream.cameBytes += payload.length;
      if (stream.cameBytes > windowBytes || stream.isOverThere) return false;
      // A copy: the chunk that it is a part of would live as long as it does.
      stream.came.push(Buffer.from(payload));
      handOut(state, stream);
      return true;
    case kinds.end:
      if (stream.isOverThere) return false;
      stream.isOverThere = true;
      stream.came.push(null);
      handOut(state, stream);
      return true;
    case kinds.reset:
      stream.isOverThere = true;
      stream.isOverHere = true;
      stream.duplex.destroy();
      return true;
    case kinds.credit:
      stream.mayBytes += number;
      sendOn(state, stream);
      return stream.mayBytes <= windowBytes;
    default:
      return false;
  }
}

function open(state: State, id: number): boolean {
  if (state.streams.size >= state.streamsMax) {
    send(state, kinds.reset, id);
    return true;
  }
  const stream: Stream = {
    ...{ id, came: [], cameBytes: 0, takenBytes: 0, mayBytes: windowBytes, isWanted: false, leaving: undefined },
    ...{ isOverThere: false, isOverHere: false },
    duplex: new Duplex({
      read() {
        stream.isWanted = true;
        handOut(state, stream);
      },
      write(bytes: Buffer, _, done) {
        stream.leaving = { bytes, done };
        sendOn(state, stream);
      },
      final(done) {
        stream.isOverHere = true;
        send(state, kinds.end, id);
        done();
      },
      destroy(error, done) {
        state.streams.delete(id);
        if (!(stream.isOverHere && stream.isOverThere)) send(state, kinds.reset, id);
        stream.came.length = 0;
        done(error);
      },
    }),
  };
  stream.duplex.on("error", () => {});
  state.streams.set(id, stream);
  state.onStream(stream.duplex);
  return true;
}

function handOut(state: State, stream: Stream): void {
  while (stream.isWanted && stream.came.length > 0) {
    const next = stream.came.shift() ?? null;
    stream.isWanted = stream.duplex.push(next);
    stream.cameBytes -= next?.length ?? 0;
    stream.takenBytes += next?.length ?? 0;
  }
  if (stream.takenBytes < windowBytes / 2) return;
  send(state, kinds.credit, stream.id, stream.takenBytes);
  stream.takenBytes = 0;
}

function sendOn(state: State, stream: Stream): void {
  const { leaving } = stream;
  if (leaving === undefined) return;
  while (leaving.bytes.length > 0 && stream.mayBytes > 0) {
    const piece = leaving.bytes.subarray(0, Math.min(stream.mayBytes, pieceBytesMax));
    send(state, kinds.data, stream.id, piece.length, piece);
    stream.mayBytes -= piece.length;
    leaving.bytes = leaving.bytes.subarray(piece.length);
  }
  if (leaving.bytes.length > 0) return;
  stream.leaving = undefined;
  leaving.done();
}

/** What waits here is never more than the windows of all streams, unless the other end only asks and never listens. */
function send({ link, streamsMax }: State, kind: number, id: number, number = 0, payload?: Buffer): void {
  if (link.writableLength > 2 * streamsMax * windowBytes) link.destroy();
  if (!link.writable) return;
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(id, 1);
  head.writeUInt32BE(number, 5);
  link.cork();
  link.write(head);
  if (payload !== undefined) link.write(payload);
  link.uncork();
}

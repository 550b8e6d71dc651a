import { connect } from "node:net";

// A caller who writes what they like: bytes to a port, and what comes back read as HTTP, without a library in between.

export type Sending = {
  readonly method: string;
  /** As it stands in the first line. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** Only so much of the body is sent, then the caller is gone. */
  readonly cutAt?: number | undefined;
};

export type Answered = {
  /** 0: there was none. */
  readonly status: number;
  readonly headers: Headers;
  readonly head: string;
  readonly body: Buffer;
  /** It was a stream, or long, and the caller left. */
  readonly isLeft: boolean;
};

/** A stream that says nothing for so long is left. */
const streamSilenceMs = 40;
const bytesMax = 1024 * 1024;
const patienceMs = 30_000;

export function send(port: number, sending: Sending): Promise<Answered> {
  const { promise, resolve } = Promise.withResolvers<Answered>();
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const chunks: Buffer[] = [];
  let size = 0;
  let isLeft = false;
  let isStream = false;
  let silence: NodeJS.Timeout | undefined;
  const patience = setTimeout(() => socket.destroy(), patienceMs);
  const leave = () => {
    isLeft = true;
    socket.destroy();
  };
  socket.on("data", (data) => {
    const chunk = Buffer.from(data);
    chunks.push(chunk);
    size += chunk.length;
    if (size > bytesMax) return leave();
    isStream ||=
      size < 65_536 && /\r\ncontent-type: text\/event-stream/i.test(Buffer.concat(chunks).toString("latin1"));
    if (!isStream) return;
    clearTimeout(silence);
    silence = setTimeout(leave, streamSilenceMs);
  });
  socket.on("error", () => {}); // The server may close while we still send; what it said before counts.
  socket.on("close", () => {
    clearTimeout(silence);
    clearTimeout(patience);
    resolve(read(Buffer.concat(chunks), isLeft));
  });
  socket.write(headOf(sending));
  const { body, cutAt } = sending;
  if (cutAt === undefined) socket.write(body);
  else socket.write(body.subarray(0, cutAt), () => socket.end());
  return promise;
}

function headOf({ method, target, headers }: Sending): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}

function read(bytes: Buffer, isLeft: boolean): Answered {
  const end = bytes.indexOf("\r\n\r\n");
  const nothing = { status: 0, headers: new Headers(), head: "", body: Buffer.alloc(0), isLeft };
  if (end < 0) return nothing;
  const head = bytes.toString("latin1", 0, end);
  const [first = "", ...lines] = head.split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0);
  const rest = bytes.subarray(end + 4);
  if (status >= 100 && status < 200) return read(rest, isLeft);
  const headers = new Headers();
  for (const line of lines) headers.append(line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim());
  const isChunked = headers.get("transfer-encoding") === "chunked";
  return { status, headers, head, body: isChunked ? joined(rest) : rest, isLeft };
}

/** What came in pieces, each with its length before it. */
function joined(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf("\r\n", at);
    const length = end < 0 ? 0 : Number.parseInt(bytes.toString("latin1", at, end), 16);
    if (!(length > 0)) break;
    pieces.push(bytes.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
  return Buffer.concat(pieces);
}

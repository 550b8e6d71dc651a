import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import type { Ids } from "../../base/ids.ts";

// As much of RFC 6455 as a client needs whose messages are bytes. Node's own WebSocket can be given neither the
// authorities of a cluster nor a wait for a slow reader.

export const opcodes = { continued: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

const acceptGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const messageBytesMax = 16 * 1024 * 1024;
const controlBytesMax = 125;

/** What a client asks for with. `key`: 16 bytes of chance. */
export function websocketHeaders(ids: Ids, protocols: readonly string[]) {
  const key = Buffer.from(ids.hex(32), "hex").toString("base64");
  const headers = {
    ...{ Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key },
    "Sec-WebSocket-Protocol": protocols.join(", "),
  };
  return { headers, accept: acceptOf(key) };
}

export function acceptOf(key: string): string {
  return createHash("sha1")
    .update(key + acceptGuid)
    .digest("base64");
}

export type Frame = { readonly isFinal: boolean; readonly opcode: number; readonly payload: Buffer };

/** Takes bytes as they come. Undefined: nobody who keeps to the rules says that. */
export function createFrameReader(): (bytes: Buffer) => Frame[] | undefined {
  let waiting: Buffer = Buffer.alloc(0);
  return (bytes) => {
    waiting = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes]);
    const frames: Frame[] = [];
    for (;;) {
      const head = readHead(waiting);
      if (head === "wrong") return undefined;
      if (head === "short" || waiting.length < head.start + head.length) return frames;
      const payload = Buffer.from(waiting.subarray(head.start, head.start + head.length));
      if (head.mask !== undefined) applyMask(payload, head.mask);
      frames.push({ isFinal: head.isFinal, opcode: head.opcode, payload });
      waiting = waiting.subarray(head.start + head.length);
    }
  };
}

type Head = {
  readonly isFinal: boolean;
  readonly opcode: number;
  readonly start: number;
  readonly length: number;
  readonly mask: Buffer | undefined;
};

function readHead(bytes: Buffer): Head | "short" | "wrong" {
  if (bytes.length < 2) return "short";
  const [first = 0, second = 0] = bytes;
  // No extension was agreed on.
  if ((first & 0x70) !== 0) return "wrong";
  const opcode = first & 0x0f;
  const short = second & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const maskBytes = second & 0x80 ? 4 : 0;
  const start = 2 + lengthBytes + maskBytes;
  if (bytes.length < start) return "short";
  const length =
    lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const isControl = opcode >= opcodes.close;
  if (length > (isControl ? controlBytesMax : messageBytesMax)) return "wrong";
  const mask = maskBytes === 0 ? undefined : bytes.subarray(start - maskBytes, start);
  return { isFinal: (first & 0x80) !== 0, opcode, start, length, mask };
}

/** `mask`: four bytes of chance, which clients must use and servers must not. */
export function encodeFrame(opcode: number, payload: Uint8Array, mask?: Buffer): Buffer {
  const lengthBytes = payload.length < 126 ? 0 : payload.length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + lengthBytes);
  head.writeUInt8(0x80 | opcode, 0);
  const short = lengthBytes === 0 ? payload.length : lengthBytes === 2 ? 126 : 127;
  head.writeUInt8(short | (mask === undefined ? 0 : 0x80), 1);
  if (lengthBytes === 2) head.writeUInt16BE(payload.length, 2);
  if (lengthBytes === 8) head.writeBigUInt64BE(BigInt(payload.length), 2);
  if (mask === undefined) return Buffer.concat([head, payload]);
  const masked = Buffer.from(payload);
  applyMask(masked, mask);
  return Buffer.concat([head, mask, masked]);
}

function applyMask(bytes: Buffer, mask: Buffer): void {
  const [a = 0, b = 0, c = 0, d = 0] = mask;
  const four = [a, b, c, d];
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = (bytes[index] ?? 0) ^ (four[index & 3] ?? 0);
}

export type Websocket = {
  /** Resolves when it is with the system, or lost. */
  send(payload: Uint8Array, done?: () => void): void;
  ping(): void;
  /** At once. */
  end(): void;
};

type Heard = {
  /** A whole message. */
  message(payload: Buffer): void;
  /** Anything at all. */
  sign(): void;
  over(): void;
};

/** The side of the client, once the protocol has changed. What breaks the rules ends it. */
export function clientOver(socket: Duplex, ids: Ids, heard: Heard): Websocket {
  const read = createFrameReader();
  let parts: Buffer[] = [];
  let isOver = false;
  const send = (opcode: number, payload: Uint8Array, done?: () => void) => {
    if (!socket.writable) return done?.();
    socket.write(encodeFrame(opcode, payload, Buffer.from(ids.hex(8), "hex")), () => done?.());
  };
  const end = () => {
    socket.destroy();
    if (isOver) return;
    isOver = true;
    heard.over();
  };
  const take = ({ isFinal, opcode, payload }: Frame) => {
    if (opcode === opcodes.close) return end();
    if (opcode === opcodes.ping) return send(opcodes.pong, payload);
    if (opcode === opcodes.pong) return;
    parts.push(payload);
    if (parts.reduce((sum, { length }) => sum + length, 0) > messageBytesMax) return end();
    if (!isFinal) return;
    const whole = parts.length === 1 ? payload : Buffer.concat(parts);
    parts = [];
    heard.message(whole);
  };
  socket.on("data", (bytes: Buffer) => {
    heard.sign();
    const frames = read(bytes);
    for (const frame of frames ?? []) if (!isOver) take(frame);
    if (frames === undefined) end();
  });
  socket.on("error", end);
  socket.once("end", end);
  socket.once("close", end);
  return {
    send: (payload, done) => send(opcodes.binary, payload, done),
    ping: () => send(opcodes.ping, new Uint8Array()),
    end() {
      send(opcodes.close, Buffer.from([0x03, 0xe8]));
      end();
    },
  };
}

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { acceptOf, createFrameReader, encodeFrame, opcodes } from "../../src/sandbox/kubernetes/websocket.ts";

// The end of an attached stream that is the cluster's. That the frames are right is held by websocket.test.ts, against
// Node's own WebSocket.

export type AttachedEnd = { send(channel: number, bytes: Buffer): void; end(): void };
type Heard = { stdin(bytes: Buffer): void; over(): void };
const version = "v5.channel.k8s.io";

export function attachEnd(request: IncomingMessage, socket: Duplex, heard: Heard): AttachedEnd {
  const { "sec-websocket-key": key = "", "sec-websocket-protocol": asked = "" } = request.headers;
  if (!asked.split(/, ?/).includes(version)) throw new Error(`nobody asked for ${version}`);
  socket.write(
    `${["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Accept: ${acceptOf(key)}`, `Sec-WebSocket-Protocol: ${version}`].join("\r\n")}\r\n\r\n`,
  );
  const read = createFrameReader();
  const write = (opcode: number, bytes: Buffer) => {
    if (socket.writable) socket.write(encodeFrame(opcode, bytes));
  };
  socket.on("data", (bytes: Buffer) => {
    for (const { opcode, payload } of read(bytes) ?? []) {
      if (opcode === opcodes.ping) write(opcodes.pong, payload);
      if (opcode === opcodes.close) socket.destroy();
      if (opcode === opcodes.binary && payload[0] === 0) heard.stdin(payload.subarray(1));
    }
  });
  socket.on("error", () => {});
  // Half a stream is none.
  socket.once("end", () => socket.destroy());
  socket.once("close", heard.over);
  return {
    send: (channel, bytes) => write(opcodes.binary, Buffer.concat([Buffer.from([channel]), bytes])),
    end() {
      write(opcodes.close, Buffer.from([0x03, 0xe8]));
      socket.end();
    },
  };
}

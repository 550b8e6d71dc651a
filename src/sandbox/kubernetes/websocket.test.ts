import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { systemIds } from "../../base/ids.ts";
import { acceptOf, createFrameReader, encodeFrame, opcodes, websocketHeaders } from "./websocket.ts";

test("frames are written and read as Node's own WebSocket has them, whatever their length [X3]", async (t) => {
  const lengths = [0, 1, 125, 126, 65_535, 65_536, 300_000];
  const server = createServer();
  server.on("upgrade", ({ headers }, socket) => {
    const accept = acceptOf(headers["sec-websocket-key"] ?? "");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    const read = createFrameReader();
    socket.on("error", () => {});
    socket.on("data", (bytes: Buffer) => {
      const frames = read(bytes);
      assert.ok(frames !== undefined);
      for (const { opcode, payload } of frames) {
        if (opcode === opcodes.binary) socket.write(encodeFrame(opcodes.binary, payload));
        if (opcode === opcodes.close) socket.end(encodeFrame(opcodes.close, payload));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const bound = server.address();
  const client = new WebSocket(`ws://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}`);
  client.binaryType = "arraybuffer";
  await new Promise((resolve) => client.addEventListener("open", resolve, { once: true }));
  for (const length of lengths) {
    const sent = Buffer.alloc(length, `${length} bytes `);
    const came = new Promise<unknown>((resolve) =>
      client.addEventListener("message", ({ data }) => resolve(data), { once: true }),
    );
    client.send(sent);
    const got = await came;
    assert.ok(got instanceof ArrayBuffer);
    assert.ok(sent.equals(Buffer.from(got)), `${length} bytes`);
  }
  client.close();
  await new Promise((resolve) => client.addEventListener("close", resolve, { once: true }));
});

test("what a client masks is read again, byte by byte as well, and nonsense is refused [X3]", () => {
  const payload = Buffer.from("所有字节 all bytes");
  const frame = encodeFrame(opcodes.binary, payload, Buffer.from([1, 2, 3, 255]));
  assert.ok(!frame.includes(payload));
  const read = createFrameReader();
  const found = Array.from(frame, (byte) => read(Buffer.from([byte]))).flatMap((frames) => frames ?? []);
  assert.deepEqual(found, [{ isFinal: true, opcode: opcodes.binary, payload }]);
  const nonsense = [
    Buffer.from([0xc2, 0x00]), // A bit that nobody agreed on.
    Buffer.from([0x82, 0x7f, 0, 0, 0, 1, 0, 0, 0, 0]), // Four gigabytes.
    Buffer.from([0x88, 0x7e, 1, 0]), // A farewell of 256 bytes.
  ];
  assert.deepEqual(
    nonsense.map((bytes) => createFrameReader()(bytes)),
    [undefined, undefined, undefined],
  );
});

test("the answer to a handshake follows from its key, as the standard's own example has it [X3]", () => {
  assert.equal(acceptOf("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  const { headers, accept } = websocketHeaders(systemIds, ["v5.channel.k8s.io", "v4.channel.k8s.io"]);
  assert.equal(accept, acceptOf(headers["Sec-WebSocket-Key"]));
  assert.equal(Buffer.from(headers["Sec-WebSocket-Key"], "base64").length, 16);
});

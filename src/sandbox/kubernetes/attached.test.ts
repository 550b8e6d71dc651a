import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { Duplex } from "node:stream";
import { type TestContext, test } from "node:test";
import { until } from "../../../test/world/events.ts";
import { endlessClock, manualClock } from "../../../test/world/manual-clock.ts";
import { playApi } from "../../../test/world/played-api.ts";
import { systemIds } from "../../base/ids.ts";
import { openApi } from "./api.ts";
import { attach } from "./attached.ts";
import { acceptOf, createFrameReader, encodeFrame, type Frame, opcodes } from "./websocket.ts";

type Handshake = { readonly protocol?: string; readonly accept?: (right: string) => string };

/** The stream of a pod, both ends of it. */
async function attaching(
  t: TestContext,
  { protocol = "v5.channel.k8s.io", accept = (right) => right }: Handshake = {},
) {
  const clock = manualClock();
  const heard: Frame[] = [];
  const { promise: far, resolve } = Promise.withResolvers<Duplex>();
  const paths: string[] = [];
  const { address } = await playApi(t, {
    upgrade({ url = "", headers }, socket) {
      paths.push(url);
      const key = accept(acceptOf(headers["sec-websocket-key"] ?? ""));
      const lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
      const told = [...lines, `Sec-WebSocket-Accept: ${key}`, `Sec-WebSocket-Protocol: ${protocol}`];
      socket.write(`${told.join("\r\n")}\r\n\r\n`);
      const read = createFrameReader();
      socket.on("data", (bytes: Buffer) => heard.push(...(read(bytes) ?? [])));
      resolve(socket);
    },
  });
  const api = openApi({ address, clock });
  const attached = await attach({ api, clock, ids: systemIds }, "/pods/one");
  return { attached, far: await far, heard, clock, paths };
}

async function stream(t: TestContext) {
  const { attached, ...rest } = await attaching(t);
  assert.ok(attached.ok, JSON.stringify(attached));
  return { ...rest, ...attached.value };
}

const message = (channel: number, text: string) =>
  encodeFrame(opcodes.binary, Buffer.from([channel, ...Buffer.from(text)]));

test("what the first process of a pod says is read from its stream, in pieces as well, and its last words tell why it ended [X3]", async (t) => {
  const { stdio, far, heard, said, over, paths } = await stream(t);
  assert.deepEqual(paths, ["/pods/one/attach?container=sandbox&stdin=true&stdout=true&stderr=true&tty=false"]);
  far.write(message(1, "one "));
  far.write(message(1, ""));
  const [first, second] = [message(1, "two "), encodeFrame(opcodes.continued, Buffer.from("and three"))];
  first.writeUInt8(opcodes.binary, 0); // More of it comes.
  far.write(Buffer.concat([first, second]));
  let text = "";
  stdio.on("data", (bytes: Buffer) => (text += bytes.toString()));
  await until("all is read", () => text === "one two and three");
  far.write(message(3, JSON.stringify({ status: "Failure", message: "container is gone" })));
  far.write(encodeFrame(opcodes.ping, Buffer.from("p")));
  await until("a ping is answered", () => heard.some(({ opcode }) => opcode === opcodes.pong));
  assert.deepEqual([heard[0]?.payload.toString(), said()], ["p", "container is gone"]);
  far.write(message(2, "its own words"));
  far.write(encodeFrame(opcodes.close, Buffer.from([3, 232])));
  await over;
  assert.equal(said(), "its own words");
});

test("what a pod is given goes over its stream in messages that a cluster takes, and whoever wrote it waits for the last [X3]", async (t) => {
  const { stdio, heard } = await stream(t);
  const sent = Buffer.alloc(70_000, "0123456789");
  await new Promise((done) => stdio.write(sent, done));
  await until("all is there", () => heard.reduce((sum, { payload }) => sum + payload.length, 0) === 70_003);
  assert.deepEqual(
    heard.map(({ opcode, payload }) => [opcode, payload[0], payload.length]),
    [
      [opcodes.binary, 0, 32_769],
      [opcodes.binary, 0, 32_769],
      [opcodes.binary, 0, 4465],
    ],
  );
  assert.ok(Buffer.concat(heard.map(({ payload }) => payload.subarray(1))).equals(sent));
  await new Promise((done) => stdio.write(Buffer.alloc(0), done));
  stdio.destroy();
  await until("it is told to end", () => heard.at(-1)?.opcode === opcodes.close);
});

test("a stream says every fifteen seconds that it is used, to the cluster and to the node, and is given up after forty-five of silence [X3]", async (t) => {
  const { far, heard, clock, over, stdio } = await stream(t);
  clock.move(14_999);
  assert.equal(heard.length, 0);
  clock.move(1);
  await until("it is said", () => heard.length === 2);
  assert.deepEqual(
    heard.map(({ opcode, payload }) => [opcode, payload.toString("hex")]),
    [
      [opcodes.ping, ""],
      [opcodes.binary, "00".repeat(6)],
    ],
  );
  far.write(encodeFrame(opcodes.pong, Buffer.of()));
  far.write(message(1, "x"));
  await once(stdio, "data");
  for (const count of [4, 6, 8]) {
    clock.move(15_000);
    await until("it is said", () => heard.length === count);
  }
  // Forty-five seconds after the last sign, and one look later.
  assert.equal(far.destroyed, false);
  clock.move(15_000);
  await over;
  assert.deepEqual([heard.at(-1)?.opcode === opcodes.ping, clock.timers()], [false, 0]);
});

test("a message without an end, and a frame that breaks the rules, end a stream [X3][X4]", async (t) => {
  const part = encodeFrame(opcodes.continued, Buffer.alloc(65_535));
  part.writeUInt8(opcodes.continued, 0);
  const long = await stream(t);
  for (let count = 0; count < 257; count += 1) long.far.write(part);
  await long.over;
  const wrong = await stream(t);
  wrong.far.write(Buffer.from([0xc2, 0x00]));
  await wrong.over;
  const torn = await stream(t);
  torn.far.destroy();
  await torn.over;
});

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

test("a watch is over when the cluster refuses it, sends a line without an end, or nobody wants it any more [X3][X4]", async (t) => {
  const { address } = await playApi(t, {
    answer({ url = "" }, response) {
      response.writeHead(url === "/refused" ? 410 : 200);
      if (url === "/refused") response.end('{"a":1}\n');
      if (url === "/long") response.write(`{"a":1}\n\n"${"x".repeat(4 * 1024 * 1024)}`);
      if (url === "/quiet") response.write('{"a":1}\n');
    },
  });
  const api = openApi({ address, clock: endlessClock });
  const stop = new AbortController();
  const watch = async (path: string, onLine = () => {}) => {
    const lines: unknown[] = [];
    const take = (line: unknown) => {
      lines.push(line);
      onLine();
    };
    await api.watch(path, take, stop.signal);
    return lines;
  };
  assert.deepEqual(await watch("/refused"), []);
  assert.deepEqual(await watch("/long"), [{ a: 1 }]);
  assert.deepEqual(await watch("/quiet", () => stop.abort()), [{ a: 1 }]);
});

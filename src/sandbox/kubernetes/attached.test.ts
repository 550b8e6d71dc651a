import assert from "node:assert/strict";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { type TestContext, test } from "node:test";
import { until } from "../../../test/world/events.ts";
import { manualClock } from "../../../test/world/manual-clock.ts";
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

test("what fills the messages to a pod to the last byte is sent, and so is what comes after it [X3]", async (t) => {
  const { stdio, heard } = await stream(t);
  for (const messages of [1, 2]) {
    heard.length = 0;
    stdio.write(Buffer.alloc(messages * 32_768, "x"));
    stdio.write("after");
    await until("what comes after it is there", () => heard.at(-1)?.payload.toString() === "\0after");
    assert.deepEqual(
      heard.map(({ payload }) => payload.length),
      [...Array.from({ length: messages }, () => 32_769), 6],
    );
  }
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

test("an answer that is none of Kubernetes, or none to this question, is no stream [X3]", async (t) => {
  for (const handshake of [{ protocol: "v1.channel.k8s.io" }, { accept: () => acceptOf("another") }]) {
    const { attached, far } = await attaching(t, handshake);
    assert.partialDeepStrictEqual(attached, {
      ...{ ok: false, failure: { why: "broken_off", said: "no WebSocket of Kubernetes" } },
    });
    await until("its connection is closed", () => far.readableEnded || far.destroyed);
  }
  assert.equal((await attaching(t, { protocol: "v4.channel.k8s.io" })).attached.ok, true);
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

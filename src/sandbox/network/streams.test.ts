import assert from "node:assert/strict";
import { type Duplex, duplexPair } from "node:stream";
import { test } from "node:test";
import { acceptStreams } from "./streams.ts";

// The host's end of a guest's network socket, with a guest that says what it likes.

const kinds = { open: 0, data: 1, end: 2, reset: 3, credit: 4 };

function frame(kind: number, id: number, number = 0, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(id, 1);
  head.writeUInt32BE(number, 5);
  return Buffer.concat([head, payload]);
}

const data = (id: number, bytes: number) => frame(kinds.data, id, bytes, Buffer.alloc(bytes, "x"));

function openLink({ streamsMax = 4 } = {}) {
  const [guest, link] = duplexPair();
  const streams: Duplex[] = [];
  acceptStreams(link, { streamsMax, onStream: (stream) => streams.push(stream) });
  const heard: Buffer[] = [];
  guest.on("data", (bytes: Buffer) => heard.push(bytes));
  const closed = new Promise<boolean>((resolve) => link.once("close", () => resolve(true)));
  return { guest, link, streams, closed, heard: () => Buffer.concat(heard) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("bytes go both ways, in pieces as they come, and each side can be done before the other [X5]", async () => {
  const { guest, streams, heard } = openLink();
  const all = Buffer.concat([frame(kinds.open, 7), data(7, 5), frame(kinds.end, 7)]);
  for (const byte of all) guest.write(Buffer.from([byte]));
  await settled();
  const [stream] = streams;
  assert.ok(stream);
  const came: string[] = [];
  for await (const piece of stream.iterator({ destroyOnReturn: false })) came.push(String(piece));
  stream.end("answer");
  await settled();
  assert.deepEqual(
    [came.join(""), heard()],
    ["xxxxx", Buffer.concat([frame(kinds.data, 7, 6, Buffer.from("answer")), frame(kinds.end, 7)])],
  );
});

test("what nobody reads is sent up to the window and no further, until there is room again [X5][X4]", async () => {
  const { guest, streams, heard } = openLink();
  guest.write(frame(kinds.open, 1));
  await settled();
  streams[0]?.write(Buffer.alloc(500_000));
  await settled();
  const sent = heard().length;
  guest.write(frame(kinds.credit, 1, 1000));
  await settled();
  assert.deepEqual([sent, heard().length], [128 * 1024 + 4 * 9, 128 * 1024 + 1000 + 5 * 9]);
});

test("one stream too many is refused, and the others go on [X5][X4]", async () => {
  const { guest, link, streams, heard } = openLink({ streamsMax: 1 });
  guest.write(Buffer.concat([frame(kinds.open, 1), frame(kinds.open, 2), data(2, 3), frame(kinds.end, 2)]));
  await settled();
  assert.deepEqual([streams.length, heard(), link.destroyed], [1, frame(kinds.reset, 2), false]);
});

test("the end of the link ends every stream, and a stream that is given up is told to the guest [X5]", async () => {
  const { guest, link, streams, heard } = openLink();
  guest.write(Buffer.concat([frame(kinds.open, 1), frame(kinds.open, 2), frame(kinds.open, 3)]));
  await settled();
  streams[0]?.destroy();
  guest.write(frame(kinds.reset, 2));
  await settled();
  assert.deepEqual([heard(), streams.map(({ destroyed }) => destroyed)], [frame(kinds.reset, 1), [true, true, false]]);
  link.destroy();
  await settled();
  assert.deepEqual(
    streams.map(({ destroyed }) => destroyed),
    [true, true, true],
  );
});

const wrong: readonly (readonly [what: string, ...frames: readonly Buffer[]])[] = [
  ["more than the window allows", ...new Array<Buffer>(16).fill(data(1, 32 * 1024))],
  ["a piece of nothing", data(1, 0)],
  ["a piece that is too long", frame(kinds.data, 1, 4_000_000_000)],
  ["a word that nobody knows", frame(9, 1)],
  ["a stream that is there already", frame(kinds.open, 1)],
  ["bytes after the end", frame(kinds.end, 1), data(1, 1)],
  ["two ends", frame(kinds.end, 1), frame(kinds.end, 1)],
  ["more room than there is", frame(kinds.credit, 1, 1)],
];

for (const [what, ...frames] of wrong) {
  test(`a guest that says ${what} has no network any more [X5][X3]`, async () => {
    const { guest, closed, streams } = openLink();
    guest.write(Buffer.concat([frame(kinds.open, 1), ...frames]));
    assert.equal(await closed, true);
    assert.deepEqual(
      streams.map(({ destroyed }) => destroyed),
      [true],
    );
  });
}

test("what was read makes room again: a guest may send as much as it likes, as long as somebody takes it [X5]", async () => {
  const { guest, link, streams, heard } = openLink();
  guest.write(frame(kinds.open, 1));
  await settled();
  let came = 0;
  streams[0]?.on("data", (bytes: Buffer) => {
    came += bytes.length;
  });
  for (let piece = 0; piece < 8; piece += 1) {
    guest.write(data(1, 32 * 1024));
    await settled();
  }
  const credit = frame(kinds.credit, 1, 64 * 1024);
  assert.deepEqual([came, link.destroyed, heard()], [8 * 32 * 1024, false, Buffer.concat(Array(4).fill(credit))]);
});

test("a guest that goes without a word, or that only asks and never listens, has no stream any more [X5][X4]", async () => {
  const ended = openLink();
  ended.guest.write(frame(kinds.open, 1));
  await settled();
  ended.guest.end();
  await settled();
  assert.equal(ended.streams[0]?.destroyed, true);

  const [guest, link] = duplexPair();
  acceptStreams(link, { streamsMax: 1, onStream: () => {} });
  const asks = Buffer.concat(Array<Buffer>(3000).fill(frame(kinds.open, 2)));
  guest.write(frame(kinds.open, 1));
  for (let batch = 0; batch < 20 && !link.destroyed; batch += 1) {
    guest.write(asks);
    await settled();
  }
  assert.equal(link.destroyed, true);
});

test("a word for a stream that nobody knows is let pass, and one that nobody ever says is not [X5]", async () => {
  for (const [kind, isWrong] of [
    [kinds.credit, false],
    [kinds.credit + 1, true],
  ] as const) {
    const { guest, link } = openLink();
    guest.write(frame(kind, 9));
    await settled();
    assert.equal(link.destroyed, isWrong);
  }
});

test("a guest that reads slowly keeps its network, also when every stream has sent all it may [X5][X4]", async () => {
  const [guest, link] = duplexPair();
  const streams: Duplex[] = [];
  acceptStreams(link, { streamsMax: 4, onStream: (stream) => streams.push(stream) });
  guest.write(Buffer.concat([1, 2, 3, 4].map((id) => frame(kinds.open, id))));
  await settled();
  for (const stream of streams) stream.write(Buffer.alloc(500_000));
  await settled();
  assert.deepEqual([streams.length, link.destroyed], [4, false]);
  const heard: Buffer[] = [];
  guest.on("data", (bytes: Buffer) => heard.push(bytes));
  for (let round = 0; round < 10; round += 1) await settled();
  assert.equal(Buffer.concat(heard).length, 4 * (128 * 1024 + 4 * 9));
});

test("a stream that both sides ended is over without a word, and makes room for another [X5]", async () => {
  const { guest, link, streams, heard } = openLink({ streamsMax: 1 });
  guest.write(Buffer.concat([frame(kinds.open, 1), frame(kinds.end, 1)]));
  await settled();
  streams[0]?.resume().end();
  for (let round = 0; round < 5; round += 1) await settled();
  assert.deepEqual([heard(), streams[0]?.destroyed], [frame(kinds.end, 1), true]);
  guest.write(Buffer.concat([frame(kinds.open, 1), data(1, 32 * 1024)]));
  await settled();
  assert.deepEqual([streams.length, link.destroyed], [2, false]);
});

test("a window may be filled to its last byte and no further, and room that is given back is room again [X5][X4]", async () => {
  const { guest, link, streams } = openLink();
  guest.write(Buffer.concat([frame(kinds.open, 1), ...Array<Buffer>(4).fill(data(1, 32 * 1024))]));
  await settled();
  for (const _ of [1, 2]) streams[0]?.write(Buffer.alloc(1000));
  await settled();
  for (const _ of [1, 2]) guest.write(frame(kinds.credit, 1, 1000));
  await settled();
  assert.deepEqual([link.destroyed, streams[0]?.destroyed], [false, false]);
  guest.write(data(1, 1));
  await settled();
  assert.equal(link.destroyed, true);
});

test("what nobody reads is not told as taken, beyond what a stream holds for its reader [X5][X4]", async () => {
  const { guest, streams, heard } = openLink();
  guest.write(frame(kinds.open, 1));
  await settled();
  streams[0]?.on("readable", () => {});
  for (let piece = 0; piece < 4; piece += 1) {
    guest.write(data(1, 32 * 1024));
    await settled();
  }
  assert.deepEqual(heard(), frame(kinds.credit, 1, 64 * 1024));
});

test("a stream that is given up when one side was done is told to the guest, and what breaks it ends nothing else [X5][Q2]", async () => {
  const { guest, link, streams, heard } = openLink();
  guest.write(Buffer.concat([frame(kinds.open, 1), frame(kinds.open, 2), frame(kinds.end, 2), frame(kinds.open, 3)]));
  await settled();
  streams[0]?.end();
  await settled();
  streams[0]?.destroy(new Error("torn off"));
  streams[1]?.destroy();
  await settled();
  assert.deepEqual(
    [heard(), link.destroyed],
    [Buffer.concat([frame(kinds.end, 1), frame(kinds.reset, 1), frame(kinds.reset, 2)]), false],
  );
  link.destroy(new Error("torn off"));
  await settled();
  assert.equal(streams[2]?.destroyed, true);
});

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

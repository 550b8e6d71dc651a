import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Duplex } from "node:stream";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { bareSupervisor } from "../../../test/world/bare-supervisor.ts";
import { systemClock } from "../../base/clock.ts";
import { createFrameDecoder, encodeFrame, headerBytesMax, payloadBytesMax } from "./frames.ts";
import { linksOver } from "./stdio.ts";

const header = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
const payload = fc.uint8Array({ maxLength: 300 });

test("frames come out as they went in, however the bytes are cut on the way [X1]", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(header, payload), { maxLength: 8 }), fc.infiniteStream(fc.nat(40)), (sent, sizes) => {
      const bytes = Buffer.concat(sent.map(([head, body]) => encodeFrame(head, body)));
      const decoder = createFrameDecoder();
      const received: unknown[] = [];
      for (let start = 0; start < bytes.length; ) {
        const size = sizes.next().value ?? 1;
        const frames = decoder.push(bytes.subarray(start, start + size));
        assert(frames.ok);
        received.push(...frames.value.map((frame) => [frame.header, [...frame.payload]]));
        start += size;
      }
      assert.deepEqual(
        { received, pending: decoder.pendingBytes() },
        { received: sent.map(([head, body]) => [JSON.parse(JSON.stringify(head)), [...body]]), pending: 0 },
      );
    }),
    { numRuns: 200 },
  );
});

test("no bytes of a guest throw, and never more than one frame of them is kept [X1][Q2]", () => {
  const pieces = fc.array(
    fc.oneof(
      payload,
      header.map((head) => encodeFrame(head)),
    ),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(pieces, (chunks) => {
      const decoder = createFrameDecoder();
      for (const chunk of chunks) {
        if (!decoder.push(Buffer.from(chunk)).ok) return;
        assert(decoder.pendingBytes() < 8 + headerBytesMax + payloadBytesMax);
      }
    }),
    { numRuns: 500 },
  );
});

test("a frame that says it is too long is refused before it is read [X1][Q2]", () => {
  const answers = [
    [headerBytesMax + 1, 0],
    [2, payloadBytesMax + 1],
    [0xffff_ffff, 0xffff_ffff],
  ].map(([headerBytes = 0, payloadBytes = 0]) => {
    const lengths = Buffer.alloc(8);
    lengths.writeUInt32BE(headerBytes, 0);
    lengths.writeUInt32BE(payloadBytes, 4);
    return createFrameDecoder().push(lengths);
  });
  assert.deepEqual(answers, [
    { ok: false, failure: "header_too_long" },
    { ok: false, failure: "payload_too_long" },
    { ok: false, failure: "header_too_long" },
  ]);
});

test("a frame of exactly the limits passes, and a header that is no JSON does not [X1]", () => {
  const head = { a: "x".repeat(headerBytesMax - '{"a":""}'.length) };
  const body = Buffer.alloc(payloadBytesMax, 7);
  assert.deepEqual(createFrameDecoder().push(encodeFrame(head, body)), {
    ok: true,
    value: [{ header: head, payload: body }],
  });
  assert.throws(() => encodeFrame({ a: `${head.a}x` }));
  const broken = encodeFrame({ a: 1 });
  broken[8] = 0xff;
  assert.deepEqual(createFrameDecoder().push(broken), { ok: false, failure: "header_not_json" });
});

/** A stream whose other end the test is. */
function stream() {
  const written: Buffer[] = [];
  const own = new Duplex({
    read() {},
    write(chunk: Buffer, _, done) {
      written.push(chunk);
      done();
    },
  });
  return { own, written };
}

function piece(number: number, text: string, length = text.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(number, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

for (const [name, bytes] of [
  ["a link that there is not", piece(2, "x")],
  ["a piece that is too long", piece(0, "x", 65_537)],
] as const) {
  test(`a guest that speaks of ${name} has no links any more [X1]`, async () => {
    const { own } = stream();
    const { control, network } = linksOver(own);
    const ended = Promise.all([control, network].map((link) => new Promise((resolve) => link.once("close", resolve))));
    own.push(bytes);
    await ended;
    assert.equal(own.destroyed, true);
  });
}

// What the supervisor does with words that a host of ours does not say, or says only when something else went wrong.
const lengths = (header: number, payload: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(header, 0);
  bytes.writeUInt32BE(payload, 4);
  return bytes;
};

function hostOf(t: TestContext) {
  const supervisor = bareSupervisor(t);
  const { socket, workspace } = supervisor;
  socket.on("error", () => {});
  const decoder = createFrameDecoder();
  const heard: Record<string, unknown>[] = [];
  let onHeard = () => {};
  socket.on("data", (chunk: Buffer) => {
    const frames = decoder.push(chunk);
    assert(frames.ok);
    for (const { header, payload } of frames.value) heard.push({ ...Object(header), text: payload.toString() });
    onHeard();
  });
  const say = (header: object, payload = "") => socket.write(encodeFrame(header, Buffer.from(payload)));
  const told = async (type: string, wanted: object = {}): Promise<Record<string, unknown>> => {
    for (;;) {
      const found = heard.find((one) =>
        Object.entries({ type, ...wanted }).every(([name, value]) => one[name] === value),
      );
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        onHeard = resolve;
      });
    }
  };
  const hello = {
    ...{ type: "hello", nonce: "n", workspace, folders: [], javascript: null, env: {}, outputBytesMax: 1000 },
    ...{ fileBytesMax: 1_000_000, memoryBytes: null, processesMax: null },
  };
  const exec = (id: string, language: string, code: string, env: object = {}) =>
    say({ type: "exec", id, language, agent: "a", folder: "", env }, code);
  return { ...supervisor, say, told, hello, exec, heard };
}

test("a supervisor that is told anything before its greeting ends, and does nothing of it [X1][X3]", async (t) => {
  const { say, gone, said, heard } = hostOf(t);
  say({ type: "ping", n: 1 });
  assert.deepEqual([await gone, said(), heard], [0, "", []]);
});

for (const [name, header, payload] of [
  ["header", 65_537, 0],
  ["payload", 2, 65_537],
] as const) {
  test(`a supervisor ends when a frame has a longer ${name} than any of ours, and does not wait for it [X1]`, async (t) => {
    const { socket, say, told, hello, gone } = hostOf(t);
    say(hello);
    await told("hello");
    socket.write(lengths(header, payload));
    assert.equal(await gone, 1);
  });
}

test("a supervisor whose host is gone ends with all that it started [X1]", async (t) => {
  const { say, told, hello, exec, socket, gone } = hostOf(t);
  say(hello);
  exec("e", "bash", "sleep 1000 & echo $!; exec sleep 1000");
  const pid = Number((await told("out")).text);
  socket.destroy();
  assert.equal(await gone, 0);
  // Asked for until it is so: whoever takes it over may take a moment to ask how it ended.
  while (isAlive(pid)) await systemClock.wait(5);
});

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createFrameDecoder, encodeFrame, headerBytesMax, payloadBytesMax } from "./frames.ts";

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

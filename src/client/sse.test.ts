import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { StreamFrame } from "../protocol/resources.ts";
import { readFrames } from "./sse.ts";

const frames: StreamFrame[] = [
  { frame: "event", event: { type: "conversation.renamed", seq: 1, at: 5, title: "a\n\nb\u2028 世界 🌍" } },
  { frame: "delta", turn: 1, step: 1, attempt: 1, kind: "text", offset: 0, text: "data: \n\n" },
  { frame: "caught_up", head: 1 },
  { frame: "ping" },
  { frame: "behind", after: "1~1.1.1.t3" },
];
const bytes = new TextEncoder().encode(
  frames.map((frame) => `event: ${frame.frame}\nid: 1\ndata: ${JSON.stringify(frame)}\n\n`).join(""),
);

test("frames are the same however the network splits them [C3]", async () => {
  for (let place = 0; place <= bytes.length; place += 1)
    assert.deepEqual(await read([bytes.subarray(0, place), bytes.subarray(place)]), frames);
  const splits = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(splits, async (sizes) => {
      assert.deepEqual(await read([...cut(bytes, sizes)]), frames);
    }),
  );
});

test("a long event that came in parts is one again, and kinds that only a newer server knows are passed over [C3]", async () => {
  const long: StreamFrame = { frame: "event", event: { type: "conversation.renamed", seq: 2, at: 5, title: '"🌍\\' } };
  const json = JSON.stringify(long);
  const parts = [json.slice(0, 61), json.slice(61)].map((text, index) => ({
    frame: "part",
    of: "2",
    index,
    count: 2,
    text,
  }));
  const sent = [{ frame: "invented", by: "a newer server" }, ...parts, { frame: "ping" }];
  const body = sent.map((frame) => `event: ${frame.frame}\ndata: ${JSON.stringify(frame)}\n\n`).join("");
  const hints = `retry: 1000\n\n: a comment\n\n`;
  const seen = await read([new TextEncoder().encode(hints + body)]);
  assert.deepEqual(
    seen.filter(({ frame }) => frame !== "part"),
    [long, { frame: "ping" }],
  );
  const broken = `data: ${JSON.stringify({ frame: "caught_up", head: "x" })}\n\n`;
  await assert.rejects(read([new TextEncoder().encode(broken)]));
});

test("a frame that was cut off is not delivered", async () => {
  assert.deepEqual(await read([bytes.subarray(0, bytes.length - 1)]), frames.slice(0, -1));
});

test("a body that is not ours is an error, not a frame", async () => {
  await assert.rejects(read([new TextEncoder().encode("<html>\n\n</html>")], "text/html"));
  assert.deepEqual(await read([]), []);
});

async function read(chunks: Uint8Array[], type = "text/event-stream"): Promise<StreamFrame[]> {
  const seen: StreamFrame[] = [];
  const response = new Response(ReadableStream.from(chunks), { headers: { "content-type": type } });
  for await (const { frame } of readFrames(response, new AbortController().signal))
    if (frame !== undefined) seen.push(frame);
  return seen;
}

function* cut(all: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let start = 0, turn = 0; start < all.length; turn += 1) {
    const end = start + (sizes[turn % sizes.length] ?? 1);
    yield all.subarray(start, end);
    start = end;
  }
}

import assert from "node:assert/strict";
import { once } from "node:events";
import { type Duplex, duplexPair } from "node:stream";
import { test } from "node:test";
import { type StreamKeys, signedOver } from "./signed-stream.ts";

const keys: StreamKeys = { server: "of the server", host: "of the host" };

/** A server and a host, and between them one who changes what the server sends, chunk by chunk. */
function apart(change: (chunk: Buffer) => readonly Buffer[] = (chunk) => [chunk]) {
  const [near, serverEnd] = duplexPair();
  const [hostEnd, far] = duplexPair();
  serverEnd.on("data", (chunk: Buffer) => {
    for (const each of change(chunk)) hostEnd.write(each);
  });
  hostEnd.on("data", (chunk: Buffer) => serverEnd.write(chunk));
  serverEnd.once("end", () => hostEnd.end());
  hostEnd.once("end", () => serverEnd.end());
  return { server: signedOver(near, keys, "server"), host: signedOver(far, keys, "host") };
}

async function textOf(stream: Duplex): Promise<string> {
  let text = "";
  stream.on("data", (bytes: Buffer) => (text += bytes.toString("latin1")));
  stream.on("error", () => {});
  await Promise.race([once(stream, "end"), once(stream, "close")]);
  return text;
}

test("what both sides of a host's stream say arrives as it was said, however it is cut on the way [X3]", async () => {
  const { server, host } = apart((chunk) => Array.from(chunk, (byte) => Buffer.of(byte)));
  const heard = Promise.all([textOf(host), textOf(server)]);
  const long = "x".repeat(150_000);
  server.write("one");
  server.end(long);
  host.end("two");
  assert.deepEqual(await heard, [`one${long}`, "two"]);
});

const pieces: Buffer[] = [];
const meddlers: Readonly<Record<string, (chunk: Buffer) => readonly Buffer[]>> = {
  "other bytes": (chunk) => [Buffer.from(chunk.toString("latin1").replace("second", "SECOND"), "latin1")],
  "a piece twice": (chunk) => [chunk, chunk],
  "a piece less": (chunk) => (chunk.includes("first") ? [] : [chunk]),
  "pieces in another order": (chunk) => {
    pieces.unshift(chunk);
    return pieces.length < 2 ? [] : pieces;
  },
  "a piece of their own": (chunk) => [chunk, Buffer.concat([Buffer.of(0, 0, 0, 1), Buffer.alloc(32), Buffer.of(65)])],
  "a piece of nothing": (chunk) => [chunk, Buffer.alloc(36)],
  "a piece without an end": (chunk) => [chunk, Buffer.alloc(36, 0xff)],
};

for (const [what, change] of Object.entries(meddlers))
  test(`${what} from who sits between is the end of a host's stream, and nobody hears it [X3][Q1]`, async () => {
    const { server, host } = apart(change);
    const heard = textOf(host);
    server.on("error", () => {});
    server.write("first");
    server.write("second");
    assert.match(await heard, /^(?:first)?$/);
    assert.equal(host.destroyed, true);
  });

test("what a side said itself is nothing that the other side says [X3][Q1]", async () => {
  const [near, far] = duplexPair();
  const server = signedOver(near, keys, "server");
  far.on("data", (chunk: Buffer) => void far.write(chunk));
  const heard = textOf(server);
  server.write("to the host");
  assert.equal(await heard, "");
});

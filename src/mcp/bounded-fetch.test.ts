import assert from "node:assert/strict";
import { test } from "node:test";
import { boundedFetch } from "./bounded-fetch.ts";
import { messageBytesMax } from "./limits.ts";

/** Answers in pieces; so many bytes of each came through, and whether it broke off. */
async function read(type: string, pieces: readonly string[]) {
  const body = ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece)));
  const fetch = boundedFetch(async () => new Response(body, { headers: { "content-type": type } }));
  const answer = await fetch("http://far.example/");
  let sizeBytes = 0;
  try {
    for await (const piece of answer.body ?? []) sizeBytes += piece.length;
    return `all ${sizeBytes}`;
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}

const most = "x".repeat(messageBytesMax);

test("an answer of an MCP server is taken up to 16 MiB and not a byte further [G1][Q1]", async () => {
  assert.equal(await read("application/json", [most]), `all ${messageBytesMax}`);
  assert.equal(await read("application/json", [most, "x"]), "an answer that is too long");
});

test("a stream of events goes on for as long as no single one is longer than that, however it is cut in pieces [G1][Q1]", async () => {
  const type = "text/event-stream; charset=utf-8";
  const event = `data: ${"x".repeat(messageBytesMax / 2)}`;
  for (const end of [["\n\n"], ["\n", "\n"], ["\r\n\r\n"], ["\r\n", "\r\n"], ["\n\nda", "ta: x\n\n"]]) {
    const pieces = [event, ...end, event, ...end, event, ...end];
    assert.equal(await read(type, pieces), `all ${pieces.join("").length}`, JSON.stringify(end));
  }
  assert.equal(await read(type, [event, "\n", event]), "an answer that is too long");
});

test("an answer without content stays one [G1]", async () => {
  const fetch = boundedFetch(async () => new Response(null, { status: 202 }));
  const answer = await fetch("http://far.example/");
  assert.deepEqual([answer.status, answer.body], [202, null]);
});

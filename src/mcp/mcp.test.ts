import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { assert as ourAssert } from "../base/assert.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { imagesMax, outputOf } from "./call-result.ts";
import { faultOf } from "./faults.ts";
import { messageBytesMax } from "./limits.ts";
import { ownCode } from "./own-code.ts";

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

/** The smallest that is whole: one pixel. */
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const picture = (data = pixel) => ({ type: "image", mimeType: "image/png", data }) as const;

const shown: readonly [what: string, content: CallToolResult["content"], text: string][] = [
  ["a picture that is broken", [picture("AAAA")], "[image: image/png, 3 bytes, not shown: the picture is broken]"],
  [
    "a picture of a kind that models do not take",
    [{ type: "image", mimeType: "image/tiff", data: "AAAA" }],
    "[image: image/tiff, 3 bytes, not shown: neither text nor a picture]",
  ],
  [
    "a picture that is too large",
    [picture("A".repeat(8_000_000))],
    "[image: image/png, 5.7 MB, not shown: larger than 5.0 MB]",
  ],
  [
    "a sound",
    [{ type: "audio", mimeType: "audio/wav", data: "AAAA" }],
    "[audio: audio/wav, 3 bytes, not shown: neither text nor a picture]",
  ],
  [
    "a resource with text",
    [{ type: "resource", resource: { uri: "a://b", text: "inside" } }],
    "[resource a://b]\ninside",
  ],
  [
    "a resource of bytes",
    [{ type: "resource", resource: { uri: "a://b", mimeType: "application/zip", blob: "AAAA" } }],
    "[a://b: application/zip, 3 bytes, not shown: neither text nor a picture]",
  ],
  [
    "a link",
    [{ type: "resource_link", uri: "a://b", name: "b", mimeType: "text/plain", size: 10 }],
    "[resource b: a://b (text/plain, 10 bytes)]",
  ],
];
for (const [what, content, text] of shown)
  test(`${what} in the result of an MCP server is named or shown, never left out in silence [G1]`, () => {
    assert.deepEqual(outputOf({ content }), { text });
  });

test("of many pictures in the result of an MCP server the first are shown, and the others are named [G1]", () => {
  const { text, images } = outputOf({ content: Array.from({ length: imagesMax + 1 }, () => picture()) });
  assert.equal(images?.length, imagesMax);
  assert.equal(
    text.split("\n").at(-1),
    "[image: image/png, 70 bytes, not shown: only 8 pictures of a result are shown]",
  );
});

test("what a server says twice, as text and as data, is told once; a failure is one, also without words [G1]", () => {
  const structuredContent = { a: 1, b: [2] };
  assert.deepEqual(
    [
      outputOf({ content: [{ type: "text", text: '{ "a": 1,\n "b": [2] }' }], structuredContent }),
      outputOf({ content: [{ type: "text", text: "see there" }], structuredContent }),
      outputOf({ content: [], isError: true }),
      outputOf({ content: [{ type: "text", text: "no such city" }], isError: true }),
    ],
    [
      { text: '{ "a": 1,\n "b": [2] }' },
      { text: 'see there\n{"a":1,"b":[2]}' },
      { text: "The tool failed and did not say why.", isRefusal: true },
      { text: "no such city", isRefusal: true },
    ],
  );
});

/** As the client hands on what the code that it calls has thrown, bare or as the cause of its own error. */
async function handedOn(run: () => unknown): Promise<unknown[]> {
  const error = await ownCode(async () => run())().catch((thrown: unknown) => thrown);
  return [error, new Error("Version negotiation probe failed", { cause: error })];
}

const mistakes: [what: string, run: () => unknown, told: RegExp][] = [
  ["a value that is not there", () => (undefined as unknown as { go(): void }).go(), /reading 'go'/],
  ["a number out of its range", () => (1).toFixed(-1), /toFixed/],
  ["a name that nobody gave", () => Function("return nowhere")(), /nowhere is not defined/],
  ["what cannot be written", () => JSON.stringify({ big: 1n }), /BigInt/],
  ["an assertion", () => ourAssert(false, "it runs"), /assertion failed: it runs/],
];
for (const [what, run, told] of mistakes)
  test(`a mistake of ours is never blamed on an MCP server: ${what} [G1]`, async () => {
    for (const error of await handedOn(run)) assert.throws(() => faultOf(error), told);
    // The same from the client itself is what it made of what the server said.
    const { why } = faultOf(await (async () => run())().catch((thrown: unknown) => thrown));
    assert.equal(why, "protocol");
  });

test("what the world does to our way to an MCP server stays a fault of the server [G1]", async () => {
  const ways: [run: () => unknown, why: string][] = [
    [() => fetch("http://127.0.0.1:1/"), "network"],
    [() => fetch("ftp://127.0.0.1/"), "network"],
    [() => new Request("http://user:word@host/"), "protocol"],
    [() => new URL("no address"), "protocol"],
    [() => new Headers({ name: "two\u0000parts" }), "protocol"],
    [() => JSON.parse("{"), "protocol"],
    [() => Promise.reject(new Error("the program has ended")), "protocol"],
    [() => Promise.reject("no error"), "protocol"],
  ];
  for (const [run, why] of ways) {
    const [error] = await handedOn(run);
    assert.equal(faultOf(error).why, why, String(run));
  }
});

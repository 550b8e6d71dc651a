import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { imagesMax, outputOf } from "./call-result.ts";

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

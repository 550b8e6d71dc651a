import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "../protocol/message.ts";
import { isNamedAddress } from "./named-addresses.ts";

const messages: readonly Message[] = [
  {
    role: "user",
    text: "Look at https://a.example/x?y=1, and at b.example/docs. Mail me@mail.example.\nhttp://added.example/",
    own: 71,
  },
  {
    role: "assistant",
    text: "See https://made-up.example/",
    toolCalls: [
      { id: "1", name: "web_search", arguments: "{}" },
      { id: "2", name: "execute_code", arguments: "{}" },
    ],
  },
  {
    role: "tool",
    toolCallId: "1",
    text: 'Found for "https://repeated.example/?secret=1":\n<data source="web_search" mark="m">\n1. T\n   https://hit.example/p\n   [link](https://link.example/q_(r)) 见https://c.example/中文。\n</data mark="m">',
  },
  { role: "tool", toolCallId: "2", text: "https://printed.example/?secret=1" },
];
const named: readonly (readonly [url: string, isNamed: boolean])[] = [
  ["https://a.example/x?y=1", true],
  ["http://a.example/x?y=1#part", true],
  ["https://a.example/x?y=2", false],
  ["https://a.example/x", false],
  ["https://b.example/docs/", true],
  ["https://b.example/", false],
  ["https://mail.example/", false],
  ["https://added.example/", false],
  ["https://made-up.example/", false],
  ["https://hit.example/p", true],
  ["https://hit.example/p?all=files", false],
  ["https://c.example/中文", true],
  ["https://printed.example/?secret=1", false],
  ["https://repeated.example/?secret=1", false],
  ["http://[", false],
];

test("a message that is written to keep us busy is read at once [H1][Q1]", () => {
  const text = `https://a.example/${"!".repeat(200_000)}x https://b.example/${"!".repeat(200_000)}`;
  assert.equal(isNamedAddress([{ role: "user", text }], { url: "https://b.example/" }), true);
});

test("an address counts as named where the user wrote it or the web brought it up, and nowhere else [H1][T7]", () => {
  assert.deepEqual(
    named.map(([url]) => [url, isNamedAddress(messages, { url })]),
    named,
  );
});

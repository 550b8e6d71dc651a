import assert from "node:assert/strict";
import { test } from "node:test";
import { NeutralRequest, toModelRequest, toNeutralResult } from "./neutral.ts";
import { defaultProfile } from "./profile.ts";

test("a neutral request becomes a call, with arguments as text [P2]", () => {
  const parsed = NeutralRequest.parse({
    stream: false,
    messages: [
      { role: "user", text: "a", images: [{ mime: "image/png", base64: "eA==" }] },
      { role: "assistant", text: "", toolCalls: [{ id: "c", name: "t", arguments: { b: 1 }, extra: { x: 1 } }] },
      { role: "tool", toolCallId: "c", text: "r" },
    ],
    tools: [{ name: "t", parameters: {} }],
    toolChoice: "t",
    profile: { streamUsage: false },
    client: { idleTimeoutMs: 300, firstDataTimeoutMs: 900 },
  });
  assert.deepEqual(parsed.profile, { ...defaultProfile, streamUsage: false });
  const { messages, ...rest } = toModelRequest(parsed);
  assert.deepEqual(JSON.parse(JSON.stringify(messages)), [
    { role: "user", text: "a", images: [{ mime: "image/png", base64: "eA==" }] },
    { role: "assistant", text: "", toolCalls: [{ id: "c", name: "t", arguments: '{"b":1}', extra: { x: 1 } }] },
    { role: "tool", toolCallId: "c", text: "r" },
  ]);
  assert.deepEqual(rest, { stream: false, tools: [{ name: "t", parameters: {} }], toolChoice: { tool: "t" } });
});

test("a request without messages says hello [P2]", () => {
  assert.deepEqual(toModelRequest(NeutralRequest.parse({ stream: true })).messages, [
    { role: "user", text: "hello", images: undefined },
  ]);
});

test("a key nobody knows is named [P2]", () => {
  const { error } = NeutralRequest.safeParse({ stream: true, temprature: 1, profile: { streamUsages: true } });
  assert.match(error?.message ?? "", /temprature/);
  assert.match(error?.message ?? "", /streamUsages/);
});

test("a neutral result holds no key without a value [P2]", () => {
  const result = toNeutralResult({
    text: "hi",
    reasoning: "",
    toolCalls: [
      { id: "a", name: "t", arguments: '{"x":1}' },
      { id: "b", name: "t", arguments: '{"x', invalid: true },
    ],
    finish: "error",
    usage: { input: 1, output: 2 },
    usageEstimated: true,
    error: { kind: "network", retryable: true, message: "lost", status: 500 },
  });
  assert.deepEqual(result, {
    text: "hi",
    reasoning: "",
    toolCalls: [
      { id: "a", name: "t", arguments: { x: 1 } },
      { id: "b", name: "t", invalid: true, raw: '{"x' },
    ],
    finish: "error",
    usage: { input: 1, output: 2 },
    usageEstimated: true,
    error: { kind: "network", retryable: true },
  });
});

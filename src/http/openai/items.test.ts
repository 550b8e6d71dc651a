import assert from "node:assert/strict";
import { test } from "node:test";
import { derivedHex } from "../../base/ids.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { openItems } from "./items.ts";
import { openResponse } from "./response.ts";

const items = () => openItems("resp_1", (type, fields) => ({ type, ...fields }));
const idOf = (prefix: string, at: number) => `${prefix}_${derivedHex(32, "resp_1", String(at))}`;

test("thoughts, words and a call are told as they are written, each in its place and whole at its end [C5]", () => {
  const all = items();
  const [rs, msg, fc] = [idOf("rs", 0), idOf("msg", 1), idOf("fc", 2)];
  const [thinking, said] = [
    { item_id: rs, output_index: 0, content_index: 0 },
    { item_id: msg, output_index: 1, content_index: 0 },
  ];
  const thought = (text: string) => ({ type: "reasoning_text", text });
  const words = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });
  const reasoning = { type: "reasoning", id: rs, summary: [] };
  assert.deepEqual(all.addWords({ piece: "reasoning", part: 1, text: "hm" }), [
    { type: "response.output_item.added", output_index: 0, item: { ...reasoning, status: "in_progress", content: [] } },
    { type: "response.content_part.added", ...thinking, part: thought("") },
    { type: "response.reasoning_text.delta", ...thinking, delta: "hm" },
  ]);
  const thoughtWhole = { ...reasoning, status: "completed", content: [thought("hm")] };
  const message = { type: "message", id: msg, role: "assistant" };
  // The same part of another kind is another item.
  assert.deepEqual(all.addWords({ piece: "text", part: 1, text: "It " }), [
    { type: "response.reasoning_text.done", ...thinking, text: "hm" },
    { type: "response.content_part.done", ...thinking, part: thought("hm") },
    { type: "response.output_item.done", output_index: 0, item: thoughtWhole },
    { type: "response.output_item.added", output_index: 1, item: { ...message, status: "in_progress", content: [] } },
    { type: "response.content_part.added", ...said, part: words("") },
    { type: "response.output_text.delta", ...said, delta: "It ", logprobs: [] },
  ]);
  assert.deepEqual(all.addWords({ piece: "text", part: 1, text: "is." }), [
    { type: "response.output_text.delta", ...said, delta: "is.", logprobs: [] },
  ]);
  assert.deepEqual(all.all(), [thoughtWhole, { ...message, status: "in_progress", content: [words("It is.")] }]);
  const whole = { ...message, status: "incomplete", content: [words("It is.")] };
  assert.deepEqual(all.close("incomplete"), [
    { type: "response.output_text.done", ...said, text: "It is.", logprobs: [] },
    { type: "response.content_part.done", ...said, part: words("It is.") },
    { type: "response.output_item.done", output_index: 1, item: whole },
  ]);
  assert.deepEqual(all.close("completed"), [], "it is closed once");
  const call = { type: "function_call", id: fc, call_id: "call_1", name: "look" };
  const called = { ...call, arguments: '{"n":1}', status: "completed" };
  const about = { item_id: fc, output_index: 2 };
  assert.deepEqual(all.addCall({ id: "call_1", name: "look", args: '{"n":1}' }), [
    { type: "response.output_item.added", output_index: 2, item: { ...call, arguments: "", status: "in_progress" } },
    { type: "response.function_call_arguments.delta", ...about, delta: '{"n":1}' },
    { type: "response.function_call_arguments.done", ...about, name: "look", arguments: '{"n":1}' },
    { type: "response.output_item.done", output_index: 2, item: called },
  ]);
  assert.deepEqual(all.all(), [thoughtWhole, whole, called]);
});

test("the words of the next step are an item of their own, and a long piece comes in several [C5]", () => {
  const all = items();
  all.addWords({ piece: "text", part: 1, text: "one" });
  const next = all.addWords({ piece: "text", part: 2, text: `${"x".repeat(8_000)}y` });
  assert.deepEqual(
    next.flatMap((event) => ("delta" in event ? [event.delta] : [])),
    ["x".repeat(8_000), "y"],
  );
  assert.deepEqual(
    all.all().map((item) => "status" in item && item.status),
    ["completed", "in_progress"],
  );
});

test("a response that is broken off fails with what it has so far, which is not whole [C5]", () => {
  const response = openResponse({
    ...{ id: "resp_1", conversation: "c", model: "general", callerPart: {}, previous: null, metadata: {} },
    ...{ toolChoice: "auto", store: true, errorFor: ({ code }) => ({ code, message: "" }) },
  });
  response.take({ piece: "begin", at: 1_000 });
  response.take({ piece: "text", part: 1, text: "half" });
  const events = response.brokenOff(makeFailure("server_closing", {}));
  const { type, sequence_number, response: told } = Object(events.at(-1));
  assert.deepEqual(
    [type, sequence_number, told.status, told.error, told.output.map(({ status }: { status: string }) => status)],
    ["response.failed", 8, "failed", { code: "server_closing", message: "" }, ["incomplete"]],
  );
});

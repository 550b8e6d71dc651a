import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFailure } from "../../protocol/failure.ts";
import type { Finish } from "../../protocol/message.ts";
import type { TurnRest } from "../chat/follow-message.ts";
import { failureOf, finishOf, opened, retryHeader } from "./answer.ts";
import { completionChunks, completionHead, openCompletion } from "./completion.ts";
import type { End, Piece } from "./pieces.ts";
import { openResponse } from "./response.ts";

// How a turn ended, in the words of each of OpenAI's protocols.

const usage = { input: 10, output: 4, cachedInput: 3, reasoning: 2 };
const ended = (state: TurnRest, finish: Finish = "stop", more: Partial<End> = {}): End => ({
  ...{ state, finish, usage, at: 9_900, open: [], failure: undefined, retryAfterMs: undefined, ...more },
});
const asked = (id: string, kind: "function" | "approval"): End["open"][number] => ({
  ...{ type: "decision.asked", seq: 1, at: 1, turn: 1, id, call: "c1", kind, tool: "look", arguments: '{"n":1}' },
});
const conversation = "00000000-0000-4000-8000-000000000000";
const begun = { conversation: { id: conversation } } as Parameters<typeof openCompletion>[1];
const head = { id: "chatcmpl-1", created: 7, model: "general" };

test("why an answer ended is told in OpenAI's words [C5]", () => {
  const network = { code: "model_network", params: { model: "m", server: "s", said: "gone" } };
  const ends: [End, finish: string, failure: string | undefined][] = [
    [ended("done"), "stop", undefined],
    [ended("done", "length"), "length", undefined],
    [ended("done", "content_filter"), "content_filter", undefined],
    [ended("limit"), "length", undefined],
    [
      ended("waiting", "tool_calls", { open: [asked("d1", "approval"), asked("d2", "function")] }),
      "tool_calls",
      undefined,
    ],
    [ended("waiting", "tool_calls", { open: [asked("d1", "approval")] }), "stop", undefined],
    [ended("waiting", "length", { open: [asked("d1", "approval")] }), "stop", undefined],
    [ended("waiting", "content_filter", { open: [asked("d1", "approval")] }), "stop", undefined],
    [ended("cancelled"), "stop", "turn_cancelled"],
    [ended("withdrawn"), "stop", "turn_cancelled"],
    [ended("deleted"), "stop", "conversation_not_found"],
    [ended("failed", "stop", { failure: network }), "stop", "model_network"],
    [ended("crashed"), "stop", "turn_crashed"],
    [ended("failed", "stop", { failure: { code: "of another version", params: {} } }), "stop", "turn_crashed"],
  ];
  for (const [end, finish, code] of ends)
    assert.deepEqual([finishOf(end), failureOf(end, conversation)?.code], [finish, code], JSON.stringify(end));
});

test("a caller is told in whole seconds when to come back, and only where that helps [C5][P4]", () => {
  const limit = makeFailure("model_rate_limit", { model: "m", server: "s", said: "" });
  const auth = makeFailure("model_auth", { model: "m", server: "s", said: "" });
  const after = (retryAfterMs: number | undefined, failure = limit) => retryHeader({ retryAfterMs }, failure);
  assert.deepEqual(
    [after(0), after(1_001), after(30_000), after(undefined)].map((headers) => headers["retry-after"]),
    ["1", "2", "30", "5"],
  );
  assert.deepEqual(retryHeader({ retryAfterMs: 1_000 }, auth), {});
});

test("a completion has the caller's functions, its thoughts and all that it cost [C5]", () => {
  const whole = openCompletion(head, begun);
  const pieces: Piece[] = [
    { piece: "begin", at: 1 },
    { piece: "reasoning", part: 1, text: "hm" },
  ];
  for (const piece of pieces) whole.take(piece);
  const end = ended("waiting", "tool_calls", { open: [asked("0123456789ab", "function"), asked("d2", "approval")] });
  const call = {
    ...{ id: "call_0123456789abuAAAAAAAAQACAAAAAAAAAAA", type: "function" },
    function: { name: "look", arguments: '{"n":1}' },
  };
  const cost = {
    ...{ prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 },
    prompt_tokens_details: { cached_tokens: 3 },
    completion_tokens_details: { reasoning_tokens: 2 },
  };
  const message = { role: "assistant", content: null, refusal: null, reasoning_content: "hm", tool_calls: [call] };
  assert.deepEqual(whole.ended(end), {
    ...{ id: "chatcmpl-1", object: "chat.completion", created: 7, model: "general", usage: cost },
    choices: [{ index: 0, message, logprobs: null, finish_reason: "tool_calls" }],
  });
  const write = completionChunks(head, begun, { withUsage: false, errorFor: ({ code }) => ({ code }) });
  const chunks = [{ piece: "ping" } as const, { piece: "end", ...end } as const].flatMap(write);
  const common = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 7, model: "general" };
  assert.deepEqual(chunks, [
    {
      ...common,
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] }, logprobs: null, finish_reason: null }],
    },
    { ...common, choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: "tool_calls" }] },
  ]);
  assert.deepEqual(write({ piece: "end", ...ended("deleted") }), [{ code: "conversation_not_found" }]);
});

test("a response says how it ended, with its times in seconds and all that it cost [C5]", () => {
  const told = (end: End) => {
    const response = openResponse({
      ...{ id: "resp_1", conversation, model: "general", callerPart: {}, previous: null, metadata: {} },
      ...{ toolChoice: "auto", store: true, errorFor: ({ code }) => ({ code, message: "" }) },
    });
    const pieces: Piece[] = [
      { piece: "begin", at: 1_900 },
      { piece: "text", part: 1, text: "half" },
      { piece: "end", ...end },
    ];
    const events = pieces.flatMap(response.take);
    const { created_at, completed_at, status, error, incomplete_details, output, usage: cost } = response.ended(end);
    assert.deepEqual(cost, {
      ...{ input_tokens: 10, output_tokens: 4, total_tokens: 14 },
      input_tokens_details: { cached_tokens: 3 },
      output_tokens_details: { reasoning_tokens: 2 },
    });
    assert.equal(created_at, 1);
    const [item] = output;
    const of = item !== undefined && "status" in item ? item.status : undefined;
    return [events.at(-1)?.type, status, completed_at, error?.code, incomplete_details?.reason, of, output.length];
  };
  const done = ["response.completed", "completed", 9, undefined, undefined, "completed"];
  assert.deepEqual(told(ended("done")), [...done, 1]);
  assert.deepEqual(told(ended("waiting", "stop", { open: [asked("d1", "approval")] })), [...done, 1]);
  assert.deepEqual(told(ended("waiting", "tool_calls", { open: [asked("d1", "function")] })), [...done, 2]);
  const cut = (reason: string, item: string) => {
    return ["response.incomplete", "incomplete", null, undefined, reason, item, 1];
  };
  assert.deepEqual(told(ended("limit")), cut("max_output_tokens", "incomplete"));
  assert.deepEqual(told(ended("done", "length")), cut("max_output_tokens", "completed"));
  assert.deepEqual(told(ended("done", "content_filter")), cut("content_filter", "completed"));
  const failed = (status: string, code: string) => {
    return ["response.failed", status, null, code, undefined, "incomplete", 1];
  };
  assert.deepEqual(told(ended("cancelled")), failed("cancelled", "turn_cancelled"));
  assert.deepEqual(told(ended("withdrawn")), failed("cancelled", "turn_cancelled"));
  assert.deepEqual(told(ended("deleted")), failed("failed", "conversation_not_found"));
  assert.deepEqual(told(ended("crashed")), failed("failed", "turn_crashed"));
});

const line = (...batches: Piece[][]) =>
  (async function* () {
    yield* batches;
  })();
const begin: Piece = { piece: "begin", at: 1 };
const word = (text: string, part = 1): Piece => ({ piece: "text", part, text });

test("a caller is answered once there is something to say, a sign of life or the end, and nothing of it is lost [C5]", async () => {
  const left = async (...batches: Piece[][]) => {
    const pieces = line(...batches);
    const first = await opened(pieces);
    const rest: Piece[] = [];
    for await (const batch of pieces) rest.push(...batch);
    return [first.map(({ piece }) => piece).join(" "), rest.map(({ piece }) => piece).join(" ")];
  };
  assert.deepEqual(await left([begin], [word("a")], [word("b")]), ["begin text", "text"]);
  assert.deepEqual(await left([begin, word("a")], [{ piece: "ping" }]), ["begin text", "ping"]);
  assert.deepEqual(await left([begin], [{ piece: "ping" }], [word("a")]), ["begin ping", "text"]);
  assert.deepEqual(await left([begin]), ["begin", ""]);
  assert.deepEqual(await left([begin], [{ piece: "end", ...ended("failed") }]), ["begin end", ""]);
});

test("an answer has an id of its own that stays the same, and one that goes on after a result has another [C5]", () => {
  const at = (message: string, since?: string | number) =>
    completionHead({ ...begun, message: { id: message, seq: 1 }, since }, "general", 7_900);
  const first = at("m");
  assert.match(first.id, /^chatcmpl-[0-9a-f]{24}$/);
  assert.deepEqual([at("m"), first.created, first.model], [first, 7, "general"]);
  const ids = [first, at("n"), at("m", "d1"), at("m", 4)].map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
});

test("words come as chunks as they are written, thoughts apart, and the words of the next step behind a blank line [C5]", () => {
  const take = completionChunks(head, begun, { withUsage: false, errorFor: () => ({}) });
  const deltas = (piece: Piece) => take(piece).map((chunk) => Object(chunk).choices[0].delta);
  assert.deepEqual(deltas(begin), [{ role: "assistant", content: "" }]);
  assert.deepEqual(deltas({ piece: "reasoning", part: 1, text: "hm" }), [{ reasoning_content: "hm" }]);
  assert.deepEqual([deltas(word("a", 2)), deltas(word("b", 2))], [[{ content: "a" }], [{ content: "b" }]]);
  assert.deepEqual(deltas(word("c", 3)), [{ content: "\n\nc" }]);
  assert.deepEqual(deltas({ piece: "reasoning", part: 4, text: "so" }), [{ reasoning_content: "\n\nso" }]);
  assert.deepEqual(take({ piece: "ping" }), []);
  const long = deltas(word("x".repeat(8_001), 3));
  assert.deepEqual(
    long.map(({ content }) => content.length),
    [8_000, 1],
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { anthropicAnswer } from "../../src/models/anthropic/answer.ts";
import { googleAnswer } from "../../src/models/google/answer.ts";
import { chatAnswer } from "../../src/models/openai/answer.ts";
import { defaultProfile } from "../../src/models/profile.ts";
import type { ModelAnswer } from "../../src/models/provider.ts";
import { responsesAnswer } from "../../src/models/responses/answer.ts";
import { type AnswerForm, createAnswer } from "../../src/models/wire/answer.ts";
import { createBodyReader } from "../../src/models/wire/body.ts";
import { createToolWriter } from "../../src/models/wire/sent-tools.ts";
import { eventOf } from "../world/wire.ts";

/** What must come of each, whatever the format: what was said is delivered, and a failure is one that is known. */
const comesOfIt = {
  "JSON that is none": { text: "hi ", finish: "error", error: ["protocol", true, "not_json"] },
  "JSON that ends in the middle": { text: "hi ", finish: "error", error: ["network", true, "closed"] },
  "no end": { text: "hi ", finish: "error", error: ["network", true, "closed"] },
  "an error in the middle": { text: "hi ", finish: "error", error: ["overloaded", true, undefined] },
  "a piece before its beginning": { text: "hi ", finish: "stop" },
  "an event that is too long": { text: "hi ", finish: "error", error: ["protocol", false, "too_long"] },
  "an id that comes twice": { text: "", finish: "tool_calls", calls: ['a {"n":1}', 'made {"n":2}'] },
  "events that nobody knows": { text: "hi ", finish: "stop" },
  "arguments that are not JSON": { text: "", finish: "tool_calls", calls: ['a {"n": is invalid'] },
  "too many calls": { text: "", finish: "error", error: ["protocol", false, "too_many_calls"] },
  "too long an answer": { text: "hi ", finish: "length" },
  "an answer that is filtered": { text: "hi ", finish: "content_filter" },
  "a page": { text: "", finish: "error", error: ["protocol", false, "foreign"] },
} satisfies Record<string, Told>;

type Told = {
  readonly text: string;
  readonly finish: string;
  readonly error?: readonly [kind: string, retryable: boolean, because: string | undefined];
  readonly calls?: readonly string[];
};

const origin = { api: "test", model: "m" };
const forms: Readonly<Record<keyof typeof brokenStreams, AnswerForm>> = {
  chat: chatAnswer,
  responses: responsesAnswer(origin),
  google: googleAnswer(origin),
  anthropic: anthropicAnswer(origin),
};

/** The stream in pieces of this many bytes. What was delivered is what the answer says. */
function read(form: AnswerForm, body: string, size: number): Told {
  let delivered = "";
  const answer = createAnswer(form, {
    profile: defaultProfile,
    sent: createToolWriter((tool) => tool, 128)([]),
    sink: {
      text(delta) {
        delivered += delta;
      },
    },
    makeId: () => "made",
    estimateInput: () => 1,
  });
  const limits = { answerBytesMax: 1_000_000, eventCharactersMax };
  const about = { headers: {}, isFinishOptional: false, now: () => 0, onData() {} };
  const reader = createBodyReader({ ...limits, ...about, answer });
  const bytes = Buffer.from(body);
  let result: ModelAnswer | undefined;
  for (let at = 0; at < bytes.length && result === undefined; at += size)
    result = reader.read(bytes.subarray(at, at + size));
  const made = result ?? reader.end();
  assert.equal(made.text, delivered);
  return told(made);
}

function told({ text, finish, error, toolCalls }: ModelAnswer): Told {
  const calls = toolCalls.map((call) => `${call.id} ${call.arguments}${call.invalid ? " is invalid" : ""}`);
  return {
    ...{ text, finish },
    ...(error === undefined ? {} : { error: [error.kind, error.retryable, error.because] }),
    ...(calls.length === 0 ? {} : { calls }),
  };
}

/** The same misfortunes in every wire format. */
type BrokenStreams = Readonly<Record<keyof typeof comesOfIt, string>>;

const eventCharactersMax = 20_000;
const long = "x".repeat(eventCharactersMax);
const page = "<!doctype html><html><body>Welcome</body></html>";
/** One more than an answer may have. */
const many = Array.from({ length: 257 }, (_, index) => index);

const chat = (delta: object, finish: string | null = null) =>
  eventOf({ choices: [{ index: 0, delta, finish_reason: finish }] });
const chatCall = (index: number, id: string, text: string) =>
  chat({ tool_calls: [{ index, id, function: { name: "now", arguments: text } }] });
const chatEnd = (finish: string) => `${chat({}, finish)}data: [DONE]\n\n`;

const chatStreams: BrokenStreams = {
  "JSON that is none": `${chat({ content: "hi " })}data: {"choices":[}\n\n${chatEnd("stop")}`,
  "JSON that ends in the middle": `${chat({ content: "hi " })}data: {"choices":[{"index":0,"del`,
  "no end": chat({ content: "hi " }),
  "an error in the middle": `${chat({ content: "hi " })}${eventOf({ error: { message: "overloaded", code: 503 } })}`,
  "a piece before its beginning": chat({ content: "hi " }) + chat({ role: "assistant" }) + chatEnd("stop"),
  "an event that is too long": chat({ content: "hi " }) + chat({ content: long }) + chatEnd("stop"),
  "an id that comes twice": chatCall(0, "a", '{"n":1}') + chatCall(1, "a", '{"n":2}') + chatEnd("tool_calls"),
  "events that nobody knows": `: ping\n\n${eventOf({ type: "ping" }, "ping")}${chat({ content: "hi " })}${chatEnd("stop")}`,
  "arguments that are not JSON": chatCall(0, "a", '{"n":') + chatEnd("tool_calls"),
  "too many calls": many.map((index) => chatCall(index, `c${index}`, "{}")).join("") + chatEnd("tool_calls"),
  "too long an answer": chat({ content: "hi " }) + chatEnd("length"),
  "an answer that is filtered": chat({ content: "hi " }) + chatEnd("content_filter"),
  "a page": page,
};

const said = (type: string, value: object) => eventOf({ type, ...value }, type);
const words = (text: string) =>
  said("response.output_text.delta", { item_id: "msg_1", output_index: 0, content_index: 0, delta: text });
const added = (item: object, output_index = 0) => said("response.output_item.added", { output_index, item });
const done = (item: object, output_index = 0) => said("response.output_item.done", { output_index, item });
const message = { id: "msg_1", type: "message", role: "assistant", status: "in_progress", content: [] };
const opening = said("response.created", { response: { object: "response", status: "in_progress" } });
const hi = opening + added(message) + words("hi ");
const called = (index: number, id: string, text: string) =>
  done({ id: `fc_${index}`, type: "function_call", call_id: id, name: "now", arguments: text }, index);
const ended = (status: string, more: object = {}) =>
  said(`response.${status}`, { response: { object: "response", status, error: null, output: [], ...more } });

const responsesStreams: BrokenStreams = {
  "JSON that is none": `${hi}event: response.output_text.delta\ndata: {"type":[}\n\n${ended("completed")}`,
  "JSON that ends in the middle": `${hi}event: response.output_text.delta\ndata: {"type":"response.out`,
  "no end": hi + said("response.output_text.done", { output_index: 0, content_index: 0, text: "hi " }),
  "an error in the middle": `${hi}${ended("failed", { error: { code: "server_error", message: "It broke." } })}`,
  "a piece before its beginning": words("hi ") + added(message) + ended("completed"),
  "an event that is too long": hi + words(long) + ended("completed"),
  "an id that comes twice": opening + called(0, "a", '{"n":1}') + called(1, "a", '{"n":2}') + ended("completed"),
  "events that nobody knows":
    said("keepalive", {}) +
    said("response.future.delta", { delta: "?" }) +
    hi +
    added({ type: "future" }, 1) +
    ended("completed"),
  "arguments that are not JSON": opening + called(0, "a", '{"n":') + ended("completed"),
  "too many calls": opening + many.map((index) => called(index, `c${index}`, "{}")).join("") + ended("completed"),
  "too long an answer": hi + ended("incomplete", { incomplete_details: { reason: "max_output_tokens" } }),
  "an answer that is filtered": hi + ended("incomplete", { incomplete_details: { reason: "content_filter" } }),
  "a page": page,
};

const chunk = (parts: readonly object[], finishReason?: string) =>
  eventOf({ candidates: [{ content: { role: "model", parts }, index: 0, finishReason }] });
const part = (text: string) => chunk([{ text }]);
const wish = (id: string, args: unknown) => ({ functionCall: { id, name: "now", args } });
const counts = eventOf({ usageMetadata: { promptTokenCount: 5 }, modelVersion: "gemini" });

const googleStreams: BrokenStreams = {
  "JSON that is none": `${part("hi ")}data: {"candidates":[}\n\n${chunk([], "STOP")}`,
  "JSON that ends in the middle": `${part("hi ")}data: {"candidates":[{"content":{"par`,
  "no end": part("hi "),
  "an error in the middle":
    part("hi ") + eventOf({ error: { code: 503, message: "Try later.", status: "UNAVAILABLE" } }),
  "a piece before its beginning": part("hi ") + counts + chunk([], "STOP"),
  "an event that is too long": part("hi ") + part(long) + chunk([], "STOP"),
  "an id that comes twice": chunk([wish("a", { n: 1 })]) + chunk([wish("a", { n: 2 })], "STOP"),
  "events that nobody knows":
    eventOf({ future: [] }) + chunk([{ executableCode: { code: "1" } }, { text: "hi " }]) + chunk([{}], "STOP"),
  "arguments that are not JSON": chunk([wish("a", '{"n":')], "STOP"),
  "too many calls": many.map((index) => chunk([wish(`c${index}`, {})])).join("") + chunk([], "STOP"),
  "too long an answer": part("hi ") + chunk([], "MAX_TOKENS"),
  "an answer that is filtered": part("hi ") + chunk([], "SAFETY"),
  "a page": page,
};

const begun = said("message_start", { message: { id: "m", type: "message", role: "assistant", content: [] } });
const block = (index: number, content_block: object) => said("content_block_start", { index, content_block });
const text = (piece: string) => said("content_block_delta", { index: 0, delta: { type: "text_delta", text: piece } });
const use = (index: number, id: string, json: string) =>
  block(index, { type: "tool_use", id, name: "now", input: {} }) +
  said("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: json } }) +
  said("content_block_stop", { index });
const over = (stop_reason: string) => said("message_delta", { delta: { stop_reason } }) + said("message_stop", {});
const greeting = begun + block(0, { type: "text", text: "" }) + text("hi ");

const anthropicStreams: BrokenStreams = {
  "JSON that is none": `${greeting}event: content_block_delta\ndata: {"type":[}\n\n${over("end_turn")}`,
  "JSON that ends in the middle": `${greeting}event: content_block_delta\ndata: {"type":"content_bl`,
  "no end": greeting + said("content_block_stop", { index: 0 }),
  "an error in the middle": greeting + said("error", { error: { type: "overloaded_error", message: "Overloaded" } }),
  "a piece before its beginning": text("hi ") + begun + over("end_turn"),
  "an event that is too long": greeting + text(long) + over("end_turn"),
  "an id that comes twice": begun + use(0, "a", '{"n":1}') + use(1, "a", '{"n":2}') + over("tool_use"),
  "events that nobody knows":
    said("ping", {}) + greeting + said("future", {}) + block(1, { type: "future" }) + over("end_turn"),
  "arguments that are not JSON": begun + use(0, "a", '{"n":') + over("tool_use"),
  "too many calls": begun + many.map((index) => use(index, `c${index}`, "{}")).join("") + over("tool_use"),
  "too long an answer": greeting + over("max_tokens"),
  "an answer that is filtered": greeting + over("refusal"),
  "a page": page,
};

const brokenStreams = {
  chat: chatStreams,
  responses: responsesStreams,
  google: googleStreams,
  anthropic: anthropicStreams,
};

for (const [api, streams] of Object.entries(brokenStreams)) {
  test(`${api}: whatever breaks in an answer, it ends as a known one, however the bytes are cut [M6][M3]`, () => {
    const form = Object.entries(forms).find(([name]) => name === api)?.[1] ?? chatAnswer;
    for (const size of [1, 7, Number.POSITIVE_INFINITY]) {
      const told = Object.fromEntries(
        Object.entries<string>(streams satisfies BrokenStreams).map(([what, body]) => [what, read(form, body, size)]),
      );
      assert.deepEqual(told, comesOfIt, `pieces of ${size}`);
    }
  });
}

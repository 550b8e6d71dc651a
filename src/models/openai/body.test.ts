import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bodyBytes, readQuirks } from "../../../test/world/quirk-data.ts";
import { NeutralRequest } from "../neutral.ts";
import { defaultProfile } from "../profile.ts";
import type { ModelAnswer } from "../provider.ts";
import { createAnswer } from "../wire/answer.ts";
import { createBodyReader } from "../wire/body.ts";
import { createToolWriter } from "../wire/sent-tools.ts";
import { chatAnswer } from "./answer.ts";
import { writeTool } from "./request.ts";

const limits = { answerBytesMax: 1_000_000, eventCharactersMax: 1_000_000 };

function readAll(pieces: Iterable<Uint8Array>, request: unknown = { stream: true }, given = limits): ModelAnswer {
  const { profile = defaultProfile, tools = [] } = NeutralRequest.parse(request);
  let made = 0;
  const answer = createAnswer(chatAnswer, {
    profile,
    sent: createToolWriter((tool) => writeTool(tool, profile), profile.maxTools)(tools),
    sink: {},
    makeId: () => {
      made += 1;
      return `made-${made}`;
    },
    estimateInput: () => 1,
  });
  const reader = createBodyReader({
    ...given,
    answer,
    headers: {},
    isFinishOptional: profile.finishOptional,
    now: () => 0,
    onData() {},
  });
  for (const piece of pieces) {
    const result = reader.read(piece);
    if (result !== undefined) return result;
  }
  return reader.end();
}

function* cutAt(bytes: Uint8Array, cuts: readonly number[]): Generator<Uint8Array> {
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    yield bytes.subarray(from, cut);
    from = cut;
  }
  yield bytes.subarray(from);
}

test("any way of cutting the bytes gives the same answer [M3]", () => {
  const entries = [...readQuirks("quirks.json"), ...readQuirks("more-quirks.json")].filter(
    ({ response }) => response.status === 200 && bodyBytes(response).length < 20_000,
  );
  const entry = fc.constantFrom(...entries);
  const property = fc.property(entry, fc.array(fc.nat(5_000), { maxLength: 12 }), ({ request, response }, cuts) => {
    const bytes = bodyBytes(response);
    assert.deepEqual(readAll(cutAt(bytes, cuts), request), readAll([bytes], request));
  });
  fc.assert(property, { numRuns: 600 });
});

const event = (content: string) => `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}]}\n\n`;
const done = "data: [DONE]\n\n";

test("an answer of exactly the limit is read, one byte more is refused and what came before is kept [M3]", () => {
  const bytes = Buffer.from(event("hi") + done);
  const pieces = [bytes.subarray(0, -3), bytes.subarray(-3)];
  assert.equal(readAll(pieces, undefined, { ...limits, answerBytesMax: bytes.length }).finish, "stop");
  const { text, error } = readAll(pieces, undefined, { ...limits, answerBytesMax: bytes.length - 1 });
  assert.deepEqual([text, error?.kind, error?.retryable], ["hi", "protocol", false]);
  assert.deepEqual([error?.because, error?.message], ["too_long", `> ${bytes.length - 1} B`]);
});

test("an event of exactly the limit is read, one character more is refused [M3]", () => {
  const line = event("a".repeat(200)).trimEnd();
  const pieces = () =>
    cutAt(
      Buffer.from(`${event("hi")}${line}\n\n${done}`),
      Array.from({ length: 60 }, (_, at) => at * 7),
    );
  assert.equal(readAll(pieces(), undefined, { ...limits, eventCharactersMax: line.length }).finish, "stop");
  const { text, error } = readAll(pieces(), undefined, { ...limits, eventCharactersMax: line.length - 20 });
  assert.deepEqual([text, error?.kind, error?.retryable, error?.because], ["hi", "protocol", false, "too_long"]);
});

test("an answer with as many tool calls as may be is read, one with thousands fails at once and in words [M3]", () => {
  const asking = (count: number) => {
    const calls = Array.from({ length: count }, (_, index) => ({
      index,
      id: `call_${index}`,
      function: { name: "now", arguments: "{}" },
    }));
    const choice = { index: 0, delta: { tool_calls: calls }, finish_reason: "tool_calls" };
    return Buffer.from(`data: ${JSON.stringify({ choices: [choice] })}\n\n`);
  };
  assert.equal(readAll([asking(256), Buffer.from(done)]).toolCalls.length, 256);
  const { toolCalls, finish, error } = readAll([asking(257)]);
  assert.deepEqual([toolCalls, finish, error?.kind, error?.retryable], [[], "error", "protocol", false]);
  assert.deepEqual([error?.because, error?.message], ["too_many_calls", "> 256"]);
  assert.equal(readAll([asking(10_000)]).finish, "error");
});

test("a body that is nothing, a page or a text is no answer, and each fails in its way [M3]", () => {
  const kinds = ["", "\n\n", "<html></html>", "Not here", '{"status":"ok"}', '{"choices":[]}', '{"choices":[}'].map(
    (body) => {
      const { error } = readAll([Buffer.from(body)]);
      return [error?.kind, error?.retryable, error?.because];
    },
  );
  assert.deepEqual(kinds, [
    ["network", true, "closed"],
    ["network", true, "closed"],
    ["protocol", false, "foreign"],
    ["protocol", false, "foreign"],
    ["protocol", false, "no_choice"],
    ["protocol", true, "no_choice"],
    ["protocol", true, "not_json"],
  ]);
});

test("a document that holds no choice but a message is an error, by its words [M3]", () => {
  const kinds = [
    '{"message":"Rate limit reached"}',
    '{"message":"Something broke"}',
    '[{"detail":"invalid api key"}]',
  ].map((body) => readAll([Buffer.from(body)]).error?.kind);
  assert.deepEqual(kinds, ["rate_limit", "overloaded", "auth"]);
});

test("a message at the end of a stream does not repeat what the deltas said [M3]", () => {
  const whole = 'data: {"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}\n\n';
  assert.equal(readAll([Buffer.from(event("hi") + whole + done)]).text, "hi");
  assert.equal(readAll([Buffer.from(whole + done)]).text, "hi");
});

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
import { type BrokenStreams, brokenStreams, eventCharactersMax, type Misfortune } from "../world/broken-streams.ts";

/** What must come of each, whatever the format: what was said is delivered, and a failure is one that is known. */
const comesOfIt: Readonly<Record<Misfortune, Told>> = {
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
};

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

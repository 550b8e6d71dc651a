import assert from "node:assert/strict";
import { test } from "node:test";
import { adaptable } from "../openai/openai.ts";
import { editFor } from "./adapt.ts";
import { readErrorBody } from "./error-body.ts";

type Fields = Record<string, unknown>;
const cases: [what: string, message: string, sent: Fields, changed: Fields | undefined][] = [
  ["the new name of a field", "Unsupported parameter: 'max_tokens'", { max_tokens: 5 }, { max_completion_tokens: 5 }],
  [
    "the old name of a field",
    "max_completion_tokens: Extra inputs are not permitted",
    { max_completion_tokens: 5 },
    { max_tokens: 5 },
  ],
  [
    "a field it does not know",
    'json: unknown field "stream_options"',
    { stream: true, stream_options: {} },
    { stream: true },
  ],
  ["the only temperature it takes", "invalid temperature: only 1 is allowed for this model", { temperature: 0.5 }, {}],
  ["a deprecated field", "`temperature` is deprecated for this model.", { temperature: 0.5 }, {}],
  [
    "a value",
    "Use /v1/responses or set reasoning_effort to 'none'.",
    { tools: "[]" },
    { tools: "[]", reasoning_effort: "none" },
  ],
  [
    "streaming",
    "This model only support stream mode, please enable the stream parameter",
    { stream: false },
    { stream: true },
  ],
  [
    "a smaller answer",
    "This model supports at most 4096 completion tokens, max_tokens is 9000",
    { max_tokens: 9000 },
    { max_tokens: 4096 },
  ],
  [
    "a smaller answer still",
    "max_tokens: 64000 > 32000, which is the maximum allowed",
    { max_tokens: 64_000 },
    { max_tokens: 32_000 },
  ],
  ["no forced tool", "tool_choice does not support being set to required", { tool_choice: "required" }, {}],
  ["other messages", "Invalid 'messages[1]': unknown role", { stream: true }, undefined],
  [
    "other thoughts",
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    { thinking: { type: "adaptive" } },
    undefined,
  ],
  ["other tools", "tools[0].function.name is invalid", { tools: "[]" }, undefined],
  ["a field we did not send", "Unknown parameter: top_k", { temperature: 1 }, undefined],
];

for (const [what, message, sent, changed] of cases) {
  test(`a server that asks for ${what} ${changed ? "gets it" : "is not second-guessed"} [M3]`, () => {
    const edit = editFor(readErrorBody(400, JSON.stringify({ error: { message } })), sent, adaptable);
    assert.deepEqual(edit?.apply(sent), changed);
  });
}

test("a field that is named by its place in the body is left out [M3]", () => {
  const detail = [
    { type: "extra_forbidden", loc: ["body", "parallel_tool_calls"], msg: "Extra inputs are not permitted" },
  ];
  const edit = editFor(readErrorBody(422, JSON.stringify({ detail })), { parallel_tool_calls: false }, adaptable);
  assert.deepEqual(edit?.apply({ parallel_tool_calls: true, stream: true }), { stream: true });
});

test("what was refused as a value is left out as that value only [M3]", () => {
  const facts = readErrorBody(400, '{"error":{"message":"Thinking mode does not support this tool_choice"}}');
  const edit = editFor(facts, { tool_choice: "required" }, adaptable);
  assert.deepEqual(edit?.apply({ tool_choice: "none" }), { tool_choice: "none" });
});

test("an effort is changed only where there are tools, when it was refused because of them [M3]", () => {
  const facts = readErrorBody(400, '{"error":{"message":"Function tools need you to set reasoning_effort to none"}}');
  assert.deepEqual(editFor(facts, { tools: "[]" }, adaptable)?.apply({ reasoning_effort: "high" }), {
    reasoning_effort: "high",
  });
});

test("a limit that came from this prompt's length holds for this request only [M3]", () => {
  const facts = readErrorBody(400, '{"error":{"message":"max_tokens is too large: 900 (900 > 1000 - 500)"}}');
  const edit = editFor(facts, { max_tokens: 900 }, adaptable);
  assert.deepEqual([edit?.isLasting, edit?.apply({ max_tokens: 900 })], [false, { max_tokens: 500 }]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { modelServer, says } from "../../../test/world/model-server.ts";
import { responsesWire } from "../../../test/world/wire-responses.ts";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import type { Message } from "../../protocol/message.ts";
import { describeModel } from "../profiles.ts";
import type { ModelAnswer, ModelRequest } from "../provider.ts";
import type { Paired } from "../wire/pair-calls.ts";
import { itemPlaces } from "./item-places.ts";
import { responsesMessages } from "./messages.ts";
import { openAiResponses } from "./responses.ts";
import { writeTool } from "./tools.ts";

const { profile } = describeModel({ baseUrl: "https://api.openai.com/v1", model: "gpt-5.5" });
const origin = { api: "responses", model: "gpt-5.5" };
const user: Message = { role: "user", text: "hello" };
const now = { name: "now", description: "The time.", parameters: { type: "object", properties: {} } };
const never = new AbortController().signal;

/** Calls one after the other to one server, and what it was sent. */
async function ask(script: Parameters<typeof modelServer>[0], ...requests: readonly Partial<ModelRequest>[]) {
  await using server = await modelServer(script, responsesWire);
  const times = { idleTimeoutMs: 10_000, firstDataTimeoutMs: 10_000 };
  const endpoint = { baseUrl: server.url, apiKey: "sk-test", model: "gpt-5.5", profile, ...times };
  const provider = openAiResponses({ endpoint, clock: systemClock, ids: systemIds });
  const answers: ModelAnswer[] = [];
  for (const request of requests)
    answers.push(await provider.prepare({ messages: [user], stream: true, ...request }).send({}, never));
  await provider.close();
  return { answers, asked: server.asked.map(({ text }) => JSON.parse(text)), headers: server.asked[0]?.headers };
}

test("a request asks for what it needs: nothing is stored, reasoning comes back sealed and in words, the cache is found again [M6]", async () => {
  const request = { tools: [now], toolChoice: { tool: "now" }, maxOutputTokens: 4, temperature: 1, cacheKey: "c-1" };
  const { asked, headers } = await ask([says("hi")], { ...request, parallelToolCalls: false, thinking: "low" });
  assert.deepEqual(asked, [
    {
      model: "gpt-5.5",
      input: [{ role: "user", content: "hello" }],
      tools: [{ type: "function", ...now, strict: false }],
      stream: true,
      store: false,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "low", summary: "auto" },
      // The smallest limit that is taken.
      max_output_tokens: 16,
      tool_choice: { type: "function", name: "now" },
      parallel_tool_calls: false,
      prompt_cache_key: "c-1",
    },
  ]);
  assert.equal(headers?.authorization, "Bearer sk-test");
});

test("an answer that is not streamed is read as well, with its calls and its sealed reasoning [M6]", async () => {
  const calls = [{ id: "a", name: "now", arguments: '{"zone":"UTC"}' }];
  const usage = { prompt_tokens: 7, completion_tokens: 5, cached: 4, reasoning: 2 };
  const { answers } = await ask([{ text: "I look.", reasoning: "hm", calls, usage }], { stream: false, tools: [now] });
  const items = [
    {
      id: "rs_1",
      type: "reasoning",
      summary: [{ type: "summary_text", text: "hm" }],
      encrypted_content: "sealed 1: hm",
    },
    {
      ...{ id: "msg_1", type: "message", status: "completed", role: "assistant", phase: "final_answer" },
      content: [{ type: "output_text", annotations: [], logprobs: [], length: 7 }],
    },
    { id: "fc_1_0", type: "function_call", status: "completed" },
  ];
  assert.deepEqual(answers, [
    {
      ...{ text: "I look.", reasoning: "hm", toolCalls: calls, finish: "tool_calls" },
      reasoningDetails: [{ ...origin, items }],
      usage: { input: 7, output: 5, cachedInput: 4, reasoning: 2 },
    },
  ]);
});

test("a server that tells an answer only at its end, or never closes its items, is understood as well [M6]", async () => {
  const event = (type: string, value: object) => `data: ${JSON.stringify({ type, ...value })}\n\n`;
  const call = { type: "function_call", id: "fc_1", call_id: "a", name: "now", arguments: "" };
  const said = { type: "message", content: [{ type: "output_text", text: "All at once." }] };
  const thought = { type: "reasoning", summary: ["One.", "Two."].map((text) => ({ type: "summary_text", text })) };
  const late = event("response.completed", {
    response: { object: "response", status: "completed", output: [thought, said] },
  });
  const open =
    event("response.function_call_arguments.delta", { output_index: 0, delta: '{"n":1}' }) +
    event("response.output_item.added", { output_index: 0, item: call }) +
    event("response.completed", { response: { object: "response", status: "completed" } });
  const { answers } = await ask(
    [late, open].map((body) => ({ status: 200, body })),
    {},
    {},
  );
  assert.deepEqual(
    answers.map(({ text, reasoning, toolCalls, finish }) => [text, reasoning, toolCalls, finish]),
    [
      ["All at once.", "One.\n\nTwo.", [], "stop"],
      ["", "", [{ id: "a", name: "now", arguments: '{"n":1}' }], "tool_calls"],
    ],
  );
});

const sealed = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "xyz" };
const spoken = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  content: [{ type: "output_text", text: "So.", annotations: [] }],
};
const called = { type: "function_call", id: "fc_1", call_id: "a", name: "now", arguments: "{}", status: null };

test("reasoning is kept with what it led to; what led to nothing, or has no seal, is not kept [M6]", () => {
  const place = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    content: [{ type: "output_text", annotations: [], length: 3 }],
  };
  assert.deepEqual(itemPlaces([sealed, spoken, called]), [sealed, place, { type: "function_call", id: "fc_1" }]);
  assert.deepEqual(itemPlaces([sealed, spoken, { ...sealed, id: "rs_2" }]), [sealed, place]);
  assert.deepEqual(itemPlaces([{ type: "web_search_call" }, sealed, called]).length, 2);
  assert.deepEqual(itemPlaces([{ ...sealed, encrypted_content: null }, spoken]), []);
  assert.deepEqual(itemPlaces([sealed]), []);
  assert.deepEqual(itemPlaces([spoken, called]), [], "the text alone says it all");
  assert.equal(itemPlaces([{ ...spoken, phase: "commentary" }, called]).length, 2);
});

test("an answer goes back item by item as it came, and one of another model, or that was changed, by its text and calls [M6]", () => {
  const items = itemPlaces([sealed, spoken, called]);
  const { write } = responsesMessages(profile, origin);
  const again = (details: unknown, text = "So.") => {
    const toolCalls = [{ id: "a", name: "now", arguments: "{}" }];
    const message: Paired = { role: "assistant", text, toolCalls, reasoningDetails: [details] };
    return JSON.parse(`[${write(message, false)}]`);
  };
  const { status: _none, ...call } = called;
  assert.deepEqual(again({ ...origin, items }), [sealed, spoken, call]);
  const { id: _id, ...plainCall } = call;
  const plain = (text: string) => [
    { type: "message", role: "assistant", content: [{ type: "output_text", text }] },
    plainCall,
  ];
  assert.deepEqual(again({ ...origin, model: "gpt-5.4", items }), plain("So."));
  assert.deepEqual(again({ ...origin, api: "anthropic", items }), plain("So."));
  assert.deepEqual(again({ ...origin, items }, "So it is."), plain("So it is."));
  assert.deepEqual(
    again({ ...origin, items: [sealed, { type: "function_call" }, { type: "function_call" }] }),
    plain("So."),
  );
});

test("schemas are brought to what OpenAI takes: an object at the root, and no schema that is true or false [M6][R1]", () => {
  const written = (parameters: Record<string, unknown>) => writeTool({ name: "t", parameters }, profile);
  const tool = (parameters: object) => ({ type: "function", name: "t", parameters, strict: false });
  assert.deepEqual(written({}), tool({ type: "object", properties: {} }));
  assert.deepEqual(written({ type: "object" }), tool({ type: "object", properties: {} }));
  assert.deepEqual(
    written({
      type: "object",
      anyOf: [{ required: ["a"] }],
      properties: { a: true, b: { items: false, type: "array" } },
    }),
    tool({ type: "object", properties: { a: {}, b: { items: {}, type: "array" } } }),
  );
  assert.deepEqual(
    written({ type: "object", properties: { a: { anyOf: [{ type: "string" }, true] } }, additionalProperties: false }),
    tool({ type: "object", properties: { a: { anyOf: [{ type: "string" }, {}] } }, additionalProperties: false }),
  );
});

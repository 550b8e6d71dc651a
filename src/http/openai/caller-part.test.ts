import assert from "node:assert/strict";
import { test } from "node:test";
import { ChatRequest, ResponseRequest } from "../../protocol/openai.ts";
import { callersForModels } from "../../words/words.ts";
import { callerPartOfChat, callerPartOfResponse } from "./caller-part.ts";

const weather = { name: "weather", description: "How it is", parameters: { type: "object", properties: { at: {} } } };
const other = { name: "other" };

function ofChat(body: object, instructions: readonly string[] = []): unknown {
  const messages = [{ role: "user", content: "hi" }];
  const part = callerPartOfChat(ChatRequest.parse({ messages, ...body }), instructions);
  return part.ok ? part.value : part.failure.params;
}

function ofResponse(body: object, instructions: readonly string[] = []): unknown {
  const part = callerPartOfResponse(ResponseRequest.parse({ input: "hi", ...body }), instructions);
  return part.ok ? part.value : part.failure.params;
}

/** The same functions as each of the two protocols writes them. */
const inChat = (...functions: object[]) => functions.map((one) => ({ type: "function", function: one }));
const inResponse = (...functions: object[]) => functions.map((one) => ({ type: "function", ...one }));

test("functions come as they were described, one without parameters takes none, and of two of one name the last counts [C5]", () => {
  const functions = [
    { ...weather, description: "anew" },
    { name: "other", parameters: { type: "object", properties: {} } },
  ];
  const sent = [weather, other, { ...weather, description: "anew" }];
  assert.deepEqual(ofChat({ tools: inChat(...sent) }), { functions });
  assert.deepEqual(ofResponse({ tools: inResponse(...sent) }), { functions });
  assert.deepEqual([ofChat({}), ofResponse({})], [{}, {}]);
});

test("a call that a caller insists on is asked for by the name that either protocol has for it, if it is offered [C5]", () => {
  const said = (part: unknown): unknown => Object(part).instructions;
  const tools = inChat(weather);
  const named = (name: string) => ({ type: "function", function: { name } });
  assert.deepEqual(
    [
      ofChat({ tools, tool_choice: "required" }, ["Be brief."]),
      ofChat({ tools, tool_choice: named("weather") }),
      ofChat({ tools, tool_choice: named("unknown") }),
      ofChat({ tools, tool_choice: "auto" }),
      ofChat({ tool_choice: "required" }),
      ofChat({ tools, tool_choice: "none" }, ["Be brief."]),
    ].map(said),
    [
      `Be brief.\n\n${callersForModels.mustCall}`,
      callersForModels.mustCallThis("weather"),
      ...[undefined, undefined, undefined],
      "Be brief.",
    ],
  );
  const inItems = { tools: inResponse(weather), tool_choice: { type: "function", name: "weather" } };
  assert.equal(said(ofResponse(inItems)), callersForModels.mustCallThis("weather"));
});

test("what a response is given back with is kept, and what says nothing is not [C5]", () => {
  const request = { metadata: { order: "7" }, previous: "resp_1", toolChoice: "auto" };
  const sent = { metadata: { order: "7" }, previous_response_id: "resp_1", tool_choice: "auto" };
  assert.deepEqual(ofResponse(sent), { request });
  assert.deepEqual(ofResponse({ metadata: {}, previous_response_id: null, tool_choice: null }), {});
});

test("a tool that is no function is named by its place, and an answer in JSON is asked for in either protocol [C5][P4]", () => {
  const stray = { parameter: "tools.1.type", hint: "functions_only" };
  assert.deepEqual(ofChat({ tools: [...inChat(weather), { type: "web_search" }] }), stray);
  assert.deepEqual(ofResponse({ tools: [...inResponse(weather), { type: "web_search" }] }), stray);
  const json = { instructions: callersForModels.jsonOnly };
  assert.deepEqual(ofChat({ response_format: { type: "json_object" } }), json);
  assert.deepEqual(ofResponse({ text: { format: { type: "json_object" } } }), json);
  assert.deepEqual(ofChat({ n: 2 }), { parameter: "n", hint: "leave_out" });
  assert.deepEqual(ofChat({ n: 1, modalities: ["text"], logprobs: false }), {});
});

test("what would mislead its caller is refused by its name, with what to do instead, and what says nothing is taken [C5][P4]", () => {
  const schema = { type: "json_schema", json_schema: { name: "a", schema: {} } };
  const inChatRefused: [object, string, string][] = [
    [{ logprobs: true }, "logprobs", "leave_out"],
    [{ audio: { voice: "a" } }, "audio", "leave_out"],
    [{ modalities: ["text", "audio"] }, "modalities", "leave_out"],
    [{ functions: [other] }, "functions", "functions_only"],
    [{ response_format: schema }, "response_format", "as_function"],
  ];
  for (const [body, parameter, hint] of inChatRefused) assert.deepEqual(ofChat(body), { parameter, hint });
  const inResponseRefused: [object, string, string][] = [
    [{ background: true }, "background", "leave_out"],
    [{ prompt: { id: "p" } }, "prompt", "leave_out"],
    [{ text: { format: { ...schema, name: "a" } } }, "text.format", "as_function"],
  ];
  for (const [body, parameter, hint] of inResponseRefused) assert.deepEqual(ofResponse(body), { parameter, hint });
  assert.deepEqual(ofChat({ n: null, audio: null, functions: null, response_format: { type: "text" } }), {});
  assert.deepEqual(ofResponse({ background: false, prompt: null, text: { format: { type: "text" } } }), {});
});

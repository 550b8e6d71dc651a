import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { GivenMessage } from "../../protocol/given.ts";
import { type ChatMessage, ChatRequest, ResponseRequest } from "../../protocol/openai.ts";
import { callersForModels } from "../../words/words.ts";
import { callerPartOfChat, callerPartOfResponse } from "./caller-part.ts";
import { callId, readCallId, readResponseId, responseId } from "./ids.ts";
import { resultsAtEnd, sentInChat, sentInResponse, strayResult } from "./sent.ts";

const chat = (...messages: object[]) => sentInChat(messages as ChatMessage[]);
const response = (body: object) => sentInResponse(body as ResponseRequest);
const call = (id: string) => ({ id, name: "look", arguments: "{}" });

test("what is missing, or cannot be taken, is named by its place [C5][P4]", () => {
  const picture = { type: "image_url", image_url: "data:image/png;base64,AAAA" };
  const refused = [
    chat({ role: "tool", content: "42" }),
    chat({ role: "user", content: "hi" }, { role: "user", content: [{ type: "text", text: "a" }, { type: "file" }] }),
    chat({ role: "user", content: [{ type: "image_url", image_url: "http://127.0.0.1/a.png" }] }),
    chat({ role: "user", content: [{ type: "image_url", image_url: "data:text/html;base64,AAAA" }] }),
    chat({ role: "user", content: [picture, { type: "image_url", image_url: "data:image/png;base64,AAAA!" }] }),
    chat({ role: "assistant", content: [picture] }),
    chat({ role: "tool", tool_call_id: "c1", content: [picture] }),
    response({ input: [{ content: "hi" }] }),
    response({ input: [{ type: "function_call", call_id: "c1" }] }),
    response({ input: [{ type: "function_call", name: "look" }] }),
    response({ input: [{ type: "function_call_output", output: "42" }] }),
    response({ input: [{ role: "user", content: "hi" }, { type: "item_reference" }] }),
  ].map((read) => (read.ok ? "taken" : read.failure.params));
  const alone = chat({ role: "user", content: [picture] });
  assert.deepEqual(alone.ok && alone.value.messages, [
    { role: "user", text: "", images: [{ mime: "image/png", base64: "AAAA" }] },
  ]);
  const missing = (what: string) => ({ what, rule: "missing" });
  const unsupported = (parameter: string, hint: string) => ({ parameter, hint });
  assert.deepEqual(refused, [
    missing("messages.0.tool_call_id"),
    unsupported("messages.1.content.1.type", "text_and_images"),
    unsupported("messages.0.content.0.image_url", "data_url"),
    unsupported("messages.0.content.0.image_url", "data_url"),
    unsupported("messages.0.content.1.image_url", "data_url"),
    unsupported("messages.0.content", "text_and_images"),
    unsupported("messages.0.content", "text_and_images"),
    missing("input.0.role"),
    missing("input.0.call_id"),
    missing("input.0.call_id"),
    missing("input.0.call_id"),
    unsupported("input.1.type", "items"),
  ]);
});

test("results are those behind the last words, and each belongs to a call of the answer before it [C5]", () => {
  const asks: GivenMessage = { role: "assistant", text: "", toolCalls: [call("c1"), call("c2")] };
  const result = (id: string): GivenMessage => ({ role: "tool", toolCallId: id, text: id });
  const user: GivenMessage = { role: "user", text: "go" };
  assert.deepEqual(resultsAtEnd([user, asks, result("c1"), asks, result("c2"), result("c1")]), [
    ...[result("c2"), result("c1")],
  ]);
  assert.deepEqual(resultsAtEnd([asks, result("c1"), user]), []);
  assert.equal(strayResult([asks, result("c2"), result("c1"), asks, result("c1")]), undefined);
  assert.equal(strayResult([asks, result("c1"), result("c1")]), "c1", "once for each call");
  assert.equal(strayResult([asks, user, result("c2")]), "c2", "something else was said in between");
});

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

const uuid = fc.uuid({ version: 4 });
const conversation = fc.oneof(uuid, fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/));
const decision = fc.stringMatching(/^[0-9a-f]{12}$/);

test("an id that we hand out names its place again, whatever conversation it is in [C5]", () => {
  fc.assert(
    fc.property(conversation, uuid, decision, fc.boolean(), (id, message, made, isLater) => {
      const place = { conversation: id, message, since: isLater ? made : undefined };
      assert.deepEqual(readResponseId(responseId(place)), place);
      const call = { conversation: id, decision: made };
      assert.deepEqual(readCallId(callId(call)), call);
    }),
  );
});

test("ids of others name nothing here [C5]", () => {
  for (const id of ["", "call_abc", "call_1_0", "toolu_01A", "call_00000000000fu", "call_0123456789abuAAAA"])
    assert.equal(readCallId(id), undefined, id);
  for (const id of ["", "resp_none", "resp_67cb71b351908190a308f3859487620d06981a8637e6bc44", "resp_a_cb"])
    assert.equal(readResponseId(id), undefined, id);
});

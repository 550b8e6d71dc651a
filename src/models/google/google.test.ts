import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { modelServer, says } from "../../../test/world/model-server.ts";
import { googleWire } from "../../../test/world/wire-google.ts";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import type { Message } from "../../protocol/message.ts";
import { defaultProfile } from "../profile.ts";
import { describeModel } from "../profiles.ts";
import type { ModelAnswer, ModelRequest } from "../provider.ts";
import type { Paired } from "../wire/pair-calls.ts";
import { createToolWriter } from "../wire/sent-tools.ts";
import { googleGemini } from "./google.ts";
import { googleMessages } from "./messages.ts";
import { requestFields } from "./request.ts";
import { writeTool } from "./tools.ts";

const model = "gemini-3-pro-preview";
const origin = { api: "google", model };
const user: Message = { role: "user", text: "hello" };
const now = { name: "now", description: "The time.", parameters: { type: "object", properties: {} } };
const never = new AbortController().signal;

async function ask(script: Parameters<typeof modelServer>[0], ...requests: readonly Partial<ModelRequest>[]) {
  await using server = await modelServer(script, googleWire);
  const times = { idleTimeoutMs: 10_000, firstDataTimeoutMs: 10_000 };
  const { profile } = describeModel({ baseUrl: server.url, model });
  const endpoint = { baseUrl: server.url, apiKey: "AIza-test", model, profile, ...times };
  const provider = googleGemini({ endpoint, clock: systemClock, ids: systemIds });
  const answers: ModelAnswer[] = [];
  for (const request of requests)
    answers.push(await provider.prepare({ messages: [user], stream: true, ...request }).send({}, never));
  await provider.close();
  return { answers, asked: server.asked.map(({ text }) => JSON.parse(text)), headers: server.asked[0]?.headers };
}

test("a request has the system text apart, the tools, the choice among them and the limits where Google wants them [M6]", async () => {
  const messages: Message[] = [{ role: "system", text: "Be brief." }, user, { role: "system", text: "Later." }];
  const request = { messages, tools: [now], toolChoice: { tool: "now" }, maxOutputTokens: 99, temperature: 0.5 };
  const { asked, headers } = await ask([says("hi")], request);
  assert.deepEqual(asked, [
    {
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [
        { role: "user", parts: [{ text: "hello" }] },
        { role: "user", parts: [{ text: "Later." }] },
      ],
      tools: [{ functionDeclarations: [{ name: "now", description: "The time." }] }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["now"] } },
      generationConfig: { maxOutputTokens: 99, thinkingConfig: { includeThoughts: true } },
    },
  ]);
  assert.equal(headers?.["x-goog-api-key"], "AIza-test");
});

test("the address may leave the version out, and a model may be named with its kind [M6]", async () => {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    response.end('{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const root = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  const times = { idleTimeoutMs: 10_000, firstDataTimeoutMs: 10_000 };
  for (const [baseUrl, name] of [
    [root, "gemini-2.5-flash"],
    [`${root}/v1/`, "models/gemini-2.5-flash"],
    [`${root}/proxy?key=1`, "tunedModels/mine"],
  ] as const) {
    const endpoint = { baseUrl, model: name, profile: defaultProfile, ...times };
    const provider = googleGemini({ endpoint, clock: systemClock, ids: systemIds });
    for (const stream of [true, false]) await provider.prepare({ messages: [user], stream }).send({}, never);
    await provider.close();
  }
  await new Promise((resolve) => server.close(resolve));
  assert.deepEqual(paths, [
    "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    "/v1beta/models/gemini-2.5-flash:generateContent",
    "/v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    "/v1/models/gemini-2.5-flash:generateContent",
    "/proxy/tunedModels/mine:streamGenerateContent?key=1&alt=sse",
    "/proxy/tunedModels/mine:generateContent?key=1",
  ]);
});

test("how much is thought is said in words from Gemini 3 on, in tokens before, and not to models that do not think [M6]", () => {
  const sent = createToolWriter(writeTool, 128)([]);
  const thought = (model: string, thinking?: boolean | string) =>
    requestFields({ messages: [], stream: true, thinking }, { profile: defaultProfile, model, sent }).thinkingConfig;
  assert.deepEqual(
    [thought("gemini-3-pro-preview", "low"), thought("gemini-3.5-flash", false), thought("gemini-3-flash", true)],
    [
      { includeThoughts: true, thinkingLevel: "low" },
      { includeThoughts: true, thinkingLevel: "minimal" },
      { includeThoughts: true },
    ],
  );
  assert.deepEqual(
    ["low", false, "much"].map((how) => thought("gemini-2.5-pro", how)),
    [1_024, 0, -1].map((thinkingBudget) => ({ includeThoughts: true, thinkingBudget })),
  );
  assert.deepEqual([thought("gemini-2.0-flash", "low"), thought("gemini-1.5-pro")], [undefined, undefined]);
});

test("parts go back as they came; a call of another model says that it has no signature, where one is demanded [M6]", () => {
  const items = [
    { thought: "hm", thoughtSignature: "t" },
    { length: 3 },
    { thoughtSignature: "s" },
    { length: 0, thoughtSignature: "e" },
  ];
  const again = (details: unknown, name = model, text = "So.") => {
    const toolCalls = [{ id: "a", name: "now", arguments: '{"n":1}' }];
    const message: Paired = { role: "assistant", text, toolCalls, reasoningDetails: [details] };
    return JSON.parse(googleMessages({ api: "google", model: name }).write(message, false)).parts;
  };
  const functionCall = { id: "a", name: "now", args: { n: 1 } };
  assert.deepEqual(again({ ...origin, items }), [
    { text: "hm", thought: true, thoughtSignature: "t" },
    { text: "So." },
    { functionCall, thoughtSignature: "s" },
    { text: "", thoughtSignature: "e" },
  ]);
  const foreign = { functionCall, thoughtSignature: "skip_thought_signature_validator" };
  assert.deepEqual(again({ api: "responses", model, items: [] }), [{ text: "So." }, foreign]);
  assert.deepEqual(again({ ...origin, items }, model, "So it is."), [{ text: "So it is." }, foreign], "it was changed");
  assert.deepEqual(again({ ...origin, items }, "gemini-2.5-pro"), [{ text: "So." }, { functionCall }]);
});

test("a prompt that is refused for what it says, and a call that the model wrote wrongly, are what they are [M6][M3]", async () => {
  const blocked = JSON.stringify({ promptFeedback: { blockReason: "SAFETY", blockReasonMessage: "No." } });
  const { answers } = await ask(
    [
      { status: 200, body: blocked },
      { text: "I", finish: "MALFORMED_FUNCTION_CALL" },
    ],
    {},
    {},
  );
  assert.deepEqual(
    answers.map(({ finish, error }) => [finish, error?.kind, error?.retryable, error?.message]),
    [
      ["content_filter", "bad_request", false, "SAFETY: No."],
      ["error", "overloaded", true, ""],
    ],
  );
});

test("schemas are brought to the words that Google documents, and a tool without parameters has no schema [M6][R1]", () => {
  const written = (parameters: Record<string, unknown>) => writeTool({ name: "t", parameters });
  assert.deepEqual(written({ type: "object", properties: {} }), { name: "t" });
  const properties = {
    kind: { const: "a" },
    choice: {
      oneOf: [
        { type: "string", pattern: "^x" },
        { type: "integer", exclusiveMinimum: 0, minimum: 1 },
      ],
    },
    flag: { enum: [true, false] },
    list: { type: "array", uniqueItems: true, items: { $ref: "#/definitions/item" }, minItems: 1 },
    anything: true,
    map: { type: "object", additionalProperties: { type: "string", examples: ["x"] } },
  };
  const definitions = { item: { type: "object", properties: { a: { type: ["string", "null"], default: "" } } } };
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    properties,
    required: ["kind"],
    definitions,
  };
  assert.deepEqual(written({ ...schema, additionalProperties: false }), {
    name: "t",
    parametersJsonSchema: {
      type: "object",
      properties: {
        kind: { enum: ["a"] },
        choice: { anyOf: [{ type: "string" }, { type: "integer", minimum: 1 }] },
        flag: {},
        list: { type: "array", items: { $ref: "#/$defs/item" }, minItems: 1 },
        anything: {},
        map: { type: "object", additionalProperties: { type: "string" } },
      },
      required: ["kind"],
      additionalProperties: false,
      $defs: { item: { type: "object", properties: { a: { type: ["string", "null"] } } } },
    },
  });
});

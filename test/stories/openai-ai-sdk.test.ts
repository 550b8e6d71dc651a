import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, isStepCount, streamText, tool } from "ai";
import { z } from "zod";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { type OpenAiYard, openAiYard } from "../world/openai.ts";

const asked: string[] = [];
const tools = {
  get_weather: tool({
    description: "The weather of a city.",
    inputSchema: z.object({ city: z.string() }),
    async execute({ city }) {
      asked.push(city);
      return { city, sky: "rain" };
    },
  }),
};

function agent({ url }: OpenAiYard, id = "general") {
  return createOpenAICompatible({ name: "agentyard", baseURL: `${url}/v1`, includeUsage: true })(id);
}

test("the AI SDK runs its own tools for an agent that uses the server's, whole and in a stream [C5]", async () => {
  const script: Answer[] = [
    { ...calls(["now", { timezone: "UTC" }]), text: "I look." },
    { ...calls(["get_weather", { city: "Paris" }]), reasoning: "Which city?" },
    says("It rains."),
  ];
  await using model = await modelServer([...script, ...script]);
  await using server = await openAiYard({ model });
  const wanted = { model: agent(server), tools, prompt: "How is the weather?", stopWhen: isStepCount(4) };
  const whole = await generateText(wanted);
  assert.deepEqual(
    whole.steps.map(({ text, reasoningText, finishReason, toolCalls, toolResults }) => ({
      ...{ text, reasoningText, finishReason },
      calls: toolCalls.map(({ toolName, input }) => [toolName, input]),
      results: toolResults.map(({ output }) => output),
    })),
    [
      {
        ...{ text: "I look.", reasoningText: "Which city?", finishReason: "tool-calls" },
        calls: [["get_weather", { city: "Paris" }]],
        results: [{ city: "Paris", sky: "rain" }],
      },
      { text: "It rains.", reasoningText: undefined, finishReason: "stop", calls: [], results: [] },
    ],
  );
  assert.equal(whole.totalUsage.totalTokens, 330);
  const stream = streamText(wanted);
  const texts: string[] = [];
  for await (const text of stream.textStream) texts.push(text);
  assert.equal(texts.join(""), "I look.It rains.");
  assert.deepEqual([(await stream.steps).length, await stream.finishReason], [2, "stop"]);
  assert.equal((await stream.totalUsage).totalTokens, 330);
  assert.deepEqual(asked, ["Paris", "Paris"]);
  assert.equal(model.asked.length, 6);
});

test("the AI SDK reads our errors, before a stream and in the middle of one [C5][P4]", async () => {
  await using model = await modelServer([
    { ...calls(["now", { timezone: "UTC" }]), text: "I look." },
    { status: 401, body: '{"error":{"message":"bad key"}}' },
  ]);
  await using server = await openAiYard({ model });
  const options = { prompt: "hello", maxRetries: 0 };
  await assert.rejects(generateText({ model: agent(server, "gpt-4o"), ...options }), (error) => {
    assert.ok(APICallError.isInstance(error));
    assert.equal(error.statusCode, 404);
    return /There is no agent gpt-4o/.test(error.message);
  });
  const seen: unknown[] = [];
  const stream = streamText({ model: agent(server), ...options, onError: ({ error }) => void seen.push(error) });
  const texts: string[] = [];
  for await (const text of stream.textStream) texts.push(text);
  assert.equal(texts.join(""), "I look.");
  assert.match(JSON.stringify(seen), /refuses the key/);
});

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type OpenAI from "openai";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { describeModel } from "../../src/models/models.ts";
import type { Message } from "../../src/protocol/message.ts";
import { providerFor } from "../../src/providers.ts";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { callEnds, gathered, openAiYard, without } from "../world/openai.ts";

const weather = {
  ...{ type: "function" as const, name: "get_weather", description: "The weather of a city.", strict: false },
  parameters: { type: "object", properties: { city: { type: "string" } } },
};

test("the openai client gets a response, and the log gives the same one later, also after a restart [C5][L6]", async (t) => {
  const data = await folder(t);
  await using model = await modelServer([{ text: "Hello to you.", reasoning: "A greeting." }]);
  let given: OpenAI.Responses.Response;
  {
    await using server = await openAiYard({ model, data });
    given = await server.openai.responses.create({
      ...{ model: "general", input: "hello", instructions: "Be kind." },
      ...{ temperature: 0, max_output_tokens: 100 },
    });
    assert.equal(given.output_text, "Hello to you.");
    assert.deepEqual(
      given.output.map((item) => without(item, "id")),
      [
        {
          ...{ type: "reasoning", status: "completed", summary: [] },
          content: [{ type: "reasoning_text", text: "A greeting." }],
        },
        {
          ...{ type: "message", status: "completed", role: "assistant" },
          content: [{ type: "output_text", text: "Hello to you.", annotations: [], logprobs: [] }],
        },
      ],
    );
    assert.deepEqual(
      [given.status, given.model, given.instructions, given.usage?.total_tokens, given.error],
      ["completed", "general", "Be kind.", 110, null],
    );
    assert.deepEqual(await server.openai.responses.retrieve(given.id), given);
  }
  await using server = await openAiYard({ model, data });
  assert.deepEqual(await server.openai.responses.retrieve(given.id), given);
  assert.deepEqual(await server.openai.delete(`/responses/${given.id}`), {
    ...{ id: given.id, object: "response", deleted: true },
  });
  assert.deepEqual(await callEnds(server.openai.responses.retrieve(given.id)), gone);
  assert.deepEqual(await callEnds(server.openai.responses.retrieve("resp_none")), gone);
});

test("one AgentYard can be the model of another by responses: text, thoughts and calls come over, and their results go back [C5][M6]", async () => {
  const asks = { ...calls(["get_weather", { city: "Paris" }]), text: "I ask.", reasoning: "Not known." };
  await using model = await modelServer([asks, says("Sunny.")]);
  await using server = await openAiYard({ model });
  const { profile } = describeModel({ baseUrl: server.url, model: "gpt-5.5", api: "responses" });
  const times = { idleTimeoutMs: 30_000, firstDataTimeoutMs: 30_000 };
  const endpoint = { baseUrl: `${server.url}/v1`, model: "general", profile, ...times };
  const provider = providerFor({ endpoint, clock: systemClock, ids: systemIds });
  const ask = (...messages: Message[]) =>
    provider
      .prepare({ messages, tools: [weather], stream: true, cacheKey: "c" })
      .send({}, new AbortController().signal);
  const user: Message = { role: "user", text: "How is Paris?" };
  const { text, reasoning, toolCalls, finish } = await ask(user);
  assert.deepEqual([text, reasoning, finish], ["I ask.", "Not known.", "tool_calls"]);
  assert.deepEqual(
    toolCalls.map(({ name, arguments: given }) => [name, given]),
    [["get_weather", '{"city":"Paris"}']],
  );
  const toolCallId = toolCalls[0]?.id ?? "";
  const then = await ask(
    user,
    { role: "assistant", text, toolCalls },
    { role: "tool", toolCallId, text: "24 degrees" },
  );
  assert.deepEqual([then.text, then.finish, then.error], ["Sunny.", "stop", undefined]);
  await provider.close();
});

const gone = [404, "invalid_request_error", "response_not_found"];

test("a response is told event by event, each with its number, and ends as the whole response [C5]", async () => {
  const script: Answer[] = [
    { ...calls(["now", { timezone: "UTC" }]), text: "I look." },
    { ...calls(["get_weather", { city: "Paris" }]), text: "I ask." },
  ];
  await using model = await modelServer(script);
  await using server = await openAiYard({ model });
  const wanted = { model: "general", input: "weather?", tools: [weather] };
  const events = await gathered(await server.openai.responses.create({ ...wanted, stream: true }));
  assert.deepEqual(
    events.map(({ sequence_number }) => sequence_number),
    events.map((_, index) => index),
  );
  const item = ["response.output_item.added", "response.content_part.added", "response.output_text.delta"];
  const end = ["response.output_text.done", "response.content_part.done", "response.output_item.done"];
  assert.deepEqual(
    events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]),
    [
      ...["response.created", "response.in_progress", ...item, ...end, ...item, ...end],
      ...["response.output_item.added", "response.function_call_arguments.delta"],
      ...["response.function_call_arguments.done", "response.output_item.done", "response.completed"],
    ],
  );
  const last = events.at(-1);
  assert.ok(last?.type === "response.completed");
  assert.deepEqual(
    last.response.output.map((one) => (one.type === "function_call" ? [one.name, one.arguments] : one.type)),
    ["message", "message", ["get_weather", '{"city":"Paris"}']],
  );
  assert.deepEqual(
    events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : [])),
    last.response.output,
  );
  const { output_text: _, ...stored } = await server.openai.responses.retrieve(last.response.id);
  assert.deepEqual(stored, last.response);
});

test("a response goes on from the one before, with results of functions and with new words [C5]", async () => {
  await using model = await modelServer([
    calls(["get_weather", { city: "Paris" }]),
    says("Rain."),
    says("You asked for the weather."),
    says("Another way: sun."),
  ]);
  await using server = await openAiYard({ model });
  const ask = (more: Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>) =>
    server.openai.responses.create({ model: "general", tools: [weather], ...more });
  const first = await ask({
    input: [
      { role: "user", content: "hello" },
      { role: "assistant", content: "Hi." },
      { role: "user", content: [{ type: "input_text", text: "weather?" }] },
    ],
  });
  const [call] = first.output;
  assert.ok(call?.type === "function_call");
  const second = await ask({
    previous_response_id: first.id,
    input: [{ type: "function_call_output", call_id: call.call_id, output: "rain" }],
  });
  assert.deepEqual([second.output_text, second.previous_response_id], ["Rain.", first.id]);
  assert.deepEqual(second.conversation, first.conversation);
  const third = await ask({ previous_response_id: second.id, input: "What did I ask?" });
  assert.equal(third.output_text, "You asked for the weather.");
  const said = (index: number) => model.asked[index]?.body.messages.slice(1).map(({ content }) => content);
  assert.deepEqual(said(2), ["hello", "Hi.", "weather?", null, "rain", "Rain.", "What did I ask?"]);
  assert.deepEqual(
    (await Promise.all([first, second].map(({ id }) => server.openai.responses.retrieve(id)))).map(
      ({ output }) => output,
    ),
    [first.output, second.output],
    "each of them is still what it was",
  );

  const other = await ask({ previous_response_id: second.id, input: "And in Rome?" });
  assert.equal(other.output_text, "Another way: sun.");
  assert.deepEqual(said(3), ["hello", "Hi.", "weather?", null, "rain", "Rain.", "And in Rome?"]);
  assert.notDeepEqual(other.conversation, first.conversation, "what went on since is left as it is");
  assert.deepEqual(await callEnds(ask({ previous_response_id: "resp_none", input: "hello" })), gone);
  const unknown = [400, "invalid_request_error", "function_call_unknown"];
  const late = { type: "function_call_output" as const, call_id: call.call_id, output: "sun" };
  assert.deepEqual(await callEnds(ask({ previous_response_id: first.id, input: [late] })), unknown);
});

test("a caller that keeps its own items sends them all, and the turn that waits goes on [C5]", async () => {
  await using model = await modelServer([calls(["get_weather", { city: "Paris" }]), says("Rain.")]);
  await using server = await openAiYard({ model });
  const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "weather?" }];
  const ask = () => server.openai.responses.create({ model: "general", tools: [weather], input, store: false });
  const first = await ask();
  const [call] = first.output;
  assert.ok(call?.type === "function_call");
  input.push(call, { type: "function_call_output", call_id: call.call_id, output: "rain" });
  const second = await ask();
  assert.equal(second.output_text, "Rain.");
  assert.equal(model.asked[1]?.body.messages.length, 4);
  assert.deepEqual(await callEnds(server.openai.responses.retrieve(second.id)), gone, "nothing was to be stored");
});

test("a turn that fails after its first words ends the stream with a failed response, and is refused as a whole [C5][P4]", async () => {
  const script: Answer[] = [
    { ...calls(["now", { timezone: "UTC" }]), text: "I look." },
    { status: 401, body: '{"error":{"message":"bad key"}}' },
  ];
  await using model = await modelServer([...script, ...script, { ...says("This is lo"), finish: "length" }]);
  await using server = await openAiYard({ model });
  const wanted = { model: "general", input: "hello" };
  const events = await gathered(await server.openai.responses.create({ ...wanted, stream: true }));
  const last = events.at(-1);
  assert.ok(last?.type === "response.failed");
  assert.deepEqual([last.response.status, last.response.error?.code], ["failed", "model_auth"]);
  assert.equal((await server.openai.responses.retrieve(last.response.id)).status, "failed");
  assert.deepEqual(await callEnds(server.openai.responses.create(wanted)), [502, "server_error", "model_auth"]);
  const cut = await server.openai.responses.create(wanted);
  assert.deepEqual([cut.status, cut.incomplete_details], ["incomplete", { reason: "max_output_tokens" }]);
});

test("what a response cannot honour is refused by its name, and a named conversation is not deleted with it [C5]", async () => {
  await using model = await modelServer(() => says("ok"));
  await using server = await openAiYard({ model });
  const ask = (more: object) =>
    callEnds(server.openai.responses.create({ model: "general", input: "hello", stream: false, ...more }));
  for (const more of [
    { background: true },
    { prompt: { id: "pmpt_1" } },
    { text: { format: { type: "json_schema", name: "a", schema: {} } } },
    { tools: [{ type: "web_search" }] },
    { input: [{ type: "item_reference", id: "msg_1" }] },
    { input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] },
  ])
    assert.deepEqual(await ask(more), [400, "invalid_request_error", "parameter_unsupported"], JSON.stringify(more));
  assert.equal(model.asked.length, 0);
  assert.equal(await ask({ text: { format: { type: "json_object" } }, background: false, prompt: null }), "done");
  assert.match(String(model.asked[0]?.body.messages[0]?.content), /one JSON object and nothing else/);
  const places = [{ conversation: { id: "ours" } }, { conversation_id: "ours" }, { conversation: "project" }];
  const [held, same, named] = await Promise.all(
    places.map((place) =>
      server.openai.responses.create({ model: "general", input: "hello", stream: false, ...place }),
    ),
  );
  assert(named !== undefined);
  assert.deepEqual(
    [held, same, named].map((one) => one?.conversation),
    [{ id: "ours" }, { id: "ours" }, { id: "project" }],
  );
  const deleted = callEnds(server.openai.delete(`/responses/${named.id}`));
  assert.deepEqual(await deleted, [409, "invalid_request_error", "response_in_conversation"]);
});

async function folder(t: TestContext): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), "agentyard-responses-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  return data;
}

import assert from "node:assert/strict";
import { test } from "node:test";
import type OpenAI from "openai";
import type { Storage } from "../../src/storage/storage.ts";
import { all } from "../world/events.ts";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { callEnds, gathered, openAiYard, without } from "../world/openai.ts";
import { saidOf } from "../world/said.ts";

const hello = [{ role: "user" as const, content: "hello" }];

test("the openai client gets an agent's answer, whole and as it is written, with what it cost [C5]", async () => {
  await using model = await modelServer([says("Hello to you."), says("Hello to you.")]);
  await using server = await openAiYard({ model });
  const { data: whole, response } = await server.openai.chat.completions
    .create({ model: "general", messages: hello })
    .withResponse();
  const usage = {
    ...{ prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
  const message = { role: "assistant", content: "Hello to you.", refusal: null };
  assert.deepEqual(without(whole, "id", "created"), {
    ...{ object: "chat.completion", model: "general", usage },
    choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
  });
  const conversation = response.headers.get("x-conversation-id") ?? "";
  assert.equal((await server.yard.events(conversation))[0]?.type, "agent.chosen");
  const listed = await server.yard.client.call("listConversations", {});
  assert.deepEqual(listed.ok && listed.value.items, [], "it is a caller's own, and in nobody's list");

  const stream = await server.openai.chat.completions.create({
    ...{ model: "general", messages: hello, stream: true },
    stream_options: { include_usage: true },
  });
  const chunks = await gathered(stream);
  assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
  const choice = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    usage: null,
  });
  const text = chunks.flatMap(({ choices: [first] }) => first?.delta.content ?? []).join("");
  assert.equal(text, "Hello to you.");
  const around = chunks.map((chunk) => without(chunk, "id", "created", "object", "model"));
  assert.deepEqual(
    around.filter((chunk) => !JSON.stringify(chunk).includes('{"content":')),
    [choice({ role: "assistant", content: "" }), choice({}, "stop"), { choices: [], usage }],
  );
});

test("the messages that are sent are the history, instructions join the agent's own, images come along [C5]", async () => {
  await using model = await modelServer([says("a dot")]);
  await using server = await openAiYard({ model, env: { MODEL_BASIC_VISION: "true" } });
  await server.openai.chat.completions.create({
    model: "simple",
    messages: [
      { role: "system", content: "Speak like a pirate." },
      { role: "user", content: "hello" },
      { role: "assistant", content: "Ahoy!" },
      { role: "developer", content: [{ type: "text", text: "Be brief." }] },
      {
        role: "user",
        content: [
          { type: "text", text: "what is this?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${dot}` } },
        ],
      },
    ],
  });
  const [system, ...said] = model.asked[0]?.body.messages ?? [];
  assert.match(String(system?.content), /Speak like a pirate\.\n\nBe brief\./);
  assert.deepEqual(said.slice(0, 2), [
    { role: "user", content: "hello" },
    { role: "assistant", content: "Ahoy!" },
  ]);
  assert.equal(said.length, 3);
  assert.match(JSON.stringify(said[2]?.content), /what is this\?/);
});

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

test("the agent's own tools run on the server and are not seen; the words of all its steps are one answer [C5]", async () => {
  const script = [
    { ...calls(["now", { timezone: "UTC" }]), text: "I look at the clock.", reasoning: "Time is asked for." },
    { text: "It is late.", reasoning: "Now I know." },
  ];
  await using model = await modelServer([...script, ...script]);
  await using server = await openAiYard({ model });
  const whole = await server.openai.chat.completions.create({ model: "general", messages: hello });
  assert.deepEqual(whole.choices[0]?.message, {
    ...{ role: "assistant", content: "I look at the clock.\n\nIt is late.", refusal: null },
    reasoning_content: "Time is asked for.\n\nNow I know.",
  });
  assert.equal(whole.choices[0]?.finish_reason, "stop");
  assert.deepEqual([whole.usage?.prompt_tokens, whole.usage?.completion_tokens], [200, 20]);
  const stream = server.openai.chat.completions.stream({ model: "general", messages: hello });
  const { message } = (await stream.finalChatCompletion()).choices[0] ?? {};
  assert.deepEqual([message?.content, message?.tool_calls], ["I look at the clock.\n\nIt is late.", undefined]);
});

test("agents are listed as models, and an unknown one is a model that is not found [C5][P4]", async () => {
  await using model = await modelServer();
  await using server = await openAiYard({ model });
  const listed = await gathered(await server.openai.models.list());
  assert.deepEqual(
    listed.map(({ id, object, owned_by }) => ({ id, object, owned_by })),
    ["general", "simple"].map((id) => ({ id, object: "model", owned_by: "agentyard" })),
  );
  assert.deepEqual(await server.openai.models.retrieve("general"), listed[0]);
  for (const ask of [
    () => server.openai.models.retrieve("gpt-4o"),
    () => server.openai.chat.completions.create({ model: "gpt-4o", messages: hello }),
    () => server.openai.responses.create({ model: "gpt-4o", input: "hello" }),
  ])
    assert.deepEqual(await callEnds(ask()), [404, "invalid_request_error", "model_not_found"]);
  const unknown = saidOf("agent_not_found", { id: "gpt-4o" });
  await assert.rejects(server.openai.models.retrieve("gpt-4o"), (error: Error) => error.message.includes(unknown));
});

test("what could not be honoured is refused by its name; what does no harm is taken [C5]", async () => {
  await using model = await modelServer(() => says("ok"));
  await using server = await openAiYard({ model });
  const ask = (more: object) =>
    callEnds(server.openai.chat.completions.create({ model: "general", messages: hello, stream: false, ...more }));
  const image = [{ role: "user", content: [{ type: "image_url", image_url: { url: "http://127.0.0.1/a.png" } }] }];
  const stray = [...hello, { role: "tool", tool_call_id: "call_x", content: "42" }];
  const refused: [object, string][] = [
    [{ n: 2 }, "parameter_unsupported"],
    [{ logprobs: true }, "parameter_unsupported"],
    [{ audio: { voice: "alloy", format: "mp3" } }, "parameter_unsupported"],
    [{ functions: [{ name: "look" }] }, "parameter_unsupported"],
    [{ modalities: ["text", "audio"] }, "parameter_unsupported"],
    [{ response_format: { type: "json_schema", json_schema: { name: "a" } } }, "parameter_unsupported"],
    [{ tools: [{ type: "web_search" }] }, "parameter_unsupported"],
    [{ messages: image }, "parameter_unsupported"],
    [{ messages: [...hello, { role: "assistant", content: "Well," }] }, "parameter_unsupported"],
    [{ messages: stray }, "function_call_unknown"],
    [{ messages: [{ role: "narrator", content: "once" }] }, "bad_request"],
    [{ messages: [] }, "bad_request"],
  ];
  for (const [more, code] of refused)
    assert.deepEqual(await ask(more), [400, "invalid_request_error", code], JSON.stringify(more));
  assert.equal(model.asked.length, 0);
  const harmless = {
    ...{ n: 1, logprobs: false, audio: null, modalities: ["text"], temperature: 0.2, top_p: 1, max_tokens: 5 },
    ...{ stop: null, user: "u", seed: 1, something_new: {} },
  };
  assert.equal(await ask(harmless), "done");
  assert.equal(await ask({ response_format: { type: "json_object" } }), "done");
  assert.match(String(model.asked[1]?.body.messages[0]?.content), /one JSON object and nothing else/);
});

test("a refusal of the model's server has a status that says whose it is, also where the caller wants a stream [C5][P4]", async () => {
  const limit = { status: 429, headers: { "retry-after": "0" }, body: '{"error":{"message":"slow down"}}' };
  await using model = await modelServer();
  await using server = await openAiYard({ model });
  for (const stream of [false, true]) {
    const ask = () => callEnds(server.openai.chat.completions.create({ model: "general", messages: hello, stream }));
    model.answerWith([{ status: 401, body: '{"error":{"message":"bad key"}}' }]);
    assert.deepEqual(await ask(), [502, "server_error", "model_auth"]);
    model.answerWith(() => limit);
    assert.deepEqual(await ask(), [429, "rate_limit_error", "rate_limit_exceeded"]);
  }
});

test("a model that breaks off in the middle and is asked again goes on where it was, or after a blank line [C5][R1]", async () => {
  const broken = { text: "one two three four", fault: { after: 3, kind: "break" as const } };
  await using model = await modelServer([broken, says("one two three four"), broken, says("uno due")]);
  await using server = await openAiYard({ model });
  const ask = () => server.openai.chat.completions.stream({ model: "general", messages: hello }).finalContent();
  assert.equal(await ask(), "one two three four");
  assert.equal(await ask(), "one two \n\nuno due");
});

test("a caller who goes away stops the turn, unless the conversation is one that they named [C5]", async () => {
  const endless: Answer = { text: "one word and no other", fault: { after: 2, kind: "stall" } };
  await using model = await modelServer([endless, { text: "word ".repeat(100), paceMs: 10 }, endless]);
  const made: string[] = [];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async createConversation(wanted) {
      made.push(wanted.id);
      return storage.createConversation(wanted);
    },
  });
  await using server = await openAiYard({ model, wrapStorage });
  const leave = async (headers: Record<string, string>) => {
    const { data: stream, response } = await server.openai.chat.completions
      .create({ model: "general", messages: hello, stream: true }, { headers })
      .withResponse();
    for await (const chunk of stream) if ((chunk.choices[0]?.delta.content ?? "") !== "") break;
    const { outcome } = await server.yard.whenAtRest(response.headers.get("x-conversation-id") ?? "");
    return outcome;
  };
  assert.equal(await leave({}), "cancelled");
  assert.equal(await leave({ "x-conversation-id": "our-project" }), "done");
  const whole = new AbortController();
  const asked = callEnds(
    server.openai.chat.completions.create({ model: "general", messages: hello }, { signal: whole.signal }),
  );
  await until(() => model.asked.length === 3);
  whole.abort();
  await asked;
  assert.equal((await server.yard.whenAtRest(made.at(-1) ?? "")).outcome, "cancelled");
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

test("in a conversation that is named, what it holds is the history where none is sent [C5][S5]", async () => {
  await using model = await modelServer([says("Noted."), says("Ada."), says("Bob.")]);
  await using server = await openAiYard({ model });
  const ask = (messages: OpenAI.ChatCompletionMessageParam[], agent = "general") =>
    server.openai.chat.completions.create(
      { model: agent, messages },
      { headers: { "x-conversation-id": "our-project" } },
    );
  await ask([{ role: "user", content: "My name is Ada." }]);
  await ask([{ role: "user", content: "What is my name?" }]);
  const said = (index: number) => model.asked[index]?.body.messages.slice(1).map(({ content }) => content);
  assert.deepEqual(said(1), ["My name is Ada.", "Noted.", "What is my name?"]);
  await ask([
    { role: "user", content: "My name is Bob." },
    { role: "assistant", content: "Hi Bob." },
    { role: "user", content: "What is my name?" },
  ]);
  assert.deepEqual(said(2), ["My name is Bob.", "Hi Bob.", "What is my name?"]);
  assert.deepEqual(await callEnds(ask(hello, "simple")), [409, "invalid_request_error", "conversation_of_agent"]);
  const events = await server.yard.events("our-project");
  assert.equal(all(events, "turn.finished").length, 3);
});

test("a caller under a key who lost the connection in the middle of an answer asks again and gets all of it [C5][P4]", async () => {
  const isBack = Promise.withResolvers<void>();
  const heldAt = (event: number) => (event < 2 ? undefined : isBack.promise);
  await using model = await modelServer([{ text: "one word and no other", heldAt }]);
  await using server = await openAiYard({ model });
  const wanted = { model: "general", messages: hello, stream: true } as const;
  const ask = () => server.openai.chat.completions.create(wanted, { headers: { "idempotency-key": "mine" } });
  for await (const chunk of await ask()) if ((chunk.choices[0]?.delta.content ?? "") !== "") break;
  const again = await ask();
  isBack.resolve();
  const said = (await gathered(again)).map(({ choices: [choice] }) => choice?.delta.content ?? "");
  assert.equal(said.join(""), "one word and no other");
  assert.equal(model.asked.length, 1);
});

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type OpenAI from "openai";
import { systemClock } from "../../src/base/clock.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { say, waitingIn } from "../world/decisions.ts";
import { all } from "../world/events.ts";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { callEnds, gathered, type OpenAiYard, openAiYard, without } from "../world/openai.ts";
import { effectTool } from "../world/tools.ts";
import { must } from "../world/yard.ts";

const weather = {
  ...{ type: "function" as const, name: "get_weather", description: "The weather of a city.", strict: false },
  parameters: { type: "object", properties: { city: { type: "string" } } },
};

test("the openai client gets a response, and the log gives the same one later, also after a restart [C5][L6]", async (t) => {
  const data = folder(t);
  await using model = await modelServer([{ text: "Hello to you.", reasoning: "A greeting." }]);
  let given: OpenAI.Responses.Response;
  {
    await using server = await openAiYard({ model, data });
    given = await server.openai.responses.create({
      ...{ model: "general", input: "hello", instructions: "Be kind." },
      ...{ temperature: 0, max_output_tokens: 100, metadata: { order: "7" } },
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
      [given.status, given.model, given.instructions, given.metadata, given.usage?.total_tokens, given.error],
      ["completed", "general", "Be kind.", { order: "7" }, 110, null],
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
  const stored = all(await server.yard.events(conversationOf(third)), "message.user").map(({ text }) => text);
  assert.deepEqual(stored, ["weather?", "What did I ask?"], "each message once");
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

// What stays of the calls of programs, and for how long.

const dayMs = 86_400_000;

const endless: Answer = { text: "one word and no other", fault: { after: 2, kind: "stall" } };

test("a function that is called like a tool of the agent is refused by its name, and nothing is begun [C5]", async () => {
  await using model = await modelServer(() => says("ok"));
  await using server = await openAiYard({ model });
  const messages = [{ role: "user" as const, content: "hello" }];
  const taken = { ...weather, name: "read_file" };
  const { type, strict: _, ...described } = taken;
  const asks = [
    () => respond(server, { input: "hello", tools: [weather, taken] }),
    () => server.openai.chat.completions.create({ model: "general", messages, tools: [{ type, function: described }] }),
  ];
  for (const ask of asks)
    assert.deepEqual(await callEnds(ask()), [400, "invalid_request_error", "function_name_taken"]);
  await assert.rejects(asks[0]?.() ?? assert.fail(), /has a tool of its own that is called read_file/);
  assert.equal(model.asked.length, 0);
  await respond(server, { input: "hello", tools: [taken], tool_choice: "none" });
  assert.equal(model.asked.length, 1, "where none is offered, none is in the way");
});

test("what a caller left goes after 30 days with its files; what a person made or is to decide stays [S6][C5]", async (t) => {
  const data = folder(t);
  const clock = movableClock();
  await using model = await modelServer([
    ...[
      says("ok"),
      calls(["get_weather", { city: "Paris" }]),
      calls(["pay", { mark: "a" }]),
      says("ok"),
      says("Paid."),
    ],
  ]);
  const tools = [effectTool("pay", "unsafe", join(data, "marks.jsonl"), { asks: true })];
  await using server = await openAiYard({ model, data, tools, clock });
  const { yard } = server;
  const made: string[] = [];
  for (const wanted of [{}, { tools: [weather] }, {}, { conversation: "project" }])
    made.push(conversationOf(await respond(server, { input: "hello", ...wanted })));
  const [done = "", unanswered = "", asking = "", project = ""] = made;
  const left = async () => {
    await yard.workspaces.sweep();
    const found = await Promise.all(made.map(async (id) => (await yard.log.find(localOwner, id)).ok));
    const folders = made.map((id) => existsSync(join(data, "workspace", id)));
    assert.deepEqual(folders, found, "the files go along");
    return made.filter((_, index) => found[index]);
  };
  clock.move(29 * dayMs);
  assert.deepEqual(await left(), made);
  await must(yard.engine.send(await must(yard.log.find(localOwner, done)), { text: "once more", mode: "queue" }));
  await yard.whenAtRest(done);
  clock.move(2 * dayMs);
  assert.deepEqual(await left(), [done, asking, project], "results that never came are not waited for any longer");
  assert.deepEqual(
    (await must(yard.client.call("listConversations", { query: {} }))).items.map(({ id }) => id),
    [project],
  );
  const [decision] = await waitingIn(yard, asking);
  await say(yard, decision, { verdict: "approve" });
  await yard.whenAtRest(asking);
  clock.move(29 * dayMs);
  assert.deepEqual(await left(), [asking, project]);
  clock.move(2 * dayMs);
  assert.deepEqual(await left(), [project]);
  assert.notEqual(unanswered, "");
});

test("of a response that is not to be stored nothing stays after a restart in its middle, and results have an hour [C5][S6][L6]", async (t) => {
  const data = folder(t);
  const clock = movableClock();
  await using model = await modelServer([calls(["get_weather", { city: "Paris" }]), endless, says("All of it.")]);
  const ids: string[] = [];
  let reading: Promise<string[]>;
  {
    await using server = await openAiYard({ model, data, clock });
    ids.push(conversationOf(await respond(server, { input: "weather?", tools: [weather], store: false })));
    const wanted = { model: "general", input: "go", store: false, stream: true } as const;
    const { data: events, response } = await server.openai.responses.create(wanted).withResponse();
    ids.push(response.headers.get("x-conversation-id") ?? "");
    const hasBegun = Promise.withResolvers<void>();
    const read = async () => {
      const types: string[] = [];
      for await (const { type } of events) {
        types.push(type);
        if (type === "response.output_text.delta") hasBegun.resolve();
      }
      return types;
    };
    reading = read();
    await hasBegun.promise;
  }
  assert.equal((await reading).at(-1), "response.failed", "the server closed");
  await using server = await openAiYard({ model, data, clock });
  const [, broken = ""] = ids;
  assert.equal((await server.yard.whenAtRest(broken)).answer, "All of it.");
  const left = async () => {
    await server.yard.workspaces.sweep();
    const found = await Promise.all(ids.map(async (id) => (await server.yard.log.find(localOwner, id)).ok));
    return ids.filter((_, index) => found[index]);
  };
  clock.move(0.9 * 3_600_000);
  assert.deepEqual(await left(), ids);
  clock.move(0.2 * 3_600_000);
  assert.deepEqual(await left(), []);
});

async function respond(server: OpenAiYard, wanted: object) {
  return server.openai.responses.create({ model: "general", ...wanted, stream: false });
}

function conversationOf({ conversation }: { conversation?: { id: string } | null }): string {
  return conversation?.id ?? assert.fail();
}

function movableClock() {
  let ahead = 0;
  const move = (ms: number) => {
    ahead += ms;
  };
  return { ...systemClock, now: () => systemClock.now() + ahead, move };
}

function folder(t: TestContext): string {
  const data = mkdtempSync(join(tmpdir(), "agentyard-kept-"));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  return data;
}

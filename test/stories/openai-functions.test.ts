import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type OpenAI from "openai";
import type { CallerPart } from "../../src/protocol/given.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { say, waitingIn } from "../world/decisions.ts";
import { all } from "../world/events.ts";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { openAiYard } from "../world/openai.ts";
import { effectTool } from "../world/tools.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

type Messages = OpenAI.ChatCompletionMessageParam[];

const weather = {
  type: "function" as const,
  function: {
    name: "get_weather",
    description: "The weather of a city.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
const question: Messages = [{ role: "user", content: "How is the weather?" }];
const wanted = { model: "general", tools: [weather] };

test("a function of the caller ends the answer, and its result goes on in the same turn, whole or in a stream [C5]", async () => {
  const script: Answer[] = [
    { ...calls(["now", { timezone: "UTC" }]), text: "I look." },
    { ...calls(["get_weather", { city: "Paris" }], ["get_weather", { city: "Rome" }]), text: "I ask." },
    says("Rain and sun."),
  ];
  await using model = await modelServer([...script, ...script]);
  await using server = await openAiYard({ model });
  const whole = async (messages: Messages) => {
    const { choices, usage } = await server.openai.chat.completions.create({ ...wanted, messages });
    return { choice: choices[0], tokens: usage?.total_tokens };
  };
  const stream = async (messages: Messages) => {
    const running = server.openai.chat.completions.stream({
      ...{ ...wanted, messages, stream_options: { include_usage: true } },
    });
    const { choices, usage } = await running.finalChatCompletion();
    return { choice: choices[0], tokens: usage?.total_tokens };
  };
  for (const ask of [whole, stream]) {
    const first = await ask(question);
    const { message, finish_reason } = first.choice ?? assert.fail();
    const asked = functionsOf(message);
    assert.deepEqual(
      { content: message.content, finish_reason, asked: asked.map(([, name, args]) => [name, args]) },
      {
        ...{ content: "I look.\n\nI ask.", finish_reason: "tool_calls" },
        asked: [
          ["get_weather", '{"city":"Paris"}'],
          ["get_weather", '{"city":"Rome"}'],
        ],
      },
    );
    assert.deepEqual(first.tokens, 220);
    assert.ok(asked.every(([id]) => id.length <= 40));
    const second = await ask([...question, message, ...results(asked, ["rain", "sun"])]);
    assert.deepEqual(second.choice?.message.content, "Rain and sun.");
    assert.deepEqual([second.choice?.finish_reason, second.tokens], ["stop", 110]);
  }
  const last = model.asked[2]?.body.messages ?? [];
  assert.deepEqual(
    last.slice(-2).map(({ role, content }) => [role, content]),
    [
      ["tool", "rain"],
      ["tool", "sun"],
    ],
  );
  assert.equal(last.filter(({ role }) => role === "user").length, 1, "what the agent did itself is known to it");
  assert.ok(last.some(({ role, tool_calls }) => role === "assistant" && tool_calls?.[0]?.function.name === "now"));
});

test("results that come one by one are waited for, and a restart in between loses nothing [C5][L6]", async (t) => {
  const data = await folder(t);
  await using model = await modelServer([
    calls(["get_weather", { city: "Paris" }], ["get_weather", { city: "Rome" }]),
    says("Rain and sun."),
  ]);
  const messages = [...question];
  {
    await using server = await openAiYard({ model, data });
    const { choices } = await server.openai.chat.completions.create({ ...wanted, messages });
    messages.push(choices[0]?.message ?? assert.fail());
  }
  await using server = await openAiYard({ model, data });
  const asked = functionsOf(messages.at(-1));
  const [rain, sun] = results(asked, ["rain", "sun"]);
  assert.ok(rain && sun);
  const half = await server.openai.chat.completions.create({ ...wanted, messages: [...messages, rain] });
  assert.deepEqual(functionsOf(half.choices[0]?.message), asked.slice(1));
  const rest = await server.openai.chat.completions.create({ ...wanted, messages: [...messages, rain, sun] });
  assert.equal(rest.choices[0]?.message.content, "Rain and sun.");
  assert.equal(model.asked.length, 2);
});

test("results that no turn waits for are history, and a new question in their place stops the turn [C5]", async () => {
  await using model = await modelServer([
    calls(["get_weather", { city: "Paris" }]),
    says("Then I leave it."),
    says("It rained, you say."),
  ]);
  await using server = await openAiYard({ model });
  const { data, response } = await server.openai.chat.completions
    .create({ ...wanted, messages: question })
    .withResponse();
  const message = data.choices[0]?.message ?? assert.fail();
  const other: Messages = [...question, message, { role: "user", content: "Never mind." }];
  const left = await server.openai.chat.completions.create({ ...wanted, messages: other });
  assert.equal(left.choices[0]?.message.content, "Then I leave it.");
  const { outcome } = await server.yard.whenAtRest(response.headers.get("x-conversation-id") ?? "");
  assert.equal(outcome, "cancelled");
  const late: Messages = [...question, message, ...results(functionsOf(message), ["rain"])];
  const told = await server.openai.chat.completions.create({ ...wanted, messages: late });
  assert.equal(told.choices[0]?.message.content, "It rained, you say.");
  assert.deepEqual(
    model.asked[2]?.body.messages.slice(1).map(({ role, content }) => [role, content]),
    [
      ["user", "How is the weather?"],
      ["assistant", null],
      ["tool", "rain"],
    ],
  );
});

test("functions are not offered where the caller chooses none, and are asked for where it insists [C5]", async () => {
  await using model = await modelServer(() => says("ok"));
  await using server = await openAiYard({ model });
  const choices = ["none", "auto", "required", { type: "function", function: { name: "get_weather" } }] as const;
  for (const tool_choice of choices)
    await server.openai.chat.completions.create({ ...wanted, messages: question, tool_choice });
  const offered = model.asked.map(({ body }) => body.tools?.some((tool) => tool.function.name === "get_weather"));
  assert.deepEqual(offered, [false, true, true, true]);
  const told = model.asked.map(
    ({ body }) => /Call (one of )?the functions? .*/.exec(String(body.messages[0]?.content))?.[0],
  );
  assert.deepEqual(told, [
    ...[undefined, undefined],
    "Call one of the functions of the caller before you answer.",
    "Call the function get_weather of the caller before you answer.",
  ]);
});

test("a decision that waits is told with how to answer it; after it the caller goes on in the same conversation [C5][H2]", async (t) => {
  const data = await folder(t);
  await using model = await modelServer([
    { ...calls(["pay", { mark: "a" }]), text: "I pay." },
    says("Paid."),
    says("As I said: paid."),
  ]);
  const tools = [effectTool("pay", "unsafe", join(data, "marks.jsonl"), { asks: true })];
  await using server = await openAiYard({ model, data, tools });
  const messages: Messages = [
    { role: "user", content: "hello" },
    { role: "assistant", content: "Hi." },
    { role: "user", content: "pay" },
  ];
  const ask = (more: Messages) =>
    server.openai.chat.completions.create({ model: "general", messages: [...messages, ...more] }).withResponse();
  const first = await ask([]);
  const conversation = first.response.headers.get("x-conversation-id") ?? "";
  const [decision] = await waitingIn(server.yard, conversation);
  const note = [
    "The agent waits for a decision:",
    '- May it call pay with {"mark":"a"}?',
    `  POST /api/v1/conversations/${conversation}/decisions/${decision?.id}`,
    'Answer with /inbox in the terminal, or send {"verdict": "approve"}, {"verdict": "reject"} or {"verdict": "answer", "answer": "…"} there. Then go on here.',
  ].join("\n");
  const { message, finish_reason } = first.data.choices[0] ?? assert.fail();
  assert.deepEqual([message.content, finish_reason], [`I pay.\n\n${note}`, "stop"]);
  const onward: Messages = [message, { role: "user", content: "and now?" }];
  const still = await ask(onward);
  assert.equal(still.data.choices[0]?.message.content, note, "nothing goes on before it is answered");
  assert.equal(model.asked.length, 1);

  await say(server.yard, decision, { verdict: "approve" });
  await server.yard.whenAtRest(conversation);
  const after = await ask(onward);
  assert.equal(after.data.choices[0]?.message.content, "As I said: paid.");
  assert.equal(after.response.headers.get("x-conversation-id"), conversation);
  assert.deepEqual(
    model.asked[2]?.body.messages.slice(1).map(({ role, content }) => [role, content]),
    [
      ["user", "hello"],
      ["assistant", "Hi."],
      ["user", "pay"],
      ["assistant", "I pay."],
      ["tool", "pay left a"],
      ["assistant", "Paid."],
      ["user", "and now?"],
    ],
  );
  assert.equal(all(await server.yard.events(conversation), "turn.finished").length, 2);
});

test("nobody but the user whose turn waits can give it a result [C5][S7]", async () => {
  await using model = await modelServer([
    calls(["get_weather", { city: "Paris" }]),
    says("For Eve."),
    says("For Ada."),
  ]);
  await using server = await openAiYard({ model });
  const ask = async (user: string, messages: Messages) => {
    const headers = { "x-account-id": user };
    const { choices } = await server.openai.chat.completions.create({ ...wanted, messages }, { headers });
    return choices[0]?.message ?? assert.fail();
  };
  const message = await ask("ada", question);
  const messages = [...question, message, ...results(functionsOf(message), ["rain"])];
  assert.equal((await ask("eve", messages)).content, "For Eve.", "a turn of her own, with what she sent");
  assert.equal((await ask("ada", messages)).content, "For Ada.");
  assert.equal(model.asked[2]?.body.messages.length, 4);
});

test("results are given to one turn, in the conversation that is named, and else are what a new one is told [C5]", async () => {
  const weatherIn = (city: string) => calls(["get_weather", { city }]);
  await using model = await modelServer([
    weatherIn("Paris"),
    weatherIn("Rome"),
    says("New."),
    says("New."),
    says("Rain."),
  ]);
  await using server = await openAiYard({ model });
  const ask = async (messages: Messages, headers = {}) => {
    const { data, response } = await server.openai.chat.completions
      .create({ ...wanted, messages }, { headers })
      .withResponse();
    const message = data.choices[0]?.message ?? assert.fail();
    return { message, conversation: response.headers.get("x-conversation-id") };
  };
  const [paris, rome] = [await ask(question), await ask(question)];
  const elsewhere = await ask([...question, paris.message, ...results(functionsOf(paris.message), ["rain"])], {
    "x-conversation-id": "our-project",
  });
  assert.deepEqual([elsewhere.message.content, elsewhere.conversation], ["New.", "our-project"]);
  const both = [paris, rome].flatMap(({ message }) => functionsOf(message));
  const asked = both.map(([id, name, args]) => ({
    id,
    type: "function" as const,
    function: { name, arguments: args },
  }));
  const answer = { role: "assistant" as const, content: null, tool_calls: asked };
  const mixed = await ask([...question, answer, ...results(both, ["rain", "sun"])]);
  assert.equal(mixed.message.content, "New.");
  assert.ok(
    ![paris, rome].some(({ conversation }) => conversation === mixed.conversation),
    "of two turns none is meant",
  );
  const own = await ask([...question, rome.message, ...results(functionsOf(rome.message), ["rain"])]);
  assert.deepEqual([own.message.content, own.conversation], ["Rain.", rome.conversation], "it waited all the time");
});

test("a function that waits in a conversation that its caller named is given up by a new message there, and by nothing that is sent elsewhere [C5]", async () => {
  await using model = await modelServer([
    calls(["get_weather", { city: "Paris" }]),
    says("Elsewhere."),
    says("Then I leave it."),
  ]);
  await using server = await openAiYard({ model });
  const named = { headers: { "x-conversation-id": "our-project" } };
  const ask = async (messages: Messages, options = {}) => {
    const { choices } = await server.openai.chat.completions.create({ ...wanted, messages }, options);
    return choices[0]?.message ?? assert.fail();
  };
  const never: Messages = [{ role: "user", content: "Never mind." }];
  const message = await ask(question, named);
  assert.equal((await ask([...question, message, ...never])).content, "Elsewhere.");
  assert.equal((await waitingIn(server.yard, "our-project")).length, 1);
  assert.equal((await ask(never, named)).content, "Then I leave it.");
  assert.equal((await waitingIn(server.yard, "our-project")).length, 0);
});

function functionsOf(message: OpenAI.ChatCompletionMessageParam | undefined): [string, string, string][] {
  const asked = message?.role === "assistant" ? (message.tool_calls ?? []) : [];
  return asked.flatMap((call) =>
    call.type === "function" ? [[call.id, call.function.name, call.function.arguments]] : [],
  );
}

function results(asked: readonly [string, string, string][], texts: readonly string[]): Messages {
  return asked.map(([tool_call_id], index) => ({ role: "tool", tool_call_id, content: texts[index] ?? "" }));
}

async function folder(t: TestContext): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), "agentyard-openai-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  return data;
}

const described = {
  name: "get_weather",
  description: "The weather.",
  parameters: { type: "object", properties: {} },
};
const callerPart: CallerPart = { instructions: "Answer in verse.", functions: [described] };

async function begin(yard: TestYard, part: CallerPart = callerPart, text = "how is it?") {
  const row = await must(yard.engine.create(localOwner, { id: "c", origin: "program" }));
  await must(yard.engine.send(row, { text, mode: "queue", callerPart: part }));
  return { row, rested: await yard.whenAtRest("c") };
}

test("a model that gives every call the same id has each of them answered by its own result, in one turn and in the next [C5][L5]", async () => {
  const asks = (city: string) => ({
    calls: [{ id: "call", name: "get_weather", arguments: JSON.stringify({ city }) }],
  });
  await using model = await modelServer([asks("Paris"), asks("Rome"), says("both"), asks("Oslo"), says("all")]);
  await using yard = await startYard({ model, isOneProcess: true });
  const { row } = await begin(yard);
  const answered = async (text: string) => {
    const open = all(await yard.events("c"), "decision.asked").at(-1);
    await must(yard.engine.decide(row, open?.id ?? "", { verdict: "answer", by: "program", answer: text }));
    return (await yard.whenAtRest("c")).status;
  };
  assert.deepEqual([await answered("sun"), await answered("rain")], ["waiting", "idle"]);
  await must(yard.engine.send(row, { text: "and there?", mode: "queue", callerPart }));
  await yard.whenAtRest("c");
  assert.equal(await answered("snow"), "idle");
  const events = await yard.events("c");
  assert.equal(new Set(all(events, "decision.asked").map(({ id }) => id)).size, 3);
  assert.deepEqual(
    all(events, "call.finished").map(({ text }) => text),
    ["sun", "rain", "snow"],
  );
});

test("instructions and functions of a caller are there in its turn and gone in the next, and the record says why [C5][L3]", async () => {
  await using model = await modelServer(() => says("ok"));
  await using yard = await startYard({ model });
  const { row } = await begin(yard);
  await must(yard.engine.send(row, { text: "and now?", mode: "queue" }));
  const { events } = await yard.whenAtRest("c");
  const told = model.asked.map(({ body }) => ({
    has: body.tools?.some(({ function: { name } }) => name === "get_weather"),
    verse: String(body.messages[0]?.content).includes("# What the caller wants\nAnswer in verse.\n\n"),
  }));
  assert.deepEqual(told, [
    { has: true, verse: true },
    { has: false, verse: false },
  ]);
  assert.deepEqual(
    all(events, "recipe.set").map(({ cause }) => cause),
    ["start", "tools_changed"],
  );
  assert.deepEqual((await must(yard.client.call("replay", { params: { id: "c" } }))).differences, []);
});

test("arguments of a function that are no object are answered with an error, and nobody is asked [C5][L5]", async () => {
  await using model = await modelServer([calls(["get_weather", "[1]"], ["get_weather", "{broken"]), says("sorry")]);
  await using yard = await startYard({ model });
  const { rested } = await begin(yard);
  assert.deepEqual([rested.answer, all(rested.events, "decision.asked")], ["sorry", []]);
  for (const { content } of model.asked[1]?.body.messages.filter(({ role }) => role === "tool") ?? [])
    assert.match(String(content), /^Error: .*get_weather/);
});

test("a turn that waits for a function can be stopped, or refused, and the history stays whole [C5][L6]", async () => {
  await using model = await modelServer([
    calls(["get_weather", {}]),
    says("fine"),
    calls(["get_weather", {}]),
    says("ok"),
  ]);
  await using yard = await startYard({ model });
  const { row } = await begin(yard);
  await must(yard.engine.cancel(row));
  assert.equal((await yard.whenAtRest("c")).outcome, "cancelled");
  await must(yard.engine.send(row, { text: "never mind", mode: "queue" }));
  assert.equal((await yard.whenAtRest("c")).answer, "fine");
  await must(yard.engine.send(row, { text: "once more", mode: "queue", callerPart }));
  const waiting = await yard.whenAtRest("c");
  const id = all(waiting.events, "decision.asked").at(-1)?.id ?? "";
  const unfit = await yard.engine.decide(row, id, { verdict: "approve", by: "me" });
  assert.equal(unfit.ok || unfit.failure.code, "decision_verdict_unfit");
  await must(yard.engine.decide(row, id, { verdict: "reject", by: "program", reason: "no network" }));
  assert.equal((await yard.whenAtRest("c")).answer, "ok");
  assert.match(String(model.asked.at(-1)?.body.messages.at(-1)?.content), /no network/);
});

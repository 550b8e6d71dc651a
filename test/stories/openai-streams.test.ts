import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import OpenAI from "openai";
import { systemClock } from "../../src/base/clock.ts";
import { listen } from "../../src/http/http.ts";
import { all } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { callEnds, gathered, openAiYard } from "../world/openai.ts";
import { startYard } from "../world/yard.ts";

const eventBytesMax = 64 * 1024;

test("no event of a stream is longer than 64 KB, however much comes at once, and characters stay whole [C5][L7]", async () => {
  const long = "界🙂\u0001".repeat(20_000);
  const args = JSON.stringify({ text: long });
  const script = () => ({ text: long, splitBytes: 0, ...calls(["keep", args]) });
  await using model = await modelServer(script);
  await using server = await openAiYard({ model });
  const described = { name: "keep", parameters: { type: "object", properties: { text: { type: "string" } } } };
  const body = {
    ...{ model: "general", messages: [{ role: "user", content: "go" }], stream: true },
    tools: [{ type: "function", function: described }],
  };
  const answer = await fetch(`${server.url}/v1/chat/completions`, {
    ...{ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) },
  });
  const events = (await answer.text()).split("\n\n").filter((event) => event !== "");
  assert.equal(events.at(-1), "data: [DONE]");
  assert.deepEqual(
    events.filter((event) => Buffer.byteLength(event) > eventBytesMax),
    [],
  );
  const deltas = events.slice(0, -1).map((event) => JSON.parse(event.slice("data: ".length)).choices[0].delta);
  assert.equal(deltas.map(({ content = "" }) => content).join(""), long);
  assert.equal(deltas.map(({ tool_calls: [call] = [] }) => call?.function.arguments ?? "").join(""), args);
  assert.ok(deltas.every(({ content = "" }) => content.isWellFormed()));
});

test("a server that closes says so to its readers, and the turn of one with a key goes on after the restart [C5][L6]", async (t) => {
  const data = await folder(t);
  await using model = await modelServer((request) =>
    model.asked.length === 1
      ? { text: "one word and no other", fault: { after: 2, kind: "stall" } }
      : says(request.body.messages.length === 2 ? "All of it." : "?"),
  );
  const wanted = { model: "general", messages: [{ role: "user" as const, content: "go" }] };
  const keyed = { headers: { "idempotency-key": "mine" } };
  {
    await using yard = await startYard({ model, data });
    const server = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
    assert.ok(server.ok);
    const openai = new OpenAI({ baseURL: `${server.value.address}/v1`, apiKey: "none", maxRetries: 0 });
    const stream = await openai.chat.completions.create({ ...wanted, stream: true }, keyed);
    const read = async () => {
      let isClosing = false;
      for await (const chunk of stream) {
        if (isClosing || (chunk.choices[0]?.delta.content ?? "") === "") continue;
        isClosing = true;
        void server.value.close();
      }
    };
    assert.deepEqual(await callEnds(read()), [undefined, "server_error", "server_closing"]);
  }
  await using server = await openAiYard({ model, data });
  const { data: chunks, response } = await server.openai.chat.completions
    .create({ ...wanted, stream: true }, keyed)
    .withResponse();
  const text = (await gathered(chunks)).flatMap(({ choices: [choice] }) => choice?.delta.content ?? []).join("");
  assert.equal(text, "All of it.");
  const events = await server.yard.events(response.headers.get("x-conversation-id") ?? "");
  assert.deepEqual([all(events, "message.user").length, all(events, "turn.finished").length], [1, 1]);
});

test("results under a key are given once: a repeat, also after a restart, gets the same answer [C5][L6]", async (t) => {
  const data = await folder(t);
  await using model = await modelServer([calls(["look", {}]), says("I see."), says("never")]);
  const tools = [{ type: "function" as const, function: { name: "look" } }];
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "look" }];
  const answers: unknown[] = [];
  const ask = (openai: OpenAI) =>
    openai.chat.completions
      .stream({ model: "general", messages, tools }, { headers: { "idempotency-key": `after-${messages.length}` } })
      .finalChatCompletion();
  {
    await using server = await openAiYard({ model, data });
    const { message } = (await ask(server.openai)).choices[0] ?? assert.fail();
    const [call] = message.tool_calls ?? [];
    messages.push(message, { role: "tool", tool_call_id: call?.id ?? "", content: "a tree" });
    for (let times = 0; times < 2; times += 1) answers.push((await ask(server.openai)).choices[0]?.message.content);
  }
  await using server = await openAiYard({ model, data });
  answers.push((await ask(server.openai)).choices[0]?.message.content);
  assert.deepEqual(answers, ["I see.", "I see.", "I see."]);
  assert.equal(model.asked.length, 2);
});

async function folder(t: TestContext): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), "agentyard-openai-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  return data;
}

const word = fc.oneof(
  fc.constantFrom("general", "text", "function", "user", "call_0123456789abcweird", "\u0000", "\ud83d", "界"),
  fc.string(),
);
const any = fc.oneof(word, fc.jsonValue(), fc.constantFrom(null, true, 0, -1, 1e300));
const part = fc.record({
  type: fc.constantFrom("text", "input_text", "image_url", "input_image", "refusal", "file"),
  ...{ text: word, image_url: fc.oneof(fc.constantFrom("data:image/png;base64,AAAA", "http://127.0.0.1/x"), any) },
});
const content = fc.oneof(word, fc.constant(null), fc.array(part, { maxLength: 3 }));
const call = fc.record({
  id: word,
  type: fc.constant("function"),
  function: fc.record({ name: word, arguments: word }),
});
const message = fc.record(
  {
    role: fc.constantFrom("system", "user", "user", "assistant", "tool"),
    type: fc.constantFrom("message", "function_call", "function_call_output", "reasoning", "item_reference"),
    ...{ content, tool_calls: fc.oneof(fc.array(call, { maxLength: 2 }), fc.constant(null)), tool_call_id: word },
    ...{ call_id: word, name: word, arguments: word, output: content },
  },
  { requiredKeys: ["role", "content"] },
);
const messages = fc.array(message, { maxLength: 4 });
const described = { name: fc.constantFrom("f", "now", "a b", "__proto__"), parameters: fc.dictionary(word, any) };
const body = fc.record(
  {
    ...{ messages, input: fc.oneof(word, messages), model: fc.oneof(fc.constantFrom("general", "simple"), word) },
    tools: fc.array(fc.record({ type: fc.constant("function"), function: fc.record(described), ...described })),
    ...{ stream: fc.constantFrom(true, false, null), n: fc.constantFrom(1, 2, null), store: fc.boolean() },
    ...{ tool_choice: any, metadata: fc.dictionary(word, any), response_format: any, conversation_id: word },
    ...{ previous_response_id: word, text: any, conversation: any, instructions: any },
  },
  { requiredKeys: ["messages", "input"] },
);
const plain = fc.record({ model: fc.constant("general"), input: word, metadata: fc.dictionary(word, any) });
const request = fc.oneof(
  plain.map((sent) => ({ path: "/v1/responses", body: sent })),
  fc.record({ path: fc.constantFrom("/v1/chat/completions", "/v1/responses"), body }),
);

test("whatever a caller sends, it gets an answer or a refusal in OpenAI's shape [C5][Q1]", async () => {
  await using model = await modelServer(() => says("ok"));
  await using server = await openAiYard({ model });
  const kinds = new Set<number>();
  await fc.assert(
    fc.asyncProperty(request, async ({ path, body }) => {
      const { status, text } = await post(server.url + path, JSON.stringify(body));
      kinds.add(status);
      assert.ok([200, 400, 404, 409, 422].includes(status), `${status} ${text}`);
      if (status === 200) return;
      const { error } = JSON.parse(text);
      assert.deepEqual(Object.keys(error), ["message", "type", "param", "code"]);
    }),
    { numRuns: Number(process.env.AGENTYARD_FUZZ_REQUESTS ?? 60) },
  );
  assert.ok(kinds.has(200) && kinds.has(400));
});

async function post(url: string, body: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  return { status: answer.status, text: await answer.text() };
}

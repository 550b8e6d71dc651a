import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import OpenAI from "openai";
import { systemClock } from "../../src/base/clock.ts";
import { listen } from "../../src/http/http.ts";
import { inboxOf, say } from "../world/decisions.ts";
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

test("a question of the agent is told with how to answer it, in Chinese to those who read it [C5][H3]", async () => {
  await using model = await modelServer([calls(["ask_human", { question: "哪个城市？" }]), says("好的。")]);
  await using server = await openAiYard({ model });
  const asked = server.openai.responses.create(
    { model: "general", input: "天气怎么样？" },
    { headers: { "accept-language": "zh-CN" } },
  );
  const { output_text: note, id, status } = await asked;
  const [decision] = await inboxOf(server.yard);
  assert.equal(status, "completed");
  assert.match(note, /^智能体在等待 1 个决定：\n- 哪个城市？\n {2}POST \/api\/v1\/conversations\/.+\/decisions\/.+\n/);
  await say(server.yard, decision, { verdict: "answer", answer: "巴黎" });
  await server.yard.whenAtRest(decision?.conversation ?? "");
  assert.equal((await server.openai.responses.retrieve(id)).output_text, "好的。", "the log has the rest");
});

async function folder(t: TestContext): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), "agentyard-openai-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  return data;
}

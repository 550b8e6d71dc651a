import assert from "node:assert/strict";
import { test } from "node:test";
import { ChatDocument } from "../../src/protocol/chat.ts";
import { startChatYard } from "../world/chat.ts";
import { all } from "../world/events.ts";
import { type AskedRequest, modelServer, says } from "../world/model-server.ts";

// What may be asked of the chat routes, and how it is refused.

test("the same chat under both names of the service gives the same answer [C1]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  const [app, factory] = await Promise.all(
    ["agent-app", "agent-factory"].map((service) => world.chat({ query: "hi" }, { service })),
  );
  assert.deepEqual(shape(app), shape(factory));
  assert.equal(app?.message.content.final_answer.answer.text, "hello");
  for (const service of ["agent-app", "agent-factory"]) {
    const body = { json: { query: "hi", stream: false }, headers: { "x-account-id": "amy", "x-account-type": "user" } };
    const inside = await world.send("POST", `/api/${service}/internal/v1/app/my-agent/chat/completion`, body);
    assert.deepEqual(shape(ChatDocument.parse(inside.json)), shape(app));
  }
});

test("an answer comes as changes unless the caller says otherwise, and programs get it at once [C1][C3]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  const types = async (path: string, body: object) => {
    const reply = await world.call("POST", path, { query: "hi", ...body });
    return [reply.status, reply.headers.get("content-type")?.split(";")[0], /"action":"upsert"/.test(reply.text)];
  };
  const stream = "text/event-stream";
  assert.deepEqual(await types("chat/completion", {}), [200, stream, true]);
  assert.deepEqual(await types("chat/completion", { inc_stream: false }), [200, stream, false]);
  assert.deepEqual(await types("chat/completion", { stream: false }), [200, "application/json", false]);
  assert.deepEqual(await types("api/chat/completion", { agent_key: "general" }), [200, "application/json", false]);
  assert.deepEqual(await types("api/chat/completion", { stream: true }), [200, stream, true]);
  const plain = await world.send("POST", "/api/agent-factory/v1/api/chat/completion", {
    json: { query: "hi", agent_key: "general" },
  });
  assert.deepEqual([plain.status, plain.headers.get("content-type")], [200, "application/json"]);
});

test("what is said to debug stands under input [C1]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  const body = { stream: false, agent_id: "general", input: { query: "nested", custom_querys: { region: "north" } } };
  const reply = await world.call("POST", "debug/completion", body);
  assert.equal(reply.status, 200, reply.text);
  assert.match(lastUser(model.asked[0]), /^nested/);
});

test("unknown keys are taken and left alone, null and empty texts count as left out [C1]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  const odd = { application_context: { a: 1 }, history_limit: 3, model_name: "m", visitor_type: "user", input: "?" };
  const empty = { conversation_id: "", agent_id: "", agent_run_id: null, chat_option: null, selected_files: null };
  const retired = { temporary_area_id: "", temp_files: null };
  const document = await world.chat({
    query: "hi",
    ...odd,
    ...empty,
    ...retired,
    chat_mode: "",
    executor_version: "v1",
  });
  assert.equal(document.message.content.final_answer.answer.text, "hello");
  for (const chat_mode of ["normal", "deep_thinking"])
    await world.chat({ query: "hi", conversation_id: "c1", chat_mode });
  const slots = all(await world.yard.events("c1"), "message.user").map(({ slot }) => slot);
  assert.deepEqual(slots, [undefined, "reasoning"]);
});

test("without chat_option a chat remembers and shows its progress; each can be turned off [C3]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  const first = await world.chat({ query: "my name is Amy", conversation_id: "c1" });
  assert.equal(first.message.content.middle_answer.progress.length, 1);
  await world.chat({ query: "who am I?", conversation_id: "c1" });
  assert.deepEqual(said(model.asked[1]), ["my name is Amy", "hello", "who am I?"]);
  const off = { is_need_history: false, is_need_progress: false };
  const third = await world.chat({ query: "and now?", conversation_id: "c1", chat_option: off });
  assert.deepEqual(third.message.content.middle_answer.progress, []);
  assert.deepEqual(said(model.asked[2]), ["and now?"]);
  await world.chat({ query: "and again?", conversation_id: "c1" });
  assert.equal(said(model.asked[3]).length, 7);
});

test("a history that is sent along stands in place of the stored one for this turn [C1]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  await world.chat({ query: "stored", conversation_id: "c1" });
  const history = [
    { role: "user", content: "I am Bo" },
    { role: "assistant", content: "Hello Bo" },
  ];
  const chat_option = { is_need_history: false };
  await world.chat({ query: "who am I?", conversation_id: "c1", history, chat_option });
  assert.deepEqual(said(model.asked[1]), ["I am Bo", "Hello Bo", "who am I?"]);
  const rules = ["Be brief.", "Be kind."].map((content) => ({ role: "system", content }));
  await world.chat({ query: "and now?", conversation_id: "c1", history: [...rules, ...history] });
  assert.deepEqual(said(model.asked[2]), ["I am Bo", "Hello Bo", "and now?"]);
  const [system] = model.asked[2]?.body.messages ?? [];
  assert.match(String(system?.content), /Be brief\.\n\nBe kind\./);
  const blank = [
    { role: "user", content: " \n" },
    { role: "assistant", content: null },
  ];
  await world.chat({ query: "still there?", conversation_id: "c1", history: blank });
  assert.equal(said(model.asked[3])[0], "stored", "what says nothing takes the place of nothing");
});

test("inputs under both spellings reach the agent, and never inside the query [C1]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  for (const field of ["custom_querys", "custom_queries"]) {
    const named = ["history", "query", "header", "tool", "self_config"].map((name) => [name, "reserved"]);
    const document = await world.chat({ query: "go", [field]: { region: "north-7", ...Object.fromEntries(named) } });
    assert.equal(document.message.content.final_answer.query, "go");
    assert.match(model.asked.at(-1)?.text ?? "", /north-7/);
    assert.doesNotMatch(model.asked.at(-1)?.text ?? "", /reserved/);
  }
});

test("what is no longer taken is refused with the name of what to use [C1]", async () => {
  await using world = await startChatYard();
  const retired = [
    ["chat/completion", { query: "hi", temporary_area_id: "t1" }, "temporary_area_id"],
    ["chat/completion", { query: "hi", temp_files: [] }, "temp_files"],
    ["api/chat/completion", { query: "hi", temp_files: [{ id: "1" }] }, "temp_files"],
    ["debug/completion", { input: { query: "hi", temp_files: [{ id: "1" }] } }, "temp_files"],
    ["debug/completion", { temporary_area_id: "t1", input: { query: "hi" } }, "temporary_area_id"],
  ] as const;
  for (const [path, body, field] of retired) {
    const { status, json } = await world.call("POST", path, body);
    assert.deepEqual(
      [status, json.error_code, Object(json.error_details).code, json.description, json.solution],
      [
        400,
        "AgentAPP.InvalidParameter.RequestBody",
        "field_retired",
        `\`${field}\` is not taken any more`,
        "Upload the file, then name it in `selected_files`.",
      ],
    );
  }
});

test("inputs may be as large as the limit [C1]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  await world.chat({ query: "go", custom_querys: numbered(1_000) });
  const { status } = await world.call("POST", "chat/completion", {
    query: "go",
    stream: false,
    custom_querys: { a: "x".repeat(999_992) },
  });
  assert.equal(status, 200);
});

test("a key of an app has no characters that nobody sees [C1][Q1]", async () => {
  await using world = await startChatYard();
  for (const key of ["a%00b", "a%0Ab", "%1B%5B31m", "%C2%85"]) {
    const { status, text } = await world.send("POST", `/api/agent-app/v1/app/${key}/conversation`, { json: {} });
    assert.deepEqual([status, /path\.app_key/.test(text)], [400, true], key);
  }
});

test("a malformed value is refused with the name of its field, in the service's one error shape [C1][P4]", async () => {
  await using world = await startChatYard();
  const malformed: readonly (readonly [body: object, field: RegExp])[] = [
    [{ query: "hi", stream: "yes" }, /body\.stream/],
    [{ query: 7 }, /body\.query/],
    [{}, /body\.query/],
    [{ query: " \n" }, /body\.query/],
    [{ query: "hi", conversation_id: "a/../b" }, /conversation_id/],
    [{ query: "hi", conversation_id: "uploads" }, /conversation_id/],
    [{ query: "hi", conversation_id: "x".repeat(65) }, /conversation_id/],
    [{ query: "hi", selected_files: [{ name: "a.csv" }] }, /body\.selected_files\.0\.file_name/],
    [{ query: "hi", selected_files: "a.csv" }, /body\.selected_files/],
    [{ query: "hi", history: [{ role: "robot", content: "" }] }, /body\.history\.0\.role/],
    [{ query: "hi", chat_mode: "quick" }, /body\.chat_mode/],
    [{ query: "hi", user_id: "a b" }, /user_id/],
    [{ query: "hi", custom_querys: { a: "x".repeat(999_993) } }, /body\.custom_querys: more than 1000000 characters/],
    [{ query: "hi", custom_queries: numbered(1_001) }, /body\.custom_queries: more than 1000 entries/],
    [{ resume_interrupt_info: { action: "confirm" } }, /body\.resume_interrupt_info\.resume_handle/],
  ];
  for (const [body, field] of malformed) {
    const { status, json } = await world.call("POST", "chat/completion", { stream: false, ...body });
    assert.deepEqual([status, json.error_code], [400, "AgentAPP.InvalidParameter.RequestBody"], JSON.stringify(body));
    assert.match(String(json.description), field);
    assert.deepEqual(Object.keys(json).sort(), [
      "description",
      "error_code",
      "error_details",
      "error_link",
      "solution",
    ]);
  }
  const { json } = await world.call("POST", "chat/completion", {}, { headers: { "x-language": "zh-CN" } });
  assert.match(String(json.description), /^请求/);
  const both = { "x-language": "en-US", "accept-language": "zh" };
  const english = await world.call("POST", "chat/completion", {}, { headers: both });
  assert.match(String(english.json.description), /^The request/);
});

test("a conversation is made when none is named, adopted under an unknown id, and stays gone once deleted [C1]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  const query = `${"数".repeat(60)} and more`;
  const made = await world.chat({ query });
  assert.match(made.conversation_id, /^[0-9a-f-]{36}$/);
  const detail = await world.call("GET", `conversation/${made.conversation_id}`);
  assert.equal(detail.json.title, "数".repeat(50));

  const adopted = await world.chat({ query: "hi", conversation_id: "conv-9", user_id: "amy" });
  assert.equal(adopted.conversation_id, "conv-9");
  const looked = await world.call("GET", "conversation/never-seen");
  assert.deepEqual([looked.status, looked.json.error_code], [404, "AgentAPP.Conversation.NotFound"]);

  const amy = { headers: { "x-account-id": "amy" } };
  assert.equal((await world.call("DELETE", "conversation/conv-9", undefined, amy)).status, 204);
  const gone = await world.call("POST", "chat/completion", { query: "hi", conversation_id: "conv-9" }, amy);
  assert.deepEqual([gone.status, gone.json.error_code], [404, "AgentAPP.Conversation.NotFound"]);
  const again = await world.call("DELETE", "conversation/conv-9", undefined, amy);
  assert.equal(again.status, 404);
});

test("a conversation belongs to the agent of its first turn [S5][C1]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  await world.chat({ query: "hi", conversation_id: "c1", agent_id: "writer" });
  await world.chat({ query: "hi", conversation_id: "c1" });
  await world.chat({ query: "hi", conversation_id: "c1", agent_id: "writer" });
  const other = await world.call("POST", "chat/completion", {
    query: "hi",
    conversation_id: "c1",
    agent_id: "painter",
  });
  assert.deepEqual([other.status, other.json.error_code], [409, "AgentAPP.conversation_of_agent"]);
});

/** A document without what is its own alone. */
function shape(document: ChatDocument | undefined): unknown {
  const text = JSON.stringify(document, (key, value: unknown) => (timed.test(key) ? 0 : value));
  return JSON.parse(text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID"));
}

const timed = /_time$|^ttft$/;

function lastUser(request: AskedRequest | undefined): string {
  return String(request?.body.messages.findLast(({ role }) => role === "user")?.content);
}

/** What was said before and now, without the system message and reminders. */
function said(request: AskedRequest | undefined): string[] {
  const messages = request?.body.messages.filter(({ role }) => role !== "system") ?? [];
  return messages.map(({ content }) => String(content).replace(/\s*<system_reminder>[\s\S]*$/, ""));
}

function numbered(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]));
}

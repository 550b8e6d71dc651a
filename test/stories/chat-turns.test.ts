import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ChatDocument, ChatIncrement } from "../../src/protocol/chat.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { allFrames, folded, messagesOf, startChatYard } from "../world/chat.ts";
import { all } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { effectTool } from "../world/tools.ts";
import { must } from "../world/yard.ts";

// Streams, and what becomes of them: cut off, taken up again, stopped, beside one another.

/** Says some words, and then nothing more. */
const stalling = {
  text: "word0 word1 word2 word3 word4 word5 word6 word7",
  fault: { after: 7, kind: "stall" },
} as const;
const long = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");

test("changes, whole documents and one answer end in the same document [C1][C3]", async () => {
  await using model = await modelServer(() => ({ text: long, reasoning: "let me see", usage: null }));
  await using world = await startChatYard({ model });
  const body = { query: "hi", agent_run_id: "run-1" };
  const changes = await allFrames(await world.stream({ ...body, conversation_id: "a" }));
  const whole = await allFrames(await world.stream({ ...body, conversation_id: "a2", inc_stream: false }));
  const once = await world.chat({ ...body, conversation_id: "a3" });
  assert.deepEqual(
    changes.map((frame) => ChatIncrement.parse(frame).seq_id),
    changes.keys().toArray(),
  );
  assert.deepEqual(ChatIncrement.parse(whole.at(-1)).action, "end");
  assert.deepEqual(alike(folded(changes)), alike(once));
  assert.deepEqual(alike(whole.at(-2)), alike(once));
  assert.equal(once.message.content.final_answer.answer.text, long);
});

test("a reader who goes away in the middle reads on with chat/resume, and the turn never noticed [C3][L6]", async () => {
  await using model = await modelServer(() => ({ text: long, paceMs: 15 }));
  await using world = await startChatYard({ model });
  const begun = await world.stream({ query: "hi", conversation_id: "c1" });
  const first: unknown[] = [];
  for await (const frame of begun.frames) {
    first.push(frame);
    if (JSON.stringify(frame).includes("word9")) break;
  }
  begun.leave();
  const lastSeqId = ChatIncrement.parse(first.at(-1)).seq_id;
  const wanted = { conversation_id: "c1", last_seq_id: lastSeqId };
  const rest = await allFrames(await world.stream(wanted, { path: "chat/resume" }));
  assert.equal(ChatIncrement.parse(rest[0]).seq_id, lastSeqId + 1);
  const before = folded([...first, { seq_id: 0, key: [], content: null, action: "end" }]);
  const document = ChatDocument.parse(folded(rest, before));
  assert.equal(document.message.content.final_answer.answer.text, long);
  assert.equal(document.error, null);
  assert.equal(model.asked.length, 1);
  // As a browser asks for it by itself; what the body says goes before.
  for (const [body, next] of [[{}, 8] as const, [{ last_seq_id: 41 }, 42] as const]) {
    const headers = { "last-event-id": "7" };
    const heard = await world.stream({ conversation_id: "c1", ...body }, { path: "chat/resume", headers });
    assert.equal(ChatIncrement.parse((await allFrames(heard))[0]).seq_id, next);
  }
  // Also when it is all over, and from nothing.
  const late = await allFrames(await world.stream({ conversation_id: "c1" }, { path: "chat/resume" }));
  assert.deepEqual(folded(late), document);
});

test("there is nothing to resume where nothing was said [C4]", async () => {
  await using world = await startChatYard();
  const { json } = await world.call("POST", "conversation", {});
  const empty = await world.call("POST", "chat/resume", { conversation_id: json.id });
  assert.deepEqual([empty.status, empty.json.error_code], [404, "AgentAPP.Agent.ResumeFailed"]);
  const unknown = await world.call("POST", "chat/resume", { conversation_id: "never" });
  assert.deepEqual([unknown.status, unknown.json.error_code], [404, "AgentAPP.Conversation.NotFound"]);
});

test("stopping twice is fine both times: the answer is cancelled and keeps what was said [C4][L6]", async () => {
  await using model = await modelServer([stalling, says("again")]);
  await using world = await startChatYard({ model });
  const begun = await world.stream({ query: "hi", conversation_id: "c1" });
  const frames: unknown[] = [];
  for await (const frame of begun.frames) {
    frames.push(frame);
    if (JSON.stringify(frame).includes("word5")) break;
  }
  const stop = () => world.call("POST", "chat/termination", { conversation_id: "c1" });
  assert.equal((await stop()).status, 204);
  const rest = await allFrames(await world.stream({ conversation_id: "c1" }, { path: "chat/resume" }));
  assert.equal((await stop()).status, 204);
  const { text } = ChatDocument.parse(folded(rest)).message.content.final_answer.answer;
  assert.equal(text.trim(), "word0 word1 word2 word3 word4 word5");
  const [, answer] = await messagesOf(world, "c1");
  assert.deepEqual([answer?.status, answer?.run_state], ["cancelled", ""]);
  const next = await world.chat({ query: "go on", conversation_id: "c1" });
  assert.equal(next.message.content.final_answer.answer.text, "again");
});

test("stopping names one turn: another that runs by now goes on, one that waits is withdrawn [C4][L7]", async () => {
  await using model = await modelServer(() => stalling);
  await using world = await startChatYard({ model });
  const first = await world.stream({ query: "one", conversation_id: "c1", agent_run_id: "r1" });
  for await (const frame of first.frames) if (JSON.stringify(frame).includes("word5")) break;
  const second = await world.stream({ query: "two", conversation_id: "c1", agent_run_id: "r2" });
  const stop = (run: string) => world.call("POST", "chat/termination", { conversation_id: "c1", agent_run_id: run });
  const states = async () => (await messagesOf(world, "c1")).map(({ status, run_state }) => [status, run_state]);
  assert.deepEqual([(await stop("r0")).status, (await stop("r2")).status], [204, 204]);
  await allFrames(second);
  assert.deepEqual(await states(), [
    ["processed", ""],
    ["processing", "running"],
  ]);
  assert.equal((await stop("r1")).status, 204);
  await allFrames(await world.stream({ conversation_id: "c1" }, { path: "chat/resume" }));
  assert.deepEqual(await states(), [
    ["processed", ""],
    ["cancelled", ""],
  ]);
});

test("a second chat while one runs waits for it, and each stream carries its own turn alone [L7]", async () => {
  await using model = await modelServer((request) => {
    const asked = String(request.body.messages.findLast(({ role }) => role === "user")?.content);
    return { text: asked.startsWith("one") ? `first ${long}` : "second", paceMs: 5 };
  });
  await using world = await startChatYard({ model });
  const first = await world.stream({ query: "one", conversation_id: "c1" });
  await first.frames.next();
  const second = await world.stream({ query: "two", conversation_id: "c1" });
  assert.equal(second.status, 200);
  const [one, two] = await Promise.all([allFrames(first), allFrames(second)]);
  assert.doesNotMatch(JSON.stringify(one), /second|"two"/);
  assert.doesNotMatch(JSON.stringify(two), /first|word|"one"/);
  const document = ChatDocument.parse(folded(two));
  assert.deepEqual(
    [document.message.content.final_answer.query, document.message.content.final_answer.answer.text],
    ["two", "second"],
  );
});

test("a turn that fails tells so in the document, and as an error where the answer comes at once [C1]", async () => {
  await using model = await modelServer(() => ({ status: 401, body: '{"error":{"message":"bad key"}}' }));
  await using world = await startChatYard({ model });
  const reply = await world.call("POST", "chat/completion", { query: "hi", conversation_id: "c1", stream: false });
  assert.deepEqual([reply.status, reply.json.error_code], [502, "AgentAPP.model_auth"]);
  assert.equal(ChatDocument.parse(reply.json).error?.error_code, "AgentAPP.model_auth");
  const streamed = await world.stream({ query: "hi", conversation_id: "c1" });
  const document = ChatDocument.parse(folded(await allFrames(streamed)));
  assert.deepEqual([document.error?.HTTPCode, document.error?.BaseError.error_code], [502, "AgentAPP.model_auth"]);
  assert.equal(document.message.ext.error?.type, "agent_executor");
});

test("an answer made anew and a question said otherwise keep their ids and places [C4]", async () => {
  await using model = await modelServer([1, 2, 3, 4].map((number) => says(`answer ${number}`)));
  await using world = await startChatYard({ model });
  const first = await world.chat({ query: "one", conversation_id: "c1" });
  const second = await world.chat({ query: "two", conversation_id: "c1" });
  const places = async () => (await messagesOf(world, "c1")).map(({ id, index, role }) => ({ id, index, role }));
  const before = await places();
  const anew = { conversation_id: "c1", regenerate_assistant_message_id: second.assistant_message_id };
  const third = await world.chat(anew);
  assert.deepEqual(
    [third.user_message_id, third.assistant_message_id, third.message.index],
    [second.user_message_id, second.assistant_message_id, second.message.index],
  );
  assert.equal(third.message.content.final_answer.answer.text, "answer 3");
  assert.notEqual(third.agent_run_id, second.agent_run_id);
  assert.deepEqual(await places(), before);
  assert.deepEqual(spoken(model.asked[2]?.body.messages), ["one", "answer 1", "two"]);

  const edit = { conversation_id: "c1", regenerate_user_message_id: second.user_message_id, query: "two, but better" };
  const fourth = await world.chat(edit);
  assert.deepEqual(
    [fourth.user_message_id, fourth.assistant_message_id],
    [second.user_message_id, second.assistant_message_id],
  );
  assert.deepEqual(await places(), before);
  assert.deepEqual(spoken(model.asked[3]?.body.messages), ["one", "answer 1", "two, but better"]);
  const texts = (await messagesOf(world, "c1")).map(({ content }) => JSON.parse(content));
  assert.equal(texts[2].text, "two, but better");

  for (const named of [
    { regenerate_assistant_message_id: first.user_message_id },
    { regenerate_user_message_id: "nobody", query: "?" },
  ]) {
    const { status, json } = await world.call("POST", "chat/completion", { conversation_id: "c1", ...named });
    assert.deepEqual([status, json.error_code], [404, "AgentAPP.Agent.GetMessageFailed"]);
  }
});

/** Documents without what differs from one turn to the next. */
function alike(document: unknown): unknown {
  const text = JSON.stringify(document, (key, value: unknown) => (/_time$|^ttft$|_id$|^id$/.test(key) ? 0 : value));
  return JSON.parse(text);
}

function spoken(messages: readonly { readonly role: string; readonly content: unknown }[] = []): string[] {
  return messages
    .filter(({ role }) => role !== "system")
    .map(({ content }) => String(content).replace(/\s*<system_reminder>[\s\S]*$/, ""));
}

test("a conversation says whether a person began it or a program [C4]", async () => {
  await using world = await startChatYard();
  const originOf = async (id: string, origin: "person" | "program") => {
    await must(world.yard.engine.create(localOwner, { id, origin }));
    return (await world.call("GET", `conversation/${id}`)).json.origin;
  };
  assert.deepEqual([await originOf("c", "person"), await originOf("p", "program")], ["web_chat", "api_chat"]);
});

// What is said while the turn before waits for a person.

async function waiting(t: TestContext) {
  const data = folderWith(t, {});
  const tools = [effectTool("pay", "unsafe", join(data, "marks.jsonl"), { asks: true })];
  const model = await modelServer([calls(["pay", { mark: "a" }]), says("paid"), says("hello")]);
  const world = await startChatYard({ model, data, tools });
  const first = await world.chat({ query: "pay a", conversation_id: "c1" });
  return {
    ...{ world, first },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

test("a chat behind a turn that waits for a person ends with what is asked, in a stream and at once [C3][H2][L7]", async (t) => {
  await using yard = await waiting(t);
  const { world, first } = yard;
  const asked = first.message.ext.interrupt_info;
  assert.equal(asked?.data.tool_name, "pay");
  const second = await world.chat({ query: "hi", conversation_id: "c1", agent_run_id: "r2" });
  const own = { ...asked, handle: { ...asked?.handle, snapshot_id: "r2" } };
  assert.deepEqual(second.message.ext.interrupt_info, own);
  assert.deepEqual([second.error, second.message.content.final_answer.answer.text], [null, ""]);
  const streamed = await allFrames(await world.stream({ query: "hi again", conversation_id: "c1" }));
  const { ext } = ChatDocument.parse(folded(streamed)).message;
  assert.equal(ext.interrupt_info?.handle.resume_token, asked?.handle.resume_token);
  const resumed = await allFrames(await world.stream({ conversation_id: "c1" }, { path: "chat/resume" }));
  const { user_message_id } = ChatDocument.parse(folded(resumed));
  assert.equal(user_message_id, first.user_message_id, "the turn that is open, not what waits for it");
  const states = (await messagesOf(world, "c1")).map(({ run_state }) => run_state);
  assert.deepEqual(states, ["", "waiting_approval", "", "queued", "", "queued"]);
});

test("who was shown what the turn before asks answers it, and their own turn comes next [C3][H2][L7]", async (t) => {
  await using yard = await waiting(t);
  const { world, first } = yard;
  const second = await world.chat({ query: "hi", conversation_id: "c1", agent_run_id: "r2" });
  const resumed = { resume_handle: second.message.ext.interrupt_info?.handle, action: "confirm" };
  const paid = await world.chat({
    ...{ conversation_id: "c1", resume_interrupt_info: resumed },
    interrupted_assistant_message_id: second.assistant_message_id,
  });
  assert.deepEqual(
    [paid.assistant_message_id, paid.message.content.final_answer.answer.text],
    [first.assistant_message_id, "paid"],
  );
  const [made] = all(await world.yard.events("c1"), "decision.made");
  assert.equal(made?.verdict, "approve", "nothing was changed");
  const frames = await allFrames(
    await world.stream({ conversation_id: "c1", agent_run_id: "r2" }, { path: "chat/resume" }),
  );
  const { message, user_message_id } = ChatDocument.parse(folded(frames));
  assert.deepEqual(
    [user_message_id, message.content.final_answer.answer.text, message.ext.interrupt_info],
    [second.user_message_id, "hello", null],
  );
});

// A call that is repeated under its Idempotency-Key, long after.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ChatDocument } from "../../src/protocol/chat.ts";
import { routes } from "../../src/protocol/routes.ts";
import { allFrames, type ChatYard, folded, messagesOf, startChatYard } from "../world/chat.ts";
import { firstOf, lastOf, report } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { type AskedRequest, calls, modelServer, says } from "../world/model-server.ts";
import { effectTool } from "../world/tools.ts";
import { must } from "../world/yard.ts";

// An agent asks a person in the middle of a turn, and the person answers over the chat routes.

test("a call that was interrupted is confirmed with other arguments after a restart, and runs once with those [C4][H2]", async (t) => {
  const data = folderWith(t, {});
  const marks = join(data, "marks.jsonl");
  const tools = [effectTool("pay", "unsafe", marks, { asks: true })];
  await using model = await modelServer([calls(["pay", { mark: "a" }]), says("paid")]);
  const asked = await (async () => {
    await using world = await startChatYard({ model, data, tools });
    const streamed = await world.stream({ query: "pay a", conversation_id: "c1", agent_run_id: "r1" });
    const document = ChatDocument.parse(folded(await allFrames(streamed)));
    const [, answer] = await messagesOf(world, "c1");
    assert.deepEqual([answer?.status, answer?.run_state], ["processing", "waiting_approval"]);
    const list = await world.call("GET", "conversation");
    assert.match(JSON.stringify(list.json), /"status":"processing","run_state":"waiting_approval"/);
    return document;
  })();
  const info = asked.message.ext.interrupt_info;
  assert(info !== null);
  assert.deepEqual(
    [info.handle.interrupt_type, info.data.tool_name, info.data.tool_args],
    ["tool_interrupt", "pay", [{ key: "mark", value: "a", type: "string" }]],
  );

  await using world = await startChatYard({ model, data, tools });
  const confirmed = {
    conversation_id: "c1",
    agent_run_id: asked.agent_run_id,
    interrupted_assistant_message_id: asked.assistant_message_id,
    resume_interrupt_info: {
      resume_handle: info.handle,
      action: "confirm",
      modified_args: [{ key: "mark", value: "b" }],
      data: info.data,
    },
  };
  const wrong = { ...confirmed, interrupted_assistant_message_id: "another" };
  assert.equal((await world.call("POST", "chat/completion", wrong)).status, 404);
  const keyed = { headers: { "idempotency-key": "k1" } };
  const done = ChatDocument.parse(folded(await allFrames(await world.stream(confirmed, keyed))));
  assert.deepEqual(
    [done.assistant_message_id, done.agent_run_id, done.message.content.final_answer.answer.text],
    [asked.assistant_message_id, "r1", "paid"],
  );
  assert.equal(done.message.ext.interrupt_info, null);
  // What was done before the interruption is still shown.
  assert.deepEqual(
    done.message.content.middle_answer.progress.map(({ stage, status }) => [stage, status]),
    [
      ["llm", "completed"],
      ["skill", "completed"],
      ["llm", "completed"],
    ],
  );
  const marked = (await readFile(marks, "utf8")).trim().split("\n");
  assert.deepEqual(
    marked.map((line) => JSON.parse(line).mark),
    ["b"],
  );
  const repeated = await allFrames(await world.stream(confirmed, keyed));
  assert.deepEqual(folded(repeated), done, "said again under its key, it is the same answer");
  const again = await world.call("POST", "chat/completion", confirmed);
  assert.deepEqual([again.status, again.json.error_code], [409, "AgentAPP.decision_already_made"]);
});

test("a call that the user skips is not run, and the agent is told so [C4][H2]", async (t) => {
  const data = folderWith(t, {});
  const tools = [effectTool("pay", "unsafe", join(data, "marks.jsonl"), { asks: true })];
  await using model = await modelServer([calls(["pay", { mark: "a" }]), says("left it")]);
  await using world = await startChatYard({ model, data, tools });
  const asked = await world.chat({ query: "pay a", conversation_id: "c1" });
  const handle = asked.message.ext.interrupt_info?.handle;
  const done = await world.chat({
    conversation_id: "c1",
    resume_interrupt_info: { resume_handle: handle, action: "skip", modified_args: [], data: {} },
  });
  assert.equal(done.message.content.final_answer.answer.text, "left it");
  const result = model.asked[1]?.body.messages.findLast(({ role }) => role === "tool");
  assert.match(String(result?.content), /skipped by the user/);
});

test("a question is answered by what is typed, or by a value named answer [C4][H3]", async () => {
  const question = calls(["ask_human", { question: "Which city?" }]);
  await using model = await modelServer([
    ...[question, says("Bonn it is"), question, says("Ulm it is"), question, says("seven it is")],
  ]);
  await using world = await startChatYard({ model });
  const answered = async (id: string, said: object, more: object) => {
    const asked = await world.chat({ query: "plan", conversation_id: id });
    const info = asked.message.ext.interrupt_info;
    assert.equal(info?.handle.interrupt_type, "user_input_request");
    assert.match(JSON.stringify(asked.message.content.final_answer.answer.ask), /Which city\?/);
    const resumed = { resume_handle: info?.handle, action: "confirm", ...more };
    const done = await world.chat({ conversation_id: id, resume_interrupt_info: resumed, ...said });
    const told = model.asked.at(-1)?.body.messages.findLast(({ role }) => role === "tool");
    return [String(told?.content), done.message.content.final_answer.answer.text];
  };
  const [first, one] = await answered("c1", { query: "Bonn" }, {});
  const values = [
    { key: "note", value: "in a hurry" },
    { key: "answer", value: "Ulm" },
  ];
  const [second, two] = await answered("c2", { query: "Bonn" }, { modified_args: values });
  const [third] = await answered("c3", {}, { modified_args: [{ key: "n", value: [7] }] });
  assert.match(`${first}`, /Bonn/);
  assert.match(`${second}`, /Ulm/);
  assert.doesNotMatch(`${second}`, /hurry|Bonn/);
  assert.match(`${third}`, /\[7\]/);
  assert.deepEqual([one, two], ["Bonn it is", "Ulm it is"]);
});

test("an answer that was stopped while it waited for a person asks nothing any more [C4][L6]", async (t) => {
  const data = folderWith(t, {});
  const tools = [effectTool("pay", "unsafe", join(data, "marks.jsonl"), { asks: true })];
  await using model = await modelServer([calls(["pay", { mark: "a" }]), calls(["ask_human", { question: "Which?" }])]);
  await using world = await startChatYard({ model, data, tools });
  for (const id of ["approval", "question"]) {
    const asked = await world.chat({ query: "go", conversation_id: id });
    assert.notEqual(asked.message.ext.interrupt_info, null);
    assert.equal((await world.call("POST", "chat/termination", { conversation_id: id })).status, 204);
    await world.yard.whenAtRest(id);
    const read = await allFrames(await world.stream({ conversation_id: id }, { path: "chat/resume" }));
    const { ext, content } = ChatDocument.parse(folded(read)).message;
    assert.deepEqual([ext.interrupt_info, content.final_answer.answer.ask], [null, {}], id);
    const [, listed] = await messagesOf(world, id);
    assert.equal(listed?.ext, JSON.stringify(ext), id);
    for (const action of ["confirm", "skip"]) {
      const late = { resume_handle: asked.message.ext.interrupt_info?.handle, action };
      const body = { conversation_id: id, query: "yes", resume_interrupt_info: late };
      const { status, json } = await world.call("POST", "chat/completion", body);
      assert.deepEqual([status, json.error_code], [404, "AgentAPP.decision_not_found"], `${id} ${action}`);
    }
  }
});

/** What a helper is asked to do it asks a person about; what became of it is the answer. */
function delegating(what: [string, unknown]) {
  return (request: AskedRequest) => {
    const { role, text } = lastOf(request);
    if (firstOf(request).startsWith("part")) return role === "tool" ? says(report(`heard ${text}`)) : calls(what);
    if (text === "hi") return says("hello");
    return role === "tool" ? says(`told: ${text}`) : calls(["delegate_task", { task: "part of it" }]);
  };
}

/** How the list and the conversation itself say that it stands, and what its newest message is asked. */
async function standing(world: ChatYard, id: string) {
  const { entries } = routes.listChatConversations.answer.parse((await world.call("GET", "conversation")).json);
  const one = routes.getChatConversation.answer.parse((await world.call("GET", `conversation/${id}`)).json);
  const newest = (await messagesOf(world, id)).at(-1);
  const { interrupt_info } = JSON.parse(newest?.ext ?? "{}");
  const states = [entries.find((entry) => entry.id === id)?.run_state, one.run_state, newest?.run_state];
  return { states, interrupt_info };
}

test("a call that a helper wants to make is shown as interrupted everywhere, and confirmed with other arguments [C4][H2][A2]", async (t) => {
  const data = folderWith(t, {});
  const marks = join(data, "marks.jsonl");
  const tools = [effectTool("pay", "unsafe", marks, { asks: true })];
  await using model = await modelServer(delegating(["pay", { mark: "a", to: "Amy" }]));
  await using world = await startChatYard({ model, data, tools });
  // The helper's first turn is in the second of the conversation.
  const before = await world.chat({ query: "hi", conversation_id: "c1" });
  const streamed = await allFrames(await world.stream({ query: "go", conversation_id: "c1", agent_run_id: "r2" }));
  const asked = ChatDocument.parse(folded(streamed));
  const info = asked.message.ext.interrupt_info;
  assert.deepEqual(
    [info?.handle.interrupt_type, info?.handle.snapshot_id, info?.data.tool_name, info?.data.tool_args],
    [
      ...["tool_interrupt", "r2", "pay"],
      [
        { key: "mark", value: "a", type: "string" },
        { key: "to", value: "Amy", type: "string" },
      ],
    ],
  );
  const waiting = ["waiting_approval", "waiting_approval", "waiting_approval"];
  assert.deepEqual(await standing(world, "c1"), { states: waiting, interrupt_info: info });

  const resumed = {
    ...{ resume_handle: info?.handle, action: "confirm", data: info?.data },
    modified_args: [{ key: "mark", value: "b" }],
  };
  const body = { conversation_id: "c1", resume_interrupt_info: resumed };
  const other = { ...body, interrupted_assistant_message_id: before.assistant_message_id };
  assert.equal((await world.call("POST", "chat/completion", other)).status, 404, "another answer asked nothing");
  const done = await world.chat({ ...body, interrupted_assistant_message_id: asked.assistant_message_id });
  const [made] = all(await world.yard.events("c1"), "decision.made");
  assert.deepEqual(JSON.parse(made?.arguments ?? ""), { mark: "b", to: "Amy" }, "what was not changed stays");
  assert.deepEqual([done.assistant_message_id, done.message.ext.interrupt_info], [asked.assistant_message_id, null]);
  assert.match(done.message.content.final_answer.answer.text, /^told: .*heard/);
  assert.match(await readFile(marks, "utf8"), /^[^\n]*"mark":"b"[^\n]*\n$/);
  assert.deepEqual(await standing(world, "c1"), { states: ["", "", ""], interrupt_info: null });
});

test("what a helper asked is asked no more when it is stopped, alone or with its turn [C4][L6][A1]", async () => {
  const held = Promise.withResolvers<void>();
  const answer = delegating(["ask_human", { question: "Which city?" }]);
  await using model = await modelServer((request) => {
    const isTold = firstOf(request) === "go" && lastOf(request).role === "tool";
    return isTold ? { ...says("without it"), heldUntil: held.promise } : answer(request);
  });
  await using world = await startChatYard({ model });
  for (const id of ["alone", "whole"])
    assert.notEqual((await world.chat({ query: "go", conversation_id: id })).message.ext.interrupt_info, null, id);
  const [helper] = all(await world.yard.events("alone"), "agent.spawned");
  await must(world.yard.client.call("stopAgent", { params: { id: "alone", agent: helper?.id ?? "" } }));
  await until("the main agent goes on", () => model.asked.some((request) => lastOf(request).role === "tool"));
  const running = { states: ["running", "running", "running"], interrupt_info: null };
  assert.deepEqual(await standing(world, "alone"), running);
  const goingOn = world.stream({ conversation_id: "alone" }, { path: "chat/resume" });
  held.resolve();
  const { content, ext } = ChatDocument.parse(folded(await allFrames(await goingOn))).message;
  assert.deepEqual([content.final_answer.answer.text, ext.interrupt_info], ["without it", null]);

  assert.equal((await world.call("POST", "chat/termination", { conversation_id: "whole" })).status, 204);
  await world.yard.whenAtRest("whole");
  assert.deepEqual(await standing(world, "whole"), { states: ["", "", ""], interrupt_info: null });
});

test("a decision that is not of this conversation is not found [C4][S7]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  await world.chat({ query: "hi", conversation_id: "c1" });
  const resumed = { resume_handle: { resume_token: "nobody's" }, action: "confirm" };
  const reply = await world.call("POST", "chat/completion", { conversation_id: "c1", resume_interrupt_info: resumed });
  assert.deepEqual([reply.status, reply.json.error_code], [404, "AgentAPP.decision_not_found"]);
});

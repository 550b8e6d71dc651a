import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ChatDocument } from "../../src/protocol/chat.ts";
import { allFrames, folded, messagesOf, startChatYard } from "../world/chat.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { effectTool } from "../world/tools.ts";

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
  const done = ChatDocument.parse(folded(await allFrames(await world.stream(confirmed))));
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
  await using model = await modelServer([question, says("Bonn it is"), question, says("Ulm it is")]);
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
  const [second, two] = await answered("c2", {}, { modified_args: [{ key: "answer", value: "Ulm" }] });
  assert.match(`${first}`, /Bonn/);
  assert.match(`${second}`, /Ulm/);
  assert.deepEqual([one, two], ["Bonn it is", "Ulm it is"]);
});

test("a turn that waits for a person is stopped by the id of its answer [C4][L6]", async (t) => {
  const data = folderWith(t, {});
  const tools = [effectTool("pay", "unsafe", join(data, "marks.jsonl"), { asks: true })];
  await using model = await modelServer([calls(["pay", { mark: "a" }])]);
  await using world = await startChatYard({ model, data, tools });
  const asked = await world.chat({ query: "pay a", conversation_id: "c1" });
  const stop = { conversation_id: "c1", interrupted_assistant_message_id: asked.assistant_message_id };
  assert.equal((await world.call("POST", "chat/termination", stop)).status, 204);
  await world.yard.whenAtRest("c1");
  assert.equal((await world.call("POST", "chat/termination", stop)).status, 204);
  const [, answer] = await messagesOf(world, "c1");
  assert.equal(answer?.status, "cancelled");
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
  }
});

test("a decision that is not of this conversation is not found [C4][S7]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  await world.chat({ query: "hi", conversation_id: "c1" });
  const resumed = { resume_handle: { resume_token: "nobody's" }, action: "confirm" };
  const reply = await world.call("POST", "chat/completion", { conversation_id: "c1", resume_interrupt_info: resumed });
  assert.deepEqual([reply.status, reply.json.error_code], [404, "AgentAPP.decision_not_found"]);
});

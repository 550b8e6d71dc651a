import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ChatDocument } from "../../src/protocol/chat.ts";
import { routes } from "../../src/protocol/routes.ts";
import { allFrames, folded, messagesOf, startChatYard } from "../world/chat.ts";
import { firstOf, textOf } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { effectTool } from "../world/tools.ts";
import { must } from "../world/yard.ts";

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

test("a conversation in which a person is asked says so, also while chats wait behind it [C3][H2]", async (t) => {
  await using yard = await waiting(t);
  const { world } = yard;
  await world.chat({ query: "hi", conversation_id: "c1" });
  const { entries } = routes.listChatConversations.answer.parse((await world.call("GET", "conversation")).json);
  const one = routes.getChatConversation.answer.parse((await world.call("GET", "conversation/c1")).json);
  assert.deepEqual(
    [...entries, one].map(({ run_state }) => run_state),
    ["waiting_approval", "waiting_approval"],
  );
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

test("where several helpers ask, a chat and the one behind it are shown what was asked first [C3][H2][A1]", async () => {
  const isAsked = Promise.withResolvers<void>();
  const spawn = (role: string): [string, unknown] => ["spawn_agent", { role, task: `${role} it` }];
  await using model = await modelServer((request) => {
    const [who = ""] = firstOf(request).split(" ");
    if (who === "go")
      return textOf(request).includes('"agent"') ? says("waiting") : calls(spawn("late"), spawn("early"));
    const question = calls(["ask_human", { question: `${who}?` }]);
    return who === "late" ? { ...question, heldUntil: isAsked.promise } : question;
  });
  await using world = await startChatYard({ model });
  const first = world.chat({ query: "go", conversation_id: "c1" });
  await until("the first question", async () => {
    const { items } = await must(world.yard.client.call("listDecisions", {}));
    return items.length === 1;
  });
  isAsked.resolve();
  const both = [await first, await world.chat({ query: "hi", conversation_id: "c1" })];
  assert.deepEqual(
    both.map(({ message }) => message.ext.interrupt_info?.data.interrupt_config.confirmation_message),
    ["early?", "early?"],
  );
});

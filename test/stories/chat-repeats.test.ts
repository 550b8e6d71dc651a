import assert from "node:assert/strict";
import { test } from "node:test";
import { ChatDocument } from "../../src/protocol/chat.ts";
import { allFrames, type ChatYard, folded, messagesOf, startChatYard } from "../world/chat.ts";
import { all } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";

// A call that is repeated under its Idempotency-Key, long after.

/** Streams, for these are not kept: a repeat comes as far as the first call did. */
async function streamed(world: ChatYard, body: object, key: string): Promise<ChatDocument> {
  const { frames } = await world.stream(body, { headers: { "idempotency-key": key } });
  return ChatDocument.parse(folded(await allFrames({ frames })));
}

async function began() {
  const model = await modelServer(({ body }) => says(`${body.messages.length} messages`));
  const world = await startChatYard({ model });
  const first = await world.chat({ query: "one", conversation_id: "c1", agent_run_id: "mine" });
  const edit = { conversation_id: "c1", regenerate_user_message_id: first.user_message_id, agent_run_id: "mine" };
  return {
    ...{ model, world, edit },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

test("an edit that is repeated after a newer one leaves the newer one as it is [C4]", async () => {
  await using yard = await began();
  const { world, edit, model } = yard;
  await streamed(world, { ...edit, query: "two" }, "k1");
  const newer = await streamed(world, { ...edit, query: "three" }, "k2");
  await world.chat({ query: "and then", conversation_id: "c1" });
  const before = await messagesOf(world, "c1");
  const late = await streamed(world, { ...edit, query: "two" }, "k1");
  assert.equal(late.message.content.final_answer.query, "three");
  assert.deepEqual(late, newer);
  assert.deepEqual(await messagesOf(world, "c1"), before);
  assert.deepEqual([model.asked.length, all(await world.yard.events("c1"), "rewound").length], [4, 2]);
});

test("an edit under a run id that was used before is made, and once [C4]", async () => {
  await using yard = await began();
  const { world, edit } = yard;
  const made = await streamed(world, { ...edit, query: "two" }, "k1");
  const again = await streamed(world, { ...edit, query: "two" }, "k1");
  assert.equal(made.message.content.final_answer.query, "two");
  assert.deepEqual(again, made);
  assert.equal(all(await world.yard.events("c1"), "rewound").length, 1);
});

test("a repeat of an edit whose message was left behind since finds no message [C4][P4]", async () => {
  await using yard = await began();
  const { world, edit } = yard;
  const second = await world.chat({ query: "more", conversation_id: "c1" });
  const editSecond = { conversation_id: "c1", regenerate_user_message_id: second.user_message_id, query: "less" };
  await streamed(world, editSecond, "k1");
  await world.chat({ ...edit, query: "from the start" });
  const { status, json } = await world.call("POST", "chat/completion", editSecond, {
    headers: { "idempotency-key": "k1" },
  });
  assert.deepEqual([status, json.error_code], [404, "AgentAPP.Agent.GetMessageFailed"]);
});

test("an edit that was refused at first is made when it is repeated, also under a run id of before [C4]", async () => {
  await using yard = await began();
  const { world, edit, model } = yard;
  model.answerWith([{ text: "one two three", fault: { after: 1, kind: "stall" } }, says("edited")]);
  const running = await world.stream({ query: "more", conversation_id: "c1" });
  const keyed = { headers: { "idempotency-key": "k1" } };
  const body = { ...edit, query: "two" };
  const refused = await world.call("POST", "chat/completion", body, keyed);
  assert.deepEqual([refused.status, all(await world.yard.events("c1"), "rewound").length], [409, 0]);
  await world.call("POST", "chat/termination", { conversation_id: "c1" });
  await allFrames(running);
  const made = await streamed(world, body, "k1");
  assert.equal(made.message.content.final_answer.answer.text, "edited");
  await streamed(world, body, "k1");
  assert.equal(all(await world.yard.events("c1"), "rewound").length, 1);
});

test("a chat that is repeated after its message was withdrawn is told that there is no such message [C4][P4]", async () => {
  await using model = await modelServer(() => ({ text: "one two three", fault: { after: 1, kind: "stall" } }));
  await using world = await startChatYard({ model });
  const running = await world.stream({ query: "one", conversation_id: "c1" });
  const keyed = { headers: { "idempotency-key": "k1" } };
  const body = { query: "two", conversation_id: "c1", agent_run_id: "r2" };
  const waiting = await world.stream(body, keyed);
  await world.call("POST", "chat/termination", { conversation_id: "c1", agent_run_id: "r2" });
  await allFrames(waiting);
  const { status, json } = await world.call("POST", "chat/completion", body, keyed);
  assert.deepEqual([status, json.error_code], [404, "AgentAPP.Agent.GetMessageFailed"]);
  running.leave();
});

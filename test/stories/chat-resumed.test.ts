import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { listen } from "../../src/http/http.ts";
import { ChatDocument } from "../../src/protocol/chat.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { allFrames, chatting, folded, startChatYard } from "../world/chat.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { modelServer, says } from "../world/model-server.ts";
import { must, openReplica } from "../world/yard.ts";

const stalling = { text: "word0 word1 word2", fault: { after: 2, kind: "stall" } } as const;

test("whoever reads on without saying what reads what runs, not what waits behind it, and stops it by its answer [C4][C3]", async () => {
  await using model = await modelServer([stalling, says("the second")]);
  await using world = await startChatYard({ model });
  const { yard } = world;
  const begun = await world.stream({ query: "one", conversation_id: "c1", inc_stream: false });
  const running = ChatDocument.parse((await begun.frames.next()).value);
  await until("the model is asked", () => model.asked.length === 1);
  const queued = { text: "two", mode: "queue" } as const;
  await must(yard.client.call("sendMessage", { params: { id: "c1" }, body: queued }));
  const resumed = await world.stream({ conversation_id: "c1", inc_stream: false }, { path: "chat/resume" });
  const read = ChatDocument.parse((await resumed.frames.next()).value);
  assert.equal(read.user_message_id, running.user_message_id);
  const named = { conversation_id: "c1", interrupted_assistant_message_id: running.assistant_message_id };
  assert.equal((await world.call("POST", "chat/termination", named)).status, 204);
  const outcomes = async () => all(await yard.events("c1"), "turn.finished").map(({ outcome }) => outcome);
  await until("the second is answered", async () => (await outcomes()).length === 2);
  assert.deepEqual(await outcomes(), ["cancelled", "done"]);
  for (const { leave } of [begun, resumed]) leave();
});

test("an answer that was interrupted before a start goes on when somebody reads on [C4][L2]", async (t) => {
  await using model = await modelServer(() => stalling);
  const data = folderWith(t, {});
  const first = await startChatYard({ model, data, isOneProcess: true });
  const begun = await first.stream({ query: "hello", conversation_id: "c1" });
  await begun.frames.next();
  await until("the model is asked", () => model.asked.length === 1);
  begun.leave();
  await first[Symbol.asyncDispose]();
  model.answerWith(() => says("here I am"));
  // Nobody looks for turns that lie back.
  const place = { own: data, cwd: data, shared: {}, clock: systemClock };
  const { yard, logger } = await openReplica({ model, isOneProcess: true }, place);
  const server = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  assert.ok(server.ok);
  const again = chatting(server.value.address);
  const rest = await allFrames(await again.stream({ conversation_id: "c1" }, { path: "chat/resume" }));
  assert.equal(ChatDocument.parse(folded(rest)).message.content.final_answer.answer.text, "here I am");
  await server.value.close();
  await yard.close();
  await logger.close();
});

test("a conversation says whether a person began it or a program [C4]", async () => {
  await using world = await startChatYard();
  const originOf = async (id: string, origin: "person" | "program") => {
    await must(world.yard.engine.create(localOwner, { id, origin }));
    return (await world.call("GET", `conversation/${id}`)).json.origin;
  };
  assert.deepEqual([await originOf("c", "person"), await originOf("p", "program")], ["web_chat", "api_chat"]);
});

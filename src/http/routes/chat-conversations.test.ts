import assert from "node:assert/strict";
import { test } from "node:test";
import { systemIds } from "../../base/ids.ts";
import { failed, ok } from "../../base/result.ts";
import type { LogEvent } from "../../protocol/events.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { chatConversationHandlers } from "./chat-conversations.ts";
import { asked, noted, partsWith } from "./handling.testing.ts";

const ann = OwnerId.parse("ann");
const caller = { signedIn: ann, scopes: ["chat"] } as const;
const row = {
  ...{ id: "c", number: 7, owner: ann, title: "T", origin: "person", appKey: "app", readIndex: 3 },
  ...{ createdAt: 1, updatedAt: 2 },
} as ConversationRow;

/** A conversation with this log, and what was asked of it. */
function conversation(events: readonly object[], found: ConversationRow = row) {
  const done: unknown[] = [];
  const there = events.map((event, at) => ({ seq: at + 1, at: at + 1, ...event })) as LogEvent[];
  const handlers = chatConversationHandlers(
    partsWith({
      ids: systemIds,
      log: {
        find: async (owner, id) => noted(done, ["find", owner, id], ok(found)),
        headOf: async () => there.length,
        effective: async () => there,
        rename: async (_, title) => noted(done, ["rename", title], ok(found)),
        markRead: async (_, index) => noted(done, ["read", index], ok(found)),
      },
      engine: {
        open: ({ id }) => void done.push(["open", id]),
        remove: async () => noted(done, "gone", ok(undefined)),
      },
    }),
  );
  return { done, ...handlers };
}

const at = { caller, params: { id: "c", app_key: "app" } };
const said = { type: "message.user", id: "m", text: "hi", mode: "queue" };
const started = { type: "turn.started", turn: 1, message: "m", epoch: 1 };
const ended = (outcome: string) => ({ type: "turn.finished", turn: 1, outcome });

test("how a conversation stands is told by its newest answer, in the words that clients of the chat service know [C4]", async () => {
  const standing = async (...events: object[]) => {
    const answer = await conversation(events).getChatConversation(asked("getChatConversation", at));
    assert.ok(answer.ok);
    const { status, run_state, message_index, messages, Messages } = answer.value;
    assert.deepEqual(Messages, messages);
    return [status, run_state, message_index];
  };
  assert.deepEqual(await standing(), ["", "", 0]);
  assert.deepEqual(await standing(said), ["processing", "queued", 2]);
  assert.deepEqual(await standing(said, started), ["processing", "running", 2]);
  const outcomes = {
    ...{ done: "completed", limit: "completed", failed: "failed", crashed: "failed", cancelled: "cancelled" },
  };
  for (const [outcome, status] of Object.entries(outcomes))
    assert.deepEqual(await standing(said, started, ended(outcome)), [status, "", 2], outcome);
});

test("a conversation is told with whose it is, where it began and how far it was read [C4]", async () => {
  const told = async (found: ConversationRow) => {
    const answer = await conversation([], found).getChatConversation(asked("getChatConversation", at));
    assert.ok(answer.ok);
    const { messages: _, Messages: __, ...rest } = answer.value;
    return rest;
  };
  const known = {
    ...{ id: "c", agent_app_key: "app", title: "T", origin: "web_chat", message_index: 0, read_message_index: 3 },
    ...{ ext: "", create_time: 1, update_time: 2, create_by: "ann", update_by: "ann", is_deleted: 0 },
    ...{ temparea_id: "", status: "", run_state: "" },
  };
  assert.deepEqual(await told(row), known);
  assert.deepEqual(await told({ ...row, origin: "program", appKey: undefined }), {
    ...{ ...known, origin: "api_chat", agent_app_key: "" },
  });
});

test("what is changed of a conversation is the caller's own one that the path names, and it is made ready without waiting [C4][S7]", async () => {
  const { done, ...chat } = conversation([]);
  await chat.renameChatConversation(asked("renameChatConversation", { ...at, body: { title: "new" } }));
  await chat.markChatConversationRead(asked("markChatConversationRead", { ...at, body: { latest_read_index: 4 } }));
  await chat.deleteChatConversation(asked("deleteChatConversation", at));
  const opened = await chat.openChatConversation(asked("openChatConversation", { ...at, body: {} }));
  assert.deepEqual(opened, ok({ conversation_session_id: "c", ttl: 600 }));
  const find = ["find", "ann", "c"];
  assert.deepEqual(done, [find, ["rename", "new"], find, ["read", 4], find, "gone", find, ["open", "c"]]);
  const other = asked("renameChatConversation", { ...at, body: { title: "new", user_id: "bob" } });
  const refused = await chat.renameChatConversation(other);
  assert.equal(!refused.ok && refused.failure.code, "user_unknown");
});

test("a conversation is made with the beginning of its title and the agent that is named, once under a key [C4][C6]", async () => {
  const made: unknown[] = [];
  const exists = failed(makeFailure("conversation_exists", { id: "c" }));
  let answer: ReturnType<typeof ok<ConversationRow>> | typeof exists = ok(row);
  const { createChatConversation } = chatConversationHandlers(
    partsWith({
      ids: { ...systemIds, uuid: () => "new" },
      engine: { create: async (...of) => noted(made, of, answer) },
    }),
  );
  const create = async (body: object, once?: { seed: string; isRetry: boolean }) => {
    const told = await createChatConversation(asked("createChatConversation", { ...at, body, once }));
    return told.ok ? told.value.id : told.failure.code;
  };
  assert.equal(await create({ title: `  a\n${"b".repeat(99)}`, agent_id: "x", agent_key: "" }), "new");
  const agent = { agentId: "x", agentKey: undefined, appKey: "app" };
  assert.deepEqual(made, [["ann", { id: "new", title: `a ${"b".repeat(48)}`, agent }]]);
  answer = exists;
  assert.equal(await create({}), "conversation_exists");
  assert.equal(await create({}, { seed: "s", isRetry: false }), "conversation_exists");
  assert.match(await create({}, { seed: "s", isRetry: true }), /^[0-9a-f-]{36}$/);
});

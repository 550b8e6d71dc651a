import { ok, type Result } from "../../base/result.ts";
import type { ChatMessage } from "../../protocol/chat.ts";
import type { ChatConversation } from "../../protocol/chat-routes.ts";
import type { Failure } from "../../protocol/failure.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import type { Language } from "../../words/words.ts";
import { callerOf } from "../caller.ts";
import { chatTitle } from "../chat/begin-chat.ts";
import { chatMessages, type NewestMessage, standingOf } from "../chat/messages.ts";
import { openNewestMessages } from "../chat/newest-messages.ts";
import { given } from "../chat/request.ts";
import type { Call, Handlers, Parts } from "../handler.ts";
import { idFor } from "../once.ts";

type Names =
  | "listChatConversations"
  | "getChatConversation"
  | "createChatConversation"
  | "renameChatConversation"
  | "markChatConversationRead"
  | "deleteChatConversation"
  | "deleteChatConversations"
  | "openChatConversation";

/** How long what was made ready for a conversation is said to stay so; it is made ready again when it is needed. */
const readySeconds = 600;
const deletedAtOnce = 100;

/** Conversations by the chat service's names. Whose is whose is asked everywhere: another's does not exist. */
export function chatConversationHandlers(parts: Parts): Pick<Handlers, Names> {
  return { ...looking(parts), ...changing(parts), ...deleting(parts) };
}

function looking(parts: Parts): Pick<Handlers, "listChatConversations" | "getChatConversation"> {
  const { storage, log } = parts;
  const newestOf = openNewestMessages(log);
  return {
    async listChatConversations({ caller, actsAs, params, query }) {
      const owner = await callerOf(parts, { caller, actsAs });
      if (!owner.ok) return owner;
      const { page, size: limit, title } = query;
      const wanted = { appKey: params.app_key, title: given(title), limit, offset: (page - 1) * limit };
      const { items, total } = await storage.searchConversations(owner.value, wanted);
      const entries: ChatConversation[] = [];
      for (const row of items) entries.push(toConversation(row, await newestOf(row)));
      return ok({ entries, total });
    },
    async getChatConversation(call) {
      const row = await named(parts, call);
      if (!row.ok) return row;
      const messages = await messagesOf(log, row.value, call.language);
      return ok({ ...toConversation(row.value, standingOf(messages)), Messages: messages, messages });
    },
  };
}

function changing(
  parts: Parts,
): Pick<
  Handlers,
  "createChatConversation" | "renameChatConversation" | "markChatConversationRead" | "openChatConversation"
> {
  const { engine, log, ids } = parts;
  return {
    async createChatConversation(call) {
      const { caller, actsAs, params, body } = call;
      const owner = await callerOf(parts, { caller, actsAs, userId: given(body.user_id) });
      if (!owner.ok) return owner;
      const id = idFor(call, ids, "conversation");
      const agent = { agentId: given(body.agent_id), agentKey: given(body.agent_key), appKey: params.app_key };
      const made = await engine.create(owner.value, { id, title: chatTitle(body.title ?? ""), agent });
      if (made.ok || (made.failure.code === "conversation_exists" && call.once?.isRetry === true)) return ok({ id });
      return made;
    },
    async renameChatConversation(call) {
      const row = await named(parts, call);
      return row.ok ? log.rename(row.value, call.body.title) : row;
    },
    async markChatConversationRead(call) {
      const row = await named(parts, call);
      return row.ok ? log.markRead(row.value, call.body.latest_read_index) : row;
    },
    async openChatConversation(call) {
      const row = await named(parts, call);
      if (!row.ok) return row;
      engine.open(row.value);
      return ok({ conversation_session_id: row.value.id, ttl: readySeconds });
    },
  };
}

function deleting(parts: Parts): Pick<Handlers, "deleteChatConversation" | "deleteChatConversations"> {
  const { engine, storage } = parts;
  return {
    async deleteChatConversation(call) {
      const row = await named(parts, call);
      return row.ok ? engine.remove(row.value) : row;
    },
    async deleteChatConversations({ caller, actsAs, params }) {
      const owner = await callerOf(parts, { caller, actsAs });
      if (!owner.ok) return owner;
      for (;;) {
        const wanted = { appKey: params.app_key, limit: deletedAtOnce, offset: 0 };
        const { items } = await storage.searchConversations(owner.value, wanted);
        if (items.length === 0) return ok(undefined);
        for (const row of items) {
          const removed = await engine.remove(row);
          // Somebody else was faster.
          if (!removed.ok && removed.failure.code !== "conversation_not_found") return removed;
        }
      }
    },
  };
}

async function messagesOf(log: Parts["log"], row: ConversationRow, language: Language): Promise<ChatMessage[]> {
  return chatMessages(await log.effective(row.number, await log.headOf(row.number)), row, language);
}

type Naming = Pick<Call<"getChatConversation">, "caller" | "actsAs"> & {
  readonly params: { readonly id: string };
  readonly body: { readonly user_id?: string | null | undefined };
};

/** The caller's conversation that the path names. */
async function named(
  parts: Parts,
  { caller, actsAs, params, body }: Naming,
): Promise<Result<ConversationRow, Failure>> {
  const userId = given(body.user_id);
  const owner = await callerOf(parts, { caller, actsAs, userId, conversationId: params.id });
  return owner.ok ? parts.log.find(owner.value, params.id) : owner;
}

function toConversation(row: ConversationRow, newest: NewestMessage | undefined): ChatConversation {
  return {
    id: row.id,
    agent_app_key: row.appKey ?? "",
    title: row.title,
    origin: row.origin === "person" ? "web_chat" : "api_chat",
    message_index: newest?.index ?? 0,
    read_message_index: row.readIndex,
    ext: "",
    create_time: row.createdAt,
    update_time: row.updatedAt,
    create_by: row.owner,
    update_by: row.owner,
    is_deleted: 0,
    temparea_id: "",
    status: newest === undefined ? "" : statuses[newest.status],
    run_state: newest?.run_state ?? "",
  };
}

/** What the list says of a conversation whose newest message has this status. */
const statuses = {
  received: "processing",
  processed: "processing",
  processing: "processing",
  succeded: "completed",
  failed: "failed",
  cancelled: "cancelled",
} as const;

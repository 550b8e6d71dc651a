import { tokenStatus, windowOf } from "../context/context.ts";
import { type Conversation, type ConversationState, decisionOf } from "../protocol/resources.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { describeBudget } from "./budgets.ts";
import { nextModel } from "./make-room.ts";
import type { Parts } from "./parts.ts";
import { nextOf } from "./turn.ts";

/** What a surface shows beside the history, read from the fold. */
export async function describeState(parts: Parts, conversation: ConversationRow): Promise<ConversationState> {
  const history = await parts.log.history(conversation.number);
  const { turn } = history;
  const model = nextModel(history, parts);
  const open = [...history.decisions.values()].filter(({ made }) => made === undefined);
  const isWaiting = turn !== undefined && nextOf(history, parts, conversation.owner) === "wait";
  return {
    conversation: conversationOf(conversation),
    status: isWaiting ? "waiting" : turn === undefined && history.queue.length === 0 ? "idle" : "running",
    head: history.head,
    model: { slot: model.slot, id: model.id, server: model.server, isDemo: model.isDemo },
    tokens: tokenStatus(history, windowOf(history, model), parts.limits.window),
    budget: describeBudget(history, parts),
    queue: history.queue.map(({ id, text, mode }) => ({ id, text, mode })),
    decisions: open.map(({ asked }) => decisionOf(conversation.id, asked, asked.at)),
    todos: [...history.todos],
    filesRemovedAt: (await parts.workspaces.cleanedAt(conversation)) ?? null,
  };
}

function conversationOf({ id, title, lastMessage, turns, createdAt, updatedAt }: ConversationRow): Conversation {
  return { id, title, lastMessage, turns, createdAt, updatedAt };
}

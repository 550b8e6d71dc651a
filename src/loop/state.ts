import { tokenStatus, windowOf } from "../context/context.ts";
import { type Conversation, type ConversationState, decisionOf } from "../protocol/resources.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { isAtWork } from "./agents/at-work.ts";
import { describeBudget } from "./budgets.ts";
import { nextModel } from "./make-room.ts";
import { isSaid } from "./messages.ts";
import type { Parts } from "./parts.ts";

/** What a surface shows beside the history, read from the fold. */
export async function describeState(parts: Parts, conversation: ConversationRow): Promise<ConversationState> {
  const tree = await parts.log.tree(conversation.number);
  const history = tree.root;
  const { turn } = history;
  const model = nextModel(history, parts);
  const all = [history, ...tree.agents.values()].flatMap(({ decisions }) => [...decisions.values()]);
  // As in the inbox: what was asked first stands first, whoever asked it.
  const open = all.filter(({ made }) => made === undefined).toSorted((a, b) => a.asked.seq - b.asked.seq);
  // Where nobody is asked and nobody works, somebody is about to be told so.
  const isWaiting = turn !== undefined && open.length > 0 && !isAtWork(tree, parts, conversation.owner);
  return {
    conversation: conversationOf(conversation),
    status: isWaiting ? "waiting" : turn === undefined && history.queue.length === 0 ? "idle" : "running",
    head: history.head,
    model: { slot: model.slot, id: model.id, server: model.server, isDemo: model.isDemo },
    tokens: tokenStatus(history, windowOf(history, model), parts.limits.window),
    budget: describeBudget(history, parts),
    queue: history.queue.filter(isSaid).map(({ id, text, mode }) => ({ id, text, mode })),
    decisions: open.map(({ asked }) => decisionOf(conversation.id, asked, asked.at)),
    todos: [...history.todos],
    filesRemovedAt: (await parts.workspaces.cleanedAt(conversation)) ?? null,
  };
}

/** As callers see it. */
export function conversationOf(row: ConversationRow): Conversation {
  const { id, title, lastMessage, turns, isPinned: pinned, seenAt = null, createdAt, updatedAt } = row;
  return { id, title, lastMessage, turns, pinned, seenAt, createdAt, updatedAt };
}

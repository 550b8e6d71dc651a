import { ok } from "../../base/result.ts";
import { conversationOf } from "../../loop/loop.ts";
import { failure } from "../../protocol/failure.ts";
import { shownId } from "../../protocol/ids.ts";
import type { Handlers, Parts } from "../handler.ts";
import { idFor } from "../once.ts";

type Names =
  | "createConversation"
  | "listConversations"
  | "getConversation"
  | "changeConversation"
  | "deleteConversation"
  | "getState"
  | "resetConversation"
  | "branchConversation"
  | "undoTurn"
  | "replay";

export function conversationHandlers({ engine, log, ids }: Parts): Pick<Handlers, Names> {
  return {
    async createConversation({ owner, body: { agent, ...body }, once }) {
      // Other dialects take any name for an agent; here one that is not there is a mistake.
      if (agent !== undefined && !engine.agents().some(({ id }) => id === agent))
        return failure("agent_not_found", { id: shownId(agent) });
      const id = body.id ?? idFor({ once }, ids, "conversation");
      const named = agent === undefined ? {} : { agent: { agentId: agent } };
      const made = await engine.create(owner, { ...body, id, ...named });
      const isMadeBefore = once?.isRetry === true && !made.ok && made.failure.code === "conversation_exists";
      const row = isMadeBefore ? await log.find(owner, id) : made;
      return row.ok ? ok(conversationOf(row.value)) : row;
    },
    async listConversations({ owner, query }) {
      const { pinned, ...page } = query;
      const rows = await log.list(owner, { ...page, isPinned: pinned });
      const last = rows.length === query.limit ? rows.at(-1) : undefined;
      return ok({ items: rows.map(conversationOf), next: last?.cursor ?? null });
    },
    async getConversation({ owner, params, query }) {
      const row = query.prefix ? await log.findByPrefix(owner, params.id) : await log.find(owner, params.id);
      return row.ok ? ok(conversationOf(row.value)) : row;
    },
    async changeConversation({ owner, params, body }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const { title, pinned, seenAt } = body;
      const renamed = title === undefined ? row : await log.rename(row.value, title);
      if (!renamed.ok) return renamed;
      const isMarked = pinned !== undefined || seenAt !== undefined;
      const marked = isMarked ? await log.mark(renamed.value, { isPinned: pinned, seenAt }) : renamed;
      return marked.ok ? ok(conversationOf(marked.value)) : marked;
    },
    async deleteConversation({ owner, params }) {
      const row = await log.find(owner, params.id);
      return row.ok ? engine.remove(row.value) : row;
    },
    async getState({ owner, params }) {
      const row = await log.find(owner, params.id);
      return row.ok ? ok(await engine.state(row.value)) : row;
    },
    async resetConversation({ owner, params }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const reset = await engine.reset(row.value);
      if (!reset.ok) return reset;
      const now = await log.find(owner, params.id);
      return now.ok ? ok(conversationOf(now.value)) : now;
    },
    async branchConversation({ owner, params, body, once }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const branch = await engine.branch(row.value, body.at, idFor({ once }, ids, "branch"));
      if (!branch.ok) return branch;
      return ok({ ...conversationOf(branch.value.conversation), filesLeftOut: [...branch.value.leftOut] });
    },
    async undoTurn({ owner, params }) {
      const row = await log.find(owner, params.id);
      return row.ok ? engine.undo(row.value) : row;
    },
    async replay({ owner, params }) {
      const row = await log.find(owner, params.id);
      return row.ok ? ok(await engine.replay(row.value)) : row;
    },
  };
}

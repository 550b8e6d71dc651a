import type { Handlers, Parts } from "../handler.ts";

export function compactionHandlers({ engine, log }: Parts): Pick<Handlers, "compactConversation" | "undoCompaction"> {
  return {
    async compactConversation({ owner, params, body }) {
      const row = await log.find(owner, params.id);
      return row.ok ? engine.compact(row.value, body) : row;
    },
    async undoCompaction({ owner, params }) {
      const row = await log.find(owner, params.id);
      return row.ok ? engine.undoCompaction(row.value) : row;
    },
  };
}

import { ok } from "../../base/result.ts";
import type { Handlers, Parts } from "../handler.ts";

type Names = "listAgents" | "listConversationAgents" | "stopAgent";

/** The agents there are, and those that work in a conversation. */
export function agentHandlers({ engine, log }: Parts): Pick<Handlers, Names> {
  return {
    async listAgents() {
      const items = engine.agents().map(({ id, name, description, tools, slot }) => ({
        ...{ id, name, description },
        ...{ tools: tools === undefined ? null : [...tools], slot: slot ?? null },
      }));
      return ok({ items });
    },
    async listConversationAgents({ owner, params }) {
      const row = await log.find(owner, params.id);
      return row.ok ? ok({ items: await engine.agentTree(row.value) }) : row;
    },
    async stopAgent({ owner, params }) {
      const row = await log.find(owner, params.id);
      return row.ok ? engine.stopAgent(row.value, params.agent) : row;
    },
  };
}

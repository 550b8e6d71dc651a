import { ok } from "../../base/result.ts";
import type { Handlers, Parts } from "../handler.ts";

/** The agents there are. */
export function agentHandlers({ engine }: Parts): Pick<Handlers, "listAgents"> {
  return {
    async listAgents() {
      const items = engine.agents().map(({ id, name, description, tools, slot }) => ({
        ...{ id, name, description },
        ...{ tools: tools === undefined ? null : [...tools], slot: slot ?? null },
      }));
      return ok({ items });
    },
  };
}

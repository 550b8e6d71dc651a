import { ok } from "../../base/result.ts";
import type { Handlers, Parts } from "../handler.ts";

/** What is allowed always. */
export function ruleHandlers({ engine, log }: Parts): Pick<Handlers, "listRules" | "revokeRule"> {
  return {
    async listRules({ owner, query }) {
      if (query.conversation === undefined) return ok({ items: await engine.rules(owner) });
      const row = await log.find(owner, query.conversation);
      return row.ok ? ok({ items: await engine.rules(owner, row.value) }) : row;
    },
    revokeRule: ({ owner, params }) => engine.revokeRule(owner, params.rule),
  };
}

import { ok } from "../../base/result.ts";
import type { Handlers, Parts } from "../handler.ts";

export function decisionHandlers({ engine, log }: Parts): Pick<Handlers, "listDecisions" | "decide"> {
  return {
    async listDecisions({ owner }) {
      return ok({ items: await engine.openDecisions(owner) });
    },
    async decide({ owner, params, body }) {
      const row = await log.find(owner, params.id);
      return row.ok ? engine.decide(row.value, params.decision, { ...body, by: owner }) : row;
    },
  };
}

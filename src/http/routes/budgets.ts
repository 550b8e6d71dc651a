import { ok } from "../../base/result.ts";
import type { Handlers, Parts } from "../handler.ts";

export function budgetHandlers({ engine, log }: Parts): Pick<Handlers, "getBudget" | "setBudget"> {
  return {
    async getBudget({ owner, params }) {
      const row = await log.find(owner, params.id);
      return row.ok ? ok(await engine.budget(row.value)) : row;
    },
    async setBudget({ owner, params, body }) {
      const row = await log.find(owner, params.id);
      return row.ok ? engine.setBudget(row.value, body) : row;
    },
  };
}

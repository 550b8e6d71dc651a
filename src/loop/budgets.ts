import { ok } from "../base/result.ts";
import type { History } from "../log/log.ts";
import { priceOf } from "../models/models.ts";
import type { Budget } from "../protocol/budget.ts";
import { appendSeen } from "./append-seen.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";
import { standingOf } from "./spending.ts";

/** What people see of the budget of a conversation, and set. */
export function openBudgets(parts: Parts): Pick<Engine, "budget" | "setBudget"> {
  return {
    budget: async ({ number }) => describeBudget(await parts.log.history(number), parts),
    async setBudget({ number }, limits) {
      const stored = await appendSeen(parts, number, ({ budget: { set } }) => {
        const isSame = JSON.stringify(set?.limits ?? {}) === JSON.stringify(limits);
        return ok({ events: isSame ? [] : [{ type: "budget.set", limits, by: "person" }] });
      });
      return stored.ok ? ok(describeBudget(await parts.log.history(number), parts)) : stored;
    },
  };
}

export function describeBudget(history: History, parts: Pick<Parts, "limits" | "clock" | "models">): Budget {
  const { whole, turn } = standingOf(history, parts);
  const { set } = history.budget;
  return {
    ...whole,
    by: set?.by ?? "settings",
    set: set?.limits ?? {},
    turn: turn ?? null,
    unpriced: [
      ...new Set(
        parts.models.list().flatMap((model) => (priceOf(model, parts.limits.prices) === undefined ? [model.id] : [])),
      ),
    ],
  };
}

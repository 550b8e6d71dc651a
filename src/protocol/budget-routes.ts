import { z } from "zod";
import { Budget, BudgetLimits } from "./budget.ts";
import { ById, Empty, type Route } from "./route.ts";

/** What a conversation may spend. */
export const budgetRoutes = {
  getBudget: {
    method: "GET",
    path: "/api/v1/conversations/{id}/budget",
    scope: "chat",
    summary: "What the conversation may spend, what it has spent, and what is left.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["conversation_not_found"],
    answer: Budget,
  },
  setBudget: {
    method: "PUT",
    path: "/api/v1/conversations/{id}/budget",
    scope: "chat",
    summary:
      "Say what the conversation may spend: all of its limits at once. What is left out is as the settings have it.",
    params: ById,
    query: Empty,
    body: BudgetLimits,
    status: 200,
    failures: ["conversation_not_found"],
    answer: Budget,
  },
} as const satisfies Record<string, Route>;

/** What a message may say about the turn that answers it. */
export const TurnBudget = z.strictObject({
  tokens: BudgetLimits.shape.tokens,
  money: BudgetLimits.shape.money,
  steps: BudgetLimits.shape.steps,
  ms: BudgetLimits.shape.ms,
});

import type { PriceTable } from "../models/models.ts";
import type { BudgetKind, BudgetLimits } from "../protocol/budget.ts";
import { budgetSettings as settings } from "./budget-settings.ts";
import type { Places } from "./places.ts";
import type { Reader } from "./reader.ts";
import { refuseForeign } from "./refuse-foreign.ts";

export type BudgetsRead = {
  readonly budgets: Readonly<Record<"conversation" | "turn" | "agent", BudgetLimits>>;
  readonly prices: PriceTable;
};

/** What may be spent where nobody says otherwise, and what models cost. */
export function readBudgets(reader: Reader, places: Places): BudgetsRead {
  const budgets = {
    conversation: limited({
      tokens: reader.read(settings.conversationTokens),
      money: reader.read(settings.conversationUsd),
      steps: reader.read(settings.conversationSteps),
      ms: inMs(reader.read(settings.conversationSeconds)),
      agents: reader.read(settings.conversationAgents),
      depth: reader.read(settings.conversationDepth),
    }),
    turn: limited({
      tokens: reader.read(settings.turnTokens),
      money: reader.read(settings.turnUsd),
      ms: inMs(reader.read(settings.turnSeconds)),
    }),
    agent: limited({
      tokens: reader.read(settings.agentTokens),
      money: reader.read(settings.agentUsd),
      steps: reader.read(settings.agentSteps),
      ms: inMs(reader.read(settings.agentSeconds)),
    }),
  };
  const prices = reader.read(settings.prices);
  // Somebody else's folder must not spend the user's money.
  if (!places.isTrusted) for (const group of ["budgets.", "prices"] as const) refuseForeign(reader, places, group);
  return { budgets, prices };
}

const secondMs = 1_000;

function inMs(seconds: number): number {
  return Math.round(seconds * secondMs);
}

/** 0 is no limit. */
function limited(given: Partial<Record<BudgetKind, number>>): BudgetLimits {
  return Object.fromEntries(Object.entries(given).filter(([, limit]) => limit > 0));
}

import { z } from "zod";

const count = z.number().int().min(0);

/**
 * What may be spent, by kind; a kind that is left out has no limit. `tokens`: what models read and write. `money`: US
 * dollars. `steps`: model calls. `ms`: time at work, without waiting for people. `agents`: agents made, however they are
 * made. `depth`: how many of them may stand below one another.
 */
export const BudgetLimits = z.strictObject({
  tokens: count.optional(),
  money: z.number().min(0).optional(),
  steps: count.optional(),
  ms: count.optional(),
  agents: count.optional(),
  depth: count.optional(),
});
export type BudgetLimits = Readonly<z.infer<typeof BudgetLimits>>;
export type BudgetKind = keyof BudgetLimits;

export const budgetKinds = [
  "tokens",
  "money",
  "steps",
  "ms",
  "agents",
  "depth",
] as const satisfies readonly BudgetKind[];

export const budgetEvents = {
  /** What may be spent here from now on. A kind that is not named is as the settings have it: `{}` is all of them. */
  "budget.set": z.strictObject({
    agent: z.string().optional(),
    limits: BudgetLimits,
    by: z.enum(["settings", "person", "parent"]),
  }),
};

/** What a model call may cost at the most, where a budget holds: as long as nobody knows better, it has. */
export const ReservedForCall = z.strictObject({ tokens: count, money: z.number().min(0).optional() });

/** What was spent. `unpriced`: model calls of which nobody knows the price, so that `money` is less than was paid. */
export const Spent = z.strictObject({
  tokens: count,
  money: z.number().min(0),
  steps: count,
  ms: count,
  agents: count,
  unpriced: count,
});
export type Spent = Readonly<z.infer<typeof Spent>>;

export const nothingSpent: Spent = { tokens: 0, money: 0, steps: 0, ms: 0, agents: 0, unpriced: 0 };

export function addSpent(one: Spent, other: Partial<Spent>): Spent {
  return {
    tokens: one.tokens + (other.tokens ?? 0),
    money: roundMoney(one.money + (other.money ?? 0)),
    steps: one.steps + (other.steps ?? 0),
    ms: one.ms + (other.ms ?? 0),
    agents: one.agents + (other.agents ?? 0),
    unpriced: one.unpriced + (other.unpriced ?? 0),
  };
}

/** What is held back for a child with these limits: they, and the agent that it is. */
export function heldFor(limits: BudgetLimits): BudgetLimits {
  return limits.agents === undefined ? limits : { ...limits, agents: limits.agents + 1 };
}

/** A thousandth of what a token costs at a dollar for a million: sums of many small prices stay exact. */
const moneyPerDollar = 1e9;

export function roundMoney(dollars: number): number {
  return Math.round(dollars * moneyPerDollar) / moneyPerDollar;
}

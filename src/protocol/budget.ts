import { z } from "zod";
import { Usage } from "./message.ts";

const count = z.number().int().min(0).max(1_000_000_000_000);
const dollars = z.number().min(0).max(1_000_000_000);

/**
 * What may be spent, by kind; a kind that is left out has no limit. `tokens`: what models read and write. `money`: US
 * dollars. `steps`: model calls. `ms`: time at work, without waiting for people. `agents`: agents made, however they are
 * made. `depth`: how many of them may stand below one another.
 */
export const BudgetLimits = z.strictObject({
  tokens: count.optional(),
  money: dollars.optional(),
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
  /** A model was asked, and nothing else in the log tells of it: a summary that could not be used. */
  "usage.noted": z.strictObject({
    agent: z.string().optional(),
    turn: z.number().int(),
    usage: Usage,
    cost: z.number().optional(),
  }),
};

/** What a model call may cost at the most, where a budget holds: as long as nobody knows better, it has. */
export const ReservedForCall = z.strictObject({ tokens: count, money: dollars.optional() });

/** One kind that has a limit, and what was left of it. */
export const BudgetLine = z.strictObject({
  kind: z.enum(["tokens", "money", "steps", "ms"]),
  left: z.number().min(0),
  limit: z.number().min(0),
});
export type BudgetLine = Readonly<z.infer<typeof BudgetLine>>;

/** What was spent. `unpriced`: model calls of which nobody knows the price, so that `money` is less than was paid. */
export const Spent = z.strictObject({
  tokens: count,
  money: dollars,
  steps: count,
  ms: count,
  agents: count,
  unpriced: count,
});
export type Spent = Readonly<z.infer<typeof Spent>>;

export const Purse = z.object({ limits: BudgetLimits, spent: Spent, left: BudgetLimits });

/** How things stand with the money of a conversation: what holds, what was spent, what is left. */
export const Budget = Purse.extend({
  /** Who said so last; `set` is what was said, over what the settings have. */
  by: budgetEvents["budget.set"].shape.by,
  set: BudgetLimits,
  /** The same of the running turn alone; null where none runs. */
  turn: Purse.nullable(),
  /** Models of this yard that have no price: what they cost is not counted. */
  unpriced: z.array(z.string()),
});
export type Budget = z.infer<typeof Budget>;

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

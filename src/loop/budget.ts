import { ok, type Result } from "../base/result.ts";
import type { History } from "../log/log.ts";
import { costOf, type Price } from "../models/models.ts";
import { type BudgetKind, type BudgetLimits, budgetKinds, roundMoney, type Spent } from "../protocol/budget.ts";
import { type Failure, failure } from "../protocol/failure.ts";

/**
 * The arithmetic of budgets, and nothing else: what is left, what a child gets of it, whether a call fits. A child's
 * limits are taken from what its parent has left before the child exists; what it did not use goes back when it ends.
 */

/** What this agent spent itself and by agents that have ended: those at work stand in `reservedOf`. */
export function spentOf({ budget }: Pick<History, "budget">): Spent {
  return budget.spent;
}

/** What its children at work may still spend, each with the agent itself that it is. */
export function reservedOf({ budget }: Pick<History, "budget">): BudgetLimits[] {
  return [...budget.reserved.values()];
}

/** Kinds that add up over agents. Time passes for all at once, and depth is a place, not a sum. */
const additive: ReadonlySet<BudgetKind> = new Set(["tokens", "money", "steps", "agents"]);

/** What may still be spent, by kind that has a limit; never less than nothing. */
export function leftOf(limits: BudgetLimits, spent: Spent, reserved: readonly BudgetLimits[] = []): BudgetLimits {
  return byKind((kind) => {
    const limit = limits[kind];
    if (limit === undefined) return undefined;
    const used = kind === "depth" ? 0 : spent[kind];
    const held = additive.has(kind) ? reserved.reduce((sum, one) => sum + (one[kind] ?? 0), 0) : 0;
    return Math.max(0, rounded(kind, limit - used - held));
  });
}

/** Both hold: of each kind the smaller. */
export function tightest(one: BudgetLimits, other: BudgetLimits): BudgetLimits {
  return byKind((kind) => {
    const [a, b] = [one[kind], other[kind]];
    return a === undefined ? b : b === undefined ? a : Math.min(a, b);
  });
}

/** The second over the first, kind by kind. */
export function withLimits(usual: BudgetLimits, given: BudgetLimits): BudgetLimits {
  return byKind((kind) => given[kind] ?? usual[kind]);
}

/**
 * What a new child may spend, out of what its parent has left. A kind that nobody asked for is halved, so that parent and
 * brothers have something, too; of agents it gets a twentieth, or two. `budget_short` where less is left than is wanted,
 * or nothing at all.
 */
export function reserve(left: BudgetLimits, wanted: BudgetLimits): Result<BudgetLimits, Failure> {
  const limits = byKind((kind) => grantedOf(kind, left[kind], wanted[kind]));
  for (const kind of budgetKinds) {
    const [has, wants = least(kind)] = [left[kind], wanted[kind]];
    if (has === undefined) continue;
    // The agent itself, and its place; and a step for whoever makes it, to say what came of it.
    const costs = wants + (kind === "agents" || kind === "depth" || kind === "steps" ? 1 : 0);
    if (costs > has) return failure("budget_short", { kind, wanted: costs, left: has });
  }
  return ok(limits);
}

/** Nobody works with less. */
function least(kind: BudgetKind): number {
  return kind === "money" ? Number.MIN_VALUE : kind === "agents" || kind === "depth" ? 0 : 1;
}

/** By halves, the eighth child of a parent that may have two hundred would take the last of them. */
const agentShares = 20;
/** Who may make one agent and not two can share out nothing. */
const agentsMin = 2;

function grantedOf(kind: BudgetKind, left: number | undefined, wanted: number | undefined): number | undefined {
  if (left === undefined) return wanted;
  const below = left - (kind === "agents" || kind === "depth" ? 1 : 0);
  if (wanted !== undefined) return Math.min(wanted, below);
  if (!additive.has(kind)) return Math.max(0, below);
  const half = kind === "money" ? rounded(kind, below / 2) : Math.floor(below / 2);
  if (kind === "agents") return Math.min(half, Math.max(agentsMin, Math.floor(below / agentShares)));
  return Math.max(kind === "tokens" || kind === "steps" ? 1 : 0, half);
}

/** The kind that is used up, so that no model may be asked any more. How many agents there may be ends nobody's work. */
export function isSpent(left: BudgetLimits): BudgetKind | undefined {
  return budgetKinds.find((kind) => kind !== "agents" && kind !== "depth" && left[kind] === 0);
}

/** A model call that somebody wants to make. */
export type CallWanted = {
  readonly inputTokens: number;
  /** The longest answer that the model may give. */
  readonly outputTokensMax: number;
  /** Undefined: nobody knows. */
  readonly price: Price | undefined;
};

/** What is held back for a call until its answer is there, and how long that answer may be at the most. */
export type CallReserved = { readonly tokens: number; readonly money?: number; readonly outputTokensMax: number };

/** No answer that is worth its request is shorter. */
export const answerTokensMin = 256;

/**
 * Whether a call fits into what is left, and how long its answer may then be: as long as the model can, or less. The kind
 * that is too small where it does not fit.
 */
export function fitCall(left: BudgetLimits, { inputTokens, outputTokensMax, price }: CallWanted): CallFit {
  const spent = isSpent(left);
  if (spent !== undefined) return { kind: spent };
  const input = Math.ceil(inputTokens);
  let output = Math.floor(outputTokensMax);
  if (left.tokens !== undefined) output = Math.min(output, left.tokens - input);
  if (output < Math.min(answerTokensMin, outputTokensMax)) return { kind: "tokens" };
  if (price === undefined) return left.money === undefined ? { fits: held(input, output) } : { kind: "money" };
  if (left.money !== undefined) {
    const afterInput = roundMoney(left.money - costOf({ input, output: 0 }, price));
    if (price.output > 0)
      output = Math.min(output, Math.floor(roundMoney((afterInput * tokensPerPrice) / price.output)));
    if (afterInput < 0 || output < Math.min(answerTokensMin, outputTokensMax)) return { kind: "money" };
  }
  return {
    fits: { ...held(input, output), money: costOf({ input, output }, price) },
  };
}

export type CallFit =
  | { readonly fits: CallReserved; kind?: undefined }
  | { readonly kind: BudgetKind; fits?: undefined };

function held(input: number, output: number): CallReserved {
  return { tokens: input + output, outputTokensMax: output };
}

const tokensPerPrice = 1_000_000;

function rounded(kind: BudgetKind, value: number): number {
  return kind === "money" ? roundMoney(value) : value;
}

function byKind(amountOf: (kind: BudgetKind) => number | undefined): BudgetLimits {
  const limits: Partial<Record<BudgetKind, number>> = {};
  for (const kind of budgetKinds) {
    const value = amountOf(kind);
    if (value !== undefined) limits[kind] = value;
  }
  return limits;
}

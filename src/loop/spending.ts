import { messageTokens, tokenStatus, windowOf } from "../context/context.ts";
import { type History, type OpenTurn, runningMs } from "../log/log.ts";
import { costOf, type Model, priceOf } from "../models/models.ts";
import { addSpent, type BudgetKind, type BudgetLimits, type BudgetLine, type Spent } from "../protocol/budget.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import type { Message, Usage } from "../protocol/message.ts";
import { choiceOf } from "./agents.ts";
import {
  type CallReserved,
  type CallWanted,
  fitCall,
  isSpent,
  leftOf,
  reservedOf,
  spentOf,
  tightest,
  withLimits,
} from "./budget.ts";
import type { LoopLimits, Parts } from "./parts.ts";

type Purse = { readonly limits: BudgetLimits; readonly spent: Spent; readonly left: BudgetLimits };
/** How things stand with the money of an agent: of all its work, of its turn, and what holds of both. */
export type Standing = {
  readonly whole: Purse;
  readonly turn: Purse | undefined;
  readonly left: BudgetLimits;
};

/** What may be spent, what was, and what is left at this moment. `more`: what others are about to take. */
export function standingOf(
  history: History,
  { limits, clock }: Pick<Parts, "limits" | "clock">,
  more: readonly BudgetLimits[] = [],
): Standing {
  const { budget, turn } = history;
  const spent = addSpent(spentOf(history), { ms: runningMs(budget, clock.now()) });
  // What is on its way may cost all that was held back for it.
  const held = [...reservedOf(history), ...more, ...(budget.asked === undefined ? [] : [budget.asked])];
  const purseOf = (limits: BudgetLimits, spent: Spent) => ({ limits, spent, left: leftOf(limits, spent, held) });
  const whole = purseOf(wholeLimits(history, limits), spent);
  if (turn === undefined) return { whole, turn: undefined, left: whole.left };
  const ofTurn = purseOf(turnLimits(turn, limits), sinceStart(spent, budget.before));
  return { whole, turn: ofTurn, left: tightest(whole.left, ofTurn.left) };
}

/** What a parent gave holds alone; what a person said stands over the settings. */
function wholeLimits({ budget: { set } }: History, { budgets }: LoopLimits): BudgetLimits {
  return set?.by === "parent" ? set.limits : withLimits(budgets.conversation, set?.limits ?? {});
}

/** Steps of a turn are counted by the loop itself. */
function turnLimits({ message }: OpenTurn, { budgets }: LoopLimits): BudgetLimits {
  const { steps: _, ...asked } = message.budget ?? {};
  return tightest(budgets.turn, asked);
}

/** Model calls of this turn, before the one that sums up. */
export function stepsMaxOf({ self, turn }: Pick<History, "self" | "turn">, limits: LoopLimits): number {
  const usual = self === undefined ? limits.stepsMax : (self.loops ?? limits.agentStepsMax);
  return Math.min(usual, turn?.message.budget?.steps ?? usual);
}

function sinceStart(spent: Spent, before: Spent): Spent {
  const { tokens, money, steps, ms, agents, unpriced } = before;
  return addSpent(spent, {
    ...{ tokens: -tokens, money: -money, steps: -steps, ms: -ms, agents: -agents, unpriced: -unpriced },
  });
}

/** What the next model call may cost. `step`: and an answer without tools can still be paid after it. */
export type CallPlan =
  | { readonly next: "step" | "final"; readonly reserved: CallReserved | undefined }
  | { readonly next: "none"; readonly reason: Failure };

type Payer = Pick<Parts, "limits" | "clock" | "models" | "agents">;

/**
 * Whether another step can be paid and the last answer after it, the last answer alone, or nothing. An attempt at a step
 * that has begun is only asked whether it can be paid itself.
 */
export function planCall(history: History, parts: Payer): CallPlan {
  const { turn } = history;
  const { left } = standingOf(history, parts);
  const { agents: _, depth: __, ...paid } = left;
  if (turn === undefined || Object.keys(paid).length === 0) return { next: "step", reserved: undefined };
  const [step, final] = [false, true].map((isFinal) => wantedFor(history, turn, parts, { isFinal }));
  if (step === undefined || final === undefined) return { next: "step", reserved: undefined };
  if (turn.isStepOpen) {
    const { steps: ___, ...again } = paid;
    const fit = fitCall(again, turn.isFinal ? final : step);
    if (fit.fits !== undefined) return { next: turn.isFinal ? "final" : "step", reserved: fit.fits };
    return { next: "none", reason: reasonFor(fit.kind, history, parts) };
  }
  const next = fitCall(keepingLast(paid, step, final, turn), step);
  if (next.fits !== undefined) return { next: "step", reserved: next.fits };
  // Who has worked may always say what came of it: the time for that is not counted.
  const { ms: ____, ...last } = paid;
  const fit = fitCall(turn.step > 0 ? last : paid, final);
  if (fit.fits !== undefined) return { next: "final", reserved: fit.fits };
  return { next: "none", reason: reasonFor(fit.kind, history, parts) };
}

/** What an agent is told of: of each kind the limit that is nearer. How many steps a turn has is only told where it was asked for. */
export function budgetLines(history: History, parts: Pick<Parts, "limits" | "clock">): BudgetLine[] {
  const { whole, turn } = standingOf(history, parts);
  const open = history.turn;
  const steps = open?.message.budget?.steps === undefined ? undefined : stepsMaxOf(history, parts.limits);
  const stepsLeft =
    steps === undefined ? {} : { limits: { steps }, left: { steps: Math.max(0, steps - (open?.step ?? 0)) } };
  const purses: { limits?: BudgetLimits; left?: BudgetLimits }[] = [
    whole,
    ...(turn === undefined ? [] : [turn]),
    stepsLeft,
  ];
  return (["tokens", "money", "steps", "ms"] as const).flatMap((kind) => {
    const lines = purses.flatMap(({ limits, left }) => {
      const [limit, has] = [limits?.[kind], left?.[kind]];
      return limit === undefined || has === undefined ? [] : [{ kind, limit, left: has }];
    });
    const [nearest] = lines.toSorted((a, b) => a.left - b.left);
    return nearest ?? [];
  });
}

/** Whether a summary of this much can be paid. */
export function canPay(
  history: History,
  parts: Pick<Parts, "limits" | "clock">,
  { model, messages, outputTokensMax }: { model: Model; messages: readonly Message[]; outputTokensMax: number },
): boolean {
  const { steps: _, ...left } = standingOf(history, parts).left;
  const inputTokens = messages.reduce((sum, message) => sum + messageTokens(message), 0) * inputMargin;
  return fitCall(left, { inputTokens, outputTokensMax, price: priceOf(model, parts.limits.prices) }).fits !== undefined;
}

/** US dollars, where the model has a price. */
export function paidFor(model: Model, usage: Usage, { limits }: Pick<Parts, "limits">): { cost?: number } {
  const price = priceOf(model, limits.prices);
  return price === undefined ? {} : { cost: costOf(usage, price) };
}

/** Servers count otherwise than we do, and what is attached to the newest message is not known yet. */
const inputMargin = 1.1;
const reminderTokens = 300;
/** Where a model has no limit of its own: longer answers are for those who set one. */
const outputTokensUsual = 16_384;
/** Enough for saying what came of the work. */
const lastAnswerTokens = 1_500;

type Wanted = CallWanted & { readonly model: Model };

function wantedFor(history: History, turn: OpenTurn, parts: Payer, { isFinal }: { isFinal: boolean }): Wanted {
  const { model } = choiceOf({ ...history, turn }, parts, { isFinal });
  const { used } = tokenStatus(history, windowOf(history, model));
  return {
    model,
    inputTokens: Math.ceil(used * inputMargin) + reminderTokens,
    outputTokensMax: model.outputTokensMax ?? outputTokensUsual,
    price: priceOf(model, parts.limits.prices),
  };
}

const wrapUpMsMax = 30_000;
const wrapUpShare = 0.1;

/**
 * What a step may cost so that the last answer can be paid after it: what the step writes is read once more there, hence
 * the half.
 */
function keepingLast(left: BudgetLimits, step: Wanted, final: Wanted, turn: OpenTurn): BudgetLimits {
  const { inputTokens } = step;
  const kept = { ...left };
  const share = (all: number, input: number, last: number) => input + Math.max(0, (all - 2 * input - last) / 2);
  if (left.tokens !== undefined) kept.tokens = Math.floor(share(left.tokens, inputTokens, lastAnswerTokens));
  if (left.money !== undefined && step.price !== undefined && final.price !== undefined) {
    const input = costOf({ input: inputTokens, output: 0 }, step.price);
    const last = costOf({ input: 0, output: lastAnswerTokens }, final.price);
    kept.money = share(left.money, Math.max(input, costOf({ input: inputTokens, output: 0 }, final.price)), last);
  }
  if (left.steps !== undefined) kept.steps = Math.max(0, left.steps - 1);
  if (left.ms !== undefined) {
    const wrapUpMs = Math.min(wrapUpMsMax, (turn.message.budget?.ms ?? left.ms) * wrapUpShare);
    kept.ms = turn.step > 0 ? Math.max(0, Math.floor(left.ms - wrapUpMs)) : left.ms;
  }
  return kept;
}

/** What is used up, and of whom. */
function reasonFor(kind: BudgetKind, history: History, parts: Payer): Failure {
  const { whole, turn } = standingOf(history, parts);
  const open = history.turn;
  if (kind === "money" && open !== undefined) {
    const { model } = choiceOf({ ...history, turn: open }, parts);
    if (priceOf(model, parts.limits.prices) === undefined) return makeFailure("price_unknown", { model: model.id });
  }
  const isTurns = turn?.left[kind] !== undefined && turn.left[kind] <= (whole.left[kind] ?? Number.POSITIVE_INFINITY);
  const limit = (isTurns ? turn?.limits[kind] : whole.limits[kind]) ?? 0;
  return makeFailure("budget_spent", { kind, limit, of: isTurns ? "turn" : "conversation" });
}

/** The kind that is used up altogether, so that calls that were asked for are not run any more. */
export function spentNow(history: History, parts: Pick<Parts, "limits" | "clock">): BudgetKind | undefined {
  return isSpent(standingOf(history, parts).left);
}

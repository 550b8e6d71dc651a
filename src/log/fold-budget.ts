import { addSpent, type BudgetLimits, heldFor, nothingSpent, type Spent } from "../protocol/budget.ts";
import type { EventBody, LogEvent } from "../protocol/events.ts";
import type { Usage } from "../protocol/message.ts";

/** What was spent here, as far as the log goes: going back gives no money back, so rewound events count as well. */
export type Spending = {
  /** By this agent itself, and by agents that it made and that have ended. */
  spent: Spent;
  /** Where `spent` stood when the running turn began. */
  before: Spent;
  /** What somebody set last; what is not named there is as the settings have it. */
  set: { readonly limits: BudgetLimits; readonly by: EventBody<"budget.set">["by"] } | undefined;
  /** What the agents at work that this one made may spend, with themselves, by id. */
  readonly reserved: Map<string, BudgetLimits>;
  /** What the request that is on its way may cost at the most. */
  asked: { readonly tokens: number; readonly money?: number | undefined } | undefined;
  /** Since when the turn is at work. */
  at: number | undefined;
  isStepOpen: boolean;
  /** A request is on its way. */
  isAsking: boolean;
  isMakingRoom: boolean;
  /** Calls that run. */
  readonly running: Set<string>;
  /** Events up to here were copied from another log, and paid for there. */
  copiedUpTo: number;
};

export function emptySpending(): Spending {
  return {
    spent: nothingSpent,
    before: nothingSpent,
    set: undefined,
    reserved: new Map(),
    asked: undefined,
    at: undefined,
    isStepOpen: false,
    isAsking: false,
    isMakingRoom: false,
    running: new Set(),
    copiedUpTo: 0,
  };
}

/** Moves it on by one event. */
export function noteSpending(spending: Spending, event: LogEvent): void {
  passTime(spending, event);
  switch (event.type) {
    case "branched":
      spending.copiedUpTo = event.copiedUpTo ?? 0;
      return;
    case "budget.set":
      spending.set = { limits: event.limits, by: event.by };
      return;
    case "turn.started":
      spending.before = spending.spent;
      return;
    case "step.started":
      loseAsked(spending, event);
      if (event.attempt === 1) charge(spending, event, { steps: 1 });
      spending.asked = event.reserved;
      return;
    case "step.failed":
    case "message.assistant":
      spending.asked = undefined;
      if (event.usage !== undefined) pay(spending, event, event.usage, event.cost);
      return;
    case "compacted":
      if (event.usage !== undefined) pay(spending, event, event.usage, event.cost);
      return;
    case "agent.spawned":
      if (event.mode === "handoff") charge(spending, event, { agents: 1 });
      else spending.reserved.set(event.id, heldFor(event.budget ?? {}));
      return;
    case "agent.ended":
      if (spending.reserved.delete(event.id)) charge(spending, event, withItself(event.spent));
      return;
    case "usage.noted":
      pay(spending, event, event.usage, event.cost);
      return;
    case "turn.finished":
      loseAsked(spending, event);
      return;
    default:
      return;
  }
}

/** What an agent spent, and the agent that it was. */
function withItself(spent: Spent = nothingSpent): Spent {
  return { ...spent, agents: spent.agents + 1 };
}

function pay(spending: Spending, event: LogEvent, { input, output }: Usage, cost: number | undefined): void {
  const price = cost === undefined ? { unpriced: 1 } : { money: cost };
  charge(spending, event, { tokens: Math.ceil(input + output), ...price });
}

function charge(spending: Spending, { seq }: LogEvent, spent: Partial<Spent>): void {
  if (seq > spending.copiedUpTo) spending.spent = addSpent(spending.spent, spent);
}

/** The process ended, or somebody stopped the answer, before it was known what it cost: it may have cost all of it. */
function loseAsked(spending: Spending, event: LogEvent): void {
  const { asked } = spending;
  spending.asked = undefined;
  if (asked !== undefined) charge(spending, event, { tokens: asked.tokens, money: asked.money ?? 0 });
}

/**
 * The time since the last event of the run itself, unless nothing was at work: what was left to do was a person's, or the
 * process had ended. Others may append at any time, so that their events tell nothing of it.
 */
function passTime(spending: Spending, event: LogEvent): void {
  const { running } = spending;
  if (!isOfRun.has(event.type)) return;
  if (!endedBefore(spending, event)) charge(spending, event, { ms: runningMs(spending, event.at) });
  spending.at = event.at;
  spending.isMakingRoom = event.type === "compaction.started";
  if (event.type === "step.started") Object.assign(spending, { isStepOpen: true, isAsking: true });
  if (event.type === "step.failed" || event.type === "turn.recovered") spending.isAsking = false;
  if (event.type === "message.assistant") Object.assign(spending, { isStepOpen: false, isAsking: false });
  if (event.type === "call.started") running.add(event.call);
  if (event.type === "call.finished") running.delete(event.call);
  if (event.type !== "turn.finished") return;
  running.clear();
  Object.assign(spending, { at: undefined, isStepOpen: false, isAsking: false });
}

/** The process that did the work before this event was gone by then, by a crash or because it was told to end. */
function endedBefore({ isAsking, running }: Spending, event: LogEvent): boolean {
  if (event.type === "step.started") return isAsking;
  if (event.type === "call.started") return running.has(event.call);
  return event.type === "turn.recovered" || (event.type === "call.finished" && event.outcome === "unknown");
}

/** How long the turn has been at work since its last event. */
export function runningMs({ at, running, isStepOpen, isMakingRoom }: Spending, now: number): number {
  const isAtWork = isStepOpen || isMakingRoom || running.size > 0;
  return at === undefined || !isAtWork ? 0 : Math.max(0, Math.round(now - at));
}

const isOfRun: ReadonlySet<LogEvent["type"]> = new Set<LogEvent["type"]>([
  ...(["turn.started", "turn.recovered", "turn.finished", "step.started", "step.failed", "message.assistant"] as const),
  ...(["call.started", "call.finished", "compaction.started"] as const),
]);

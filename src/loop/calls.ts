import { isStuck, sameCallsMax } from "../context/context.ts";
import { argumentsHash, type CallState, decidedOn, type OpenTurn } from "../log/log.ts";
import type { CallOutcome, NewEvent } from "../protocol/events.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { OpenedCall } from "../tools/tools.ts";
import { forModels } from "../words/words.ts";
import { toolkitOf } from "./agent-tools.ts";
import { workerResult } from "./agents/worker-result.ts";
import { askedAbout, madeByRule } from "./ask-person.ts";
import { asDecided, inOrder } from "./call-order.ts";
import { denied } from "./denied.ts";
import { isFunction, planFunction } from "./function-calls.ts";
import { type Judged, judgeCall } from "./judge-calls.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";
import { classOf, type Finished, runTool, type Start, settled } from "./run-tool.ts";
import { spentNow, stepsMaxOf } from "./spending.ts";

/** Whether something can be done about the open calls without a person. */
export function hasRunnableCalls(turn: OpenTurn, parts: Pick<Parts, "toolkit" | "approvals">, owner: OwnerId): boolean {
  const isBehind = inOrder(turn.calls, parts, owner);
  return turn.calls.some((state) => {
    const { result, decision, worker } = state;
    if (result !== undefined || isBehind(state) || (worker !== undefined && worker.ended === undefined)) return false;
    return decision === undefined || decision.made !== undefined;
  });
}

/**
 * Find → read arguments → ask approvals → record → run with limits → cut the result → record, for all open calls of an
 * answer, side by side. A start is durable before the tool runs. True when the last result is staged: the commit that
 * starts the next step carries it.
 */
export async function runCalls(run: Run, parts: Parts): Promise<boolean> {
  const running = new Set<string>();
  const finished: Finished[] = [];
  const judgedBefore: Judgements = new Map();
  let wake = () => {};
  for (;;) {
    const judged = await judgeCalls(run, parts, { running, judgedBefore });
    if (!(await recordRules(run, parts, judged))) continue;
    const { starts, asked } = planCalls(run, parts, { running, judged });
    const stored = await run.commit(asked.length > 0 ? { asked } : undefined);
    if (!stored.ok) return false;
    // Stopped while that was stored: what was to start is left to its class.
    for (const start of run.signal.aborted ? [] : starts) {
      running.add(start.state.call.id);
      void runTool(run, parts, start).then((result) => {
        finished.push(result);
        wake();
      });
    }
    if (running.size === 0) return false;
    // A decision that came in with it is looked at now: else it would wait for the end of a call it has nothing to do with.
    if (stored.value.foreign > 0) continue;

    const someFinished = new Promise<void>((resolve) => {
      wake = resolve;
    });
    if (finished.length === 0) await Promise.race([someFinished, run.nextForeign()]);
    if (finished.length === 0) await run.catchUp();
    for (const { call, events } of finished.splice(0)) {
      running.delete(call);
      for (const event of events) run.stage(event);
      run.expected.delete(call);
    }
    if (run.history.turn?.calls.length === 0) return true;
  }
}

/** By the id of the call, and by its text: an edited call is another one. */
type Judgements = Map<string, Judged>;

/** What the rules say about each call that could start now, or why it cannot be read. */
async function judgeCalls(
  run: Run,
  parts: Parts,
  { running, judgedBefore }: { readonly running: ReadonlySet<string>; readonly judgedBefore: Judgements },
): Promise<ReadonlyMap<string, Judged | Failure>> {
  const judged = new Map<string, Judged | Failure>();
  const { conversation } = run;
  const { history, agent } = run;
  const { turn, isTainted } = history;
  if (turn === undefined || turn.cancelAsked || run.signal.aborted) return judged;
  const toolkit = toolkitOf(history, parts, conversation.owner);
  const place = { conversation, agent, toolkit, history, said: run.tenure.root.history.said };
  for (const state of callsToPlan(run, parts, running)) {
    if (isDecidedWithoutRules(state, run, parts) || isFunction(state, run, parts)) continue;
    const call = asDecided(state);
    const key = JSON.stringify([call.id, call.arguments, isTainted]);
    const earlier = judgedBefore.get(key);
    const now = earlier === undefined ? await judgeCall(parts, place, call) : undefined;
    const found = earlier ?? (now?.ok ? now.value : now?.failure);
    if (found === undefined) continue;
    judged.set(call.id, found);
    // What may change until it starts is looked at again: its scripts, and what is allowed always.
    if (now?.ok && now.value.verdict.findings.length === 0 && !now.value.hasScripts) judgedBefore.set(key, now.value);
  }
  return judged;
}

/**
 * What a stored "allow always" answers is on record before it runs. It names the decision before it, so it is stored
 * only while nobody else decides; false: somebody did, and everything is to be looked at again.
 */
async function recordRules(run: Run, parts: Parts, judged: ReadonlyMap<string, Judged | Failure>): Promise<boolean> {
  const { turn } = run.history;
  const isAllowed = (state: CallState) => {
    const found = judged.get(state.call.id);
    return found !== undefined && "verdict" in found && found.verdict.rule !== undefined && isUndecided(state, found);
  };
  const allowed = turn?.calls.filter(isAllowed) ?? [];
  if (turn === undefined || allowed.length === 0) return true;
  // Results that wait to be stored must not be given up with it.
  if (!(await run.commit()).ok) return true;
  for (const state of allowed) {
    const { call, decision } = state;
    const found = judged.get(call.id);
    if (found === undefined || !("verdict" in found) || found.verdict.rule === undefined) continue;
    const time = parts.clock.now();
    const asked = askedAbout(placeIn(run, turn, time), asDecided(state), found, decision?.asked.id);
    if (asked === undefined) continue;
    run.stage(asked);
    run.stage(madeByRule(asked, found.verdict.rule, { previous: run.history.lastDecision, time }));
  }
  const stored = await run.commit(undefined, { isExact: true });
  return stored.ok || stored.failure.code !== "log_moved";
}

type AskedRow = { readonly decision: string; readonly body: string };

/** Stages what can be said about each open call right now, and picks those that start. */
function planCalls(
  run: Run,
  parts: Parts,
  {
    running,
    judged,
  }: { readonly running: ReadonlySet<string>; readonly judged: ReadonlyMap<string, Judged | Failure> },
): { starts: Start[]; asked: AskedRow[] } {
  const { turn } = run.history;
  const starts: Start[] = [];
  const asked: AskedRow[] = [];
  if (turn === undefined || turn.cancelAsked || run.signal.aborted) return { starts, asked };
  for (const state of callsToPlan(run, parts, running)) {
    const plan = planCall(state, turn, judged.get(state.call.id), { run, parts });
    if (plan === undefined) continue;
    if ("event" in plan) {
      run.stage(plan.event);
      // What a caller is to answer is nothing for a person's list.
      if (plan.event.type === "decision.asked" && plan.event.kind !== "function")
        asked.push({ decision: plan.event.id, body: JSON.stringify(plan.event) });
    } else if (running.size + starts.length < parts.limits.parallelCallsMax) {
      starts.push(plan);
      run.stage({ type: "call.started", call: state.call.id, class: classOf(plan), attempt: plan.attempt });
    }
  }
  return { starts, asked };
}

/** One by one, for a result that is staged lets the next in order come forward. */
function* callsToPlan(run: Run, parts: Parts, running: ReadonlySet<string>): Generator<CallState> {
  const calls = [...(run.history.turn?.calls ?? [])];
  const isBehind = inOrder(calls, parts, run.conversation.owner);
  for (const state of calls)
    if (state.result === undefined && !isBehind(state) && !running.has(state.call.id)) yield state;
}

/** The one place that decides about a call: an event that settles or asks, a start, or nothing while a person is asked. */
function planCall(
  state: CallState,
  turn: OpenTurn,
  judged: Judged | Failure | undefined,
  { run, parts }: { readonly run: Run; readonly parts: Parts },
): { event: NewEvent } | Start | undefined {
  const { call, decision, started } = state;
  const settle = (outcome: CallOutcome, reason: Failure) => ({ event: settled(call.id, outcome, reason) });
  if (state.worker !== undefined) {
    const event = workerResult(run, parts, state);
    return event && { event };
  }
  const end = endWithoutRules(state, run, parts);
  if (end !== undefined) return { event: end };
  if (isFunction(state, run, parts)) {
    const event = planFunction(run, parts, state);
    return event && { event };
  }
  if (decision !== undefined && decision.made === undefined) return undefined;
  if (judged === undefined) return undefined;
  if (!("verdict" in judged)) return settle("error", judged);

  const { tool, opened, verdict } = judged;
  if (verdict.verdict === "deny") return settle("rejected", denied(call.name, verdict));
  const event = isUndecided(state, judged)
    ? askedAbout(placeIn(run, turn, parts.clock.now()), asDecided(state), judged, decision?.asked.id)
    : undefined;
  if (event !== undefined) return { event };
  if (decision !== undefined && !isAboutThis(state, opened))
    return settle("error", makeFailure("decision_broken", { id: decision.asked.id }));
  return { state, tool, opened, attempt: (started?.attempt ?? 0) + 1 };
}

function placeIn({ conversation, history }: Run, { turn, step }: OpenTurn, time: number) {
  return { conversation, turn, step, time, self: history.self };
}

/** Nobody has decided yet, or about scripts that had other texts then. */
function isUndecided({ decision }: CallState, { scripts }: Judged): boolean {
  if (decision === undefined) return true;
  const { asked, made } = decision;
  if (asked.kind !== "approval" || made === undefined) return false;
  return (made.verdict === "edit" ? made.scripts : asked.scripts) !== scripts;
}

/** The bytes that would run are those that were shown and decided on. */
function isAboutThis(state: CallState, { ask }: OpenedCall): boolean {
  const { decision } = state;
  if (decision?.made === undefined) return false;
  const { asked, made } = decision;
  const runs = asked.kind === "approval" ? asDecided(state).arguments : ask?.kind === "question" ? ask.question : "";
  return runs === decidedOn(asked, made) && made.argumentsHash === argumentsHash(runs);
}

function isDecidedWithoutRules(state: CallState, run: Run, parts: Parts): boolean {
  const isOpen = state.decision !== undefined && state.decision.made === undefined;
  return isOpen || state.worker !== undefined || endWithoutRules(state, run, parts) !== undefined;
}

/** The end of a call that ends whatever the rules say. */
function endWithoutRules({ call, started, decision }: CallState, run: Run, parts: Parts): NewEvent | undefined {
  const { turn } = run.history;
  const { name: tool } = call;
  if (turn === undefined) return undefined;
  // Started by a process that is gone: it may or may not have happened, and only its class says whether it may happen again.
  if (started?.class === "unsafe") return settled(call.id, "unknown", makeFailure("tool_interrupted", { tool }));
  const notRun = (why: string, because: "steps" | "budget") =>
    settled(call.id, "not_run", makeFailure("tool_not_run", { tool, why, because }));
  if (turn.step >= stepsMaxOf(run.history, parts.limits)) return notRun(forModels.stepLimit, "steps");
  if (spentNow(run.history, parts) !== undefined) return notRun(forModels.budget.usedUp, "budget");
  if (call.invalid && turn.isCut) return settled(call.id, "error", makeFailure("tool_arguments_cut", { tool }));
  if (isStuck(turn.finished, call))
    return settled(call.id, "not_run", makeFailure("tool_repeated", { tool, times: sameCallsMax + 1 }));
  const made = decision?.made;
  if (made?.verdict !== "reject") return undefined;
  const why = made.reason === undefined ? "" : `: ${made.reason}`;
  return settled(call.id, "rejected", makeFailure("tool_rejected", { tool, why }));
}

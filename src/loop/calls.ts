import { judge } from "../approvals/approvals.ts";
import { derivedHex } from "../base/ids.ts";
import { isStuck, sameCallsMax } from "../context/context.ts";
import type { CallState, OpenTurn } from "../log/log.ts";
import type { CallOutcome, NewEvent } from "../protocol/events.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import type { Ask, Toolbox } from "../tools/tools.ts";
import { forModels } from "../words/words.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";
import { type Finished, runTool, type Start, settled } from "./run-tool.ts";

/** Whether something can be done about the open calls without a person. */
export function hasRunnableCalls(turn: OpenTurn, toolbox: Toolbox): boolean {
  const isBehind = inOrder(turn.calls, toolbox);
  return turn.calls.some((state) => {
    const { result, decision } = state;
    return result === undefined && !isBehind(state) && (decision === undefined || decision.made !== undefined);
  });
}

/**
 * Says of a call whether an earlier one with the same order key has no result yet: it is left alone until then, and a
 * person is not asked about it either.
 */
function inOrder(calls: readonly CallState[], toolbox: Toolbox): (state: CallState) => boolean {
  const open = calls.filter(({ result }) => result === undefined);
  const orders = new Map(open.length < 2 ? [] : open.map((state) => [state, orderOf(state, toolbox)]));
  return (state) => {
    const order = orders.get(state);
    const earlier = open.slice(0, open.indexOf(state));
    return order !== undefined && earlier.some((other) => other.result === undefined && orders.get(other) === order);
  };
}

function orderOf({ call, decision }: CallState, toolbox: Toolbox): string | undefined {
  const found = toolbox.open({ ...call, arguments: decision?.made?.arguments ?? call.arguments });
  return found.ok ? found.value.opened.order : undefined;
}

/**
 * Find → read arguments → ask approvals → record → run with limits → cut the result → record, for all open calls of an
 * answer, side by side. A start is durable before the tool runs. True when the last result is staged: the commit that
 * starts the next step carries it.
 */
export async function runCalls(run: Run, parts: Parts): Promise<boolean> {
  const running = new Set<string>();
  const finished: Finished[] = [];
  let wake = () => {};
  for (;;) {
    const { starts, asked } = planCalls(run, parts, running);
    if (!(await run.commit(asked.length > 0 ? { asked } : undefined)).ok) return false;
    // Stopped while that was stored: what was to start is left to its class.
    for (const start of run.signal.aborted ? [] : starts) {
      running.add(start.state.call.id);
      void runTool(run, parts, start).then((result) => {
        finished.push(result);
        wake();
      });
    }
    if (running.size === 0) return false;

    const someFinished = new Promise<void>((resolve) => {
      wake = resolve;
    });
    if (finished.length === 0) await Promise.race([someFinished, run.nextForeign()]);
    if (finished.length === 0) await run.catchUp();
    for (const { call, events } of finished.splice(0)) {
      running.delete(call);
      for (const event of events) run.stage(event);
    }
    if (run.history.turn?.calls.length === 0) return true;
  }
}

type AskedRow = { readonly decision: string; readonly body: string };

/** Stages what can be said about each open call right now, and picks those that start. */
function planCalls(run: Run, parts: Parts, running: ReadonlySet<string>): { starts: Start[]; asked: AskedRow[] } {
  const { turn } = run.history;
  const starts: Start[] = [];
  const asked: AskedRow[] = [];
  if (turn === undefined || turn.cancelAsked || run.signal.aborted) return { starts, asked };
  const isBehind = inOrder(turn.calls, parts.toolbox);
  for (const state of [...turn.calls]) {
    if (state.result !== undefined || isBehind(state) || running.has(state.call.id)) continue;
    const plan = planCall(state, turn, run, parts);
    if (plan === undefined) continue;
    if ("event" in plan) {
      run.stage(plan.event);
      if (plan.event.type === "decision.asked")
        asked.push({ decision: plan.event.id, body: JSON.stringify(plan.event) });
    } else if (running.size + starts.length < parts.limits.parallelCallsMax) {
      starts.push(plan);
      run.stage({ type: "call.started", call: state.call.id, class: plan.tool.class, attempt: plan.attempt });
    }
  }
  return { starts, asked };
}

/** The one place that decides about a call: an event that settles or asks, a start, or nothing while a person is asked. */
function planCall(state: CallState, turn: OpenTurn, run: Run, parts: Parts): { event: NewEvent } | Start | undefined {
  const { call, started, decision } = state;
  const { name: tool } = call;
  const settle = (outcome: CallOutcome, reason: Failure) => ({ event: settled(call.id, outcome, reason) });
  // Started by a process that is gone: it may or may not have happened, and only its class says whether it may happen again.
  if (started?.class === "unsafe") return settle("unknown", makeFailure("tool_interrupted", { tool }));
  if (turn.step >= parts.limits.stepsMax)
    return settle("not_run", makeFailure("tool_not_run", { tool, why: forModels.stepLimit }));
  if (call.invalid && turn.isCut) return settle("error", makeFailure("tool_arguments_cut", { tool }));
  if (isStuck(turn.finished, call))
    return settle("not_run", makeFailure("tool_repeated", { tool, times: sameCallsMax + 1 }));

  const made = decision?.made;
  if (decision !== undefined && made === undefined) return undefined;
  if (made?.verdict === "reject")
    return settle(
      "rejected",
      makeFailure("tool_rejected", { tool, why: made.reason === undefined ? "" : `: ${made.reason}` }),
    );
  const found = parts.toolbox.open({ ...call, arguments: made?.arguments ?? call.arguments });
  if (!found.ok) return settle("error", found.failure);
  const { ask } = found.value.opened;
  if (decision === undefined && ask !== undefined) {
    const event = asked(run, turn, state, ask);
    if (event !== undefined) return { event };
  }
  return { state, ...found.value, attempt: (started?.attempt ?? 0) + 1 };
}

/** A question goes to the user as it is; an approval only when the rules say so. */
function asked(run: Run, turn: OpenTurn, { call }: CallState, ask: Ask): NewEvent | undefined {
  const id = derivedHex(12, run.conversation.id, String(turn.turn), String(turn.step), call.id);
  const about = { type: "decision.asked", turn: turn.turn, id, call: call.id, tool: call.name } as const;
  if (ask.kind === "question") return { ...about, ...ask };
  const { verdict, reason, risk, layer } = judge(ask);
  return verdict === "ask" ? { ...about, kind: "approval", arguments: call.arguments, reason, risk, layer } : undefined;
}

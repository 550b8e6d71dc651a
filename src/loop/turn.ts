import { unreachable } from "../base/assert.ts";
import { leaveOutOldest, messageTokens, tokenStatus } from "../context/context.ts";
import type { History } from "../log/log.ts";
import { makeFailure } from "../protocol/failure.ts";
import { hasRunnableCalls, runCalls } from "./calls.ts";
import { closeCalls, finishTurn } from "./finish.ts";
import { prewarm } from "./guests.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";
import { takeStep } from "./step.ts";

/**
 * Drives a conversation until it rests: nothing to answer, a person is asked, or the run was stopped. Where it stands
 * is always read from the history, so a turn that was interrupted goes on here like any other.
 */
export async function driveTurns(run: Run, parts: Parts): Promise<void> {
  await noteCrash(run, parts);
  let isStaged = false;
  for (;;) {
    // Stopped in the middle: what is known by now is kept.
    if (isStaged && run.signal.aborted && run.failure === undefined) {
      await run.commit();
      isStaged = false;
    }
    if (!isStaged) await run.catchUp();
    if (run.history.turn?.cancelAsked) run.goOn();
    if (run.signal.aborted) return;
    const route = routeOf(run.history, parts);
    if (route === "rest" || route === "wait") return;
    isStaged = await follow(route, run, parts);
  }
}

export type Route =
  | "rest"
  | "wait"
  | "start"
  | "cancel"
  | "park"
  | "tools"
  | "summarize"
  | "step"
  | "finalize"
  | "finish";

/** What comes next, by SPEC's order: answer open calls first, then the limit, then room, then the model, then the end. */
export function routeOf(history: History, parts: Pick<Parts, "limits" | "models" | "toolbox">): Route {
  const { turn, messages } = history;
  if (turn === undefined) return history.queue.length > 0 ? "start" : "rest";
  if (turn.cancelAsked) return "cancel";
  if (turn.recoveries >= parts.limits.crashesMax) return "park";
  if (turn.calls.length > 0) return hasRunnableCalls(turn, parts.toolbox) ? "tools" : "wait";
  const newest = messages.at(-1);
  if (newest?.role === "assistant" && !turn.isStepOpen) {
    const isSteered = !turn.isFinal && history.queue.some((message) => message.mode === "steer");
    return isSteered && turn.step < parts.limits.stepsMax ? roomOrStep(history, parts) : "finish";
  }
  if (turn.isFinal && turn.isStepOpen) return "finalize";
  const isAtEnd = turn.step >= parts.limits.stepsMax || turn.isStuck;
  if (newest?.role === "tool" && !turn.isStepOpen && isAtEnd) return "finalize";
  return roomOrStep(history, parts);
}

function roomOrStep(history: History, { models, limits }: Pick<Parts, "models" | "limits">): Route {
  const { turn } = history;
  const window = models.get(turn?.slot ?? "base").windowTokens;
  const isFull = tokenStatus(history, window).level === "critical" && limits.messagesKeptMax > 0;
  return isFull && turn?.isCompacted === false && !turn.isStepOpen ? "summarize" : "step";
}

/** True when events are staged that the next commit will carry. */
async function follow(route: Exclude<Route, "rest" | "wait">, run: Run, parts: Parts): Promise<boolean> {
  switch (route) {
    case "start":
      prewarm(parts, run);
      await parts.beforeTurn();
      startTurn(run);
      return true;
    case "step":
      return takeStep(run, parts, { isFinal: false });
    case "finalize":
      return takeStep(run, parts, { isFinal: true });
    case "tools":
      return runCalls(run, parts);
    case "summarize":
      return makeRoom(run, parts);
    case "finish":
      await finishTurn(run, parts, (run.history.turn?.step ?? 0) > parts.limits.stepsMax ? "limit" : "done");
      return false;
    case "cancel":
      closeCalls(run, "tool_cancelled");
      await finishTurn(run, parts, "cancelled");
      return false;
    case "park":
      closeCalls(run, "tool_interrupted");
      await finishTurn(run, parts, "crashed", makeFailure("turn_crashed", { times: parts.limits.crashesMax }));
      return false;
    default:
      return unreachable(route);
  }
}

/** The process before this one ended in the middle of the turn: counted, so that a turn that kills its process is parked. */
async function noteCrash(run: Run, parts: Parts): Promise<void> {
  const { turn } = run.history;
  if (turn === undefined || !run.wasAbandoned || routeOf(run.history, parts) === "wait") return;
  run.stage({ type: "turn.recovered", turn: turn.turn, epoch: run.epoch });
  await run.commit();
}

/** Takes up the message that waits longest, if there is one. */
export function startTurn(run: Run): void {
  const { queue, turnsEver } = run.history;
  const [message] = queue;
  if (message !== undefined)
    run.stage({ type: "turn.started", turn: turnsEver + 1, message: message.id, epoch: run.epoch });
}

/** Leaves out the oldest messages until half of the window is free. */
function makeRoom(run: Run, parts: Parts): boolean {
  const { history } = run;
  const { turn, messages } = history;
  if (turn === undefined) return false;
  const tokensMax = parts.models.get(turn.slot ?? "base").windowTokens / 2;
  const compacted = leaveOutOldest(history, {
    tokensMax,
    messagesKeptMax: parts.limits.messagesKeptMax,
    tokensOf: (index) => messageTokens(messages[index]),
  });
  if (compacted === undefined) turn.isCompacted = true;
  else run.stage({ type: "compacted", turn: turn.turn, ...compacted });
  return true;
}

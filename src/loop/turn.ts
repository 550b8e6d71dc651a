import { unreachable } from "../base/assert.ts";
import { needsRoom, sendableTokens, tokenStatus } from "../context/context.ts";
import type { History, OpenTurn } from "../log/log.ts";
import { makeFailure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import { endsInCircle, letsOtherEnd } from "./agents/circle.ts";
import { endUnstarted } from "./agents/end-agent.ts";
import { askForMore, isTooShort } from "./agents/fuller-result.ts";
import { openChildren } from "./agents/seats.ts";
import { hasRunnableCalls, runCalls } from "./calls.ts";
import { closeCalls, finishTurn } from "./finish.ts";
import { prewarm } from "./guests.ts";
import { exhausted, makeRoomIn, readerOf, roomEvents } from "./make-room.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";
import { planCall, stepsMaxOf } from "./spending.ts";
import { stageRecipe, takeStep } from "./step.ts";

/**
 * Drives a conversation until it rests: nothing to answer, a person is asked, or the run was stopped. Where it stands
 * is always read from the history, so a turn that was interrupted goes on here like any other.
 */
export async function driveTurns(run: Run, parts: Parts): Promise<void> {
  if (run.history.turn !== undefined) await run.tenure.lookAround();
  await noteCrash(run, parts);
  let isStaged = false;
  for (;;) {
    // Stopped in the middle: what is known by now is kept.
    if (isStaged && run.signal.aborted && run.failure === undefined) {
      await run.commit();
      isStaged = false;
    }
    if (!isStaged) await run.catchUp();
    if (run.history.turn?.cancelAsked || run.history.ending !== undefined) run.goOn();
    if (run.signal.aborted) return;
    const next = nextOf(run.history, parts, run.conversation.owner);
    if (next !== "rest" && next !== "wait") isStaged = await follow(next, run, parts);
    else if (!isStaged) return;
    else {
      // Who waits for another agent has said something first.
      if (!(await run.commit()).ok) return;
      isStaged = false;
    }
  }
}

export type Next =
  | "rest"
  | "wait"
  | "start"
  | "cancel"
  | "park"
  | "tools"
  | "compact"
  | "exhausted"
  | "step"
  | "finalize"
  | "more"
  | "finish"
  | "end";

/** What comes next [L1]: answer open calls first, then the limit, then room, then the model, then the end. */
export function nextOf(
  history: History,
  parts: Pick<Parts, "limits" | "models" | "agents" | "toolkit" | "approvals" | "clock">,
  owner: OwnerId,
): Next {
  const { turn, messages } = history;
  if (history.isOver) return "rest";
  if (turn === undefined && history.ending !== undefined) return "end";
  if (turn === undefined) return history.queue.length > 0 ? "start" : "rest";
  if (turn.cancelAsked) return "cancel";
  if (turn.recoveries >= parts.limits.crashesMax) return "park";
  if (turn.calls.length > 0) return hasRunnableCalls(turn, parts, owner) ? "tools" : "wait";
  if (!turn.isStepOpen && !turn.isFinal && letsOtherEnd(history)) return "wait";
  if (messages.at(-1)?.role === "assistant" && !turn.isStepOpen) {
    return afterAnswer(history, turn, parts);
  }
  return roomOr(isAtEnd(history, parts) ? "finalize" : "step", history, parts);
}

/** The newest answer has no calls: what came in meanwhile goes on with the turn, and so do agents that still work for it. */
function afterAnswer(
  history: History,
  turn: OpenTurn,
  parts: Pick<Parts, "limits" | "clock" | "models" | "agents">,
): "step" | "finalize" | "compact" | "exhausted" | "more" | "wait" | "finish" {
  if (turn.isFinal) return "finish";
  // Who waited for another one may have said nothing of its work yet.
  if (endsInCircle(history) !== undefined && canPayLast(history, parts)) return roomOr("finalize", history, parts);
  if (isAtEnd(history, parts)) return "finish";
  const isSteered = history.queue.some((message) => message.mode === "steer");
  if (isSteered) return roomOr("step", history, parts);
  if (openChildren(history).length > 0 || history.awaited.size > 0) return "wait";
  return isTooShort(history) ? "more" : "finish";
}

/** The next answer is the last one. */
function isAtEnd(history: History, parts: Pick<Parts, "limits" | "clock" | "models" | "agents">): boolean {
  const { turn } = history;
  if (turn === undefined || turn.isStepOpen) return turn?.isFinal === true;
  if (turn.isStuck || endsInCircle(history) !== undefined) return true;
  return turn.step >= stepsMaxOf(history, parts.limits) || planCall(history, parts).next !== "step";
}

/** An answer is there already: another one only where it costs nobody a limit. */
function canPayLast(history: History, parts: Pick<Parts, "limits" | "clock" | "models" | "agents">): boolean {
  return planCall(history, parts).next !== "none";
}

/** Room is made twice at the most before the model has answered: what does not help then never will. */
const compactionsMax = 2;

function roomOr<T extends "step" | "finalize">(
  next: T,
  history: History,
  parts: Pick<Parts, "models" | "agents" | "limits">,
): T | "compact" | "exhausted" {
  const { turn } = history;
  if (turn === undefined || parts.limits.messagesKeptMax === 0) return next;
  const reader = readerOf(history, parts);
  const isFull = turn.isOverflown || (!turn.isStepOpen && needsRoom(history, reader));
  if (!isFull) return next;
  if (turn.compactions < compactionsMax) return "compact";
  // The least of answers may still fit: the provider has the last word.
  const { used } = tokenStatus(history, reader.windowTokens);
  return turn.isOverflown || used > sendableTokens(reader) ? "exhausted" : next;
}

/** True when events are staged that the next commit will carry. */
async function follow(next: Exclude<Next, "rest" | "wait">, run: Run, parts: Parts): Promise<boolean> {
  switch (next) {
    case "start":
      if (run.agent === undefined) prewarm(parts, run);
      await parts.beforeTurn();
      startTurn(run);
      await stageRecipe(run, parts); // How full the window is depends on it.
      return true;
    case "step":
      return takeStep(run, parts, { isFinal: false });
    case "finalize":
      return takeStep(run, parts, { isFinal: true });
    case "tools":
      return runCalls(run, parts);
    case "compact":
      return makeRoom(run, parts);
    case "exhausted":
      await finishTurn(run, parts, "failed", exhaustedNow(run, parts));
      return false;
    case "more":
      run.stage(askForMore(run));
      return true;
    case "finish": {
      const circle = endsInCircle(run.history);
      await finishTurn(run, parts, circle !== undefined || isAtLimit(run.history, parts) ? "limit" : "done", circle);
      return false;
    }
    case "end":
      await endUnstarted(run, parts);
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
      return unreachable(next);
  }
}

/** The last answer was asked for because no more steps could be taken, or paid. */
function isAtLimit(history: History, { limits }: Parts): boolean {
  const { turn } = history;
  return turn?.isFinal === true && (!turn.isStuck || turn.step > stepsMaxOf(history, limits));
}

/** The process before this one ended in the middle of the turn: counted, so that a turn that kills its process is parked. */
async function noteCrash(run: Run, parts: Parts): Promise<void> {
  const { turn, budget } = run.history;
  const isCrash = run.wasAbandoned;
  run.wasAbandoned = false;
  // A request that was on its way when the process was told to end: until now nobody has worked.
  if (budget.isAsking) budget.at = parts.clock.now();
  if (turn === undefined || !isCrash || isWaiting(run, parts)) return;
  run.stage({ type: "turn.recovered", turn: turn.turn, epoch: run.epoch });
  await run.commit();
}

function isWaiting({ history, conversation }: Run, parts: Parts): boolean {
  return nextOf(history, parts, conversation.owner) === "wait";
}

/** Takes up the message that waits longest, if there is one. */
export function startTurn(run: Run): void {
  const { queue, turnsEver } = run.history;
  const [message] = queue;
  if (message !== undefined)
    run.stage({ type: "turn.started", turn: turnsEver + 1, message: message.id, epoch: run.epoch });
}

/** What is staged is stored first, so that the places that are named stay what they are. */
async function makeRoom(run: Run, parts: Parts): Promise<boolean> {
  // A message that is just being taken up may be withdrawn in the same moment: only one of the two may happen.
  const isStart = run.history.turn?.step === 0;
  if (!(await run.commit(undefined, { isExact: isStart })).ok) return false;
  const { turn } = run.history;
  if (turn === undefined) return false;
  const { conversation, history, signal } = run;
  const by = turn.isOverflown ? "overflow" : "window";
  const onAsked = async () => {
    run.stage({ type: "compaction.started", turn: turn.turn, by });
    await run.commit();
  };
  const made = await makeRoomIn(parts, { conversation, history, signal, onAsked }, { strategy: "auto", by });
  if (signal.aborted || run.history !== history) return false;
  if (!made.ok) {
    await finishTurn(run, parts, "failed", made.failure);
    return false;
  }
  // By our own count it fits, and there is nothing to leave out: the provider has the last word.
  for (const event of roomEvents(turn.turn, made.value)) run.stage(event);
  if (made.value.compacted === undefined) return takeStep(run, parts, { isFinal: isAtEnd(history, parts) });
  await run.commit();
  return false;
}

function exhaustedNow({ history }: Run, parts: Parts) {
  const reader = readerOf(history, parts);
  return exhausted(tokenStatus(history, reader.windowTokens).used, reader);
}

import type { OpenTurn } from "../log/log.ts";
import type { NewEvent, TurnOutcome } from "../protocol/events.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { errorForModel } from "../tools/tools.ts";
import { endChildren, endOf } from "./agents/end-agent.ts";
import { endPrograms } from "./guests.ts";
import { handBackEvents } from "./hand-off.ts";
import { lastText, snippet } from "./last-text.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";
import { budgetLines } from "./spending.ts";

/**
 * Ends the turn: the event, the list's row, and the inbox without what nobody needs to answer any more, in one commit.
 * False when it could not be stored.
 */
export async function finishTurn(run: Run, parts: Parts, outcome: TurnOutcome, failure?: Failure): Promise<boolean> {
  if (run.history.turn === undefined && run.agent === undefined) return true;
  if (!(await endChildren(run))) return false;
  await endPrograms(parts, run);
  const { history } = run;
  const { turn } = history;
  const ends = await endOf(run, parts, { outcome, failure });
  const decided = [...history.decisions.values()]
    .filter((decision) => decision.made === undefined)
    .map((decision) => decision.asked.id);
  const headBefore = run.committedHead;
  const row = { lastMessage: snippet(lastText(history)), turns: turn?.turn ?? 0, updatedAt: parts.clock.now() };
  for (const event of handBackEvents(history, outcome)) run.stage(event);
  const left = budgetLines(history, parts);
  if (turn !== undefined) run.stage({ ...finished(turn, outcome, failure), ...(left.length === 0 ? {} : { left }) });
  for (const event of ends) run.stage(event);
  const isQuiet = history.queue.length === 0;
  const rootRows = { row, ...(isQuiet ? { wake: { doneAtHead: headBefore } } : {}) };
  const stored = await run.commit({ decided, ...(run.agent === undefined ? rootRows : {}) });
  if (stored.ok && run.agent === undefined) {
    parts.logger.info(`Session ${run.conversation.id} saved (${history.messages.length} messages)`, {
      conversation: run.conversation.id,
    });
  }
  return stored.ok;
}

function finished(
  turn: OpenTurn,
  outcome: TurnOutcome,
  failure: Failure | undefined,
): Extract<NewEvent, { type: "turn.finished" }> {
  return { type: "turn.finished", turn: turn.turn, outcome, ...(failure === undefined ? {} : { failure }) };
}

/** Every call gets a result, whatever happens: providers refuse a history where one is missing. */
export function closeCalls(run: Run, code: "tool_cancelled" | "tool_interrupted"): void {
  for (const { call, result, started } of [...(run.history.turn?.calls ?? [])]) {
    if (result !== undefined) continue;
    const reason =
      started === undefined
        ? makeFailure("tool_not_run", { tool: call.name, why: "the turn was stopped", because: "stopped" })
        : makeFailure(code, { tool: call.name });
    const outcome = started === undefined ? "not_run" : code === "tool_cancelled" ? "cancelled" : "unknown";
    run.stage({ type: "call.finished", call: call.id, outcome, text: errorForModel(reason), failure: reason });
  }
}

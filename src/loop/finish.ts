import type { History, OpenTurn } from "../log/log.ts";
import type { NewEvent, TurnOutcome } from "../protocol/events.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { errorForModel } from "../tools/tools.ts";
import { endPrograms } from "./guests.ts";
import { handBackEvents } from "./hand-off.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";
import { budgetLines } from "./spending.ts";

/**
 * Ends the turn: the fact, the list's row, and the inbox without what nobody needs to answer any more, in one commit.
 * False when it could not be stored.
 */
export async function finishTurn(run: Run, parts: Parts, outcome: TurnOutcome, failure?: Failure): Promise<boolean> {
  const { history } = run;
  const { turn } = history;
  if (turn === undefined) return true;
  await endPrograms(parts, run);
  const decided = [...history.decisions.values()]
    .filter((decision) => decision.made === undefined)
    .map((decision) => decision.asked.id);
  const row = { lastMessage: snippet(lastText(history)), turns: turn.turn, updatedAt: parts.clock.now() };
  const headBefore = run.committedHead;
  for (const event of handBackEvents(history, outcome)) run.stage(event);
  const left = budgetLines(history, parts);
  run.stage({ ...finished(turn, outcome, failure), ...(left.length === 0 ? {} : { left }) });
  const isQuiet = history.queue.length === 0;
  const stored = await run.commit({ row, decided, ...(isQuiet ? { wake: { doneAtHead: headBefore } } : {}) });
  if (stored.ok) {
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

const snippetCharacters = 120;

export function snippet(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= snippetCharacters ? line : `${line.slice(0, snippetCharacters - 1)}…`;
}

/** What was said last, for the list. */
export function lastText(history: History): string {
  return history.messages.findLast((message) => message.role !== "tool")?.text ?? "";
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

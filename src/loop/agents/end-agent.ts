import { derivedHex } from "../../base/ids.ts";
import type { EventBody, NewEvent, TurnOutcome } from "../../protocol/events.ts";
import type { Failure } from "../../protocol/failure.ts";
import { errorForModel } from "../../tools/tools.ts";
import { forModels } from "../../words/words.ts";
import { lastText } from "../last-text.ts";
import type { Parts } from "../parts.ts";
import type { Run } from "../run.ts";
import { standingOf } from "../spending.ts";
import { collectFiles, type FileParts } from "./hand-over.ts";
import { asAgent, openChildren, parentOf } from "./seats.ts";

type Outcome = EventBody<"agent.ended">["outcome"];
type Mail = Extract<NewEvent, { type: "agent.mailed" }>;

const outcomes: Readonly<Record<TurnOutcome, Outcome>> = {
  ...{ done: "done", limit: "limit", cancelled: "terminated" },
  ...{ failed: "failed", crashed: "failed" },
};

type EndParts = FileParts & Pick<Parts, "limits" | "clock" | "marks">;

/**
 * What is stored together with the end of an agent's turn: its end and its files, and for a task the word to its parent.
 * Called while the turn is still there.
 */
export async function endOf(
  run: Run,
  parts: EndParts,
  { outcome, failure }: { readonly outcome: TurnOutcome; readonly failure?: Failure | undefined },
): Promise<NewEvent[]> {
  const { history } = run;
  const { self, turn, isTainted } = history;
  if (self === undefined) return [];
  const result = outcome === "done" || outcome === "limit" ? lastText(history) : "";
  const files = await collectFiles(run, parts);
  const ended: Extract<NewEvent, { type: "agent.ended" }> = {
    type: "agent.ended",
    ...asAgent(self.parent),
    ...{ id: self.id, outcome: outcomes[outcome], steps: turn?.step ?? 0 },
    spent: standingOf(history, parts).whole.spent,
    ...(result === "" ? {} : { result }),
    ...(failure === undefined ? {} : { failure }),
    ...(files.folder === undefined ? {} : { folder: files.folder }),
    ...(isTainted ? { untrusted: true } : {}),
  };
  return [...files.events, ended, ...wordToParent(run, parts, { ended, failure, leftOut: files.leftOut })];
}

type Ending = {
  readonly ended: EventBody<"agent.ended">;
  readonly failure: Failure | undefined;
  readonly leftOut: number;
};

/** Whoever ended it itself need not be told. */
function wordToParent(run: Run, parts: EndParts, { ended, failure, leftOut }: Ending): Mail[] {
  const { self, ending } = run.history;
  if (self?.mode !== "task" || ending?.by !== undefined) return [];
  const { outcome, result = "", folder } = ended;
  const isGood = outcome === "done" || outcome === "limit";
  const kind = isGood ? (result.trim() === "" ? "silence" : "result") : "failure";
  const why = failure === undefined ? "" : errorForModel(failure);
  const said = ended.untrusted && result !== "" ? parts.marks.wrap(self.name, result) : result;
  const text = forModels.agents.ended({ name: self.name, id: self.id, outcome, said, why, folder, leftOut });
  const id = `mail-${derivedHex(12, run.conversation.id, self.id, "ended")}`;
  const untrusted = ended.untrusted ? ({ untrusted: true } as const) : {};
  return [{ type: "agent.mailed", agent: self.id, to: self.parent, id, text, kind, ...untrusted }];
}

/** It was stopped before it began. */
export async function endUnstarted(run: Run, parts: EndParts): Promise<void> {
  for (const event of await endOf(run, parts, { outcome: "cancelled" })) run.stage(event);
  await run.commit();
}

/**
 * Ends what the agent has made and still works, from the bottom up, and waits for it. False where it could not: then the
 * agent itself does not end either.
 */
export async function endChildren(run: Run): Promise<boolean> {
  const open = openChildren(run.history);
  if (open.length === 0) return true;
  const by = run.agent ?? "root";
  for (const { spawned } of open) run.stage({ type: "cancel.asked", agent: spawned.id, turn: 1, by });
  if (!(await run.commit()).ok) return false;
  while (openChildren(run.history).length > 0) {
    if (run.signal.aborted) return false;
    await run.nextForeign();
    await run.catchUp();
  }
  return true;
}

/** The whole conversation cannot go on: all its agents end with it, in one commit and without a word. */
export function stageEnds(run: Run): void {
  for (const { agent, history } of [...run.tenure.runs.values()].toReversed()) {
    if (agent === undefined || history.isOver) continue;
    if (history.turn !== undefined)
      run.stage({ type: "turn.finished", agent, turn: history.turn.turn, outcome: "failed" });
    run.stage({ type: "agent.ended", ...asAgent(parentOf(history)), id: agent, outcome: "terminated" });
  }
}

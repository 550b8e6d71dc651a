import { derivedHex } from "../../base/ids.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { StorageAway } from "../../storage/storage.ts";
import { forModels } from "../../words/words.ts";
import { closeCalls, finishTurn } from "../finish.ts";
import type { Parts } from "../parts.ts";
import type { Run } from "../run.ts";
import type { Tenure } from "../tenure.ts";
import { driveTurns, nextOf } from "../turn.ts";

/**
 * Drives all agents of a conversation until nothing is left to do: side by side up to a limit, each of them serially.
 * Who waits, for a person or for another agent, takes nobody's place.
 */
export async function driveTree(tenure: Tenure, parts: Parts): Promise<void> {
  const driven = new Map<Run, Promise<void>>();
  let broken: { readonly error: unknown } | undefined;
  for (const run of tenure.runs.values()) run.hasNews = true;
  for (;;) {
    for (const run of ready(tenure, driven, parts)) {
      run.hasNews = false;
      const work = driveOne(run, parts).catch((error: unknown) => {
        broken ??= { error };
        tenure.close();
      });
      driven.set(
        run,
        work.then(() => void driven.delete(run)),
      );
    }
    if (driven.size > 0) await Promise.race([...driven.values(), tenure.nextNews()]);
    else if (broken !== undefined) throw broken.error;
    else if (tenure.root.signal.aborted || !(await tellNobodyAnswers(tenure, parts))) return;
  }
}

/** The main agent, and whoever is to end, need not wait for others. */
function* ready(tenure: Tenure, driven: ReadonlyMap<Run, unknown>, { limits }: Parts): Generator<Run> {
  for (const run of [...tenure.runs.values()]) {
    if (!run.hasNews || driven.has(run) || run.signal.reason === "closing") continue;
    const isUrgent = run.agent === undefined || run.signal.aborted || run.history.ending !== undefined;
    if (isUrgent || driven.size < limits.agentsAtOnceMax) yield run;
  }
}

/** Our own mistake ends the agent that it happened to; its siblings go on. */
async function driveOne(run: Run, parts: Parts): Promise<void> {
  if (run.agent === undefined) return driveTurns(run, parts);
  try {
    await driveTurns(run, parts);
  } catch (error) {
    // That ends nobody: everything stops, and is taken up when it is back.
    if (error instanceof StorageAway) return run.tenure.fail(error.failure);
    const id = parts.ids.hex(8);
    parts.logger.error(`an agent failed (${id})`, { error, conversation: run.conversation.id, agent: run.agent });
    await run.startOver();
    closeCalls(run, "tool_interrupted");
    await finishTurn(run, parts, "failed", makeFailure("internal", { id }));
  }
}

/**
 * Everybody stands still, and no person is asked: who waits for an answer of another agent would wait for ever, and is
 * told so. False where nobody does.
 */
async function tellNobodyAnswers(tenure: Tenure, parts: Parts): Promise<boolean> {
  const { owner, id: conversation } = tenure.conversation;
  const runs = [...tenure.runs.values()];
  const isAsked = runs.some(({ history }) => [...history.decisions.values()].some(({ made }) => made === undefined));
  const waiting = runs.filter(
    ({ history }) =>
      history.awaited.size > 0 && nextOf(history, parts, owner) === "wait" && history.turn?.calls.length === 0,
  );
  if (isAsked) return false;
  for (const run of waiting) {
    const { agent: to = "root", history } = run;
    const id = `mail-${derivedHex(12, conversation, to, "silence", String(run.committedHead))}`;
    const text = forModels.agents.noAnswer([...history.awaited].join(", "));
    run.stage({ type: "agent.mailed", to, id, text, kind: "silence" });
    if (!(await run.commit()).ok) return false;
    run.hasNews = true;
  }
  return waiting.length > 0;
}

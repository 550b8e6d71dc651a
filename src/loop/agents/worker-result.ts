import type { CallState } from "../../log/log.ts";
import type { EventOf, NewEvent } from "../../protocol/events.ts";
import { allOf } from "../../tools/tools.ts";
import { failureWords, forModels, wordsFor } from "../../words/words.ts";
import type { Parts } from "../parts.ts";
import { boundedText, type ResultParts, type ResultRun } from "../tool-result.ts";

/** The result of a call whose work an agent did; undefined while that agent works. */
export function workerResult(
  run: ResultRun,
  parts: ResultParts & Pick<Parts, "marks">,
  { call, worker }: CallState,
): NewEvent | undefined {
  const ended = worker?.ended;
  if (worker === undefined || ended === undefined) return undefined;
  const isGood = ended.outcome === "done" || ended.outcome === "limit";
  const result = boundedText(run, parts, ended.result ?? "");
  const about = { context_id: worker.spawned.context ?? worker.spawned.id, loops: ended.steps ?? 0 };
  const text = JSON.stringify(isGood ? { ok: true, result, ...about } : { ok: false, error: whyOf(ended), ...about });
  return {
    type: "call.finished",
    ...{ call: call.id, outcome: isGood ? "ok" : "error" },
    text: parts.marks.inside(text, ended.untrusted ? allOf(call.name, text) : []),
    ...(ended.untrusted ? { untrusted: true } : {}),
  };
}

function whyOf({ failure }: EventOf<"agent.ended">): string {
  if (failure === undefined) return forModels.agents.stopped;
  return failureWords(wordsFor("en"), failure)[0];
}

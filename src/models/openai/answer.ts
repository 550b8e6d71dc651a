import type { AnswerForm, AnswerParts } from "../wire/answer.ts";
import { type ErrorFacts, errorFacts } from "../wire/error-body.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { addDetails, readContent } from "./content.ts";

/** Answers of chat completions: chunks of a stream, or a whole completion. */
export const chatAnswer: AnswerForm = {
  isPart: (payload) => Array.isArray(payload.choices),
  open: openChatAnswer,
};

function openChatAnswer({ usage, calls, details, say, begin, finish }: AnswerParts) {
  let hasDeltas = false;

  function takeChoice(choice: JsonObject): void {
    // A message at the end of a stream repeats the deltas.
    if (isObject(choice.delta)) hasDeltas = true;
    const said = choice.delta ?? (hasDeltas ? undefined : choice.message);
    if (isObject(said)) takeSaid(said);
    finish(choice.finish_reason);
  }

  function takeSaid(said: JsonObject): void {
    say(readContent(said));
    if (said.reasoning_details) addDetails(details, said.reasoning_details);
    if (said.tool_calls) for (const call of [said.tool_calls].flat()) calls.add(call);
    if (said.function_call) calls.addLegacy(said.function_call);
  }

  return (payload: JsonObject): ErrorFacts | undefined => {
    usage.take(payload.usage ?? (isObject(payload.x_groq) ? payload.x_groq.usage : undefined));
    if (!Array.isArray(payload.choices)) return undefined;
    if (payload.choices.length > 0) begin();
    for (const choice of payload.choices) {
      if (!isObject(choice) || Number(choice.index ?? 0) !== 0) continue;
      if (!payload.usage) usage.take(choice.usage);
      takeChoice(choice);
      if (isObject(choice.error)) return errorFacts(choice.error);
    }
    return undefined;
  };
}

import type { AnswerForm, AnswerParts } from "../wire/answer.ts";
import { type ErrorFacts, errorFacts } from "../wire/error-body.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { keepItems, type Origin } from "../wire/kept.ts";

/** Answers of Google: each event of a stream has the same shape as a whole answer, with the next parts in it. */
export function googleAnswer(origin: Origin): AnswerForm {
  return {
    isPart: ({ candidates, usageMetadata, promptFeedback }) =>
      Array.isArray(candidates) || isObject(usageMetadata) || isObject(promptFeedback),
    open: (parts) => openAnswer(parts, origin),
  };
}

function openAnswer({ usage, calls, details, say, begin, finish }: AnswerParts, origin: Origin) {
  const kept: Record<string, unknown>[] = [];
  let callsSeen = 0;
  let isSigned = false;

  function takePart(part: JsonObject): void {
    const { text, functionCall, thoughtSignature } = part;
    const signature =
      typeof thoughtSignature === "string" && thoughtSignature !== "" ? { thoughtSignature } : undefined;
    if (isObject(functionCall)) {
      calls.add({
        index: callsSeen,
        id: functionCall.id,
        function: { name: functionCall.name, arguments: functionCall.args },
      });
      callsSeen += 1;
      kept.push({ ...signature });
    } else if (typeof text === "string") {
      const isThought = part.thought === true;
      say({ text: isThought ? "" : text, reasoning: isThought ? text : "" });
      keepText(text, isThought, signature);
    }
    if (signature !== undefined && !isSigned) {
      isSigned = true;
      keepItems(details, origin, kept);
    }
  }

  /** Thoughts are for people; only those that are signed go back. Text that is not signed may be one part. */
  function keepText(text: string, isThought: boolean, signature: object | undefined): void {
    const last = kept.at(-1);
    const isOpen = last !== undefined && Object.keys(last).join() === "length";
    if (signature === undefined && (isThought || text === "")) return;
    if (isThought) kept.push({ thought: text, ...signature });
    else if (signature !== undefined || !isOpen) kept.push({ length: text.length, ...signature });
    else last.length = Number(last.length) + text.length;
  }

  function takeCandidate({ content, finishReason }: JsonObject): void {
    const parts = isObject(content) && Array.isArray(content.parts) ? content.parts : [];
    for (const part of parts) if (isObject(part)) takePart(part);
    // Whether the model waits for its tools is not said: the calls are there, or they are not.
    if (finishReason === "STOP") finish(callsSeen > 0 ? "tool_calls" : "stop");
    else if (finishReason !== "FINISH_REASON_UNSPECIFIED") finish(finishReason);
  }

  return (payload: JsonObject): ErrorFacts | undefined => {
    usage.take(payload.usageMetadata);
    const candidates = Array.isArray(payload.candidates) ? payload.candidates.filter(isObject) : [];
    const { promptFeedback } = payload;
    if (candidates.length === 0 && isObject(promptFeedback) && typeof promptFeedback.blockReason === "string")
      return refusedPrompt(promptFeedback);
    for (const candidate of candidates) {
      begin();
      if (Number(candidate.index ?? 0) === 0) takeCandidate(candidate);
    }
    return undefined;
  };
}

/** The prompt was refused for what it says, and there is no answer. */
function refusedPrompt({ blockReason, blockReasonMessage: words }: JsonObject): ErrorFacts {
  const message = [String(blockReason), ...(typeof words === "string" ? [words] : [])].join(": ");
  return errorFacts({ code: "prohibited_content", message });
}

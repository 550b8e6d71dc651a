import type { CallAnswer } from "../../operators/operators.ts";
import type { Failure } from "../../protocol/failure.ts";
import type { Invoked } from "../../protocol/operator-routes.ts";
import { failureWordsOverHttp, type Language, wordsFor } from "../../words/words.ts";
import { statusOf } from "../status.ts";

/** What a service answered; bytes that are no text in base64, told by a header of ours. */
export function invoked({ status, headers, content, durationMs, isCut }: CallAnswer): Invoked {
  const body = content.kind === "json" ? content.value : content.kind === "text" ? content.text : content.base64;
  const marks = {
    ...(content.kind === "bytes" && { "x-agentyard-encoding": "base64" }),
    ...(isCut && { "x-agentyard-cut": "true" }),
  };
  const error = status >= 400 && content.kind === "text" ? content.text.slice(0, errorCharactersMax) : "";
  return { status_code: status, headers: { ...headers, ...marks }, body, error, duration_ms: durationMs };
}

const errorCharactersMax = 500;

/** The service was not reached, or not in time: told as if it had said so itself. */
export function notInvoked(
  reason: Failure,
  { language, durationMs }: { readonly language: Language; readonly durationMs: number },
): Invoked {
  const error = failureWordsOverHttp(wordsFor(language), reason).join(language === "zh" ? "" : " ");
  return { status_code: statusOf(reason), headers: {}, body: null, error, duration_ms: durationMs };
}

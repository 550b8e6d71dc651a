import type { Failure } from "../protocol/failure.ts";
import type { Problem } from "../protocol/resources.ts";
import { failureWords, wordsFor } from "../words/words.ts";
import type { HttpCall } from "./door.ts";
import { statusOf } from "./status.ts";

/** A failure as the one error shape of native routes, in the caller's language. */
export function refuse(c: HttpCall, reason: Failure): Response {
  const status = statusOf[reason.code];
  const language = c.get("language");
  const [what, next] = failureWords(wordsFor(language), reason);
  const problem: Problem = {
    type: `urn:agentyard:failure:${reason.code}`,
    title: what,
    status,
    code: reason.code,
    detail: [what, next].join(language === "zh" ? "" : " "),
    params: reason.params,
    retryable: reason.retryable,
    requestId: c.get("requestId"),
  };
  return c.body(JSON.stringify(problem), status, {
    "content-type": "application/problem+json",
    "content-language": language,
  });
}

/** What the log file gets of our own mistake, under the id that the caller got. */
export function faultLine(requestId: string, where: string, error: unknown): string {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `request ${requestId} failed at ${where}: ${what}`;
}

import type { Failure } from "../protocol/failure.ts";
import type { Problem } from "../protocol/resources.ts";
import { failureWords, wordsFor } from "../words/words.ts";
import type { HttpCall } from "./door.ts";
import { statusOf } from "./status.ts";

/** A failure as the one error shape of our routes, in the caller's language; `beside` goes with it. */
export function refuse(c: HttpCall, reason: Failure, beside: Readonly<Record<string, unknown>> = {}): Response {
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
  return c.body(JSON.stringify({ ...beside, ...problem }), status, {
    "content-type": "application/problem+json",
    "content-language": language,
    ...("retryAfterSeconds" in reason.params && { "retry-after": String(Math.ceil(reason.params.retryAfterSeconds)) }),
  });
}

/** What the log file gets of our own mistake, under the id that the caller got. */
export function faultLine(requestId: string, where: string, error: unknown): string {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `request ${requestId} failed at ${where}: ${what}`;
}

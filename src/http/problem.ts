import type { Failure } from "../protocol/failure.ts";
import type { Problem } from "../protocol/resources.ts";
import { failureWords, failureWordsOverHttp, type Language, wordsFor } from "../words/words.ts";
import { inDialect } from "./dialect.ts";
import { type HttpCall, isLocal } from "./door.ts";
import { statusOf } from "./status.ts";

/** A failure as the one error shape of our routes, in the caller's language; `beside` goes with it. */
export function refuse(c: HttpCall, reason: Failure, beside: Readonly<Record<string, unknown>> = {}): Response {
  const status = statusOf(reason);
  const language = c.get("language");
  const problem = problemOf(reason, { language, requestId: c.get("requestId"), isTerminal: isLocal(c) });
  const spoken = inDialect(problem, c.get("dialect"));
  return c.body(JSON.stringify({ ...beside, ...(spoken ?? problem) }), status, {
    "content-type": spoken === undefined ? "application/problem+json" : "application/json",
    "content-language": language,
    ...retryAfter(c, reason),
  });
}

/** When to come again for what passes by itself, where nobody knows better. */
const retryAfterSecondsUsual = 5;

/** When to come again: of everything that may be otherwise by then, also where nobody has said when. */
function retryAfter(c: HttpCall, reason: Failure): { readonly "retry-after"?: string } {
  if ("retryAfterSeconds" in reason.params)
    return { "retry-after": String(Math.ceil(reason.params.retryAfterSeconds)) };
  const isSaid = c.newResponse(null).headers.has("retry-after");
  const passes = [429, 503, 507].includes(statusOf(reason));
  return passes && !isSaid ? { "retry-after": String(retryAfterSecondsUsual) } : {};
}

type Told = {
  readonly language: Language;
  readonly requestId: string;
  /** The same system user on the same machine reads it, in the terminal: its commands can be typed there. */
  readonly isTerminal?: boolean;
};

/** A failure in words. */
export function problemOf(reason: Failure, { language, requestId, isTerminal = false }: Told): Problem {
  const [what, next] = (isTerminal ? failureWords : failureWordsOverHttp)(wordsFor(language), reason);
  return {
    type: `urn:agentyard:failure:${reason.code}`,
    title: what,
    status: statusOf(reason),
    code: reason.code,
    detail: [what, next].join(language === "zh" ? "" : " "),
    params: reason.params,
    retryable: reason.retryable,
    requestId,
  };
}

/** What the log file gets of our own mistake, under the id that the caller got. */
export function thrownLine(requestId: string, where: string, error: unknown): string {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `request ${requestId} failed at ${where}: ${what}`;
}

/** The same for work in the background. */
export function thrownLog(logger: ((line: string) => void) | undefined, id: string) {
  return { error: (where: string, { error }: { readonly error: unknown }) => logger?.(thrownLine(id, where, error)) };
}

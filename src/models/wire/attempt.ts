import type { ModelError } from "../provider.ts";
import { type Adaptable, type Edit, editFor, type Fields } from "./adapt.ts";
import { type ErrorFacts, readErrorBody } from "./error-body.ts";
import { failure, judge, type Verdict } from "./errors.ts";
import type { Exchange } from "./exchange.ts";

/** One try of a call; the next one differs in what the last one taught. */
export type Attempt = {
  readonly url: URL;
  readonly fields: Fields;
  readonly redirects: number;
  /** The connection had died in the pool, and the request was sent once more. */
  readonly isResent: boolean;
  /** The change that the first refusal asked for, and its words. */
  readonly learnt?: { readonly edit: Edit; readonly from: string };
};

/** What was learnt of a server, what may be learnt, and when this is. */
export type Lessons = { readonly edits: Map<string, Edit>; readonly adaptable: Adaptable; readonly now: number };

const redirectsMax = 3;

/** What follows from an exchange without answer: another try, or the error to report. */
export function afterOutcome(
  outcome: Exclude<Exchange, { type: "answered" }>,
  attempt: Attempt,
  lessons: Lessons,
): Attempt | Verdict {
  switch (outcome.type) {
    case "aborted":
      return plainly(failure("network", false, "cancelled"));
    case "broken":
      return afterBreak(outcome, attempt);
    case "refused":
      if (outcome.status < 400) return afterRedirect(outcome, attempt);
      return afterRefusal(outcome, attempt, lessons);
  }
}

function plainly(error: ModelError): Verdict {
  return { error, isFiltered: false };
}

/**
 * A kept connection may be closed by the server in the moment we send on it. Nothing of the request was looked at then,
 * so that sending it again is safe, and no failure anyone needs to hear of.
 */
function afterBreak(
  { isReused, code, why }: Extract<Exchange, { type: "broken" }>,
  attempt: Attempt,
): Attempt | Verdict {
  const isStale = isReused && (code === "ECONNRESET" || code === "EPIPE");
  if (isStale && !attempt.isResent) return { ...attempt, isResent: true };
  if (code === "unsendable") return plainly(failure("bad_request", false, "unsendable", why));
  if (code === "timeout") return plainly(failure("network", true, "silent"));
  // The parser's own codes: what came was not HTTP.
  const isForeign = code.startsWith("HPE_");
  return plainly({ kind: isForeign ? "protocol" : "network", retryable: !isForeign, message: why });
}

/** Only 307 and 308 keep the method, and only within the origin may the key follow. */
function afterRedirect(
  { status, headers }: Extract<Exchange, { type: "refused" }>,
  attempt: Attempt,
): Attempt | Verdict {
  const target = headers.location === undefined ? null : URL.parse(headers.location, attempt.url);
  const mayFollow = (status === 307 || status === 308) && attempt.redirects < redirectsMax;
  if (mayFollow && target?.origin === attempt.url.origin) {
    return { ...attempt, url: target, redirects: attempt.redirects + 1 };
  }
  const where = target === null ? "" : ` → ${target.origin}${target.pathname}`;
  return plainly(failure("protocol", false, "redirected", `HTTP ${status}${where}`));
}

function afterRefusal(
  { status, headers, body }: Extract<Exchange, { type: "refused" }>,
  attempt: Attempt,
  lessons: Lessons,
): Attempt | Verdict {
  const facts = readErrorBody(status, body);
  const verdict = judge(facts, headers, lessons.now);
  if (verdict.error.kind !== "bad_request" || verdict.error.retryable || verdict.isFiltered) return verdict;
  return adapted(facts, attempt, lessons) ?? verdict;
}

/** One change per call. It is kept for later calls, unless the server refuses the changed request in the same words. */
function adapted(facts: ErrorFacts, attempt: Attempt, { edits, adaptable }: Lessons): Attempt | undefined {
  const { learnt, fields } = attempt;
  if (learnt?.from === facts.text) edits.delete(learnt.edit.key);
  if (learnt !== undefined || (facts.status !== 400 && facts.status !== 422)) return undefined;
  const edit = editFor(facts, fields, adaptable);
  if (edit === undefined) return undefined;
  if (edit.isLasting) edits.set(edit.key, edit);
  return { ...attempt, fields: edit.apply(fields), learnt: { edit, from: facts.text } };
}

import type { IncomingHttpHeaders } from "node:http";
import type { ModelErrorKind } from "../../protocol/message.ts";
import type { ModelFault } from "../../words/words.ts";
import type { ModelError } from "../provider.ts";
import type { ErrorFacts } from "./error-body.ts";
import * as words from "./error-words.ts";
import { bodyWaitMs, retryAfterMs } from "./retry-after.ts";

const messageCharactersMax = 500;
const secretCharactersMin = 8;

/** A limit that takes longer than this is not waited for. */
const soonMs = 3_600_000;

export type Verdict = {
  readonly error: ModelError;
  /** The request was refused for what it says: the finish is `content_filter`, not `error`. */
  readonly isFiltered: boolean;
};

/** What a server's error means for us. */
export function judge(facts: ErrorFacts, headers: IncomingHttpHeaders, now: number): Verdict {
  const isFiltered = facts.status < 500 && isSaid(facts, words.filterSigns);
  const isModelFault = !isFiltered && facts.status < 500 && isSaid(facts, words.modelFaultSigns);
  const kind = isFiltered || isModelFault ? "bad_request" : weigh(facts, headers, now);
  const mayWait = kind === "rate_limit" || kind === "overloaded";
  const wait = mayWait ? retryAfterMs(headers, facts, now) : undefined;
  const error: ModelError = {
    kind,
    retryable: mayWait || kind === "network" || isModelFault,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    message: facts.text || `HTTP ${facts.status || 200}`,
    ...(facts.status === 0 ? {} : { status: facts.status }),
  };
  return { error, isFiltered };
}

/** A failure we found ourselves, in the form the server's errors have. */
export function failure(kind: ModelErrorKind, retryable: boolean, because: ModelFault, message = ""): ModelError {
  return { kind, retryable, because, message };
}

/** For people: without the key, and no longer than a screen can show. */
export function presentable(error: ModelError, apiKey: string | undefined): ModelError {
  // Shorter ones are no secrets but words, such as local servers take for a key.
  const isSecret = apiKey !== undefined && apiKey.length >= secretCharactersMin;
  const withoutKey = isSecret ? error.message.replaceAll(apiKey, "[key]") : error.message;
  const message = withoutKey.replace(/\b(?:sk-|Bearer )[\w.-]{16,}/g, "[key]").slice(0, messageCharactersMax);
  return { ...error, message: message.toWellFormed() };
}

/** No single sign decides: a message outweighs a status, and a precise message a general one. */
function weigh(facts: ErrorFacts, headers: IncomingHttpHeaders, now: number): ModelErrorKind {
  if (isOverflow(facts)) return "context_overflow";
  const limit = weighLimit(facts, headers, now);
  if (limit !== undefined) return limit;
  if (words.noRouteWords.test(facts.text)) return "not_found";
  if (facts.status >= 500) return "overloaded";
  if (hasCode(facts, words.missingSigns.codes)) return "not_found";
  return vagueStatuses.has(facts.status) ? byWords(facts) : byStatus(facts);
}

/** Statuses that say no more than that something is wrong; 0 is an error inside a 200. */
const vagueStatuses = new Set([0, 400, 422]);

function byWords(facts: ErrorFacts): ModelErrorKind {
  if (hasCode(facts, words.busySigns.codes)) return "overloaded";
  if (words.missingSigns.words.test(facts.text)) return "not_found";
  if (isSaid(facts, words.keySigns)) return "auth";
  return byStatus(facts);
}

function isOverflow(facts: ErrorFacts): boolean {
  if (hasCode(facts, words.overflowSigns.codes)) return true;
  const { text } = facts;
  if (words.tooLargeWords.test(text) || words.sumOverflowWords.test(text)) return true;
  if (facts.status === 429 || words.shortLimitWords.test(text)) return false;
  if (words.outputLimitWords.test(text) && roomForAnswer(text) !== 0) return false;
  return words.overflowSigns.words.test(text);
}

/** vLLM writes the sum out: `(32000 > 32768 - 5000)`. Zero when the prompt alone already fills the window. */
export function roomForAnswer(text: string): number | undefined {
  const sum = /\d+ > (\d+) - (\d+)/.exec(text);
  return sum === null ? undefined : Math.max(0, Number(sum[1]) - Number(sum[2]));
}

/** Money and days make a quota, minutes and concurrency a rate limit; the bare word quota may mean either. */
function weighLimit(
  facts: ErrorFacts,
  headers: IncomingHttpHeaders,
  now: number,
): "quota" | "rate_limit" | "overloaded" | undefined {
  const text = `${facts.codes.join("\n")}\n${facts.text.replace("(e.g. check quota)", "")}`;
  if (facts.status === 402 || isSaid(facts, words.moneySigns)) return "quota";
  if (words.longLimitWords.test(text) && words.limitWords.test(text)) return "quota";
  const isQuota = words.quotaWords.test(text) && !isExhaustedForNow(facts);
  if (facts.status !== 429 && !isQuota && !isSaid(facts, words.rateSigns)) return undefined;
  const wait = bodyWaitMs(facts, now);
  if (words.shortLimitWords.test(text)) return "rate_limit";
  if (isQuota && (wait === undefined || wait >= soonMs)) return "quota";
  if ((retryAfterMs(headers, facts, now) ?? 0) >= soonMs) return "quota";
  return isSaid(facts, words.busySigns) ? "overloaded" : "rate_limit";
}

/** Google says quota for the limits of a minute too; only with the plan and its bill does it mean money. */
function isExhaustedForNow(facts: ErrorFacts): boolean {
  return hasCode(facts, /^RESOURCE_EXHAUSTED$/) && !/plan and billing/i.test(facts.text);
}

function byStatus(facts: ErrorFacts): ModelErrorKind {
  const { status } = facts;
  if (status === 401 || status === 403 || status === 407) return "auth";
  if (status === 404 || status === 410) return "not_found";
  if (status === 408 || status === 499) return "network";
  if (status === 424 || status === 425) return "overloaded";
  if (status >= 400) return "bad_request";
  return hasCode(facts, words.badRequestCodes) ? "bad_request" : "overloaded";
}

function isSaid(facts: ErrorFacts, signs: words.Signs): boolean {
  return signs.words.test(facts.text) || hasCode(facts, signs.codes);
}

function hasCode(facts: ErrorFacts, codes: RegExp): boolean {
  return facts.codes.some((code) => codes.test(code));
}

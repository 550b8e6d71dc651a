import type { IncomingHttpHeaders } from "node:http";
import type { ErrorFacts } from "./error-body.ts";
import { numberOf } from "./json.ts";

/** The wait a server asks for, in milliseconds; the most exact source that is there and makes sense wins. */
export function retryAfterMs(headers: IncomingHttpHeaders, facts: ErrorFacts, now: number): number | undefined {
  const wait =
    numberOf(first(headers["retry-after-ms"])) ??
    readSecondsOrDate(first(headers["retry-after"]), now) ??
    bodyWaitMs(facts, now) ??
    emptyBucketWaitMs(headers, now);
  return wait === undefined ? undefined : Math.max(0, Math.round(wait));
}

/** The wait named in the body: in a field of its own, or in the words of the message. */
export function bodyWaitMs(facts: ErrorFacts, now: number): number | undefined {
  for (const [key, value] of facts.delays) {
    const wait = readDelayField(key, value, now);
    if (wait !== undefined) return wait;
  }
  const hint = waitHint.exec(facts.text) ?? chineseHint.exec(facts.text);
  return hint?.[1] === undefined ? undefined : readDuration(hint[1]);
}

function readDelayField(key: string, value: string | number, now: number): number | undefined {
  const number = numberOf(value);
  if (number === undefined) return readDuration(String(value));
  if (/ms$/i.test(key)) return number;
  return readReset(number, now);
}

const unitMs = new Map<string, number>([
  ["ms", 1],
  ["毫", 1],
  ["s", 1_000],
  ["秒", 1_000],
  ["m", 60_000],
  ["分", 60_000],
  ["h", 3_600_000],
  ["小", 3_600_000],
  ["d", 86_400_000],
  ["天", 86_400_000],
]);

const amount =
  "\\d+(?:\\.\\d+)?\\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|毫秒|秒|分钟?|小时|天)";
const duration = `${amount}(?:\\s*${amount})*(?![a-z])`;
const waitHint = new RegExp(`(?:again|retry|retrying|wait|resets?|available)\\b[^\\d\\n]{0,30}(${duration})`, "i");
const chineseHint = new RegExp(`(${duration})\\s*(?:之?后|再试|重试)`, "i");

/** `1m12.5s`, `350ms`, `2 minutes`, `30 秒`; `undefined` for anything else. */
function readDuration(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|milli|[smhd]|[毫秒分小天])/gi)];
  if (parts.length === 0) return undefined;
  return parts.reduce((sum, [, amount, word = ""]) => {
    const name = word.toLowerCase();
    return sum + Number(amount) * (unitMs.get(name === "milli" ? "ms" : name) ?? 0);
  }, 0);
}

function readSecondsOrDate(value: string | undefined, now: number): number | undefined {
  const seconds = numberOf(value);
  if (seconds !== undefined) return seconds >= 0 ? seconds * 1_000 : undefined;
  const date = value === undefined ? Number.NaN : Date.parse(value);
  return Number.isNaN(date) ? undefined : date - now;
}

/** A bucket that still holds something is not what we wait for; of several empty ones the slowest counts. */
function emptyBucketWaitMs(headers: IncomingHttpHeaders, now: number): number | undefined {
  const waits = Object.entries(headers).flatMap(([name, value]) => {
    if (!name.includes("ratelimit") || !name.includes("reset")) return [];
    const remaining = numberOf(first(headers[name.replace("reset", "remaining")]));
    if (remaining === undefined || remaining > 0) return [];
    return readBucketReset(first(value), now) ?? [];
  });
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function readBucketReset(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const number = numberOf(value);
  if (number !== undefined) return readReset(number, now);
  if (/^\d{4}-/.test(value)) return readSecondsOrDate(value, now);
  return readDuration(value);
}

/** A bare number is a moment when it is large enough to be one, else a count of seconds. */
function readReset(number: number, now: number): number {
  if (number > 1e12) return number - now;
  if (number > 1e9) return number * 1_000 - now;
  return number * 1_000;
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

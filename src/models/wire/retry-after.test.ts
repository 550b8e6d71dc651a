import assert from "node:assert/strict";
import { test } from "node:test";
import { readErrorBody } from "./error-body.ts";
import { retryAfterMs } from "./retry-after.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const inTenSeconds = now + 10_000;

type Headers = Record<string, string>;
const cases: [what: string, headers: Headers, body: unknown, wait: number | undefined][] = [
  ["nothing at all", {}, {}, undefined],
  ["milliseconds before seconds", { "retry-after-ms": "1250.4", "retry-after": "2" }, {}, 1250],
  ["zero seconds", { "retry-after": "0" }, { retry_after: 9 }, 0],
  ["fractions of a second", { "retry-after": "0.25" }, {}, 250],
  ["a date", { "retry-after": new Date(inTenSeconds).toUTCString() }, {}, 10_000],
  ["a date that has passed", { "retry-after": new Date(now - 5_000).toUTCString() }, {}, 0],
  ["a header that makes no sense", { "retry-after": "soon" }, { retry_after: 9 }, 9_000],
  ["a field in the body before the words", {}, { error: { retryAfter: "3s", message: "try again in 8s" } }, 3_000],
  ["milliseconds in the body", {}, { error: { retry_after_ms: 700 } }, 700],
  ["a field deep inside", {}, { error: { details: [{ retryDelay: "1.5s" }] } }, 1_500],
  [
    "a moment in the body",
    {},
    { error: { metadata: { headers: { "X-RateLimit-Reset": String(inTenSeconds) } } } },
    10_000,
  ],
  ["hours, minutes and seconds", {}, { message: "Please try again in 1h2m3s." }, 3_723_000],
  ["milliseconds in words", {}, { message: "try again in 6 ms" }, 6],
  ["minutes in words", {}, { message: "Please wait 2 minutes before retrying" }, 120_000],
  ["a number that is no wait", {}, { message: "Limit 3, used 3 requests. Try again later." }, undefined],
  [
    "words before buckets",
    { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" },
    { message: "retry after 4 seconds" },
    4_000,
  ],
  ["the empty bucket", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" }, {}, 9_000],
  ["a bucket that is not empty", { "x-ratelimit-remaining": "2", "x-ratelimit-reset": "9" }, {}, undefined],
  ["a bucket that says nothing", { "x-ratelimit-reset": "9" }, {}, undefined],
  [
    "the slower of two empty buckets",
    {
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "120ms",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "1m2s",
    },
    {},
    62_000,
  ],
  ["a moment as seconds", { "ratelimit-remaining": "0", "ratelimit-reset": String(inTenSeconds / 1000) }, {}, 10_000],
  [
    "a moment as a date",
    { "anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:10Z" },
    {},
    10_000,
  ],
];

for (const [what, headers, body, wait] of cases) {
  test(`the wait is read from ${what} [M3]`, () => {
    assert.equal(retryAfterMs(headers, readErrorBody(429, JSON.stringify(body)), now), wait);
  });
}

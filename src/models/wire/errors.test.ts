import assert from "node:assert/strict";
import { test } from "node:test";
import { readErrorBody } from "./error-body.ts";
import { judge } from "./errors.ts";
import { retryAfterMs } from "./retry-after.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

/** Real wordings, shortened. The status, the body (or only its message), and what it means. */
const wordings: [status: number, body: unknown, kind: string][] = [
  // The prompt is too long.
  [400, "Requested tokens (9001) exceed context window of 8192", "context_overflow"],
  [400, "Trying to keep the first 9001 tokens when context the overflows.", "context_overflow"],
  [400, "Input validation error: `inputs` must have less than 1024 tokens. Given: 1200", "context_overflow"],
  [422, "`inputs` tokens + `max_new_tokens` must be <= 2048. Given: 3000 `inputs` tokens", "context_overflow"],
  [400, "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000", "context_overflow"],
  [400, "The decoder prompt (length 9000) is longer than the maximum model length of 8192.", "context_overflow"],
  [400, "prompt token count of 130000 exceeds the limit of 128000", "context_overflow"],
  [400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length", "context_overflow"],
  [400, "Please reduce the length of the messages or completion.", "context_overflow"],
  [400, "Input is too long for requested model.", "context_overflow"],
  [400, "Your input exceeds the context window of this model.", "context_overflow"],
  [400, "too many tokens: size limit exceeded by 300 tokens", "context_overflow"],
  [400, "length of prompt_tokens (40000) must be less than max_seq_len (32768).", "context_overflow"],
  [500, "litellm.ContextWindowExceededError: too much", "context_overflow"],
  [400, "输入内容过长", "context_overflow"],
  [400, "请求的 token 数超过最大限制", "context_overflow"],
  // The room for the answer is what is wrong.
  [400, "max_tokens is too large: 9000. This model supports at most 4096 completion tokens.", "bad_request"],
  [400, "max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens", "bad_request"],
  // Money, or a limit that stays.
  [429, { error: { message: "Your account is not active", code: "billing_not_active" } }, "quota"],
  [400, "Your credit balance is too low to access the API.", "quota"],
  [402, "This request requires more credits, or fewer max_tokens.", "quota"],
  [403, { error: { code: "AccountOverdueError", message: "The request failed" } }, "quota"],
  [403, { code: "AllocationQuota.FreeTierOnly", message: "The free tier of the model has been exhausted." }, "quota"],
  [429, { error: { type: "exceeded_current_quota_error", message: "Your account is suspended" } }, "quota"],
  [429, "Rate limit exceeded: free-models-per-day", "quota"],
  [429, "Rate limit reached on tokens per day (TPD): Limit 100000. Please try again in 14m24s.", "quota"],
  [429, "Rate limit of 150 per 86400s exceeded for UserByModelByDay. Please wait 300 seconds.", "quota"],
  [429, "Slow down. Please try again in 5h.", "quota"],
  [500, "该令牌额度已用尽", "quota"],
  [200, { base_resp: { status_code: 1008, status_msg: "insufficient balance" } }, "quota"],
  // A limit that passes.
  [429, "This request would exceed your rate limit of 40,000 input tokens per minute", "rate_limit"],
  [400, { error: { message: "no more", code: "rate_limit_exceeded" } }, "rate_limit"],
  [200, { base_resp: { status_code: 1002, status_msg: "rate limit" } }, "rate_limit"],
  [200, { base_resp: { status_code: 1039, status_msg: "TPM limit" } }, "rate_limit"],
  [429, { error: { code: "1302", message: "您的账户已达到速率限制" } }, "rate_limit"],
  [500, "litellm.RateLimitError: slow", "rate_limit"],
  // The provider cannot.
  [429, "当前分组上游负载已饱和，请稍后再试", "overloaded"],
  [429, { error: { code: "ServerOverloaded", message: "The service is overloaded" } }, "overloaded"],
  [400, { error: { type: "overloaded_error", message: "Overloaded" } }, "overloaded"],
  [503, "Loading model", "overloaded"],
  [500, "model requires more system memory (5.6 GiB) than is available", "overloaded"],
  [500, { error: { type: "invalid_request_error", message: "Something broke" } }, "overloaded"],
  [524, "", "overloaded"],
  [424, { message: "The model returned an error" }, "overloaded"],
  // There is no such thing.
  [400, "openai/nope is not a valid model ID", "not_found"],
  [400, { error: { message: "gone", code: "model_decommissioned" } }, "not_found"],
  [403, { error: { message: "no access to this one", code: "model_not_found" } }, "not_found"],
  [400, { code: 20012, message: "Model does not exist. Please check it carefully." }, "not_found"],
  [503, "No available channel for model m under group default", "not_found"],
  [400, "The requested model is not supported.", "not_found"],
  [410, "", "not_found"],
  // Who asks.
  [400, "User location is not supported for the API use.", "auth"],
  [401, "无效的令牌", "auth"],
  [403, { __type: "AccessDeniedException", message: "no" }, "auth"],
  [407, "", "auth"],
  // The request.
  [400, "tool_call_id call_1 not found in 'tool_calls' of previous message", "bad_request"],
  [400, "registry.example/library/m does not support tools", "bad_request"],
  [413, "", "bad_request"],
  [400, "messages.1.content.0: Invalid `signature` in `thinking` block", "bad_request"],
  [413, { error: { type: "request_too_large", message: "Request exceeds the maximum size" } }, "bad_request"],
  [400, { detail: [{ loc: ["body", 0], msg: "Input should be a valid string", input: "rate limit" }] }, "bad_request"],
  [422, { errors: [{ code: 7003, message: "Could not read the body" }], success: false }, "bad_request"],
];

for (const [status, body, kind] of wordings) {
  const said = typeof body === "string" ? body : JSON.stringify(body);
  test(`${status} ${said.slice(0, 90)} is ${kind} [M3]`, () => {
    const text = typeof body === "string" ? JSON.stringify({ error: { message: body } }) : JSON.stringify(body);
    const { error, isFiltered } = judge(readErrorBody(status, text), {}, now);
    assert.deepEqual([error.kind, isFiltered], [kind, false]);
    assert.equal(error.retryable, ["rate_limit", "overloaded"].includes(kind));
  });
}

const filtered = [
  { error: { code: "content_policy_violation", message: "no" } },
  { error: { code: "1301", message: "系统检测到输入或生成内容可能包含不安全或敏感内容" } },
  { error: { message: "Content Exists Risk" } },
  { error: { message: "The request was rejected because it was considered high risk" } },
  { error: { code: "InputTextSensitiveContentDetected", message: "no" } },
];

for (const body of filtered) {
  test(`${JSON.stringify(body).slice(0, 90)} is a content filter [M3]`, () => {
    const { error, isFiltered } = judge(readErrorBody(400, JSON.stringify(body)), {}, now);
    assert.deepEqual([error.kind, error.retryable, isFiltered], ["bad_request", false, true]);
  });
}

const inTenSeconds = now + 10_000;

const empty = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" };
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
  ["a moment in the body", {}, { error: { headers: { "X-RateLimit-Reset": String(inTenSeconds) } } }, 10_000],
  ["hours, minutes and seconds", {}, { message: "Please try again in 1h2m3s." }, 3_723_000],
  ["milliseconds in words", {}, { message: "try again in 6 ms" }, 6],
  ["minutes in words", {}, { message: "Please wait 2 minutes before retrying" }, 120_000],
  ["a number that is no wait", {}, { message: "Limit 3, used 3 requests. Try again later." }, undefined],
  ["words before buckets", empty, { message: "retry after 4 seconds" }, 4_000],
  ["the empty bucket", empty, {}, 9_000],
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

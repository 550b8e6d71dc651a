import type { FailureCode } from "./failure.ts";

/** How a turn can fail by itself: where its answer comes at once, that is the answer. */
export const turnFailures = [
  "model_auth",
  "model_quota",
  "model_rate_limit",
  "model_overloaded",
  "model_network",
  "model_protocol",
  "model_bad_request",
  "model_not_found",
  "model_context_overflow",
  "context_exhausted",
  "price_unknown",
  "turn_crashed",
] as const satisfies readonly FailureCode[];

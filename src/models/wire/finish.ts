import type { Finish } from "../../protocol/message.ts";

/** `failure`: the provider says that it broke off, not that the model was done. */
export type FinishMeaning = Exclude<Finish, "error"> | "failure";

/**
 * What a server's finish reason means, in any spelling; unknown ones count as `stop`. `undefined`: not finished yet, also
 * where that is written out.
 */
export function finishMeaning(reason: unknown): FinishMeaning | undefined {
  if (typeof reason !== "string" || /^\s*(?:null|none)?\s*$/i.test(reason)) return undefined;
  const word = reason
    .toLowerCase()
    .replace(/[^a-z]+/g, "_")
    .replace(/^_?(finish_reason_)?|_$/g, "");
  if (word.includes("malformed")) return "failure";
  return meanings.get(word) ?? "stop";
}

const spellings: Record<Exclude<FinishMeaning, "stop">, readonly string[]> = {
  tool_calls: ["tool_calls", "tool_call", "tool_use", "tool", "tools", "function_call", "function_calls"],
  length: [
    "length",
    "max_tokens",
    "max_token",
    "max_output_tokens",
    "max_completion_tokens",
    "max_new_tokens",
    "max_length",
    "model_length",
    "token_limit",
    "length_limit",
    "limit",
    "truncated",
    "incomplete",
    "context_length",
    "context_length_exceeded",
    "context_window_exceeded",
    "model_context_window_exceeded",
    "error_limit",
  ],
  content_filter: [
    "content_filter",
    "content_filtered",
    "contentfilter",
    "content_policy",
    "content_policy_violation",
    "sensitive",
    "safety",
    "recitation",
    "language",
    "blocklist",
    "prohibited_content",
    "spii",
    "image_safety",
    "image_prohibited_content",
    "refusal",
    "moderation",
    "flagged",
    "blocked",
    "risk_control",
    "guardrail",
    "guardrails",
    "guardrail_intervened",
    "data_inspection_failed",
    "error_toxic",
  ],
  failure: [
    "error",
    "failed",
    "failure",
    "insufficient_system_resource",
    "network_error",
    "server_error",
    "internal_error",
    "internal_server_error",
    "engine_error",
    "engine_overloaded",
    "overloaded",
    "upstream_error",
    "provider_error",
    "model_error",
    "timeout",
    "abort",
    "aborted",
    "cancelled",
    "canceled",
    "unexpected_tool_call",
  ],
};

const meanings: ReadonlyMap<string, FinishMeaning> = new Map([
  ...spellings.tool_calls.map((word) => [word, "tool_calls"] as const),
  ...spellings.length.map((word) => [word, "length"] as const),
  ...spellings.content_filter.map((word) => [word, "content_filter"] as const),
  ...spellings.failure.map((word) => [word, "failure"] as const),
]);

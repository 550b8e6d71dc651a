import type { TurnOutcome } from "../protocol/events.ts";

/**
 * How a command ends: the one table, stable for scripts. 7 (denied by policy) and 8 (sandbox unavailable) are kept free
 * for the parts that will need them.
 */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  configuration: 3,
  model_unavailable: 4,
  limit: 5,
  approval_needed: 6,
  context_exhausted: 9,
  interrupted: 130,
} as const;

export type ExitReason = keyof typeof exitCodes;

export const exitReasons: readonly ExitReason[] = Object.keys(exitCodes).filter(
  (reason): reason is ExitReason => reason in exitCodes,
);

/** What the end of a turn means for the exit code. */
export function exitReasonOfTurn(end: {
  readonly outcome: TurnOutcome;
  readonly failureCode: string | undefined;
}): ExitReason {
  switch (end.outcome) {
    case "done":
      return "done";
    case "limit":
      return "limit";
    case "cancelled":
      return "interrupted";
    case "failed":
    case "crashed":
      return exitReasonOf(end.failureCode ?? "");
  }
}

/** What a failure means for the exit code. Codes may come from a log or from the wire. */
export function exitReasonOf(failureCode: string): ExitReason {
  return reasons[failureCode] ?? "failed";
}

const reasons: Readonly<Record<string, ExitReason>> = {
  usage: "usage",
  bad_request: "usage",
  message_blank: "usage",
  slot_unknown: "usage",
  tool_not_found: "usage",
  tool_arguments_broken: "usage",
  tool_arguments_unfit: "usage",
  rule_not_found: "usage",
  conversation_not_found: "usage",
  conversation_ambiguous: "usage",
  user_exists: "usage",
  sign_in_as_taken: "usage",
  user_unknown: "usage",
  user_id_unfit: "usage",
  password_unfit: "usage",
  key_not_found: "usage",
  keys_full: "usage",
  backup_exists: "usage",
  restore_not_empty: "usage",
  database_not_empty: "usage",
  files_elsewhere: "configuration",
  database_not_set: "configuration",
  database_unusable: "configuration",
  users_needed: "configuration",
  config_invalid: "configuration",
  setting_invalid: "configuration",
  checker_broken: "configuration",
  storage_read_only: "configuration",
  data_missing: "configuration",
  data_unusable: "configuration",
  images_unusable: "configuration",
  segmenter_missing: "configuration",
  model_half_set: "configuration",
  model_auth: "configuration",
  model_quota: "model_unavailable",
  model_rate_limit: "model_unavailable",
  model_not_found: "model_unavailable",
  model_overloaded: "model_unavailable",
  model_network: "model_unavailable",
  model_protocol: "model_unavailable",
  model_context_overflow: "context_exhausted",
  context_exhausted: "context_exhausted",
  nobody_to_ask: "approval_needed",
};

import type { FailureCode } from "./failure.ts";
import { turnFailures } from "./turn-failures.ts";

/** What can go wrong where something is stored. */
export const storing = [
  "storage_busy",
  "storage_full",
  "storage_broken",
  "storage_read_only",
  "database_away",
] as const;
/** Failures of every route that names a user and a conversation. */
export const failures = [
  "bad_request",
  "user_unknown",
  "conversation_not_found",
  ...storing,
] as const satisfies readonly FailureCode[];

/** Failures of a chat, whichever way its answer comes. */
export const completing = [
  ...failures,
  "field_retired",
  "selected_file_missing",
  "selected_file_elsewhere",
  "path_traversal_blocked",
  "path_invalid",
  "files_in_trash",
  "conversation_of_agent",
  "conversation_busy",
  "message_not_found",
  "decision_not_found",
  "decision_already_made",
  "decision_verdict_unfit",
  "answer_required",
  "tool_arguments_unfit",
  "tool_arguments_broken",
  "tool_denied",
  "sandbox_session_create_failed",
  "sandbox_session_not_ready",
  // How a turn fails whose answer comes at once.
  ...turnFailures,
  "server_closing",
] as const satisfies readonly FailureCode[];

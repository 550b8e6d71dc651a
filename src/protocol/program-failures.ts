import type { FailureCode } from "./failure.ts";

/** What can befall the database. */
export const storageFailures = [
  "storage_busy",
  "storage_full",
  "storage_broken",
  "storage_read_only",
  "database_away",
] as const satisfies readonly FailureCode[];

/** Why there was no program. */
export const programFailures = [
  "sandbox_unavailable",
  "sandbox_start_failed",
  "sandbox_full",
  "sandbox_busy",
  "code_too_long",
  "workspace_not_assigned",
  "write_failed",
  "quota_exceeded",
  "path_invalid",
  "path_traversal_blocked",
] as const satisfies readonly FailureCode[];

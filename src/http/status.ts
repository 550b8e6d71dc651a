import type { FailureCode } from "../protocol/failure.ts";

export type ProblemStatus =
  | 400
  | 403
  | 404
  | 405
  | 408
  | 409
  | 412
  | 413
  | 415
  | 416
  | 422
  | 429
  | 500
  | 502
  | 503
  | 507;

/** The one place where a failure code becomes an HTTP status. */
export const statusOf: Readonly<Record<FailureCode, ProblemStatus>> = {
  bad_request: 400,
  bad_json: 400,
  content_type_unfit: 415,
  body_too_large: 413,
  route_not_found: 404,
  method_not_allowed: 405,
  network: 502,
  answer_unreadable: 502,
  forbidden_origin: 403,
  internal: 500,

  conversation_not_found: 404,
  conversation_ambiguous: 409,
  conversation_exists: 409,
  conversation_busy: 409,
  context_exhausted: 409,
  compaction_off: 409,
  compaction_not_found: 404,
  checker_broken: 500,
  decision_broken: 409,
  rule_not_offered: 422,
  rule_not_found: 404,
  rules_full: 409,
  tool_denied: 403,
  memory_full: 409,
  memory_not_found: 404,
  memory_secret: 422,
  checkpoint_not_found: 404,
  message_not_found: 404,
  turn_not_running: 409,
  decision_not_found: 404,
  decision_already_made: 409,
  decision_verdict_unfit: 422,
  answer_required: 422,
  log_record_broken: 500,

  workspace_not_assigned: 404,
  path_traversal_blocked: 400,
  path_invalid: 400,
  file_not_found: 404,
  permission_denied: 403,
  write_failed: 500,
  read_failed: 500,
  range_unfit: 416,
  not_a_file: 400,
  not_a_folder: 400,
  too_large: 413,
  quota_exceeded: 409,
  conflict: 409,
  unsupported_type: 415,
  pattern_invalid: 422,
  files_in_trash: 409,
  nothing_to_undo: 409,
  trash_not_found: 404,
  images_unusable: 503,

  sandbox_unavailable: 503,
  sandbox_start_failed: 503,
  sandbox_full: 503,
  sandbox_busy: 429,
  streams_full: 429,
  code_too_long: 413,
  session_exists: 409,
  session_of_another: 400,
  session_not_found: 404,
  execution_not_found: 404,
  execution_running: 408,
  template_not_found: 404,
  packages_not_configured: 403,
  packages_installing: 409,
  package_index_refused: 422,
  installer_missing: 503,
  packages_failed: 400,

  conversation_not_named: 400,
  file_ambiguous: 400,
  form_unfit: 400,
  archive_unfit: 400,
  archive_too_large: 413,
  upload_not_found: 404,
  upload_offset_unfit: 409,
  upload_checksum_unfit: 409,
  upload_version_unfit: 412,
  uploads_too_many: 409,

  fenced: 409,
  log_moved: 409,
  storage_busy: 503,
  storage_full: 507,
  storage_read_only: 503,
  storage_broken: 503,
  storage_newer: 503,
  owner_unreachable: 503,
  owner_other_version: 503,
  data_in_use: 503,
  address_unusable: 503,

  message_blank: 422,
  slot_unknown: 422,
  model_half_set: 422,
  model_auth: 502,
  model_quota: 502,
  model_rate_limit: 429,
  model_context_overflow: 422,
  model_not_found: 502,
  model_bad_request: 502,
  model_overloaded: 503,
  model_network: 502,
  model_protocol: 502,
  turn_crashed: 500,

  tool_not_found: 422,
  tool_arguments_broken: 422,
  tool_arguments_cut: 422,
  tool_arguments_unfit: 422,
  tool_crashed: 500,
  tool_timeout: 422,
  tool_cancelled: 409,
  tool_interrupted: 409,
  tool_rejected: 409,
  tool_not_run: 409,
  tool_repeated: 409,
  timezone_unknown: 422,

  config_invalid: 500,
  setting_invalid: 500,
  usage: 400,
  nobody_to_ask: 409,
};

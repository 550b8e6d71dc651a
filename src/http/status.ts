import type { Failure, FailureCode, FailureParams } from "../protocol/failure.ts";

export type ProblemStatus =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 408
  | 409
  | 410
  | 412
  | 413
  | 415
  | 416
  | 422
  | 429
  | 431
  | 500
  | 502
  | 503
  | 507;

/** One for the code, or one for each cause that its parameter `why` names. */
type Statuses = {
  readonly [C in FailureCode]:
    | ProblemStatus
    | (FailureParams<C> extends { readonly why: infer W extends string } ? Readonly<Record<W, ProblemStatus>> : never);
};

/** Broken off is 408: whoever went away may send the same again, also under the same Idempotency-Key. */
const ofDisk = { full: 507, read_only: 503, changed: 409, broken_off: 408, io: 500, too_many_open: 503 } as const;

const statuses: Statuses = {
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
  transfer_refused: 409,
  budget_short: 409,
  budget_spent: 409,
  price_unknown: 409,
  context_exhausted: 409,
  compaction_off: 409,
  compaction_not_found: 404,
  checker_broken: 500,
  decision_broken: 409,
  rule_not_offered: 422,
  rule_not_found: 404,
  skill_not_found: 404,
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

  workspace_not_assigned: 404,
  path_traversal_blocked: 400,
  path_invalid: 400,
  file_not_found: 404,
  permission_denied: 403,
  write_failed: ofDisk,
  read_failed: ofDisk,
  range_unfit: 416,
  not_a_file: 400,
  not_a_folder: 400,
  content_not_kept: 404,
  too_large: 413,
  quota_exceeded: 409,
  conflict: 409,
  unsupported_type: 415,
  pattern_invalid: 422,
  index_unavailable: 503,
  segmenter_missing: 503,
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
  packages_failed: { index: 400, time: 408, room: 507, lost: 503, cancelled: 409 },

  mcp_server_failed: {
    ...{ start: 502, ended: 502, time: 502, network: 502, http: 502, refused: 502, protocol: 502 },
    ...{ closed: 503, paused: 503 },
  },
  mcp_server_not_found: 404,
  mcp_sign_in_needed: 409,
  mcp_sign_in_failed: 400,
  mcp_no_sign_in: 409,
  mcp_full: 429,
  form_answer_unfit: 422,

  conversation_not_named: 400,
  file_ambiguous: 400,
  form_unfit: 400,
  archive_unfit: 400,
  archive_too_large: 413,
  upload_not_found: 404,
  document_locked: 422,
  document_damaged: 422,
  document_unknown: 415,
  document_too_large: 413,
  document_too_slow: 422,
  document_too_costly: 422,
  document_reader_crashed: 500,
  document_stopped: 408,
  upload_offset_unfit: 409,
  upload_checksum_unfit: 409,
  upload_version_unfit: 412,
  uploads_too_many: 409,

  secret_key_unusable: 503,
  secret_sealed: 503,
  secret_too_long: 413,

  toolbox_not_found: 404,
  toolbox_tool_not_found: 404,
  toolbox_of_another: 403,
  toolbox_name_taken: 409,
  toolboxes_full: 409,
  toolbox_off: 409,
  toolbox_credential_missing: 409,
  openapi_unfit: 422,
  operation_unfit: 422,

  field_retired: 400,
  selected_file_missing: 400,
  selected_file_elsewhere: 400,
  conversation_of_agent: 409,
  agent_not_found: 404,
  agent_unknown: 404,
  agent_ended: 409,
  agent_out_of_reach: 403,
  agent_not_yours: 403,
  mail_in_circles: 409,
  hand_over_too_many: 422,
  run_not_found: 404,
  sandbox_session_create_failed: 500,
  sandbox_session_not_ready: 503,
  function_call_unknown: 400,
  function_name_taken: 400,
  parameter_unsupported: 400,
  server_closing: 503,
  turn_cancelled: 409,
  response_not_found: 404,
  response_in_conversation: 409,
  key_used_otherwise: 422,
  key_in_use: 409,
  key_unfit: 400,

  sign_in_required: 401,
  sign_in_failed: 401,
  sign_in_link_used: 401,
  scope_missing: 403,
  page_forged: 403,
  rate_limited: 429,
  user_exists: 409,
  user_unknown: 404,
  user_id_unfit: 422,
  password_unfit: 422,
  key_not_found: 404,
  keys_full: 409,
  sign_in_service_failed: 502,
  sign_in_expired: 401,
  sign_in_stranger: 403,
  sign_in_as_taken: 409,
  proxy_unnamed: 403,
  users_needed: 409,
  request_unreadable: { headers: 431, slow: 408, syntax: 400, broken_off: 400 },
  already_served: 409,
  backup_failed: 500,
  backup_newer: 422,
  restore_failed: 500,
  not_ready: 503,
  home_away: 503,
  peer_unknown: 401,
  backup_exists: 409,
  backup_broken: 422,
  restore_not_empty: 409,

  fenced: 409,
  log_moved: 409,
  storage_busy: 503,
  storage_full: 507,
  storage_read_only: 503,
  storage_broken: 503,
  storage_newer: 503,
  database_away: 503,
  database_unusable: 503,
  database_not_set: 503,
  database_not_empty: 503,
  files_elsewhere: 503,
  owner_unreachable: 503,
  owner_other_version: 503,
  data_in_use: 503,
  data_missing: 503,
  data_unusable: 503,
  restore_unfinished: 503,
  address_unusable: 503,

  message_blank: 422,
  slot_unknown: 422,
  model_fixed: 409,
  model_not_entered: 404,
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
  tool_failed: 502,
  tool_crashed: 500,
  tool_timeout: 422,
  tool_cancelled: 409,
  tool_interrupted: 409,
  tool_rejected: 409,
  tool_not_run: 409,
  tool_repeated: 409,
  timezone_unknown: 422,
  web_address_refused: 422,
  web_fetch_failed: 502,
  web_page_failed: 502,
  web_too_large: 422,
  web_search_off: 409,
  web_search_failed: 502,

  config_invalid: 500,
  setting_invalid: 500,
  usage: 400,
  nobody_to_ask: 409,
  answer_unfit: 502,
};

/** The one place where a failure becomes an HTTP status. */
export function statusOf(failure: Pick<Failure, "code" | "params">): ProblemStatus {
  const status: ProblemStatus | Readonly<Record<string, ProblemStatus>> = statuses[failure.code];
  if (typeof status === "number") return status;
  // A log that others wrote may name a cause that we do not know.
  return ("why" in failure.params ? status[failure.params.why] : undefined) ?? 500;
}

/** All that a code may be answered with. */
export function statusesOf(code: FailureCode): readonly ProblemStatus[] {
  const status = statuses[code];
  return typeof status === "number" ? [status] : [...new Set(Object.values(status))];
}

/** Whether it is one of ours: codes also come from logs that others wrote. */
export function isFailureCode(code: string): code is FailureCode {
  return Object.hasOwn(statuses, code);
}

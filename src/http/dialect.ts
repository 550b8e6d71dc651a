import type { Problem } from "../protocol/resources.ts";
import type { Dialect } from "../protocol/route.ts";

/** In which words a path speaks of its failures; known before its route is, so that a refusal at the door has them too. */
export function dialectOf(path: string): Dialect {
  if (/^\/api\/agent-(app|factory)\//.test(path)) return "chat";
  if (path.startsWith("/api/agent-operator-integration/")) return "operators";
  return path.startsWith("/v1/") ? "openai" : "own";
}

/** A problem as a client of this dialect reads it; undefined: as it is. */
export function inDialect(problem: Problem, dialect: Dialect): Readonly<Record<string, unknown>> | undefined {
  switch (dialect) {
    case "own":
      return undefined;
    case "chat":
      return chatError(problem);
    case "openai":
      return openAiError(problem);
    case "operators":
      return operatorError(problem);
  }
}

/** The flat body of the chat service, with the copy that it puts into streams. */
export function chatError({ code, title, detail, params, requestId }: Problem) {
  const solution = detail.slice(title.length).trim();
  return {
    error_code: chatCode(code),
    // Its descriptions are no sentences.
    description: title.replace(/[.。]$/, ""),
    solution,
    error_link: "",
    error_details: fixedDetails[code] ?? { code, params, request_id: requestId },
  };
}

/** Its clients compare these word for word. */
const fixedDetails: Readonly<Record<string, string>> = {
  sandbox_session_create_failed: "Failed to create sandbox session",
  sandbox_session_not_ready: "Sandbox session initialization timeout",
};

/** The codes that its clients know; others keep our word. */
function chatCode(code: string): string {
  return chatCodes[code] ?? `AgentAPP.${code}`;
}

const chatCodes: Readonly<Record<string, string>> = {
  bad_request: "AgentAPP.InvalidParameter.RequestBody",
  bad_json: "AgentAPP.InvalidParameter.RequestBody",
  field_retired: "AgentAPP.InvalidParameter.RequestBody",
  content_type_unfit: "AgentAPP.InvalidRequestHeader.ContentType",
  sign_in_required: "AgentAPP.InvalidRequestHeader.Authorization",
  scope_missing: "AgentAPP.Forbidden.PermissionDenied",
  conversation_not_found: "AgentAPP.Conversation.NotFound",
  agent_not_found: "AgentAPP.Agent.GetAgentFailed",
  run_not_found: "AgentAPP.Agent.ResumeFailed",
  message_not_found: "AgentAPP.Agent.GetMessageFailed",
  sandbox_session_create_failed: "AgentAPP.SandboxSessionCreateFailed",
  sandbox_session_not_ready: "AgentAPP.SandboxSessionNotReady",
  internal: "AgentAPP.InternalError",
};

/** An error as OpenAI's clients read it. */
export function openAiError({ code, detail, status, params }: Problem) {
  const type = status === 401 ? "authentication_error" : status === 403 ? "permission_error" : openAiType(status);
  return { error: { message: detail, type, param: paramOf(params), code: openAiCodes[code] ?? code } };
}

/** Which field of the body is meant: `body.n: too big` → `n`. */
function paramOf(params: Readonly<Record<string, unknown>>): string | null {
  const named = params.parameter ?? params.what;
  return typeof named === "string" ? (/^(?:body\.)?([^:\s]+)/.exec(named)?.[1] ?? null) : null;
}

/** The codes that its clients know; others keep our word. */
const openAiCodes: Readonly<Record<string, string>> = {
  agent_not_found: "model_not_found",
  sign_in_required: "invalid_api_key",
  rate_limited: "rate_limit_exceeded",
  model_rate_limit: "rate_limit_exceeded",
  model_quota: "insufficient_quota",
  model_context_overflow: "context_length_exceeded",
  context_exhausted: "context_length_exceeded",
  // Their word for an agent that does not exist: this one is about the model behind it.
  model_not_found: "upstream_model_not_found",
  internal: "server_error",
};

function openAiType(status: number): string {
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/** The body of the operator platform: its code has the status in words, and ours behind it. */
function operatorError({ code, status, title, detail, params, requestId }: Problem) {
  return {
    code: `AgentOperatorIntegration.${operatorWords[status] ?? "InternalServerError"}.${operatorCodes[code] ?? code}`,
    description: title.replace(/[.。]$/, ""),
    solution: detail.slice(title.length).trim(),
    link: "",
    details: { code, params, request_id: requestId },
  };
}

const operatorWords: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  413: "BadRequest",
  415: "BadRequest",
  422: "BadRequest",
  429: "TooManyRequests",
  503: "ServiceUnavailable",
};

/** The codes that its clients know; others keep our word. */
const operatorCodes: Readonly<Record<string, string>> = {
  toolbox_not_found: "ToolBoxNotFound",
  toolbox_tool_not_found: "ToolNotFound",
  toolbox_of_another: "CommonOperationForbidden",
  toolbox_off: "ToolNotAvailable",
  scope_missing: "CommonOperationForbidden",
  openapi_unfit: "OpenAPISyntaxInvalid",
};

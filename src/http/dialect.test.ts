import assert from "node:assert/strict";
import { test } from "node:test";
import type { Problem } from "../protocol/resources.ts";
import { dialectOf, inDialect } from "./dialect.ts";

function problem(code: string, more: Partial<Problem> = {}): Problem {
  return {
    ...{ type: `urn:agentyard:failure:${code}`, code, status: 400, retryable: false, requestId: "r-1" },
    ...{ title: "It is not there.", detail: "It is not there. Look elsewhere.", params: { what: "body.n: too big" } },
    ...more,
  };
}

test("a path speaks of its failures as the service does whose path it is [P4][C1][C5][T4]", () => {
  const paths = {
    "/api/agent-app/v1/app/a/chat/completion": "chat",
    "/api/agent-factory/v3/agent-market/agent/a": "chat",
    "/api/agent-operator-integration/v1/tool-box": "operators",
    "/v1/chat/completions": "openai",
    "/api/v1/conversations": "own",
    "/v1": "own",
    "/api/agent-other/v1/a": "own",
  };
  assert.deepEqual(Object.fromEntries(Object.keys(paths).map((path) => [path, dialectOf(path)])), paths);
  assert.equal(inDialect(problem("internal"), "own"), undefined);
});

test("every code that clients of the chat service know is told by their word for it, and others by ours [C1][P4]", () => {
  const words = {
    bad_request: "InvalidParameter.RequestBody",
    bad_json: "InvalidParameter.RequestBody",
    field_retired: "InvalidParameter.RequestBody",
    content_type_unfit: "InvalidRequestHeader.ContentType",
    sign_in_required: "InvalidRequestHeader.Authorization",
    scope_missing: "Forbidden.PermissionDenied",
    conversation_not_found: "Conversation.NotFound",
    agent_not_found: "Agent.GetAgentFailed",
    run_not_found: "Agent.ResumeFailed",
    message_not_found: "Agent.GetMessageFailed",
    sandbox_session_create_failed: "SandboxSessionCreateFailed",
    sandbox_session_not_ready: "SandboxSessionNotReady",
    internal: "InternalError",
    conversation_busy: "conversation_busy",
  };
  const told = Object.keys(words).map((code) => [code, inDialect(problem(code), "chat")?.error_code]);
  assert.deepEqual(
    told,
    Object.entries(words).map(([code, word]) => [code, `AgentAPP.${word}`]),
  );
  assert.deepEqual(inDialect(problem("bad_request"), "chat"), {
    ...{ error_code: "AgentAPP.InvalidParameter.RequestBody", description: "It is not there", error_link: "" },
    solution: "Look elsewhere.",
    error_details: { code: "bad_request", params: { what: "body.n: too big" }, request_id: "r-1" },
  });
  const chinese = problem("internal", { title: "出错了。", detail: "出错了。请重试。" });
  const { description, solution } = Object(inDialect(chinese, "chat"));
  assert.deepEqual([description, solution], ["出错了", "请重试。"]);
});

test("every code that OpenAI's clients know is told by their word for it, with the kind of error and the field [C5][P4]", () => {
  const words = {
    agent_not_found: "model_not_found",
    sign_in_required: "invalid_api_key",
    rate_limited: "rate_limit_exceeded",
    model_rate_limit: "rate_limit_exceeded",
    model_quota: "insufficient_quota",
    model_context_overflow: "context_length_exceeded",
    context_exhausted: "context_length_exceeded",
    model_not_found: "upstream_model_not_found",
    internal: "server_error",
    turn_cancelled: "turn_cancelled",
  };
  const error = (told: Problem) => Object(inDialect(told, "openai")).error;
  const told = Object.keys(words).map((code) => [code, error(problem(code)).code]);
  assert.deepEqual(told, Object.entries(words));
  const types = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    409: "invalid_request_error",
    429: "rate_limit_error",
    500: "server_error",
    503: "server_error",
  };
  const typed = Object.keys(types).map((status) => [
    status,
    error(problem("internal", { status: Number(status) })).type,
  ]);
  assert.deepEqual(typed, Object.entries(types));
  const field = (params: Problem["params"]) => error(problem("bad_request", { params })).param;
  assert.deepEqual(
    [field({ what: "body.n: too big" }), field({ what: "query.x" }), field({ parameter: "logprobs", what: "body" })],
    ["n", "query.x", "logprobs"],
  );
  assert.deepEqual([field({}), error(problem("internal")).message], [null, "It is not there. Look elsewhere."]);
});

test("a failure of the operator platform has its status in words, and the code that its clients know [T4][P4]", () => {
  const code = (told: Problem) => Object(inDialect(told, "operators")).code;
  const statuses = {
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
    500: "InternalServerError",
    502: "InternalServerError",
    503: "ServiceUnavailable",
  };
  const told = Object.keys(statuses).map((status) => [status, code(problem("internal", { status: Number(status) }))]);
  assert.deepEqual(
    told,
    Object.entries(statuses).map(([status, word]) => [status, `AgentOperatorIntegration.${word}.internal`]),
  );
  const words = {
    toolbox_not_found: "ToolBoxNotFound",
    toolbox_tool_not_found: "ToolNotFound",
    toolbox_of_another: "CommonOperationForbidden",
    toolbox_off: "ToolNotAvailable",
    scope_missing: "CommonOperationForbidden",
    openapi_unfit: "OpenAPISyntaxInvalid",
  };
  assert.deepEqual(
    Object.keys(words).map((ours) => [ours, code(problem(ours)).split(".").at(-1)]),
    Object.entries(words),
  );
  assert.deepEqual(inDialect(problem("toolbox_off", { status: 409 }), "operators"), {
    ...{ code: "AgentOperatorIntegration.Conflict.ToolNotAvailable", description: "It is not there", link: "" },
    solution: "Look elsewhere.",
    details: { code: "toolbox_off", params: { what: "body.n: too big" }, request_id: "r-1" },
  });
});

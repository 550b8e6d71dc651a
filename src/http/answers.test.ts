import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Hono } from "hono";
import { ok } from "../base/result.ts";
import { type Failure, makeFailure, storedFailure } from "../protocol/failure.ts";
import { Problem } from "../protocol/resources.ts";
import { wordsFor } from "../words/words.ts";
import type { FileStream } from "../workspace/workspace.ts";
import { dialectOf, inDialect } from "./dialect.ts";
import type { Env } from "./door.ts";
import { sendDownload, tagOf } from "./download.ts";
import { refuse } from "./problem.ts";
import { shownAs } from "./shown-as.ts";
import { isFailureCode, statusesOf, statusOf } from "./status.ts";
import { toldReceipt } from "./told-receipt.ts";

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

/** A refusal as it goes out; `before`: what the answer says already. */
async function refused(reason: Failure, before?: string) {
  const app = new Hono<Env>();
  app.get("/", (c) => {
    c.set("requestId", "r-1");
    c.set("language", "en");
    c.set("dialect", "own");
    if (before !== undefined) c.header("retry-after", before);
    return refuse(c, reason, { more: 1, code: "of something else" });
  });
  const answer = await app.fetch(new Request("http://here/"));
  const { code, more } = Object(await answer.json());
  assert.deepEqual([code, more], [reason.code, 1], "what stands beside never takes the place of what is refused");
  return [answer.status, answer.headers.get("retry-after")];
}

test("whoever is refused for a while is told how long in whole seconds, never too soon, and as well as anybody knows [P4][C6]", async () => {
  const limited = (retryAfterSeconds: number) => makeFailure("rate_limited", { retryAfterSeconds });
  assert.deepEqual(await refused(limited(1.2)), [429, "2"]);
  assert.deepEqual(await refused(limited(3)), [429, "3"]);
  assert.deepEqual(await refused(limited(3), "9"), [429, "3"]);
  assert.deepEqual(await refused(makeFailure("storage_busy", {})), [503, "5"]);
  assert.deepEqual(await refused(makeFailure("storage_busy", {}), "1"), [503, "1"]);
  assert.deepEqual(await refused(makeFailure("storage_full", {})), [507, "5"]);
  assert.deepEqual(await refused(makeFailure("streams_full", { limit: 20 })), [429, "5"]);
  assert.deepEqual(await refused(makeFailure("bad_request", { what: "x" })), [400, null]);
});

test("the status follows the cause where a code has several: a full disk is 507, whoever went away 408 [P4]", () => {
  const status = (code: Parameters<typeof storedFailure>[0], why: string) => statusOf(storedFailure(code, { why }));
  const disk = ["full", "read_only", "changed", "broken_off", "io", "too_many_open"];
  for (const code of ["write_failed", "read_failed"] as const)
    assert.deepEqual(
      disk.map((why) => status(code, why)),
      [507, 503, 409, 408, 500, 503],
    );
  const packages = ["index", "time", "room", "lost", "cancelled"];
  assert.deepEqual(
    packages.map((why) => status("packages_failed", why)),
    [400, 408, 507, 503, 409],
  );
  const requests = ["headers", "slow", "syntax", "broken_off"];
  assert.deepEqual(
    requests.map((why) => status("request_unreadable", why)),
    [431, 408, 400, 400],
  );
  assert.equal(status("storage_full", ""), 507);
  assert.equal(status("write_failed", "what a later version wrote down"), 500);
  assert.deepEqual(statusesOf("packages_failed"), [400, 408, 507, 503, 409]);
});

test("the API page has every failure code under the status that it is answered with [P4]", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/api/README.md"), "utf8");
  const codes = Object.keys(wordsFor("en").failures).filter(isFailureCode);
  const rows = [...page.matchAll(/^\| `(\d{3})` \| (.+) \|$/gm)].map(([, status = "", listed = ""]) => [
    Number(status),
    [...listed.matchAll(/`(\w+)`/g)].map(([, code = ""]) => code),
  ]);
  const byStatus = Map.groupBy(
    codes.flatMap((code) => statusesOf(code).map((status) => ({ code, status }))),
    ({ status }) => status,
  );
  const answered = [...byStatus].map(([status, all]) => [status, all.map(({ code }) => code).sort()] as const);
  assert.deepEqual(
    rows,
    answered.sort(([a], [b]) => a - b),
  );
});

test("a browser shows pictures, sounds and films of every kind it knows, and what is anything else is only saved [S3][B1]", () => {
  const media = [
    ...["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/avif", "image/x-icon"],
    ...["audio/mpeg", "video/mp4", "video/x-matroska"],
  ];
  const policy = "default-src 'none'; sandbox; frame-ancestors 'self'";
  for (const type of media) assert.deepEqual(shownAs(type, { runs: true }), { type, policy });
  for (const type of ["text/plain", "image/tiff", "application/xhtml+xml", "text/xml", "image/png; x", undefined])
    assert.equal(shownAs(type, { runs: true }), undefined, String(type));
});

test("a part of a file that was replaced since it was looked at is refused, and the file is closed; all of it comes as it is now [S3][Q2]", async () => {
  const looked = { path: "outputs/a.txt", type: "file", bytes: 8, mode: 0o644, modifiedAt: 1 } as const;
  const now = { ...looked, bytes: 9, modifiedAt: 2 };
  let closed = 0;
  const opened = () => {
    const pieces = [Buffer.from("new, new!")];
    const chunks: FileStream["chunks"] = {
      next: async () => {
        const value = pieces.shift();
        return value === undefined ? { done: true, value } : { done: false, value };
      },
      async return() {
        closed += 1;
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => chunks,
    };
    return ok({ stat: now, chunks });
  };
  const app = new Hono<Env>();
  app.get("/", (c) => {
    c.set("requestId", "r");
    c.set("language", "en");
    c.set("dialect", "own");
    c.set("caller", { signedIn: undefined, scopes: [] });
    return sendDownload(c, { stat: looked, open: async () => opened() }, (error) => assert.fail(String(error)));
  });
  const part = await app.request("/", { headers: { range: "bytes=4-" } });
  const { code, params } = Problem.parse(await part.json());
  assert.deepEqual([part.status, code, params], [409, "read_failed", { path: "outputs/a.txt", why: "changed" }]);
  assert.equal(closed, 1);
  const whole = await app.request("/");
  const told = ["content-length", "etag"].map((name) => whole.headers.get(name));
  assert.deepEqual([whole.status, await whole.text(), told], [200, "new, new!", ["9", tagOf(now)]]);
});

test("what became of a file is told in one line, and each thing that could not be read in a sentence [F1][P4]", () => {
  const told = toldReceipt(
    {
      receipt: {
        ...{ parts: { kind: "page", count: 3 }, characters: 1_200, tables: 2, images: 1 },
        ...{ language: "zh", encoding: "gb18030", stopped: { limit: "100 pages", at: {} } },
        losses: [
          { kind: "running_heads", count: 9, places: [{ page: 1 }] },
          { kind: "damaged_pages", count: 3, places: [{ page: 2 }, { page: 5 }] },
          { kind: "hidden_slides", count: 1, places: [{ slide: 4 }] },
          { kind: "embedded_parts", count: 1, places: [{}] },
          { kind: "toString", count: 2, places: [] },
        ],
      },
      failure: makeFailure("storage_full", {}),
    },
    "en",
  );
  assert.equal(told.summary, "3 pages, 1,200 characters, 2 tables, Chinese, gb18030");
  assert.deepEqual(told.notes.slice(0, -1), [
    "3 pages are damaged and were (2, 5, …) left out: export the file again",
    "1 slide is hidden in the file; it was (4) read, too",
    "1 embedded file was not read: send it by itself",
    "2 × toString",
    "only a part of it was read: there is a limit of 100 pages",
  ]);
  assert.match(told.notes.at(-1) ?? "", /\. [A-Z]/);
});

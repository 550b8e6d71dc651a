import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import type { Answered, Call, Parts } from "../handler.ts";
import { notInvoked } from "../operators/invoked.ts";
import { ExecuteCode, executeCodeId } from "../operators/sandbox-box.ts";
import { parsePart } from "../parse.ts";
import { executeSync } from "./executions.ts";

/** Longer than any program may run unless it says so itself. */
const timeoutSecondsUsual = 60;

/**
 * `execute_code` of the sandbox's box. Whose session and conversation it is follows from who calls; an id that is said is
 * compared with that and never taken for granted: it may come from a model.
 */
export async function runSandboxTool(
  parts: Parts,
  asked: Call<"invokeTool"> | Call<"debugTool">,
): Promise<Answered<"invokeTool">> {
  const { params, body, language, query: _query, ...call } = asked;
  if (params.tool_id !== executeCodeId) return failure("toolbox_tool_not_found", { id: params.tool_id.slice(0, 80) });
  const startedAt = parts.clock.monotonic();
  const read = parsePart("body", ExecuteCode, { ...body.query, ...body.path, ...Object(body.body) }, language);
  if (!read.ok) return read;
  const { code, language: kind, session_id: id = `sess-${call.owner}`, conversation_id, event } = read.value;
  const timeout = read.value.timeout ?? (body.timeout || timeoutSecondsUsual);
  const run = await executeSync(parts, {
    ...{ ...call, language, params: { id } },
    query: { poll_interval: 1, sync_timeout: timeout + graceSeconds, conversation_id },
    body: { code, language: kind, timeout, event, conversation_id, user_id: call.owner },
  });
  const durationMs = Math.round(parts.clock.monotonic() - startedAt);
  if (!run.ok) return ok(notInvoked(run.failure, { language, durationMs }));
  return ok({ status_code: 200, headers: {}, body: run.value, error: "", duration_ms: durationMs });
}

/** For the wait until there is room. */
const graceSeconds = 60;

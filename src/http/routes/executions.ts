import { inBackground } from "../../base/background.ts";
import { openGate } from "../../base/gate.ts";
import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { type OwnerId, shownId } from "../../protocol/ids.ts";
import {
  type ExecutionRecord,
  executionLimits,
  fitsGuest,
  type Language,
  type ProgramPlace,
} from "../../sandbox/sandbox.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import type { FileChange } from "../../workspace/workspace.ts";
import { callerOf } from "../caller.ts";
import { adoptConversation, placeNamed } from "../conversation-named.ts";
import type { Answered, Call, Handlers, Parts } from "../handler.ts";
import { idFor } from "../once.ts";
import { thrownLine, thrownLog } from "../problem.ts";
import { toExecution } from "../sandbox/execution-answer.ts";
import { followExecution, idOfFrame, placeOfId } from "../sandbox/follow-execution.ts";
import { ownSession } from "../sandbox/own-session.ts";
import { isoTime } from "../sandbox/session-answer.ts";
import { eventStream } from "../stream.ts";

type Names =
  | "execute"
  | "executeSync"
  | "executionStatus"
  | "executionResult"
  | "followExecution"
  | "cancelExecution"
  | "listExecutions";

type Look = Pick<Call<"executionStatus">, "params" | "actsAs" | "caller" | "language">;

const executionsPageMax = 200;
/** So much of each stream stands in an answer; the rest is in a file. */
const shownBytesMax = 256 * 1024;
/** Each costs the server time for every word of a program, whether somebody reads it or not. */
const streamsPerOwnerMax = 20;

export function executionHandlers(parts: Parts): Pick<Handlers, Names> {
  const { executions } = parts.sandbox;
  const enter = openGate(streamsPerOwnerMax);

  async function found({ params, actsAs, caller }: Look) {
    const owner = await callerOf(parts, { caller, actsAs, executionId: params.id });
    if (!owner.ok) return owner;
    const record = await executions.find(owner.value, params.id);
    return record === undefined ? executionNotFound(params.id) : ok(record);
  }

  async function look(call: Look) {
    const record = await found(call);
    return record.ok ? ok(toExecution(record.value, call.language)) : record;
  }

  return {
    async execute(call) {
      const record = await submit(parts, call, { isWaitedFor: false });
      if (!record.ok) return record;
      const { id, session, status, createdAt } = record.value;
      return ok({ execution_id: id, session_id: session, status, created_at: isoTime(createdAt) });
    },
    executeSync: (call) => executeSync(parts, call),
    executionStatus: look,
    executionResult: look,
    async followExecution(call) {
      const record = await found(call);
      if (!record.ok) return record;
      const leave = enter(record.value.owner);
      if (leave === undefined) return failure("streams_full", { limit: streamsPerOwnerMax });
      return ok(streamOf(parts, record.value, call, leave));
    },
    async cancelExecution(call) {
      const record = await found(call);
      if (!record.ok) return record;
      await executions.cancel(record.value.owner, record.value.id);
      return look(call);
    },
    async listExecutions({ actsAs, caller, params, query, language }) {
      const own = await ownSession(parts, { caller, actsAs, sessionId: params.id });
      if (!own.ok) return own;
      const limit = Math.min(Math.max(query.limit, 1), executionsPageMax);
      const { offset } = query;
      const { items, total } = await executions.list(own.value.owner, { limit, offset });
      const shown = items.map((record) => toExecution(record, language));
      return ok({ items: shown, total, limit, offset, has_more: offset + items.length < total });
    },
  };
}

type Follow = Pick<Call<"followExecution">, "lastEventId" | "query" | "gone" | "closing" | "language" | "requestId">;

function streamOf({ sandbox, clock, logger }: Parts, { owner, id }: ExecutionRecord, call: Follow, leave: () => void) {
  const { executions } = sandbox;
  const { gone, closing, language, requestId } = call;
  const after = placeOfId(call.lastEventId ?? call.query.after);
  const follow = (ended: AbortSignal) => {
    // Who went away while their program was looked for is not heard to go.
    if (ended.aborted) leave();
    else ended.addEventListener("abort", leave, { once: true });
    return followExecution({ executions, clock, owner, id, after, language, signal: ended, closing });
  };
  return eventStream(follow, {
    idOf: idOfFrame,
    signal: gone,
    onThrown: (error) => logger?.(thrownLine(requestId, "the stream", error)),
  });
}

/** Runs a program for whoever calls, and waits for its end. */
export async function executeSync(parts: Parts, call: Call<"executeSync">): Promise<Answered<"executeSync">> {
  const record = await submit(parts, call, { isWaitedFor: true });
  if (!record.ok) return record;
  const { sandbox, clock } = parts;
  const { id, owner } = record.value;
  const seconds = call.query.sync_timeout;
  const patience = new AbortController();
  const cancel = clock.after(seconds * 1000, () => patience.abort());
  const over = await sandbox.executions.wait(owner, id, AbortSignal.any([patience.signal, call.signal]));
  cancel();
  if (over === undefined)
    return failure("execution_running", { id, seconds, why: call.closing.aborted ? "server_ends" : "slow" });
  // There was no room for it, or no way: that is no program's failure.
  if (over.failure !== undefined) return { ok: false, failure: over.failure, beside: { execution_id: id } };
  return ok(toExecution(over, call.language));
}

function executionNotFound(id: string) {
  return failure("execution_not_found", { id: shownId(id) });
}

type Execute = Pick<Call<"execute">, "actsAs" | "caller" | "params" | "query" | "body" | "header" | "once">;

async function submit(
  parts: Parts,
  call: Execute,
  { isWaitedFor }: { readonly isWaitedFor: boolean },
): Promise<Result<ExecutionRecord, Failure>> {
  const { actsAs, caller, params, body } = call;
  const named = placeNamed(call);
  if (!named.ok) return named;
  const { id: conversationId, folder } = named.value;
  const userId = body.user_id ?? undefined;
  const own = await ownSession(parts, { caller, actsAs, userId, sessionId: params.id, conversationId });
  if (!own.ok) return own;
  const { id, record } = await submittedBefore(parts, own.value.owner, call);
  if (record !== undefined) return ok(record);
  const language = languages[body.language];
  // For `handler(event)`, if the program defines one.
  const event = language === "bash" ? undefined : JSON.stringify(body.event ?? {});
  const env = body.env_vars ?? {};
  if (!fitsGuest(env)) return failure("bad_request", { what: "body.env_vars", rule: "env_vars" });
  if (Buffer.byteLength(event ?? "") > executionLimits.eventBytesMax)
    return failure("bad_request", { what: "body.event", rule: "event" });
  await parts.freshen();
  const place = await placeOf(parts, own.value.owner, conversationId);
  if (!place.ok) return place;
  const { code, timeout } = body;
  const wanted = { id, language, code, timeoutMs: timeout * 1000, folder, env, event, shownBytesMax, conversationId };
  const { row } = place.value;
  const log = thrownLog(parts.logger, row?.id ?? "");
  const onChanges =
    row &&
    ((changes: readonly FileChange[]) =>
      inBackground(log, "the ledger of an execution", keepLedger(parts, row, changes)));
  return parts.sandbox.executions.submit(place.value.place, { ...wanted, isWaitedFor, onChanges });
}

type Submitted = { readonly id: string | undefined; readonly record: ExecutionRecord | undefined };

/**
 * What came of an earlier try of the same call, or the id that a later one finds it by. One for which there was no room
 * never ran: then there is another.
 */
async function submittedBefore({ sandbox, ids }: Parts, owner: OwnerId, call: Execute): Promise<Submitted> {
  if (call.once === undefined) return { id: undefined, record: undefined };
  for (let refused = 0; ; refused += 1) {
    const id = idFor(call, ids, `execution ${refused}`).replaceAll("-", "");
    const record = await sandbox.executions.find(owner, id);
    if (record?.failure === undefined) return { id, record };
  }
}

/** Whether the caller stays or not: what a program did to the files stands in the log of their conversation. */
async function keepLedger(
  { engine, logger }: Parts,
  row: ConversationRow,
  changes: readonly FileChange[],
): Promise<void> {
  for (let from = 0; from < changes.length; from += notedAtOnceMax) {
    const noted = await engine.noteChanges(row, changes.slice(from, from + notedAtOnceMax));
    if (!noted.ok) return logger?.(`changes of files by an execution were not noted: ${noted.failure.code}`);
  }
}

/** In one transaction: others wait for it. */
const notedAtOnceMax = 500;

const languages: Readonly<Record<Call<"execute">["body"]["language"], Language>> = {
  python: "python",
  javascript: "javascript",
  shell: "bash",
  bash: "bash",
};

type Seen = { readonly place: ProgramPlace; readonly row: ConversationRow | undefined };

async function placeOf(parts: Parts, owner: OwnerId, id: string | undefined): Promise<Result<Seen, Failure>> {
  const nowhere = { owner, conversation: undefined, workspace: undefined, agent: "root" };
  if (id === undefined) return ok({ place: nowhere, row: undefined });
  const row = await adoptConversation(parts, owner, id);
  if (!row.ok) return row;
  const workspace = parts.workspaces.ofConversation(row.value);
  return ok({ place: { ...nowhere, conversation: row.value.number, workspace }, row: row.value });
}

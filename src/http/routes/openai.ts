import { failed, ok, type Result } from "../../base/result.ts";
import type { AgentRole } from "../../protocol/agent.ts";
import { type Failure, failure, makeFailure } from "../../protocol/failure.ts";
import type { CallerPart, GivenMessage } from "../../protocol/given.ts";
import { shownId } from "../../protocol/ids.ts";
import type { OpenAiModel } from "../../protocol/openai.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { callerOf } from "../caller.ts";
import type { Call, Handlers, Parts } from "../handler.ts";
import { answerTo, failureOf, opened, type Pieces, retryHeader } from "../openai/answer.ts";
import { type Asked, type Begun, begin } from "../openai/begin.ts";
import { callerPartOfChat, callerPartOfResponse } from "../openai/caller-part.ts";
import { completionChunks, completionHead, openCompletion } from "../openai/completion.ts";
import { errorsFor } from "../openai/errors.ts";
import { readCallId, readResponseId, responseId } from "../openai/ids.ts";
import type { End, Piece } from "../openai/pieces.ts";
import { openResponse } from "../openai/response.ts";
import { resultsAtEnd, sentInChat, sentInResponse } from "../openai/sent.ts";
import { dataStream } from "../openai/sse.ts";
import { storedResponse } from "../openai/stored.ts";
import { thrownLine } from "../problem.ts";

type Names =
  | "listOpenAiModels"
  | "getOpenAiModel"
  | "createChatCompletion"
  | "createResponse"
  | "getResponse"
  | "deleteResponse";
type Creating = "createChatCompletion" | "createResponse";

/** OpenAI's protocols, for callers that speak them. */
export function openAiHandlers(parts: Parts): Pick<Handlers, Names> {
  const { engine } = parts;
  return {
    async listOpenAiModels() {
      return ok({ object: "list", data: engine.agents().map(modelOf) });
    },
    async getOpenAiModel({ params }) {
      const agent = agentOf(parts, params.model);
      return agent.ok ? ok(modelOf(agent.value)) : agent;
    },
    createChatCompletion: (call) => completeChat(parts, call),
    createResponse: (call) => respond(parts, call),
    async getResponse(call) {
      const found = await findResponse(parts, call);
      return found.ok ? ok(await storedResponse(parts, found.value, call)) : found;
    },
    async deleteResponse(call) {
      const found = await findResponse(parts, call);
      if (!found.ok) return found;
      const { conversation } = found.value;
      if (conversation.origin !== "program") return failure("response_in_conversation", { id: conversation.id });
      const removed = await engine.remove(conversation);
      return removed.ok ? ok({ id: call.params.id, object: "response", deleted: true }) : removed;
    },
  };
}

/** Files with agents know no such time; this one, in seconds, is the same at every server and after every start. */
const created = Date.UTC(2026, 0) / 1000;

function modelOf({ id, name, description }: AgentRole): OpenAiModel {
  return { id, object: "model", created, owned_by: "agentyard", name, description };
}

function agentOf({ engine }: Parts, id: string): Result<AgentRole, Failure> {
  const agent = engine.agents().find((one) => one.id === id);
  return agent === undefined ? failure("agent_not_found", { id: shownId(id) }) : ok(agent);
}

async function completeChat(
  parts: Parts,
  call: Call<"createChatCompletion">,
): Promise<Awaited<ReturnType<Handlers["createChatCompletion"]>>> {
  const { body } = call;
  const sent = sentInChat(body.messages);
  if (!sent.ok) return sent;
  const callerPart = callerPartOfChat(body, sent.value.instructions);
  if (!callerPart.ok) return callerPart;
  const named = body.conversation_id ?? call.header("x-conversation-id");
  const said = {
    callerPart: callerPart.value,
    messages: sent.value.messages,
    named,
    previous: undefined,
    isPassing: false,
  };
  const asked = await askedBy(parts, call, said);
  if (!asked.ok) return asked;
  const begun = await begin(parts, asked.value);
  if (!begun.ok) return begun;

  const head = completionHead(begun.value, body.model, parts.clock.now());
  const gone = new AbortController();
  const pieces = answerTo(parts, asked.value, begun.value, gone.signal);
  if (body.stream !== true) return whole(openCompletion(head, begun.value), pieces, { begun: begun.value, call });
  const errors = errorsFor(call);
  const withUsage = body.stream_options?.include_usage === true;
  const write = completionChunks(head, begun.value, { withUsage, errorFor: errors.object });
  const lastWords = () => [errors.object(breakOf(call))];
  return streamed(parts, call, begun.value, { pieces, write, lastWords, leave: () => gone.abort() });
}

async function respond(
  parts: Parts,
  call: Call<"createResponse">,
): Promise<Awaited<ReturnType<Handlers["createResponse"]>>> {
  const { body } = call;
  const sent = sentInResponse(body);
  if (!sent.ok) return sent;
  const callerPart = callerPartOfResponse(body, sent.value.instructions);
  if (!callerPart.ok) return callerPart;
  const named = conversationOf(body.conversation) ?? body.conversation_id ?? call.header("x-conversation-id");
  const previous = body.previous_response_id ?? undefined;
  // Under a key it must be able to give it again.
  const isPassing = body.store === false && call.once === undefined;
  const said = { callerPart: callerPart.value, messages: sent.value.messages, named, previous, isPassing };
  const asked = await askedBy(parts, call, said);
  if (!asked.ok) return asked;
  const begun = await begin(parts, asked.value);
  if (!begun.ok) return begun;

  const { conversation, message, since } = begun.value;
  const errors = errorsFor(call);
  const place = {
    conversation: conversation.id,
    message: message.id,
    since: typeof since === "string" ? since : undefined,
  };
  const response = openResponse({
    ...{ id: responseId(place), conversation: conversation.id, model: body.model, callerPart: callerPart.value },
    ...{ previous: previous ?? null, metadata: body.metadata ?? {}, store: body.store !== false },
    ...{ toolChoice: body.tool_choice ?? "auto", errorFor: errors.short },
  });
  const gone = new AbortController();
  const answer = answerTo(parts, asked.value, begun.value, gone.signal);
  const pieces = conversation.isPassing ? thenForget(parts, answer, conversation, call) : answer;
  if (body.stream !== true) return whole(response, pieces, { begun: begun.value, call });
  const lastWords = () => response.brokenOff(breakOf(call));
  return streamed(parts, call, begun.value, { pieces, write: response.take, lastWords, leave: () => gone.abort() });
}

type Said = {
  readonly callerPart: CallerPart;
  readonly messages: readonly GivenMessage[];
  readonly named: string | undefined;
  readonly previous: string | undefined;
  readonly isPassing: boolean;
};

/** Who asks whom for what. A conversation names its user where nobody has to sign in. */
async function askedBy(
  parts: Parts,
  call: Call<Creating>,
  { callerPart, messages, named, previous, isPassing }: Said,
): Promise<Result<Asked, Failure>> {
  const agent = agentOf(parts, call.body.model);
  if (!agent.ok) return agent;
  const place = previous === undefined ? undefined : readResponseId(previous);
  const [result] = resultsAtEnd(messages);
  const waiting = result === undefined ? undefined : readCallId(result.toolCallId);
  const conversationId = named ?? place?.conversation ?? waiting?.conversation;
  const owner = await callerOf(parts, { caller: call.caller, actsAs: call.actsAs, conversationId });
  if (!owner.ok) return owner;
  // Ours would run in its place.
  const taken = callerPart.functions?.find(({ name }) => parts.engine.tellsOf(owner.value, agent.value, name));
  if (taken !== undefined) return failure("function_name_taken", { name: taken.name, parameter: "tools" });
  return ok({
    ...{ call, owner: owner.value, agent: agent.value.id, messages, callerPart, named, isPassing },
    previous: previous === undefined ? undefined : { id: previous, place },
  });
}

function conversationOf(given: string | { readonly id: string } | null | undefined): string | undefined {
  return typeof given === "string" ? given : given?.id;
}

type Written = Pick<Parameters<typeof dataStream>[0], "pieces" | "write" | "lastWords" | "leave">;

/** The answer as it is written. */
async function streamed({ logger }: Parts, { signal, requestId }: Call<Creating>, begun: Begun, written: Written) {
  const first = await opened(written.pieces);
  const refusal = refusalIn(first, begun);
  if (refusal !== undefined) return refusal;
  const onThrown = (error: unknown) => logger?.(thrownLine(requestId, "a stream", error));
  return { ...ok(dataStream({ ...written, first, signal, onThrown })), headers: headersOf(begun.conversation.id) };
}

/** A turn that failed before it said anything: its caller gets a status. */
function refusalIn(first: readonly Piece[], begun: Begun) {
  const end = first.find((piece) => piece.piece === "end");
  const hasWords = first.some(({ piece }) => piece === "text" || piece === "reasoning");
  return end === undefined || hasWords ? undefined : refusalOf(end, begun);
}

function refusalOf(end: End, { conversation: { id } }: Begun) {
  const reason = failureOf(end, id);
  return reason && { ...failed(reason), headers: { ...headersOf(id), ...retryHeader(end, reason) } };
}

function headersOf(conversation: string): Readonly<Record<string, string>> {
  return { "x-conversation-id": conversation };
}

/** Gathers an answer for a caller who wants all of it at once. */
async function whole<T>(
  answer: { readonly take: (piece: Piece) => unknown; readonly ended: (end: End) => T },
  pieces: Pieces,
  { begun, call }: { readonly begun: Begun; readonly call: Call<Creating> },
) {
  for await (const batch of pieces)
    for (const piece of batch) {
      answer.take(piece);
      if (piece.piece !== "end") continue;
      return refusalOf(piece, begun) ?? { ...ok(answer.ended(piece)), headers: headersOf(begun.conversation.id) };
    }
  return failed(breakOf(call));
}

/** Why a stream ended in the middle. */
function breakOf({ closing, requestId }: Call<Creating>): Failure {
  return closing.aborted ? makeFailure("server_closing", {}) : makeFailure("internal", { id: requestId });
}

/**
 * `store: false`: nothing is kept, also when the caller goes. What waits for them or for a person stays, and what a server
 * that closes leaves: that is swept.
 */
async function* thenForget(
  { engine }: Parts,
  pieces: Pieces,
  conversation: ConversationRow,
  { closing }: Call<"createResponse">,
): Pieces {
  let isWaiting = false;
  try {
    for await (const batch of pieces) {
      isWaiting = batch.some((piece) => piece.piece === "end" && piece.state === "waiting");
      yield batch;
    }
  } finally {
    if (!isWaiting && !closing.aborted) await engine.remove(conversation);
  }
}

async function findResponse(parts: Parts, { params, caller, actsAs }: Call<"getResponse" | "deleteResponse">) {
  const unknown = failure("response_not_found", { id: shownId(params.id) });
  const place = readResponseId(params.id);
  if (place === undefined) return unknown;
  const owner = await callerOf(parts, { caller, actsAs, conversationId: place.conversation });
  if (!owner.ok) return owner;
  const row = await parts.log.find(owner.value, place.conversation);
  const seq = row.ok ? await parts.storage.received(row.value.number, place.message) : undefined;
  if (!row.ok || seq === undefined) return unknown;
  return ok({ id: params.id, conversation: row.value, message: { id: place.message, seq }, since: place.since });
}

import { ok, type Result } from "../../base/result.ts";
import type { TurnNamed } from "../../loop/loop.ts";
import type { ChatBody } from "../../protocol/chat-routes.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { callerOf } from "../caller.ts";
import { answerChat } from "../chat/answer-chat.ts";
import { beginChat, type ChatCall } from "../chat/begin-chat.ts";
import { type ChatShown, chatShown, chatWanted, given } from "../chat/request.ts";
import { liveliest, saidMessages } from "../chat/said-messages.ts";
import type { Answered, Call, Handlers, Parts } from "../handler.ts";

type Names =
  | "chatCompletion"
  | "debugCompletion"
  | "apiChatCompletion"
  | "plainChatCompletion"
  | "resumeChat"
  | "terminateChat";

/** Chats by the chat service's names. */
export function chatHandlers(parts: Parts): Pick<Handlers, Names> {
  return {
    chatCompletion: (call) => complete(parts, call, { appKey: call.params.app_key, streams: true }),
    debugCompletion: (call) => complete(parts, call, { appKey: call.params.app_key, streams: true }),
    apiChatCompletion: (call) => complete(parts, call, { appKey: call.params.app_key, streams: false }),
    plainChatCompletion: (call) => complete(parts, call, { appKey: undefined, streams: false }),
    resumeChat: (call) => resume(parts, call),
    terminateChat: (call) => terminate(parts, call),
  };
}

type Completing = ChatCall & Pick<Call<"chatCompletion">, "requestId" | "closing"> & { readonly body: ChatBody };

async function complete(
  parts: Parts,
  call: Completing,
  usual: { readonly appKey: string | undefined; readonly streams: boolean },
): Promise<Answered<"chatCompletion">> {
  const wanted = chatWanted(call.body, usual);
  if (!wanted.ok) return wanted;
  const begun = await beginChat(parts, call, wanted.value);
  if (!begun.ok) return begun;
  const { conversation, message, headers } = begun.value;
  const place = (await saidMessages(parts.log, conversation)).all.find((one) => one.message.id === message);
  // Deleted, or withdrawn, in this very moment.
  if (place === undefined) return failure("message_not_found", { id: message });
  const answer = await answerChat(parts, call, { conversation, place, shown: wanted.value.shown });
  return { ...answer, headers: { ...headers, ...answer.headers } };
}

/** Reading on is possible from any place, also after the turn has ended and after a restart. */
async function resume(parts: Parts, call: Call<"resumeChat">): Promise<Answered<"resumeChat">> {
  const { body, lastEventId } = call;
  const row = await named(parts, call);
  if (!row.ok) return row;
  const { all } = await saidMessages(parts.log, row.value);
  const run = given(body.agent_run_id);
  const place =
    run === undefined
      ? (all.find(({ state }) => state === "open") ?? all.at(-1))
      : liveliest(all.filter((one) => one.runId === run));
  if (place === undefined) return failure("run_not_found", { id: row.value.id });
  // One that was interrupted long ago goes on by somebody's asking for it.
  if (place.state === "open") await parts.engine.resume(row.value);
  const shown: ChatShown = chatShown(body, true);
  const heard = /^\d{1,15}$/.test(lastEventId ?? "") ? Number(lastEventId) : undefined;
  const lastSeqId = body.last_seq_id ?? heard;
  return answerChat(parts, call, { conversation: row.value, place, shown, lastSeqId });
}

async function terminate(parts: Parts, call: Call<"terminateChat">): Promise<Result<void, Failure>> {
  const { engine, log } = parts;
  const row = await named(parts, call);
  if (!row.ok) return row;
  const wanted = given(call.body.agent_run_id) ?? given(call.body.interrupted_assistant_message_id);
  let which: TurnNamed | undefined;
  if (wanted !== undefined) {
    const { all } = await saidMessages(log, row.value);
    const place = liveliest(all.filter(({ runId, reply }) => runId === wanted || reply === wanted));
    // What is over needs no end, and what runs by now is another one.
    if (place === undefined || place.state === "ended") return ok(undefined);
    which = { message: place.message.id, turn: place.turn };
  }
  const cancelled = await engine.cancel(row.value, which);
  return cancelled.ok || cancelled.failure.code === "turn_not_running" ? ok(undefined) : cancelled;
}

async function named(
  parts: Parts,
  { caller, actsAs, body }: Pick<Call<"terminateChat">, "caller" | "actsAs" | "body">,
): Promise<Result<ConversationRow, Failure>> {
  const { conversation_id: conversationId, user_id: userId } = body;
  const owner = await callerOf(parts, { caller, actsAs, userId: given(userId), conversationId });
  return owner.ok ? parts.log.find(owner.value, conversationId) : owner;
}

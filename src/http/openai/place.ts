import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { GivenMessage } from "../../protocol/given.ts";
import { shownId } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { adoptConversation } from "../conversation-named.ts";
import type { Parts } from "../handler.ts";
import { idFor } from "../once.ts";
import type { Asked } from "./begin.ts";
import { readCallId } from "./ids.ts";
import { conversationNoted } from "./note.ts";
import { callIds } from "./sent.ts";
import { endOfTurn, newestTurn, saidSoFar } from "./turns.ts";

/** `instead`: what the model sees in place of what the conversation holds; undefined leaves that. */
export type AnswerPlace = {
  readonly conversation: ConversationRow;
  readonly instead: readonly GivenMessage[] | undefined;
  readonly isNew: boolean;
};

/** In which conversation: that of the answer before, the one that is named, the one that waited, or a new one. */
export async function placeFor(parts: Parts, asked: Asked): Promise<Result<AnswerPlace, Failure>> {
  const { owner, messages, named, previous } = asked;
  const sent = messages.slice(0, -1);
  const instead = sent.length === 0 ? undefined : sent;
  if (previous !== undefined) return placeAfter(parts, asked, previous);
  if (named !== undefined) {
    const row = await adoptConversation(parts, owner, named);
    return row.ok ? ok({ conversation: row.value, instead, isNew: false }) : row;
  }
  const noted = conversationNoted(messages);
  const row = noted === undefined ? undefined : await parts.log.find(owner, noted);
  if (row?.ok && row.value.origin === "program")
    return ok({ conversation: row.value, instead: await historyBehind(parts, row.value, []), isNew: false });
  await leaveWaiting(parts, asked);
  return newPlace(parts, asked, instead);
}

/** With nothing sent along, its own history counts from its second message on. */
async function newPlace(
  { engine, log, ids }: Parts,
  { owner, call, agent, isPassing }: Asked,
  instead: AnswerPlace["instead"],
): Promise<Result<AnswerPlace, Failure>> {
  const id = idFor(call, ids, "conversation");
  const made = await engine.create(owner, { id, origin: "program", isPassing, agent: { agentId: agent } });
  const isThere = !made.ok && made.failure.code === "conversation_exists" && call.once?.isRetry === true;
  const conversation = isThere ? await log.find(owner, id) : made;
  return conversation.ok ? ok({ conversation: conversation.value, instead, isNew: made.ok }) : conversation;
}

/** A request that sends something else in place of the results of its functions gives up the turn that waits for them. */
async function leaveWaiting({ engine, log }: Parts, { owner, messages }: Asked): Promise<void> {
  const answer = messages.findLast((message) => message.role === "assistant");
  const [place] = (answer === undefined ? [] : callIds(answer)).flatMap((id) => readCallId(id) ?? []);
  if (place === undefined) return;
  const row = await log.find(owner, place.conversation);
  if (!row.ok || row.value.origin !== "program") return;
  await engine.cancel(row.value, { decision: place.decision });
}

/** After an earlier answer: in its conversation, or in a branch of it where that has gone on since. */
async function placeAfter(
  parts: Parts,
  { owner, messages, call }: Asked,
  { id, place }: NonNullable<Asked["previous"]>,
): Promise<Result<AnswerPlace, Failure>> {
  const { engine, log, storage, ids } = parts;
  const unknown = failure("response_not_found", { id: shownId(id) });
  if (place === undefined) return unknown;
  const found = await log.find(owner, place.conversation);
  const seq = found.ok ? await storage.received(found.value.number, place.message) : undefined;
  if (!found.ok || seq === undefined) return unknown;
  const turn = await newestTurn(log, found.value);
  const end =
    turn === undefined || turn.message.id === place.message
      ? undefined
      : await endOfTurn(log, found.value.number, { id: place.message, seq });
  const branch = end === undefined ? undefined : await engine.branch(found.value, end, idFor(call, ids, "branch"));
  if (branch !== undefined && !branch.ok) return branch;
  const conversation = branch?.value.conversation ?? found.value;
  const instead = await historyBehind(parts, conversation, messages.slice(0, -1));
  return ok({ conversation, instead, isNew: false });
}

/** The conversation's own history is left to it, unless something was sent along once, or is now. */
async function historyBehind(
  { log }: Parts,
  conversation: ConversationRow,
  sent: readonly GivenMessage[],
): Promise<AnswerPlace["instead"]> {
  const { messages, hasGiven } = await saidSoFar(log, conversation);
  return hasGiven || sent.length > 0 ? [...messages, ...sent] : undefined;
}

import type { ChatDocument, ChatMessage, ChatMessageStatus } from "../../protocol/chat.ts";
import { type LogEvent, ownWordsOf, type TurnOutcome } from "../../protocol/events.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import type { Language } from "../../words/words.ts";
import { TurnChanges } from "./changes.ts";
import { applyChange } from "./document.ts";
import { firstDocument } from "./first-document.ts";
import { type ChatPlace, chatPlaces } from "./message-numbers.ts";
import { isOthers, noteDecision, type OpenDecisions } from "./open-decisions.ts";

/** The messages of a conversation, from what counts of its log. The same log gives the same bytes. */
export function chatMessages(
  events: readonly LogEvent[],
  conversation: ConversationRow,
  language: Language,
): ChatMessage[] {
  const places = chatPlaces(events, conversation);
  const answers = answersIn(events, places, { conversation, language });
  return places.flatMap((place) => {
    const answer = answers.get(place.message.id);
    if (place.isAnswered && answer !== undefined)
      return [userRow(place, conversation, answer), answerRow(place, conversation, answer)];
    return place.message.mode === "steer" && !place.isWithdrawn ? [userRow(place, conversation, undefined)] : [];
  });
}

/** What a list tells of a conversation: where its newest message stands, and what became of it. */
export type NewestMessage = Pick<ChatMessage, "index" | "status" | "run_state">;

/** The last of `chatMessages`, without making any of them. */
export function newestMessage(events: readonly LogEvent[], conversation: ConversationRow): NewestMessage | undefined {
  const place = chatPlaces(events, conversation).findLast(
    ({ isAnswered, isWithdrawn, message }) => isAnswered || (message.mode === "steer" && !isWithdrawn),
  );
  if (place === undefined) return undefined;
  const asking = isAskingNow(events) ? "waiting_approval" : undefined;
  if (!place.isAnswered) return { index: place.index, status: "processed", run_state: asking ?? "" };
  const { state, isAsking } = stateOf(place.message.id, events);
  return { index: place.index + 1, status: statuses[state], run_state: asking ?? runStates(state, isAsking) };
}

/** How a conversation stands: where a person is asked that counts, whatever was queued behind it since. */
export function standingOf(messages: readonly ChatMessage[]): NewestMessage | undefined {
  const newest = messages.at(-1);
  const asking = messages.find(({ run_state }) => run_state === "waiting_approval");
  return newest && { ...newest, run_state: asking?.run_state ?? newest.run_state };
}

/** Whether the turn that is open, of whichever message, waits for a person. */
function isAskingNow(events: readonly LogEvent[]): boolean {
  const started = events.findLast((event) => event.type === "turn.started" && event.agent === undefined);
  if (started?.type !== "turn.started") return false;
  const { state, isAsking } = stateOf(started.message, events);
  return runStates(state, isAsking) === "waiting_approval";
}

function stateOf(message: string, events: readonly LogEvent[]): { state: Answer["state"]; isAsking: boolean } {
  const open: OpenDecisions = new Map();
  let state: Answer["state"] = "queued";
  for (const event of events) {
    if (isOthers(event)) continue;
    if (event.type === "turn.started" && event.message === message) state = "running";
    if (state !== "running") continue;
    noteDecision(open, event);
    if (event.type === "turn.finished") state = event.outcome;
  }
  return { state, isAsking: open.size > 0 };
}

type Answer = {
  readonly document: ChatDocument;
  readonly changes: TurnChanges;
  state: "queued" | "running" | TurnOutcome;
  updatedAt: number;
};

/** One pass: turns follow one another, so each event belongs to the turn that is open. */
function answersIn(
  events: readonly LogEvent[],
  places: readonly ChatPlace[],
  { conversation, language }: { readonly conversation: ConversationRow; readonly language: Language },
): ReadonlyMap<string, Answer> {
  const answers = new Map<string, Answer>();
  for (const place of places) {
    const changes = new TurnChanges({ place, needsProgress: true, language });
    const document = firstDocument(conversation.id, place);
    answers.set(place.message.id, { document, changes, state: "queued", updatedAt: place.message.at });
  }
  let open: Answer | undefined;
  for (const event of events) {
    if (isOthers(event)) continue;
    if (event.type === "turn.started") {
      open = answers.get(event.message);
      if (open !== undefined) open.state = "running";
    }
    if (open === undefined) continue;
    const changes = open.changes.addEvent(event);
    for (const change of changes) applyChange(open.document, change);
    if (changes.length > 0) open.updatedAt = event.at;
    if (event.type !== "turn.finished") continue;
    open.state = event.outcome;
    open = undefined;
  }
  return answers;
}

function userRow(place: ChatPlace, conversation: ConversationRow, answer: Answer | undefined): ChatMessage {
  const { message } = place;
  const files = message.selected?.files ?? [];
  const content = { text: ownWordsOf(message), selected_files: files.map((file_name) => ({ file_name })) };
  return row(place, conversation, {
    ...{ id: message.id, index: place.index, origin: "user", reply_id: "" },
    ...{ content, ext: {}, runState: "", updatedAt: message.at },
    status: answer?.state === "queued" ? "received" : "processed",
  });
}

function answerRow(place: ChatPlace, conversation: ConversationRow, answer: Answer): ChatMessage {
  const { content, ext } = answer.document.message;
  return row(place, conversation, {
    ...{ id: place.reply, index: place.index + 1, origin: "assistant", reply_id: place.message.id },
    ...{ content, ext, runState: runStates(answer.state, ext.interrupt_info !== null), updatedAt: answer.updatedAt },
    status: statuses[answer.state],
  });
}

const statuses: Readonly<Record<Answer["state"], ChatMessageStatus>> = {
  queued: "processing",
  running: "processing",
  done: "succeded",
  limit: "succeded",
  failed: "failed",
  crashed: "failed",
  cancelled: "cancelled",
};

function runStates(state: Answer["state"], isAsking: boolean): ChatMessage["run_state"] {
  if (state === "queued") return "queued";
  if (state !== "running") return "";
  return isAsking ? "waiting_approval" : "running";
}

type Own = Pick<ChatMessage, "id" | "index" | "origin" | "reply_id" | "status"> & {
  readonly content: object;
  readonly ext: object;
  readonly runState: ChatMessage["run_state"];
  readonly updatedAt: number;
};

function row({ message, agent }: ChatPlace, { id, owner, appKey = "" }: ConversationRow, own: Own): ChatMessage {
  const agentInfo = { agent_id: agent.id, agent_name: agent.name, agent_status: "", agent_version: "latest" };
  return {
    id: own.id,
    conversation_id: id,
    agent_app_key: appKey,
    index: own.index,
    origin: own.origin,
    role: own.origin,
    content_type: "prompt",
    content: JSON.stringify(own.content),
    content_json: own.content,
    ext: JSON.stringify(own.ext),
    ext_json: own.ext,
    status: own.status,
    run_state: own.runState,
    reply_id: own.reply_id,
    agent_info: JSON.stringify(agentInfo),
    create_time: message.at,
    update_time: own.updatedAt,
    create_by: owner,
    update_by: owner,
    is_deleted: 0,
  };
}

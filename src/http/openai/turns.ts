import type { EventOf, LogEvent } from "../../protocol/events.ts";
import type { GivenMessage } from "../../protocol/given.ts";
import { asWritten } from "../../protocol/message.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { selectedMessage } from "../../words/words.ts";
import type { Parts } from "../handler.ts";

type Log = Pick<Parts["log"], "read" | "headOf">;

/** The newest turn of a conversation: its message, and what was decided in it, in that order. */
export type NewestTurn = {
  readonly message: { readonly id: string; readonly seq: number };
  readonly decided: readonly string[];
};

const pageEvents = 200;

/** Read from the end: the log may be long, and the turn is at its end. */
export async function newestTurn(log: Log, { number }: ConversationRow): Promise<NewestTurn | undefined> {
  const decided: string[] = [];
  let message: string | undefined;
  for (let upTo = await log.headOf(number); upTo > 0; upTo -= pageEvents) {
    const after = Math.max(0, upTo - pageEvents);
    const events = await log.read(number, { after, limit: pageEvents, upTo });
    for (const event of events.toReversed()) {
      if (event.type === "decision.made" && message === undefined) decided.unshift(event.id);
      if (event.type === "turn.started" && event.agent === undefined) message ??= event.message;
      if (event.type === "message.user" && event.id === message)
        return { message: { id: message, seq: event.seq }, decided };
    }
  }
  return undefined;
}

export async function* eventsAfter(log: Log, number: number, after: number): AsyncGenerator<LogEvent> {
  const head = await log.headOf(number);
  for (let sent = after; sent < head; sent += pageEvents) {
    const upTo = Math.min(head, sent + pageEvents);
    yield* await log.read(number, { after: sent, limit: pageEvents, upTo });
  }
}

/** Where the turn of a message ended; undefined while it runs. */
export async function endOfTurn(
  log: Log,
  number: number,
  message: { id: string; seq: number },
): Promise<number | undefined> {
  let turn: number | undefined;
  for await (const event of eventsAfter(log, number, message.seq)) {
    if (event.type === "turn.started" && event.message === message.id) ({ turn } = event);
    if (event.type === "turn.finished" && event.turn === turn && event.agent === undefined) return event.seq;
  }
  return undefined;
}

/** `hasGiven`: it has what a caller once sent along, which the log's own history has not. */
type SaidSoFar = { readonly messages: GivenMessage[]; readonly hasGiven: boolean };

/** All that was said in a conversation, as a history to send along: each message stands where it was taken up. */
export async function saidSoFar(
  log: Pick<Parts["log"], "headOf" | "effective">,
  { number }: ConversationRow,
): Promise<SaidSoFar> {
  const events = await log.effective(number, await log.headOf(number));
  const told = new Map(events.flatMap((event) => (event.type === "message.user" ? [[event.id, event]] : [])));
  let messages: GivenMessage[] = [];
  let hasGiven = false;
  for (const event of events) {
    if ("agent" in event && event.agent !== undefined) continue;
    const begun = event.type === "turn.started" ? told.get(event.message) : undefined;
    if (begun?.instead !== undefined) {
      messages = [...begun.instead];
      hasGiven = true;
    }
    const joined = event.type === "step.started" ? (event.joined ?? []).map((id) => told.get(id)) : [];
    for (const message of [begun, ...joined]) messages.push(...wordsOf(message));
    messages.push(...saidIn(event));
  }
  return { messages, hasGiven };
}

function wordsOf(message: EventOf<"message.user"> | undefined): GivenMessage[] {
  if (message === undefined) return [];
  const { text, images = [], selected, own } = message;
  const said = { role: "user", text, ...(own !== undefined && { own }) } as const;
  const words: GivenMessage[] =
    text === "" && images.length === 0 ? [] : [{ ...said, ...(images.length > 0 && { images }) }];
  return selected === undefined ? words : [{ role: "user", text: selectedMessage(selected), own: 0 }, ...words];
}

function saidIn(event: LogEvent): GivenMessage[] {
  if (event.type === "message.assistant") {
    const { text } = event;
    const calls = asWritten(event.calls) ?? [];
    return [{ role: "assistant", text, ...(calls.length > 0 && { toolCalls: calls }) }];
  }
  return event.type === "call.finished" ? [{ role: "tool", toolCallId: event.call, text: event.text }] : [];
}

import { type EventOf, ownWordsOf } from "../protocol/events.ts";
import type { GivenMessage } from "../protocol/given.ts";
import { hasVisible, type Message } from "../protocol/message.ts";
import { forModels } from "../words/words.ts";
import type { Aside, History } from "./history-state.ts";
import { moveShown, showAlso } from "./known.ts";

/**
 * From here to the end of the turn the model sees what the caller gave; the history so far waits aside. Given messages
 * have places before the log begins, so that room can be made among them like among others.
 */
export function setAside(history: History, given: readonly GivenMessage[]): void {
  const { messages, seqs, said, selected, summary, counted, told, known, unread } = history;
  history.aside = {
    older: messages.length,
    ...{ messages: [...messages], seqs: [...seqs], said: [...said], selected: [...selected] },
    ...{ summary, counted, told: new Map(told), known: new Map(known), unread: new Map(unread) },
  };
  const sent = paired(given);
  const places = sent.map((_, index) => index - sent.length);
  replace(messages, sent);
  replace(seqs, places);
  replace(
    said,
    sent.flatMap((message, index) =>
      message.role === "user" ? [{ seq: places[index] ?? 0, text: ownWordsOf(message) }] : [],
    ),
  );
  replace(selected, []);
  history.summary = undefined;
  history.counted = undefined;
  // What was told and shown stands in messages that are not sent.
  for (const entries of [told, known, unread]) entries.clear();
  if (given.some(({ role }) => role === "tool")) history.isTainted = true;
}

/** The turn is over: the history goes on with what was said in it, without what was given. */
export function takeBack(history: History): void {
  const { aside, told } = history;
  if (aside === undefined) return;
  history.aside = undefined;
  replace(history.messages, aside.messages);
  replace(history.seqs, aside.seqs);
  replace(history.said, aside.said);
  replace(history.selected, aside.selected);
  history.summary = aside.summary;
  history.counted = aside.counted;
  told.clear();
  for (const [kind, entry] of aside.told) told.set(kind, entry);
  showAlso(history, aside);
}

/** Others' events turned out to stand before those that were applied: the places move along. */
export function moveAside(history: History, moved: (seq: number) => number): void {
  const { aside } = history;
  if (aside === undefined) return;
  const movedEntry = <T extends { readonly seq: number }>(entry: T): T => ({ ...entry, seq: moved(entry.seq) });
  const { summary } = aside;
  const now: Aside = {
    ...aside,
    seqs: aside.seqs.map(moved),
    said: aside.said.map(movedEntry),
    selected: aside.selected.map(movedEntry),
    summary: summary && { ...summary, upTo: moved(summary.upTo) },
  };
  moveShown(now, moved);
  history.aside = now;
}

/** Strict servers refuse blanks alone, and with them every later request. */
export function userMessage({
  text,
  images,
  own,
}: Pick<EventOf<"message.user">, "text" | "images" | "own">): Message & { readonly role: "user" } {
  const isSilent = !hasVisible(text) && (images ?? []).length === 0;
  return { role: "user", text: isSilent ? forModels.blank : text, images, ...(own !== undefined && { own }) };
}

/** Each call with one result, directly behind it: servers refuse a history where that is not so. */
function paired(given: readonly GivenMessage[]): Message[] {
  const sent: Message[] = [];
  const open = new Set<string>();
  const close = () => {
    for (const toolCallId of open) sent.push({ role: "tool", toolCallId, text: forModels.noResult });
    open.clear();
  };
  for (const message of given) {
    if (message.role === "tool") {
      const { toolCallId, text } = message;
      if (open.delete(toolCallId)) sent.push({ role: "tool", toolCallId, text });
      continue;
    }
    close();
    if (message.role === "user") sent.push(userMessage(message));
    else {
      const { text, toolCalls = [] } = message;
      sent.push({ role: "assistant", text, ...(toolCalls.length > 0 && { toolCalls }) });
      for (const { id } of toolCalls) open.add(id);
    }
  }
  close();
  return sent;
}

function replace<T>(list: T[], items: readonly T[]): void {
  list.length = 0;
  for (const item of items) list.push(item);
}

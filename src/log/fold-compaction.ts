import type { EventOf } from "../protocol/events.ts";
import type { Message } from "../protocol/message.ts";
import type { History } from "./history-state.ts";
import { forgetShown } from "./known.ts";

/** Leaves messages out of what is sent, or shortens them; the log keeps them. */
export function compact(history: History, event: EventOf<"compacted">): void {
  const { turn } = history;
  if (event.summary !== "") leaveOut(history, event);
  shorten(history, event.trims ?? []);
  history.counted =
    event.tokensAfter === undefined
      ? undefined
      : { usage: { input: event.tokensAfter, output: 0 }, estimated: true, messages: history.messages.length };
  if (event.window !== undefined) history.windows.set(event.window.model, event.window.tokens);
  if (turn === undefined) return;
  turn.isOverflown = false;
  if (event.by !== "tool" && event.by !== "person") turn.compactions += 1;
}

/** The summary stands where the messages up to `upTo` stood. */
function leaveOut(history: History, event: EventOf<"compacted">): void {
  const { messages, seqs, summary } = history;
  const firstKept = seqs.findIndex((seq) => seq > event.upTo);
  const count = firstKept < 0 ? messages.length : firstKept;
  messages.splice(0, count, { role: "user", text: event.summary, own: 0 });
  seqs.splice(0, count, event.upTo);
  history.summary = {
    text: event.summary.slice(event.prose?.at ?? 0, (event.prose?.at ?? 0) + (event.prose?.length ?? 0)),
    upTo: event.upTo,
    leftOut: summary === undefined ? count : summary.leftOut + count - 1,
  };
  forgetShown(history, 0, event.upTo);
  for (const kind of ["date", "memory"]) history.told.delete(kind); // They stood in a message that may be gone.
}

/** Of several messages that came in one place, all are named, in their order. */
function shorten(history: History, trims: NonNullable<EventOf<"compacted">["trims"]>): void {
  const { messages, seqs } = history;
  const texts = Map.groupBy(trims, ({ seq }) => seq);
  for (const [index, message] of messages.entries()) {
    const seq = seqs[index] ?? 0;
    if (message.role !== "tool" && message.role !== "user") continue;
    const trim = texts.get(seq)?.shift();
    if (trim === undefined || trim.text === message.text) continue;
    messages[index] = shorter(message, trim);
    const before = seqs.filter((other) => other < seq);
    forgetShown(history, Math.max(0, ...before), seq);
  }
}

/** The reminder at its end went first. */
function shorter(
  { reminder: _, ...message }: Shortened,
  { text, own }: { text: string; own?: number | undefined },
): Message {
  if (message.role === "tool") return { ...message, text, images: undefined };
  const { own: __, ...said } = message;
  return { ...said, text, images: undefined, ...(own !== undefined && { own }) };
}

type Shortened = Extract<Message, { role: "user" | "tool" }>;

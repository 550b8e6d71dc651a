import type { History } from "../log/log.ts";
import type { EventBody } from "../protocol/events.ts";
import type { Message } from "../protocol/message.ts";
import { shortened } from "../tools/tools.ts";
import { forModels } from "../words/words.ts";

type Room = {
  readonly tokensMax: number;
  readonly messagesKeptMax: number;
  readonly tokensOf: (index: number) => number;
};

/**
 * Makes room without a model: the latest messages stay, as many as fit into `tokensMax`; older ones are left out of what
 * is sent, but the newest request among them is repeated, word for word as far as a quarter of the room goes. The log
 * keeps them. Undefined: there is nothing to leave out.
 */
export function leaveOutOldest(history: History, room: Room): Omit<EventBody<"compacted">, "turn"> | undefined {
  const { messages, seqs } = history;
  // Results stand in the order of the calls, but in the log as they finished: the last one need not be the latest.
  const upTo = Math.max(...seqs.slice(0, firstThatFits(history, room)));
  const first = seqs.findIndex((seq) => seq > upTo);
  if (first <= 0) return undefined;
  const earlier = summaryIn(messages[0]);
  const leftOut = messages.slice(earlier === undefined ? 0 : 1, first);
  const request = leftOut.findLast((message) => message.role === "user")?.text ?? earlier?.request;
  return {
    strategy: "fallback",
    upTo,
    summary: [
      forModels.compactedHead,
      forModels.leftOut(leftOut.length + (earlier?.count ?? 0)),
      ...(request === undefined ? [] : [forModels.lastRequest(repeated(request, room.tokensMax))]),
    ].join("\n\n"),
    messagesBefore: messages.length,
    messagesAfter: messages.length - first + 1,
  };
}

function firstThatFits({ messages }: History, { tokensMax, messagesKeptMax, tokensOf }: Room): number {
  let tokens = 0;
  let first = messages.length;
  while (first > 0 && messages.length - first < messagesKeptMax) {
    tokens += tokensOf(first - 1);
    if (tokens > tokensMax) break;
    first -= 1;
  }
  while (messages[first]?.role === "tool") first += 1; // A call and its results stay together.
  return first;
}

/** Where room was made before, its summary stands for the messages left out then: how many, and the request among them. */
function summaryIn(message: Message | undefined): { count: number; request: string | undefined } | undefined {
  const [head, counted = "", ...rest] = message?.role === "user" ? message.text.split("\n\n") : [];
  const count = Number.parseInt(counted, 10);
  if (head !== forModels.compactedHead || Number.isNaN(count)) return undefined;
  const [text, beforeIt] = [rest.join("\n\n"), forModels.lastRequest("")];
  return { count, request: text.startsWith(beforeIt) ? text.slice(beforeIt.length) : undefined };
}

function repeated(request: string, tokensMax: number): string {
  const bytesMax = tokensMax; // A quarter of the room, at four bytes to a token.
  return shortened(request.replace(forModels.reminderAtEnd, ""), bytesMax);
}

import { messageTokens, roomOf } from "../context/context.ts";
import type { History } from "../log/log.ts";
import { outputBytes, outputBytesMax } from "../tools/tools.ts";
import { readerOf } from "./make-room.ts";
import type { Parts } from "./parts.ts";

/** What is left of the window is for the answer. */
const filledShare = 0.75;
/** What stands around each result. */
const frameTokens = 8;
const bytesPerToken = 4;
/** Less than this would say nothing, however many calls there are. */
const resultBytesMin = 2_000;

/** Whether a result is as long as it may be, however full the window is: what there is room for need not be worked out. */
export function isShort(text: string): boolean {
  return text.length <= resultBytesMin && outputBytes(text) <= resultBytesMin;
}

/** What each result of the newest answer may have, so that the model can be sent all of them together. */
export function resultBytesMax(history: History, parts: Pick<Parts, "models" | "agents" | "limits">): number {
  const { turn, messages } = history;
  const reader = readerOf(history, parts);
  const { used, kept: keptMax, scale } = roomOf(history, reader);
  const free = reader.windowTokens * filledShare - used;
  // However full the window is: older messages can be left out, but never a part of this answer and its results.
  const kept = parts.limits.messagesKeptMax === 0 ? 0 : keptMax - scale * messageTokens(messages.at(-1));
  const each = Math.max(free, kept) / scale / Math.max(turn?.calls.length ?? 1, 1) - frameTokens;
  return Math.max(Math.min(outputBytesMax(reader.windowTokens), Math.floor(each * bytesPerToken)), resultBytesMin);
}

import type { History } from "../log/log.ts";
import type { Room } from "./room.ts";
import { type Short, shortenedText, type Trims, trimsOf } from "./shorten.ts";

/** What stays of the messages: those from `first` on, some of them shorter. */
export type Kept = {
  readonly first: number;
  /** The last place of what is left out. */
  readonly upTo: number;
  readonly trims: Trims;
  readonly tokens: number;
};

type Wanted = {
  readonly tokensMax: number;
  readonly messagesMax: number;
  /** Fewer messages are not too many, however long, as long as they fit. */
  readonly messagesMin: number;
  /** Beyond the least number, no more than this. */
  readonly tokensWanted: number;
};

/** Chooses what stays, from the newest back. An answer and its results stay or go together. */
export function keepNewest(history: History, room: Room, wanted: Wanted): Kept {
  const { messages, seqs } = history;
  const texts = new Map<number, Short>();
  let [first, tokens] = [messages.length, 0];
  for (const unit of unitsOf(history).reverse()) {
    const weight = unit.indexes.reduce((sum, index) => sum + room.weigh(messages[index]), 0);
    const count = messages.length - unit.start;
    const isWanted = count <= wanted.messagesMin || tokens + weight <= wanted.tokensWanted;
    const isNewest = first === messages.length;
    if (!isNewest && (!isWanted || count > wanted.messagesMax || tokens + weight > wanted.tokensMax)) break;
    const fitted =
      weight <= wanted.tokensMax ? weight : fit(history, room, { unit, tokensMax: wanted.tokensMax, texts });
    // An answer that asks for something waits for its results: it stays, whatever it weighs.
    if (fitted > wanted.tokensMax && !unit.isOpen) {
      texts.clear();
      break;
    }
    [first, tokens] = [unit.start, tokens + fitted];
  }
  // Results stand in the order of the calls, but in the log as they finished: the last one need not be the latest.
  return { first, upTo: latestOf(seqs.slice(0, first)), trims: trimsOf(history, texts), tokens };
}

/** Given messages have places before the log begins. */
function latestOf(seqs: readonly number[]): number {
  return seqs.length === 0 ? 0 : seqs.reduce((latest, seq) => Math.max(latest, seq));
}

/** Old results and images in short, the newest ones as they are. */
export function trimOld(history: History, room: Room, tokensWhole: number): { trims: Trims; tokens: number } {
  const { messages } = history;
  const whole = keepNewest(history, room, {
    ...{ tokensMax: room.kept, messagesMax: messages.length, messagesMin: 0, tokensWanted: tokensWhole },
  });
  const texts = new Map<number, Short>();
  let tokens = room.prefix;
  for (const [index, message] of messages.entries()) {
    const weight = room.weigh(message);
    const isOld = index < whole.first && index >= bodyStart(history);
    const hasImages = "images" in message && (message.images?.length ?? 0) > 0;
    const isTrimmed = isOld && (hasImages || (message.role === "tool" && weight > 2 * oldResultTokens));
    const short = isTrimmed ? shortenedText(message, message.role === "tool" ? oldResultTokens : weight) : undefined;
    if (short !== undefined) texts.set(index, short);
    tokens += short === undefined ? weight : room.weigh({ ...message, ...short, ...(hasImages && { images: [] }) });
  }
  return { trims: trimsOf(history, texts), tokens };
}

const oldResultTokens = 150;

/** Where the messages begin that no summary stands for. */
export function bodyStart({ summary, seqs }: History): number {
  return summary !== undefined && seqs[0] === summary.upTo ? 1 : 0;
}

type Unit = { readonly start: number; readonly indexes: readonly number[]; readonly isOpen: boolean };

/** An answer with its results; a message of the user; messages that joined in one place. */
function unitsOf(history: History): Unit[] {
  const { messages, seqs, turn } = history;
  const starts = messages.flatMap((message, index) => {
    const isStart = message.role !== "tool" && seqs[index] !== seqs[index - 1] && index >= bodyStart(history);
    return isStart ? [index] : [];
  });
  return starts.map((start, place) => {
    const end = starts[place + 1] ?? messages.length;
    const isOpen = end === messages.length && messages[start]?.role === "assistant" && (turn?.calls.length ?? 0) > 0;
    return { start, indexes: Array.from({ length: end - start }, (_, offset) => start + offset), isOpen };
  });
}

type Fit = { readonly unit: Unit; readonly tokensMax: number; readonly texts: Map<number, Short> };

/** Shortens the longest first, down to an equal share each; answers what the unit then weighs. */
function fit({ messages }: History, room: Room, { unit, tokensMax, texts }: Fit): number {
  const isFixed = (index: number) => messages[index]?.role === "assistant";
  let left = tokensMax - unit.indexes.filter(isFixed).reduce((sum, index) => sum + room.weigh(messages[index]), 0);
  const long = unit.indexes.filter((index) => !isFixed(index)).sort((a, b) => weight(a) - weight(b));
  let total = tokensMax - left;
  for (const [place, index] of long.entries()) {
    const message = messages[index];
    const share = Math.floor(left / (long.length - place));
    let used = weight(index);
    if (used > share && message !== undefined) {
      const short = shortenedText(message, Math.max(Math.floor((share - overheadTokens) / room.scale), 0));
      texts.set(index, short);
      used = room.weigh({ ...message, ...short, ...("images" in message && { images: [] }) });
    }
    left -= used;
    total += used;
  }
  return total;

  function weight(index: number): number {
    return room.weigh(messages[index]);
  }
}

/** What stands around a message. */
const overheadTokens = 16;

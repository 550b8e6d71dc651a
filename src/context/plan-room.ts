import type { History } from "../log/log.ts";
import { estimateTokens } from "../models/models.ts";
import type { CompactionCause, EventBody } from "../protocol/events.ts";
import { forModels } from "../words/words.ts";
import { bodyStart, type Kept, keepNewest, trimOld } from "./keep.ts";
import { pinsOf } from "./keepsake-text.ts";
import { markedProse } from "./own-marks.ts";
import { openingTokens, type Reader, type Room } from "./room.ts";
import { endsWithin } from "./shorten.ts";
import { languageIn, type Strategy } from "./summarise.ts";

export type Compacted = Omit<EventBody<"compacted">, "agent" | "turn">;

/** Fewer messages than this are not summed up because somebody asked for it. */
const messagesMin = 15;
/** Fewer messages are left out of a full window without asking a model. */
const summedUpMin = 5;

/** What is to be done: nothing, only to shorten, or to leave out what comes before `first`. */
export type Plan =
  | { readonly kind: "nothing" }
  /** It would not fit, whatever is left out. */
  | { readonly kind: "exhausted" }
  | { readonly kind: "trim"; readonly compacted: Compacted }
  | { readonly kind: "leave_out"; readonly kept: Kept; readonly isSummedUp: boolean };

/**
 * Old results are shortened before anything is left out: often that is enough. What stays is the newest part, as much
 * of it as the reader's settings say; on request only the newest messages.
 */
export function planRoom(
  history: History,
  room: Room,
  { limits, windowTokens, by }: Reader & { by: CompactionCause },
): Plan {
  const isAsked = by === "tool" || by === "person";
  const { messages } = history;
  if (isAsked && messages.length < messagesMin) return { kind: "nothing" };
  if (room.limit - room.prefix < room.scale * openingTokens) return { kind: "exhausted" };
  const { keptMessages, keptShare } = limits;
  if (!isAsked) {
    const { trims, tokens } = trimOld(history, room, Math.min(keptShare * windowTokens, room.kept));
    if (trims.length > 0 && tokens <= room.target)
      return { kind: "trim", compacted: trimmed(history, room, { trims, tokens, by }) };
  }
  const kept = keepNewest(history, room, {
    ...{ tokensMax: room.kept, messagesMax: messages.length, messagesMin: keptMessages },
    tokensWanted: isAsked ? 0 : keptShare * windowTokens,
  });
  const leftOut = kept.first - bodyStart(history);
  if (leftOut <= 0 && kept.trims.length === 0 && (isAsked || isFitting(history, room))) return { kind: "nothing" };
  if (leftOut <= 0 && kept.trims.length === 0 && bodyStart(history) === 0) return { kind: "exhausted" };
  return { kind: "leave_out", kept, isSummedUp: room.summary > 0 && leftOut >= (isAsked ? 1 : summedUpMin) };
}

function isFitting({ messages }: History, room: Room): boolean {
  return room.prefix + messages.reduce((sum, message) => sum + room.weigh(message), 0) <= room.limit;
}

type Cause = Pick<Compacted, "by" | "focus" | "because" | "usage" | "window">;
type Made = Cause & { readonly strategy: Strategy; readonly kept: Kept; readonly prose: string };

/** With a model's summary of what is left out. */
export function summedUp(history: History, room: Room, { strategy, kept, prose, ...cause }: Made): Compacted {
  return leavingOut(history, room, { kept, prose, cause: { strategy, ...cause } });
}

/**
 * Without a model: the latest messages stay, as many as fit, and what was summed up before stays as it is, as far as
 * there is room for it now. Undefined: there is nothing to leave out.
 */
export function withoutSummary(
  history: History,
  room: Room,
  { messagesKeptMax, ...cause }: Cause & { messagesKeptMax: number },
): Compacted | undefined {
  const tokensMax = room.kept;
  const kept = keepNewest(history, room, {
    ...{ tokensMax, messagesMax: messagesKeptMax, messagesMin: messagesKeptMax, tokensWanted: tokensMax },
  });
  const isSame = kept.first <= bodyStart(history) && kept.trims.length === 0;
  if (isSame && (kept.first === 0 || isFitting(history, room))) return undefined;
  const prose = proseWithin(history.summary?.text ?? "", Math.floor(room.summary / room.scale));
  return leavingOut(history, room, { kept, prose, cause: { strategy: "fallback", ...cause } });
}

/** The beginning of it where the room has become less. */
function proseWithin(prose: string, tokensMax: number): string {
  if (estimateTokens(prose) <= tokensMax || tokensMax === 0) return tokensMax === 0 ? "" : prose;
  const { head, tail } = endsWithin(prose, tokensMax);
  return `${head}...${tail}`;
}

type Leaving = {
  readonly kept: Kept;
  readonly prose: string;
  readonly cause: Cause & { readonly strategy: string };
};

function leavingOut(history: History, room: Room, { kept, prose, cause }: Leaving): Compacted {
  const { messages } = history;
  const isLeft = kept.first > 0;
  const summary = isLeft ? summaryText(history, room, { kept, prose }) : undefined;
  const text = summary?.text ?? "";
  const tokensAfter = room.prefix + kept.tokens + (isLeft ? room.weigh({ role: "user", text }) : 0);
  return {
    ...cause,
    upTo: kept.upTo,
    summary: text,
    ...(summary?.prose === undefined ? {} : { prose: summary.prose }),
    messagesBefore: messages.length,
    messagesAfter: messages.length - kept.first + (isLeft ? 1 : 0),
    ...{ tokensBefore: room.used, tokensAfter },
    ...(kept.trims.length === 0 ? {} : { trims: kept.trims }),
    ...(summary === undefined ? {} : { kept: { ...summary.kept } }),
  };
}

function summaryText(history: History, room: Room, { kept, prose }: Pick<Leaving, "kept" | "prose">) {
  const { head, leftOut } = forModels.compact;
  const canSearch = history.recipe?.descriptions.some(({ name }) => name === "search_history") === true;
  const count = (history.summary?.leftOut ?? 0) + kept.first - bodyStart(history);
  const opening = `${head[languageIn(history)]}\n\n${leftOut(count, canSearch)}`;
  const retold = prose === "" ? undefined : markedProse(prose);
  const isGone = (seq: number) => seq <= kept.upTo;
  const free = room.limit - room.prefix - kept.tokens - room.weigh({ role: "user", text: retold?.text ?? "" });
  // What stays may weigh more than it should: what is never lost stands there all the same.
  const least = Math.min(room.needed, room.hard - room.prefix);
  const own = estimateTokens(opening) + frameTokens;
  const pins = pinsOf(history, {
    tokensMax: Math.max(Math.min(room.keepsakes, free), least) / room.scale - own,
    saidTokensMax: room.said / room.scale - own,
    ...{ canSearch, isGone },
  });
  const parts = [opening, ...(retold === undefined ? [] : [retold.text]), ...(pins.text === "" ? [] : [pins.text])];
  const before = opening.length + partEnd.length;
  return {
    text: parts.join(partEnd),
    kept: pins.kept,
    prose: retold && { ...retold.prose, at: before + retold.prose.at },
  };
}

const partEnd = "\n\n";
/** What stands around a message. */
const frameTokens = 4;

function trimmed(
  { messages }: History,
  room: Room,
  { trims, tokens, by }: { trims: Kept["trims"]; tokens: number; by: CompactionCause },
): Compacted {
  const count = messages.length;
  return {
    ...{ strategy: "trim", by, upTo: 0, summary: "", trims },
    ...{ messagesBefore: count, messagesAfter: count, tokensBefore: room.used, tokensAfter: tokens },
  };
}

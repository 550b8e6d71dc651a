import { failed, ok, type Result } from "../base/result.ts";
import {
  type Compacted,
  leastTokens,
  planRoom,
  type Reader,
  type Room,
  readSummary,
  roomOf,
  type Strategy,
  summaryRequest,
  summedUp,
  windowOf,
  withoutSummary,
} from "../context/context.ts";
import type { History } from "../log/log.ts";
import type { Model } from "../models/models.ts";
import type { CompactionCause, EventBody, NewEvent } from "../protocol/events.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import type { CompactReport } from "../protocol/resources.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { RoomReport } from "../tools/tools.ts";
import { choiceOf } from "./agents.ts";
import type { Parts } from "./parts.ts";
import { canPay, paidFor } from "./spending.ts";

export type CompactWanted = {
  readonly strategy: "auto" | Strategy;
  readonly by: CompactionCause;
  readonly focus?: string | undefined;
};

type Place = {
  readonly conversation: Pick<ConversationRow, "id" | "owner">;
  readonly history: History;
  readonly signal: AbortSignal;
  /** Called before a model is asked for a summary. */
  readonly onAsked?: (() => Promise<void>) | undefined;
};

/** What making room takes. */
type RoomParts = Pick<Parts, "limits" | "models" | "agents" | "clock" | "logger">;

/** The event to be stored; without one there was nothing to do, or no summary and nothing that had to go. */
type RoomMade = {
  readonly compacted?: Compacted | undefined;
  readonly because?: Compacted["because"];
  /** What was paid for a summary that was of no use. */
  readonly paid?: Paid | undefined;
};
type Paid = Pick<EventBody<"usage.noted">, "usage" | "cost">;

/**
 * Makes room in what is sent. One attempt at a summary, bounded in time; whatever comes of it, room is made.
 * `context_exhausted` where that is not possible.
 */
export async function makeRoomIn(
  parts: RoomParts,
  place: Place,
  wanted: CompactWanted,
): Promise<Result<RoomMade, Failure>> {
  const { history } = place;
  const { by, focus } = wanted;
  if (parts.limits.messagesKeptMax === 0) return failed(makeFailure("compaction_off", {}));
  const assumed = by === "overflow" ? assumedWindow(history, parts) : undefined;
  const window = assumed?.window;
  const reader = { ...readerOf(history, parts), ...assumed?.reader };
  const room = roomOf(history, reader);
  // The messages are not what is too long.
  if (by === "overflow" && room.used - room.prefix < overflowTokensMin) return failed(exhausted(room.used, reader));
  const plan = planRoom(history, room, { ...reader, by });
  if (plan.kind === "nothing" && by !== "overflow") return ok({});
  // It is more than it should be, but it can be sent.
  if (plan.kind === "exhausted" && by === "window" && room.used <= room.hard) return ok({});
  if (plan.kind === "nothing" || plan.kind === "exhausted") return failed(exhausted(room.used, reader));
  if (plan.kind === "trim") return ok({ compacted: { ...plan.compacted, ...(window !== undefined && { window }) } });
  const strategy = wanted.strategy === "summarize" ? "summarize" : "compact";
  const summary = plan.isSummedUp
    ? await askForSummary(parts, place, { strategy, focus, room, first: plan.kept.first })
    : undefined;
  const cause = {
    ...{ by, because: summary?.because, window, ...summary?.paid },
    ...(focus !== undefined && focus.trim() !== "" && { focus }),
  };
  if (summary?.text !== undefined)
    return ok({ compacted: summedUp(history, room, { ...cause, strategy, kept: plan.kept, prose: summary.text }) });
  const compacted = withoutSummary(history, room, { ...cause, messagesKeptMax: parts.limits.messagesKeptMax });
  return ok({ compacted, because: summary?.because, paid: compacted === undefined ? summary?.paid : undefined });
}

/** What is stored of it, in the log of this turn. */
export function roomEvents(turn: number, { compacted, paid }: RoomMade): NewEvent[] {
  if (compacted !== undefined) return [{ type: "compacted", turn, ...compacted }];
  return paid === undefined ? [] : [{ type: "usage.noted", turn, ...paid }];
}

/** The same for an agent, in the middle of its turn: the answer that asks for it stays. */
export async function roomInTurn(
  run: Pick<Place, "conversation" | "history">,
  parts: RoomParts,
  { strategy, signal }: Pick<CompactWanted, "strategy"> & { readonly signal: AbortSignal },
): Promise<Result<RoomReport, Failure>> {
  const { conversation, history } = run;
  const made = await makeRoomIn(parts, { conversation, history, signal }, { strategy, by: "tool" });
  if (!made.ok) return made;
  const report = reportOf(history, made.value, parts);
  const [event] = signal.aborted ? [] : roomEvents(history.turn?.turn ?? 0, made.value);
  return ok({ report, event });
}

/** The model that reads next, with the window that it really has. */
export function readerOf(history: History, parts: Pick<Parts, "models" | "agents" | "limits">): Reader {
  const model = nextModel(history, parts);
  const { promptSize } = model;
  return { windowTokens: windowOf(history, model), promptSize, limits: parts.limits.window };
}

/** Numbers for whoever asked. */
export function reportOf(
  history: History,
  { compacted, because }: RoomMade,
  parts: Pick<Parts, "models" | "agents" | "limits">,
): Omit<CompactReport, "seq"> {
  const { messages } = history;
  if (compacted !== undefined) {
    const { strategy, messagesBefore, messagesAfter, tokensBefore = 0, tokensAfter = 0 } = compacted;
    return { strategy, messagesBefore, messagesAfter, tokensBefore, tokensAfter };
  }
  const { used } = roomOf(history, readerOf(history, parts));
  const count = messages.length;
  const strategy = because === undefined ? "none" : "fallback";
  return { strategy, messagesBefore: count, messagesAfter: count, tokensBefore: used, tokensAfter: used };
}

export function nextModel({ turn, ...history }: History, parts: Pick<Parts, "models" | "agents">): Model {
  return turn === undefined ? parts.models.get("base") : choiceOf({ ...history, turn }, parts).model;
}

export function exhausted(used: number, { windowTokens: window }: Pick<Reader, "windowTokens">): Failure {
  return makeFailure("context_exhausted", { used: Math.round(used), window: Math.round(window) });
}

const overflowTokensMin = 256;
const overflowShare = 0.7;
const overflowShareMax = 0.95;
const overflowHistoryShare = 0.5;
const limitShare = 0.85;

type Assumed = {
  readonly window: { readonly model: string; readonly tokens: number };
  readonly reader: Pick<Reader, "windowTokens" | "sentTokensMax">;
};

/**
 * The provider refused what should have fitted: its window is taken for smaller. Half of the history goes; if that is
 * refused as well, all that may go.
 */
function assumedWindow(history: History, parts: RoomParts): Assumed {
  const { windowTokens } = readerOf(history, parts);
  const { used, prefix, scale } = roomOf(history, readerOf(history, parts));
  const half = prefix + overflowHistoryShare * Math.max(used - prefix, 0);
  const guess = Math.min(overflowShareMax * used, Math.max(overflowShare * used, half / limitShare));
  // Less would have no room for what is never lost: whether it has, the provider shall say.
  const tokens = Math.floor(Math.min(windowTokens, Math.max(guess, prefix + scale * leastTokens)));
  const isAgain = (history.turn?.compactions ?? 0) > 0;
  return {
    window: { model: nextModel(history, parts).id, tokens },
    reader: { windowTokens: tokens, sentTokensMax: isAgain ? prefix : half },
  };
}

type Asked = {
  readonly strategy: Strategy;
  readonly focus: string | undefined;
  readonly room: Room;
  readonly first: number;
};
type Summary = Pick<Compacted, "because"> & { readonly text?: string | undefined; readonly paid?: Paid | undefined };

/** What the summariser is sent leaves room for its answer. */
const inputShare = 0.7;

async function askForSummary(
  parts: RoomParts,
  { conversation, history, signal, onAsked }: Place,
  { strategy, focus, room, first }: Asked,
): Promise<Summary> {
  const { models, limits, clock, logger } = parts;
  const model = models.get("base");
  if (model.isDemo) return { because: "off" };
  const tokensMax = Math.floor(room.summary / room.scale);
  const inputTokensMax = Math.floor((windowOf(history, model) * inputShare) / room.scale);
  const messages = summaryRequest(history, { first, strategy, focus, tokensMax, inputTokensMax });
  if (!canPay(history, parts, { model, messages, outputTokensMax: tokensMax })) return { because: "budget" };
  await onAsked?.();
  const { id, owner } = conversation;
  const stop = new AbortController();
  const pass = () => stop.abort(signal.reason);
  const forget = clock.after(limits.summaryTimeoutMs, () => stop.abort("timeout"));
  signal.addEventListener("abort", pass);
  if (signal.aborted) pass();
  const answer = await model.prepare({ messages, cacheKey: `summary of ${id}`, owner }).send({}, stop.signal);
  forget();
  signal.removeEventListener("abort", pass);
  const read = readSummary(answer, { strategy, tokensMax });
  if ("because" in read) logger.warn(`no summary of ${id}`, { why: read.because, kind: answer.error?.kind });
  return { ...read, paid: { usage: answer.usage, ...paidFor(model, answer.usage, parts) } };
}

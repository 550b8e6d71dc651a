import type { History } from "../log/log.ts";
import { estimateTokens } from "../models/models.ts";
import type { Message } from "../protocol/message.ts";
import { headingsTokens, pinsOf } from "./keepsake-text.ts";
import { messageTokens, prefixTokens, tokenStatus, type WindowLimits } from "./tokens.ts";

/** The model that reads next, and how full its window may become. */
export type Reader = {
  readonly windowTokens: number;
  readonly promptSize: "full" | "small";
  readonly limits: WindowLimits;
  /** A provider refused what should have fitted: no more than this is sent, but for what is never lost. */
  readonly sentTokensMax?: number | undefined;
};

/** How the window is shared out when room is made. In tokens as the provider counts them. */
export type Room = {
  readonly used: number;
  /** Beyond this room is made. */
  readonly trigger: number;
  /** What is sent after room was made has at most this. */
  readonly limit: number;
  /** More than this cannot be sent at all. */
  readonly hard: number;
  /** Where shortening alone gets below this, nothing is left out. */
  readonly target: number;
  /** None where the window is too small for one that says anything. */
  readonly summary: number;
  /** At the most; what they do not need is for messages. */
  readonly keepsakes: number;
  /** What they need where all messages are left out. */
  readonly needed: number;
  /** Beyond this none of them is what the user only said. */
  readonly said: number;
  readonly kept: number;
  /** What every request starts with. */
  readonly prefix: number;
  weigh(message: Message | undefined): number;
  /** A provider that counts more than we do: so much more. */
  readonly scale: number;
};

/** Words of an answer must fit behind what is sent... */
const answerTokensMax = 4_096;
const answerShareMax = 0.15;
/** ...but where the prompt alone takes most of the window, it is a share of what is left of it... */
const answerRestShareMax = 0.3;
/** ...and never less than this. */
const answerTokensMin = 256;
/** What is sent after room was made is at most this share of the window... */
const limitShare = 0.85;
/** ...and leaves a quarter of what there is for the conversation, so that it is some steps until the next time. */
const gainShare = 0.75;
const targetShare = 0.6;
const keptShareMax = 0.5;
const summaryTokensMax = 1_440;
const summaryShareMax = 0.25;
/** Seven parts cannot be told in less. */
const summaryTokensMin = 100;
const keepsakesShare = 0.15;
const keepsakesTokensMin = 1_000;
const keepsakesShareMax = 0.6;
/** The user's standing instructions, what is open and what is to be done have this in every window. */
const guaranteedTokens = 200;
/** What stands before the keepsakes in the place of what is left out, and before a summary. */
export const openingTokens = 60;
const retoldTokens = 44;
/** The newest messages should have so much beside them. */
const keptTokensMin = 120;
const scaleMax = 4;

/** A conversation that has less than this beside the prompt cannot go on. */
export const leastTokens = guaranteedTokens + headingsTokens + openingTokens + keptTokensMin + answerTokensMin;

/** Whether room must be made before the model is called. */
export function needsRoom(history: History, reader: Reader): boolean {
  const { used } = tokenStatus(history, reader.windowTokens);
  // The prefix counts for small models only, whose histories are short: looking at all of it costs little.
  const scale = reader.promptSize === "small" ? scaleOf(history, used) : 1;
  // Where a window is very small for what is never lost, more is sent than would be comfortable.
  return used > triggerOf(scale * prefixTokens(history), reader) && used > roomOf(history, reader).trigger;
}

/** Beyond this nothing can be sent: the least of answers would not fit. */
export function sendableTokens({ windowTokens }: Pick<Reader, "windowTokens">): number {
  return windowTokens - Math.min(answerTokensMin, answerShareMax * windowTokens);
}

export function roomOf(history: History, reader: Reader): Room {
  const { windowTokens } = reader;
  const { used } = tokenStatus(history, windowTokens);
  const scale = scaleOf(history, used);
  const prefix = Math.ceil(scale * prefixTokens(history));
  const hard = sendableTokens(reader);
  const comfortable = triggerOf(prefix, reader);
  const usual = Math.min(limitShare * windowTokens, prefix + gainShare * (comfortable - prefix));
  const wanted = Math.min(usual, reader.sentTokensMax ?? usual);
  const share = Math.max(keepsakesShare * windowTokens, scale * keepsakesTokensMin);
  const said = wanted > prefix ? Math.min(share, keepsakesShareMax * (usual - prefix)) : 0;
  const keepsakes = Math.max(said, scale * (guaranteedTokens + headingsTokens + openingTokens));
  const needed = Math.min(keepsakes, scale * keepsakesNeeded(history, keepsakes / scale, said / scale));
  const limit = Math.floor(Math.min(hard, Math.max(wanted, prefix + needed + scale * keptTokensMin)));
  const free = Math.max(limit - prefix, 0);
  const trigger = Math.max(comfortable, limit);
  const summary = summaryTokens(free, free - needed, scale);
  const retold = summary === 0 ? 0 : summary + scale * retoldTokens;
  return {
    ...{ used, trigger, limit, hard, summary, prefix, scale, keepsakes, needed, said },
    target: Math.floor(prefix + targetShare * (trigger - prefix)),
    kept: Math.floor(Math.max(Math.min(keptShareMax * windowTokens, free - needed - retold), 0)),
    weigh: (message) => Math.ceil(scale * messageTokens(message)),
  };
}

/** The messages and what is never lost come first. */
function summaryTokens(free: number, left: number, scale: number): number {
  const tokens = Math.min(
    summaryTokensMax * scale,
    summaryShareMax * free,
    left - scale * (keptTokensMin + retoldTokens),
  );
  return tokens < scale * summaryTokensMin ? 0 : Math.floor(tokens);
}

/** As if everything were left out. */
function keepsakesNeeded(history: History, tokensMax: number, saidTokensMax: number): number {
  const pins = pinsOf(history, {
    ...{ tokensMax: tokensMax - openingTokens, saidTokensMax: saidTokensMax - openingTokens },
    ...{ isGone: () => true, canSearch: true },
  });
  return estimateTokens(pins.text) + openingTokens;
}

/** Small models lose their way long before the window is full; of a small window the prompt alone may take half. */
function triggerOf(prefix: number, { windowTokens, promptSize, limits }: Reader): number {
  const rest = Math.max(windowTokens - prefix, 0);
  const wanted = promptSize === "small" ? prefix + limits.smallShare * rest : limits.criticalShare * windowTokens;
  const answer = Math.min(
    ...[answerTokensMax, answerShareMax * windowTokens, Math.max(answerRestShareMax * rest, answerTokensMin)],
  );
  return Math.min(wanted, windowTokens - answer);
}

/** What the provider counted against what we would have: by that much more our estimates weigh. */
function scaleOf(history: History, used: number): number {
  const { counted, messages } = history;
  if (counted === undefined) return 1;
  const estimated = messages.reduce((sum, message) => sum + messageTokens(message), prefixTokens(history));
  return Math.min(Math.max(used / Math.max(estimated, 1), 1), scaleMax);
}

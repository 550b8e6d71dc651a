import type { History } from "../log/log.ts";
import { estimateTokens } from "../models/models.ts";
import type { Message } from "../protocol/message.ts";
import type { TokenStatus } from "../protocol/resources.ts";

/** From which share of the window on each level counts, and what stays when room is made. */
export type WindowLimits = {
  readonly warningShare: number;
  readonly highShare: number;
  /** Above it room is made before the model is called. */
  readonly criticalShare: number;
  /** The same for small models and windows, of what the prompt leaves of the window. */
  readonly smallShare: number;
  /** What stays: this share of the window or so many messages, the larger. */
  readonly keptShare: number;
  readonly keptMessages: number;
};

export const defaultWindowLimits: WindowLimits = {
  warningShare: 0.75,
  highShare: 0.85,
  criticalShare: 0.95,
  smallShare: 0.6,
  keptShare: 0.15,
  keptMessages: 10,
};

/** How full the window is: what the provider counted last, plus an estimate of what came since. */
export function tokenStatus(history: History, windowTokens: number, limits = defaultWindowLimits): TokenStatus {
  const { counted, messages } = history;
  let used = counted === undefined ? prefixTokens(history) : countedTokens(counted, messages);
  for (let index = counted?.messages ?? 0; index < messages.length; index += 1) used += messageTokens(messages[index]);
  return {
    used,
    window: windowTokens,
    level: levelOf(used / windowTokens, limits),
    estimated: counted?.estimated !== false || counted.messages < messages.length,
  };
}

/** Some servers count too little of their answers: we send them back as they are. */
function countedTokens(
  { usage, estimated, messages: count }: NonNullable<History["counted"]>,
  messages: History["messages"],
): number {
  const answer = estimated ? 0 : messageTokens(messages[count - 1]);
  return usage.input + Math.max(usage.output, answer);
}

/** The window of a model, or less where its provider refused a request that should have fitted. */
export function windowOf(history: History, { id, windowTokens }: { id: string; windowTokens: number }): number {
  return Math.min(windowTokens, history.windows.get(id) ?? windowTokens);
}

/** What every request starts with. */
export function prefixTokens({ recipe }: History): number {
  return estimateTokens(recipe?.system ?? "") + estimateTokens(recipe?.tools ?? "");
}

function levelOf(share: number, limits: WindowLimits): TokenStatus["level"] {
  if (share < limits.warningShare) return "info";
  if (share < limits.highShare) return "warning";
  return share <= limits.criticalShare ? "high" : "critical";
}

const imageTokens = 1_000;
const perMessageTokens = 4;

export function messageTokens(message: Message | undefined): number {
  if (message === undefined) return 0;
  const images = "images" in message ? (message.images?.length ?? 0) : 0;
  const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
  const callTokens = calls.reduce((sum, call) => sum + estimateTokens(call.arguments) + estimateTokens(call.name), 0);
  return perMessageTokens + estimateTokens(message.text) + callTokens + images * imageTokens;
}

import type { History } from "../log/log.ts";
import { estimateTokens } from "../models/models.ts";
import type { Message } from "../protocol/message.ts";
import type { TokenStatus } from "../protocol/resources.ts";

/** How full the window is: what the provider counted last, plus an estimate of what came since. */
export function tokenStatus(history: History, windowTokens: number): TokenStatus {
  const { counted, messages, recipe } = history;
  const base =
    counted === undefined
      ? estimateTokens(recipe?.system ?? "") + estimateTokens(recipe?.tools ?? "")
      : counted.usage.input + counted.usage.output;
  let used = base;
  for (let index = counted?.messages ?? 0; index < messages.length; index += 1) used += messageTokens(messages[index]);
  return {
    used,
    window: windowTokens,
    level: levelOf(used / windowTokens),
    estimated: counted?.estimated !== false || counted.messages < messages.length,
  };
}

function levelOf(share: number): TokenStatus["level"] {
  if (share < 0.75) return "info";
  if (share < 0.85) return "warning";
  return share <= 0.95 ? "high" : "critical";
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

import type { History } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import type { Message, ToolDescription } from "../protocol/message.ts";
import { type Toolbox, toolBytes } from "../tools/tools.ts";
import { systemPrompt } from "./prompt.ts";

export { leaveOutOldest } from "./compact.ts";
export { isStuck, sameCallsMax } from "./loop-guard.ts";
export { reminderFor } from "./reminders.ts";
export { messageTokens, tokenStatus } from "./tokens.ts";

/** What every request of this conversation starts with, if it must be set or has changed; each change costs the cache. */
export function recipeEvent(
  history: History,
  toolbox: Toolbox,
  now: { at: number; size: "full" | "small" },
): NewEvent | undefined {
  const { recipe } = history;
  const offered = toolbox.offered(now.size);
  const startedAt = recipe?.startedAt ?? now.at;
  const tools = toolBytes(offered);
  const system = systemPrompt(offered, now.size, startedAt);
  if (recipe?.tools === tools && recipe.system === system) return undefined;
  const cause = recipe === undefined ? "start" : recipe.tools === tools ? "prompt_changed" : "tools_changed";
  return { type: "recipe.set", cause, system, tools, startedAt };
}

/** The messages of the next request: the frozen system message, then the history as it stands. */
export function requestOf(history: History): { messages: readonly Message[]; tools: readonly ToolDescription[] } {
  const { recipe, messages } = history;
  if (recipe === undefined) return { messages: [...messages], tools: [] };
  return { messages: [recipe.systemMessage, ...messages], tools: recipe.descriptions };
}

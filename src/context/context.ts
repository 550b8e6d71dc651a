import type { History, Recipe } from "../log/log.ts";
import type { EventBody, NewEvent } from "../protocol/events.ts";
import type { Message, ToolDescription } from "../protocol/message.ts";
import { type Toolkit, toolBytes } from "../tools/tools.ts";
import { type AgentParts, type OwnParts, ownPartsOf, systemPrompt } from "./prompt.ts";

export { isStuck, sameCallsMax } from "./loop-guard.ts";
export { mentionsIn } from "./mentions.ts";
export { type Compacted, planRoom, summedUp, withoutSummary } from "./plan-room.ts";
export { instructionsPart, notesPart, type OwnParts, ownPartsOf } from "./prompt.ts";
export { reminderFor } from "./reminders.ts";
export { leastTokens, needsRoom, type Reader, type Room, roomOf, sendableTokens } from "./room.ts";
export { readSummary, type Strategy, summaryRequest } from "./summarise.ts";
export { defaultWindowLimits, messageTokens, tokenStatus, type WindowLimits, windowOf } from "./tokens.ts";

/** What every request of this conversation starts with, if it must be set or has changed; each change costs the cache. */
export function recipeEvent(history: History, toolkit: Toolkit, now: RecipeNow): NewEvent | undefined {
  const { recipe } = history;
  const offered = toolkit.offered(now.size, history.loadedTools);
  const startedAt = recipe?.startedAt ?? now.at;
  const tools = toolBytes([...offered, ...(now.functions ?? [])]);
  const made = systemPrompt(offered, now.size, startedAt, now.own, now);
  if (recipe?.tools === tools && recipe.system === made.system) return undefined;
  const { role } = now;
  const cause = recipe === undefined || recipe.role === role ? causeOf(recipe, tools, now.own) : movedTo(role);
  return { type: "recipe.set", cause, ...(role === undefined ? {} : { role }), tools, startedAt, ...made };
}

type RecipeNow = AgentParts & {
  readonly at: number;
  readonly size: "full" | "small";
  /** The agent that the user was handed over to; undefined is the main one. */
  readonly role?: string | undefined;
  readonly own?: OwnParts | undefined;
  /** The functions of the caller, beside our tools. */
  readonly functions?: readonly ToolDescription[] | undefined;
};

function movedTo(role: string | undefined): EventBody<"recipe.set">["cause"] {
  return role === undefined ? "hand_back" : "hand_off";
}

function causeOf(recipe: Recipe | undefined, tools: string, own: OwnParts = {}): EventBody<"recipe.set">["cause"] {
  if (recipe === undefined) return "start";
  if (ownPartsOf(recipe).instructions?.text !== own.instructions?.text) return "instructions_changed";
  return recipe.tools === tools ? "prompt_changed" : "tools_changed";
}

/** The messages of the next request: the frozen system message, then the history as it stands. */
export function requestOf(history: History): { messages: readonly Message[]; tools: readonly ToolDescription[] } {
  const { recipe, messages } = history;
  if (recipe === undefined) return { messages: [...messages], tools: [] };
  return { messages: [recipe.systemMessage, ...messages], tools: recipe.descriptions };
}

import { type OwnParts, recipeEvent } from "../context/context.ts";
import type { History } from "../log/log.ts";
import type { AgentRole } from "../protocol/agent.ts";
import type { NewEvent } from "../protocol/events.ts";
import type { ToolDescription } from "../protocol/message.ts";
import type { Toolbox } from "../tools/tools.ts";
import { roleOf } from "./agents.ts";
import type { Parts } from "./parts.ts";

type Tools = Pick<Parts, "toolbox" | "agents">;
type Whose = Pick<History, "agent" | "turn">;

/** The tools of the agent that works here: what it was not given does not exist for it. */
export function toolboxOf(history: Pick<History, "agent">, parts: Tools): Toolbox {
  return toolsOf(roleOf(history, parts), parts);
}

export function toolsOf({ tools }: AgentRole, { toolbox }: Pick<Parts, "toolbox">): Toolbox {
  return tools === undefined ? toolbox : toolbox.only(tools);
}

/** What the caller can run itself in this turn: nothing that is called like a tool of ours, and nothing twice. */
export function functionsOf(history: Whose, parts: Tools): ToolDescription[] {
  const { functions = [] } = history.turn?.message.program ?? {};
  const toolbox = toolboxOf(history, parts);
  const byName = new Map(functions.toReversed().map((one) => [one.name, one]));
  return functions.filter((one) => byName.get(one.name) === one && !toolbox.has(one.name));
}

/** What requests of this turn start with, if it must be set or has changed. */
export function recipeNow(
  history: History,
  parts: Tools & Pick<Parts, "models">,
  now: { readonly at: number; readonly own: OwnParts },
): NewEvent | undefined {
  return recipeEvent(history, toolboxOf(history, parts), {
    ...now,
    size: parts.models.get("base").promptSize,
    prompt: roleOf(history, parts).prompt,
    callerPart: history.turn?.message.program?.instructions,
    functions: functionsOf(history, parts),
  });
}

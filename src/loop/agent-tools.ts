import { type OwnParts, recipeEvent } from "../context/context.ts";
import type { History } from "../log/log.ts";
import type { AgentRole } from "../protocol/agent.ts";
import type { NewEvent } from "../protocol/events.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { ToolDescription } from "../protocol/message.ts";
import { type Catalogue, catalogueOf } from "../skills/skills.ts";
import { type Toolkit, transferName } from "../tools/tools.ts";
import { forModels } from "../words/words.ts";
import { actingRole, roleOf } from "./agents.ts";
import { agentCatalogue } from "./hand-off.ts";
import type { Parts } from "./parts.ts";
import { stepsMaxOf } from "./spending.ts";

type Tools = Pick<Parts, "toolkit" | "agents">;
type Offering = Tools & Pick<Parts, "models">;
type Whose = Pick<History, "agent" | "stack" | "self" | "turn" | "loadedTools">;

/** The tools of the agent that works here: what it was not given does not exist for it. */
export function toolkitOf(history: Pick<History, "agent" | "stack" | "self">, parts: Tools, owner: OwnerId): Toolkit {
  const all = toolsOf(roleOf(history, parts), parts, owner);
  const { self } = history;
  if (self === undefined) return all;
  return all.without(self.mode === "worker" ? notForWorkers : notForTasks);
}

/** A worker gives nothing away: who gave it the work waits for it. */
const notForWorkers = ["delegate_task", "call_agent", "spawn_agent", "send_message", "terminate_agent"];
/** What was said elsewhere is not for a task: it sees nothing outside of it. */
const notForTasks = ["search_history"];

/** Every agent can hand over to every other. */
function toolsOf(role: AgentRole, { toolkit, agents }: Tools, owner: OwnerId): Toolkit {
  const all = toolkit(owner);
  const others = agents().filter(({ id }) => id !== role.id);
  return role.tools === undefined
    ? all.without([transferName(role)])
    : all.only([...role.tools, ...others.map(transferName)]);
}

/** Whether this agent is told of a tool of this name: a function of a caller cannot be called so. */
export function tellsOf(agent: AgentRole, parts: Offering, { owner, name }: { owner: OwnerId; name: string }): boolean {
  return isOffered(toolsOf(agent, parts, owner), parts, name);
}

export function isOffered(
  toolkit: Toolkit,
  { models }: Pick<Parts, "models">,
  name: string,
  also?: ReadonlySet<string>,
): boolean {
  const offered = toolkit.offered(models.get("base").promptSize, also);
  return offered.some((tool) => tool.name === name || tool.aliases.includes(name));
}

/** What the caller can run itself in this turn: nothing that is called like a tool we tell of, and nothing twice. */
export function functionsOf(history: Whose, parts: Offering, owner: OwnerId): ToolDescription[] {
  const { functions = [] } = history.turn?.message.program ?? {};
  if (functions.length === 0) return [];
  const toolkit = toolkitOf(history, parts, owner);
  const byName = new Map(functions.toReversed().map((one) => [one.name, one]));
  return functions.filter(
    (one) => byName.get(one.name) === one && !isOffered(toolkit, parts, one.name, history.loadedTools),
  );
}

/** The list of skills for the agent that works here; undefined where it could not read one. */
export function skillsFor(
  history: Pick<History, "agent" | "stack" | "self">,
  parts: Offering & Pick<Parts, "skills">,
  owner: OwnerId,
): Catalogue | undefined {
  const canRead = toolkitOf(history, parts, owner).find("read_file") !== undefined;
  if (!canRead || history.self?.mode === "task") return undefined;
  return catalogueOf(parts.skills.usable(), parts.models.get("base").windowTokens);
}

/** How the agent works, in place of the main agent's own words; undefined leaves those as they are. */
function promptOf(history: History, parts: Pick<Parts, "agents" | "limits">): string | undefined {
  const { prompt } = roleOf(history, parts);
  const { self } = history;
  if (self === undefined) return prompt;
  const stepsMax = stepsMaxOf(history, parts.limits);
  const { name, role, parent } = self;
  const own =
    self.mode === "worker"
      ? forModels.agents.worker(stepsMax)
      : forModels.agents.task({ name, role, stepsMax, hasOwnFiles: parent === "root" });
  return prompt === undefined ? own : forModels.agents.asRole(own, prompt);
}

/** What requests of this turn start with, if it must be set or has changed. */
export function recipeNow(
  history: History,
  parts: Offering & Pick<Parts, "skills" | "limits">,
  now: { readonly at: number; readonly own: OwnParts; readonly owner: OwnerId },
): NewEvent | undefined {
  const toolkit = toolkitOf(history, parts, now.owner);
  return recipeEvent(history, toolkit, {
    ...now,
    role: actingRole(history),
    agents: agentCatalogue(history, parts, (tool) => isOffered(toolkit, parts, tool, history.loadedTools)),
    size: parts.models.get("base").promptSize,
    prompt: promptOf(history, parts),
    callerPart: history.turn?.message.program?.instructions,
    functions: functionsOf(history, parts, now.owner),
    skills: skillsFor(history, parts, now.owner)?.text,
  });
}

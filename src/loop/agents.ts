import { ok, type Result } from "../base/result.ts";
import type { AgentChosen, History, OpenTurn } from "../log/log.ts";
import type { ModelChoice } from "../models/models.ts";
import { type AgentRole, mainRole } from "../protocol/agent.ts";
import type { EventBody, NewEvent } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { appendSeen } from "./append-seen.ts";
import type { AgentNamed, Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";

type ChosenEvent = Extract<NewEvent, { type: "agent.chosen" }>;

/** Which agent a conversation belongs to: the one of its first turn, by whatever name callers know it. */
export function openAgents(parts: Parts): Pick<Engine, "agents" | "chooseAgent"> {
  return {
    agents: () => parts.agents(),
    async chooseAgent(conversation, named) {
      const known = await chosenEarly(parts, conversation);
      const isSame = known !== undefined && (named.agentId ?? known.agentId) === known.agentId;
      return isSame ? ok(roleCalled(parts, known.role)) : choose(parts, conversation, named);
    },
  };
}

/** The event for a conversation that is made for an agent; undefined where none was named. */
export function agentChosen(parts: Parts, named: AgentNamed = {}): ChosenEvent | undefined {
  const { agentId, agentKey, appKey } = named;
  if (agentId === undefined && agentKey === undefined && appKey === undefined) return undefined;
  return chosenEvent(firstNamed(parts, named).id, named);
}

/** The same event once more, for a branch. */
export function agentAgain({ agent }: History): ChosenEvent | undefined {
  return agent && { type: "agent.chosen", ...agent };
}

/** The role that plays the main agent; one that is no longer in `agents.yaml` is played by the main one. */
export function mainRoleOf({ agent }: Pick<History, "agent">, parts: Pick<Parts, "agents">): AgentRole {
  return roleCalled(parts, agent?.role ?? mainRole);
}

/** The role of the agent that works: the main one, or the one that the user was handed over to last. */
export function roleOf(history: Pick<History, "agent" | "stack">, parts: Pick<Parts, "agents">): AgentRole {
  const acting = actingRole(history);
  return acting === undefined ? mainRoleOf(history, parts) : roleCalled(parts, acting);
}

/** Undefined while the main agent works. */
export function actingRole({ stack }: Pick<History, "stack">): string | undefined {
  return stack.findLast(({ isActing }) => isActing)?.role;
}

export function roleNamed({ agents }: Pick<Parts, "agents">, id: string): AgentRole | undefined {
  return agents().find((role) => role.id === id);
}

type Now = Pick<History, "agent" | "stack" | "queue"> & { readonly turn: OpenTurn };

/** The model for the next step of a turn, as things stand. */
export function choiceOf(
  { agent, stack, queue, turn }: Now,
  parts: Pick<Parts, "models" | "agents">,
  { isFinal = false } = {},
): ModelChoice {
  const joinsWithImages = !isFinal && queue.some(({ mode, images = [] }) => mode === "steer" && images.length > 0);
  const hasImages = turn.hasImages || joinsWithImages;
  // What the agent's own model cannot see it must not be given.
  const usual = hasImages ? undefined : roleOf({ agent, stack }, parts).slot;
  return parts.models.choose({
    preferred: turn.slot ?? usual,
    hasImages,
    hasCode: turn.message.hints?.includes("code") === true,
    task: turn.message.text,
    final: isFinal,
  });
}

function roleCalled({ agents }: Pick<Parts, "agents">, id: string): AgentRole {
  const roles = agents();
  return roles.find((role) => role.id === id) ?? roles.find((role) => role.id === mainRole) ?? plainRole;
}

const plainRole: AgentRole = {
  ...{ id: mainRole, name: mainRole, description: "" },
  ...{ prompt: undefined, tools: undefined, slot: undefined },
};

/** The first of the names that there is an agent for, else the main agent: any value is taken. */
function firstNamed(parts: Parts, { agentId, agentKey, appKey }: AgentNamed): AgentRole {
  const roles = parts.agents();
  const found = [agentId, agentKey, appKey].map((name) => roles.find(({ id }) => id === name));
  return found.find((role) => role !== undefined) ?? roleCalled(parts, mainRole);
}

/** Where it stands in nearly every log that has it: looking there is cheaper than folding the whole. */
const firstEventsMax = 4;

async function chosenEarly({ log }: Parts, { number }: ConversationRow): Promise<AgentChosen | undefined> {
  const events = await log.read(number, { after: 0, limit: firstEventsMax });
  return events.find((event) => event.type === "agent.chosen");
}

/** Two callers at once: one is first, and the other finds what it chose. */
async function choose(
  parts: Parts,
  conversation: ConversationRow,
  named: AgentNamed,
): Promise<Result<AgentRole, Failure>> {
  const wanted = firstNamed(parts, named);
  let role = wanted;
  const stored = await appendSeen(parts, conversation.number, (history) => {
    const { agent } = history;
    const isBegun = agent !== undefined || history.turnsEver > 0;
    role = isBegun ? mainRoleOf(history, parts) : wanted;
    // A conversation that began without an agent id takes any id, except the id of an agent that is not its own.
    const isOther =
      agent?.agentId === undefined ? isAnother(parts, named.agentId, role) : agent.agentId !== named.agentId;
    if (isBegun && named.agentId !== undefined && isOther)
      return failure("conversation_of_agent", { id: conversation.id, agent: agent?.agentId ?? role.id });
    const event = chosenEvent(role.id, named);
    if (isKnown(agent, event)) return ok({ events: [] });
    return ok({ events: [event], with: { row: { ...rowOf(event), updatedAt: parts.clock.now() } } });
  });
  return stored.ok ? ok(role) : stored;
}

function isAnother({ agents }: Parts, name: string | undefined, { id }: AgentRole): boolean {
  return name !== id && agents().some((role) => role.id === name);
}

function isKnown(agent: AgentChosen | undefined, event: ChosenEvent): boolean {
  if (agent === undefined)
    return event.agentId === undefined && event.agentKey === undefined && event.appKey === undefined;
  return (["agentId", "agentKey", "appKey"] as const).every((name) => event[name] === undefined || name in agent);
}

function chosenEvent(role: string, { agentId, agentKey, appKey }: AgentNamed): ChosenEvent {
  const named = {
    ...(agentId === undefined ? {} : { agentId }),
    ...(agentKey === undefined ? {} : { agentKey }),
    ...(appKey === undefined ? {} : { appKey }),
  };
  return { type: "agent.chosen", role, ...named };
}

/** What lists show of it. */
export function rowOf({ agentId, appKey }: EventBody<"agent.chosen">): { agentId?: string; appKey?: string } {
  return { ...(agentId === undefined ? {} : { agentId }), ...(appKey === undefined ? {} : { appKey }) };
}

import { ok, type Result } from "../base/result.ts";
import type { History } from "../log/log.ts";
import type { EventBody, NewEvent, TurnOutcome } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { type ToolOutput, transferName } from "../tools/tools.ts";
import { forModels } from "../words/words.ts";
import { asAgent } from "./agents/seats.ts";
import { mainRoleOf, roleNamed, roleOf } from "./agents.ts";
import { makeAgent } from "./make-agent.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";

/** The main agent and those it handed over to, one by the other. */
const stackMax = 5;

type Wanted = { readonly call: string; readonly role: string; readonly task: string };

/**
 * Hands over to another agent, which goes on in the same history with its own words and tools: it answers whoever would
 * have been answered, the user or the agent that gave the work. Refused where it
 * stands on the stack already, or where that is as high as it may be: then whoever asked answers itself.
 */
export function handOver(run: Run, parts: Parts, { call, role, task }: Wanted): Result<ToolOutput, Failure> {
  const { history } = run;
  const agent = roleNamed(parts, role);
  if (agent === undefined) return failure("agent_not_found", { id: role });
  const { name } = agent;
  const stack = [mainRoleOf(history, parts).id, ...history.stack.map((one) => one.role)];
  const refused = (because: "acting" | "depth" | "twice") =>
    failure("transfer_refused", { agent: name, because, stack: stack.join(" → "), max: stackMax });
  if (history.stack.some(({ isActing }) => !isActing)) return refused("twice");
  if (stack.includes(role)) return refused("acting");
  if (stack.length >= stackMax) return refused("depth");
  const brief = forModels.handOff.brief(task, history.self !== undefined);
  const spawned = makeAgent(run, parts, { mode: "handoff", call, role, name, brief });
  return spawned.ok ? ok({ text: forModels.handOff.done(name), events: [spawned.value] }) : spawned;
}

/** The turn is over: whoever handed over first is back. The last one on the stack goes first. */
export function handBackEvents({ stack, self }: History, outcome: TurnOutcome): NewEvent[] {
  const whose = asAgent(self?.id ?? "root");
  return stack.toReversed().map(({ id }) => ({ type: "agent.ended", ...whose, id, outcome: ends[outcome] }));
}

const ends: Readonly<Record<TurnOutcome, EventBody<"agent.ended">["outcome"]>> = {
  done: "done",
  limit: "limit",
  failed: "failed",
  crashed: "failed",
  cancelled: "terminated",
};

const catalogueMax = 20;
const descriptionCharactersMax = 160;

/** Whom the agent that works here can hand over to, for its system message; undefined where there is nobody, or no tool for it. */
export function agentCatalogue(
  history: Pick<History, "agent" | "stack" | "self">,
  parts: Pick<Parts, "agents">,
  isOffered: (tool: string) => boolean,
): string | undefined {
  const { id } = roleOf(history, parts);
  const others = parts.agents().filter((agent) => agent.id !== id && isOffered(transferName(agent)));
  if (others.length === 0) return undefined;
  const lines = others.slice(0, catalogueMax).map((agent) => {
    const description = agent.description.replaceAll(/\s+/g, " ").slice(0, descriptionCharactersMax);
    return forModels.handOff.entry(transferName(agent), { ...agent, description });
  });
  return forModels.handOff.catalogue(lines, history.self !== undefined);
}

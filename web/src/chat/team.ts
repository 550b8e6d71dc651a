import type { AgentInfo } from "../../../src/protocol/agent-routes.ts";
import type { EventOf } from "../../../src/protocol/events.ts";
import type { Folded } from "./fold-state.ts";

/** An agent that another one made, as the events tell of it. */
export type Member = {
  readonly id: string;
  readonly name: string;
  /** `root` is the main agent. */
  readonly parent: string;
  readonly mode: "task" | "worker";
  readonly brief: string;
  readonly at: number;
  /** Its own history: read it, and do not keep it, since it grows in place. */
  readonly folded: Folded;
  readonly steps: number;
  readonly tokens: number;
  readonly isStopping: boolean;
  readonly ended: EventOf<"agent.ended"> | undefined;
};

export type MemberState = AgentInfo["state"];

export function stateOf({ folded, ended }: Member, team: ReadonlyMap<string, Member>): MemberState {
  if (ended !== undefined) return ended.outcome;
  if (folded.decisions.length > 0) return "waiting_person";
  const waitsFor = (id: string) => team.get(id)?.mode === "worker" && team.get(id)?.ended === undefined;
  const isForWorkers = folded.items.some((item) => item.kind === "call" && item.agents.some(waitsFor));
  return folded.run === undefined || isForWorkers ? "waiting_agents" : "working";
}

export function childrenOf(id: string, team: ReadonlyMap<string, Member>): Member[] {
  return [...team.values()].filter(({ parent }) => parent === id);
}

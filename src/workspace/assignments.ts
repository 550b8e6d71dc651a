import { ok, type Result } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import type { AgentRow, SideRows, Storage, StorageFailure, WorkspaceRow } from "../storage/storage.ts";
import { boundedMap } from "./bounded-map.ts";
import { type Layout, taskFolder } from "./layout.ts";
import type { FileFailure } from "./one-workspace.ts";

/** Which agent works with which files. Everything is stored: after a restart it is as before. */
export type Assignments = {
  /** The task's workspace that an agent shares, `conversation` for root and whoever works for it. Looking makes nothing. */
  find(number: number, agent: string): Promise<Result<WorkspaceRow | "conversation", NotAssigned>>;
  /** Records an agent; one that root makes gets a workspace of its own. The same agent twice is recorded once. */
  assign(number: number, made: NewAgent): Promise<Result<void, FileFailure | StorageFailure>>;
};

/** `isTask`: true unless said otherwise; a worker shares the files of whoever made it. */
export type NewAgent = { readonly agent: string; readonly parent: string; readonly isTask?: boolean | undefined };

/** What is stored of an agent. */
export function agentRow({ agent, parent, isTask = true }: NewAgent): NonNullable<SideRows["agents"]>[number] {
  return { id: agent, parent, folder: isTask && parent === "root" ? taskFolder(agent) : undefined };
}
type NotAssigned = Extract<FileFailure, { code: "workspace_not_assigned" }>;

/** Answers that are remembered, over all conversations. */
const answersMax = 20_000;

export function openAssignments(storage: Storage, { hostPath }: Pick<Layout, "hostPath">): Assignments {
  // An agent's parent and workspace never change, so a found answer stays true; what was not found may still be made.
  const answers = boundedMap<WorkspaceRow | "conversation">(answersMax);
  const keyOf = (number: number, agent: string) => `${number}/${agent}`;

  async function find(number: number, agent: string): ReturnType<Assignments["find"]> {
    if (isTop(agent)) return ok("conversation");
    const known = answers.get(keyOf(number, agent));
    if (known !== undefined) return ok(known);
    const chain = chainOf(agent, await storage.agentsOf(number));
    if (chain === undefined) return failure("workspace_not_assigned", { agent });
    for (const each of chain.agents) answers.set(keyOf(number, each), chain.answer);
    return ok(chain.answer);
  }

  return {
    find,
    async assign(number, made) {
      const { agent, parent } = made;
      if (isTop(agent) || hostPath(taskFolder(agent)) === undefined)
        return failure("workspace_not_assigned", { agent });
      const above = await find(number, parent);
      if (!above.ok) return above;
      const stored = await storage.append({ number, events: [], with: { agents: [agentRow(made)] } });
      if (!stored.ok) return stored;
      // An id that another conversation has was passed over; its files are not ours to see.
      const found = await find(number, agent);
      return found.ok ? ok(undefined) : found;
    },
  };
}

/** Neither has a task's workspace, nor somebody above. */
function isTop(agent: string): boolean {
  return agent === "root" || agent === "user";
}

/**
 * Walks from an agent to the first ancestor with a workspace. The agents passed on the way have the same answer.
 * Undefined for an agent that nobody made and for a chain that leads nowhere.
 */
function chainOf(
  agent: string,
  rows: readonly AgentRow[],
): { readonly agents: readonly string[]; readonly answer: WorkspaceRow | "conversation" } | undefined {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const passed = new Set<string>();
  for (let id = agent; !passed.has(id); ) {
    if (isTop(id)) return { agents: [...passed], answer: "conversation" };
    passed.add(id);
    const row = byId.get(id);
    if (row === undefined) return undefined;
    if (row.workspace !== undefined) return { agents: [...passed], answer: row.workspace };
    id = row.parent;
  }
  return undefined;
}

import type { AgentInfo } from "../../../src/protocol/agent-routes.ts";

/** A line of the tree: an agent, or all agents of one state below another where there are too many to be looked through. */
export type TreeRow =
  | {
      readonly kind: "agent";
      readonly key: string;
      readonly agent: AgentInfo;
      readonly level: number;
      readonly hasBelow: boolean;
      readonly isOpen: boolean;
    }
  | {
      readonly kind: "group";
      readonly key: string;
      readonly state: AgentInfo["state"];
      readonly count: number;
      readonly level: number;
      readonly isOpen: boolean;
    };

/** More children than these stand together by their state. */
const childrenMax = 50;

/** From the top down. `turned`: keys of lines that were closed, or of groups that were opened. */
export function rowsOfTree(agents: readonly AgentInfo[], turned: ReadonlySet<string>): TreeRow[] {
  const below = Map.groupBy(agents, ({ parent }) => parent);
  const rows: TreeRow[] = [];
  const add = (agent: AgentInfo, level: number) => {
    const children = below.get(agent.id) ?? [];
    const isOpen = !turned.has(agent.id);
    rows.push({ kind: "agent", key: agent.id, agent, level, hasBelow: children.length > 0, isOpen });
    if (!isOpen) return;
    if (children.length <= childrenMax) for (const child of children) add(child, level + 1);
    else addGroups(agent.id, children, level + 1);
  };
  const addGroups = (parent: string, children: readonly AgentInfo[], level: number) => {
    for (const [state, members] of Map.groupBy(children, (child) => child.state)) {
      const key = `${parent}/${state}`;
      const isOpen = turned.has(key);
      rows.push({ kind: "group", key, state, count: members.length, level, isOpen });
      if (isOpen) for (const child of members) add(child, level + 1);
    }
  };
  for (const agent of below.get(null) ?? []) add(agent, 1);
  return rows;
}

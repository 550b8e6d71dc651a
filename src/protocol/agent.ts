/** The written part that an agent plays, as `agents.yaml` has it. `general` is the main agent's own. */
export type AgentRole = {
  readonly id: string;
  readonly name: string;
  /** What it is for, for people and for other agents that may hand over to it. */
  readonly description: string;
  /** Stands in the system message in place of the main agent's own part; undefined leaves that as it is. */
  readonly prompt: string | undefined;
  /** Names of the tools that it has; undefined: all. */
  readonly tools: readonly string[] | undefined;
  /** What it is good at, by the names of skills: others are told so. */
  readonly skills?: readonly string[] | undefined;
  /** The model slot of its turns, unless the user prefers another. */
  readonly slot: "base" | "reasoning" | "vision" | "code" | "chat" | undefined;
};

export const mainRole = "general";

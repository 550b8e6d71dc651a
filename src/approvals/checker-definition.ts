// Public, by way of `agentyard/extend`: it imports nothing, so that its types are all that an operator needs.

/** What an operator writes into a file of `checkers/`, as its default export. */
export type CheckerDefinition = {
  /** The tools it looks at; `*` is all of them. */
  readonly tool: string | readonly string[];
  /** Answers at once, and undefined where it has nothing to say. Others are asked too: the strictest word counts. */
  readonly check: (given: Readonly<Record<string, unknown>>, facts: CheckerFacts) => CheckerAnswer | undefined;
};
type CheckerFacts = {
  readonly tool: string;
  /** Where programs run, and what the conversation has read: as `CallFacts` has them. */
  readonly contained: boolean;
  readonly network: boolean;
  readonly tainted: boolean;
};
type CheckerAnswer = {
  readonly action: "allow" | "ask" | "deny";
  readonly risk?: "low" | "medium" | "high" | "critical";
  readonly reason: string;
};

/** Gives a checker its types. */
export function defineChecker(definition: CheckerDefinition): CheckerDefinition {
  return definition;
}

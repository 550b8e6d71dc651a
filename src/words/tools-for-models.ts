type NoneFound = {
  readonly query: string;
  readonly near: readonly string[];
  readonly kinds: readonly string[];
  readonly all: number;
};

/** What models are told of tools that they can find. */
export const toolsForModels = {
  found: (shown: number, all: number) =>
    `${shown} of ${all} further tools. Call one with use_tool: name and arguments (? may be left out).`,
  noneFound({ query, near, kinds, all }: NoneFound): string {
    if (all === 0)
      return "There are no further tools. Go on with those that you have, or tell the user what is missing.";
    const names = near.length === 0 ? "" : ` Names like it: ${near.join(", ")}.`;
    return `No tool found for: ${query}.${names} There are ${all} further tools; their names begin with: ${kinds.join(", ")}. Call find_tools again with other words, in English, too; if nothing fits, tell the user what is missing.`;
  },
} as const;

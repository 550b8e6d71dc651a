import type { History, Recipe } from "./history-state.ts";

/** Recipes that are held once; one more begins anew. */
const recipesMax = 64;

/**
 * Most conversations have the same tools, and those of one minute the same system message: what many have is held once,
 * for with hundreds of turns at a time it is most of what each takes up.
 */
export function openSharing(): (history: History) => History {
  const toolsKnown = new Map<string, Pick<Recipe, "tools" | "descriptions">>();
  const systemsKnown = new Map<string, Pick<Recipe, "system" | "systemMessage">>();
  return (history) => {
    const { recipe } = history;
    if (recipe === undefined) return history;
    const { tools, descriptions, system, systemMessage } = recipe;
    const ofTools = shared(toolsKnown, tools, { tools, descriptions });
    const ofSystem = shared(systemsKnown, system, { system, systemMessage });
    history.recipe = { ...recipe, ...ofTools, ...ofSystem };
    return history;
  };
}

function shared<Part extends object>(known: Map<string, Part>, key: string, part: Part): Part {
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size === recipesMax) known.clear();
  known.set(key, part);
  return part;
}

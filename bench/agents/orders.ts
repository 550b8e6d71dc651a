/**
 * What the scripted model is told, and goes by: the main agent follows orders of the user, all others their briefs. It stands
 * in the request, so that the model keeps nothing in mind.
 */
export const modelName = "bench-model";
export const lookUp = { name: "look_up", result: "A line of a note, forty characters long. ".repeat(5) } as const;

/** What an agent is made for: to wait for a message, to take so many steps, or to ask a model that never answers. */
type Deed = "wait" | "work" | "hold";

/** Of each ten agents one leads the nine others. */
const ledMax = 9;

export const holdOrder = spawnOrder([{ deed: "hold", steps: 0, led: 0 }]);

/** So many agents, in groups. */
export function companyOrder(deed: Deed, agents: number, steps = 0): string {
  const groups = Math.ceil(agents / (ledMax + 1));
  return spawnOrder(
    Array.from({ length: groups }, (_, group) => ({
      ...{ deed, steps },
      led: Math.min(ledMax, agents - group * (ledMax + 1) - 1),
    })),
  );
}

export function tellOrder(agent: string): string {
  return `order tell ${agent}`;
}

/** What an agent does itself: it leads so many others that do so, or does it. */
export type Brief = { readonly deed: Deed; readonly steps: number; readonly led: number };

export function briefText({ deed, steps, led }: Brief): string {
  return `brief ${deed} ${steps} ${led}`;
}

function spawnOrder(briefs: readonly Brief[]): string {
  return `order spawn ${briefs.map(briefText).join("; ")}`;
}

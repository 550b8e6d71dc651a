import { enAmount } from "./en-budget.ts";

type Line = { readonly kind: Parameters<typeof enAmount>[0]; readonly left: number; readonly limit: number };

/** What models are told about what they may spend. */
export const budgetForModels = {
  left: (lines: readonly Line[]) => {
    const parts = lines.map(({ kind, left, limit }) => `${enAmount(kind, left)} of ${enAmount(kind, limit)} left`);
    return `Budget: ${parts.join("; ")}. Plan so that it lasts: when it is used up no more tools run and you answer from what is there.`;
  },
  finalize: `The budget for this work is used up and no more tools will run in this turn. Answer now from what is above: give the result so far, name what is missing, and say that a larger budget is needed to go on.`,
  usedUp: "the budget is used up",
};

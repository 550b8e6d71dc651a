export type Sizes = {
  readonly agents: number;
  /** Model calls of each agent, and of the one that is alone. */
  readonly steps: number;
  /** How often one is alone, and how often there are so many. */
  readonly rounds: number;
};

export const full: Sizes = { agents: 100, steps: 20, rounds: 5 };
export const short: Sizes = { agents: 12, steps: 2, rounds: 1 };

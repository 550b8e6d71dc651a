export type Sizes = {
  /** Tool steps of one turn, where the cost of a step is measured. */
  readonly steps: number;
  readonly rounds: number;
  /** Conversations that talk at the same time, and for how long. */
  readonly conversations: number;
  readonly seconds: number;
  /** How many processes share the database, one measurement each. */
  readonly processes: readonly number[];
  readonly kills: number;
  /** Messages that are taken up by one way and by the other. */
  readonly messages: number;
};

export const full: Sizes = {
  steps: 200,
  rounds: 5,
  conversations: 24,
  seconds: 12,
  processes: [1, 2, 4],
  kills: 7,
  messages: 1000,
};
export const short: Sizes = {
  steps: 5,
  rounds: 1,
  conversations: 2,
  seconds: 1,
  processes: [2],
  kills: 1,
  messages: 0,
};

/** How much of everything. */
export type Sizes = {
  /** After one that does not count. */
  readonly rounds: number;
  readonly folders: number;
  readonly filesPerFolder: number;
  readonly flatFiles: number;
  readonly shallow: number;
  readonly deep: number;
  readonly lookUps: number;
  readonly textFiles: number;
  readonly textFileBytes: number;
  readonly writes: number;
  readonly writesPerRound: number;
};

export const full: Sizes = {
  rounds: 5,
  folders: 1_000,
  filesPerFolder: 100,
  flatFiles: 100_000,
  shallow: 10,
  deep: 1_000,
  lookUps: 20_000,
  textFiles: 1_000,
  textFileBytes: 100_000,
  writes: 10_000,
  writesPerRound: 500,
};

export const short: Sizes = {
  rounds: 1,
  folders: 10,
  filesPerFolder: 10,
  flatFiles: 100,
  shallow: 3,
  deep: 30,
  lookUps: 100,
  textFiles: 20,
  textFileBytes: 10_000,
  writes: 20,
  writesPerRound: 10,
};

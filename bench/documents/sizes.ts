/** How much of everything. */
export type Sizes = {
  /** After one that does not count. */
  readonly rounds: number;
  readonly manuals: number;
  readonly paragraphs: number;
  readonly tables: number;
  readonly rows: number;
  /** Of the mixed corpus; none, and nothing is fetched for it. */
  readonly stackManuals: number;
  readonly htmlPages: number;
};

export const full: Sizes = {
  rounds: 3,
  manuals: 20,
  paragraphs: 5_000,
  tables: 200,
  rows: 50_000,
  stackManuals: 22,
  htmlPages: 20,
};
export const short: Sizes = {
  rounds: 1,
  manuals: 1,
  paragraphs: 50,
  tables: 2,
  rows: 50,
  stackManuals: 0,
  htmlPages: 0,
};

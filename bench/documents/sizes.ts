/** How much of everything. */
export type Sizes = {
  /** After one that does not count. */
  readonly rounds: number;
  readonly manuals: number;
  /** Manuals, and what Python reads them with, come from packages of Debian; else from what is installed. */
  readonly fetches: boolean;
  readonly paragraphs: number;
  readonly tables: number;
  readonly rows: number;
  readonly htmlPages: number;
};

export const full: Sizes = {
  rounds: 3,
  manuals: 22,
  fetches: true,
  paragraphs: 5_000,
  tables: 200,
  rows: 50_000,
  htmlPages: 20,
};
export const short: Sizes = {
  rounds: 1,
  manuals: 1,
  fetches: false,
  paragraphs: 50,
  tables: 2,
  rows: 50,
  htmlPages: 0,
};

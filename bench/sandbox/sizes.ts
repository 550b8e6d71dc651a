/** How much of everything. */
export type Sizes = {
  /** Of what is over in milliseconds, some in a row; after one that does not count. */
  readonly rounds: number;
  /** Of what starts a sandbox each time. */
  readonly launches: number;
  /** Of what imports the data libraries each time; none leaves them out. */
  readonly imports: number;
  /** That the file report looks at. */
  readonly files: number;
  /** That lie around when the first program comes, and how often that is measured. */
  readonly manyFiles: number;
  readonly manyFilesRuns: number;
  /** Idle beside each other, so that what they share is counted once. */
  readonly guests: number;
  readonly users: number;
  readonly conversationsPerUser: number;
  /** In each of how many passes, after one that does not count. */
  readonly executions: number;
  readonly passes: number;
  /** Until connections that nobody uses any more are closed. */
  readonly settleMs: number;
  /** While a neighbour misbehaves; none leaves them out. */
  readonly neighbourRuns: number;
};

export const full: Sizes = {
  rounds: 100,
  launches: 100,
  imports: 100,
  files: 100,
  manyFiles: 10_000,
  manyFilesRuns: 3,
  guests: 6,
  users: 5,
  conversationsPerUser: 10,
  executions: 1_000,
  passes: 4,
  settleMs: 6_000,
  neighbourRuns: 100,
};

export const short: Sizes = {
  rounds: 2,
  launches: 2,
  imports: 0,
  files: 10,
  manyFiles: 200,
  manyFilesRuns: 1,
  guests: 1,
  users: 1,
  conversationsPerUser: 2,
  executions: 6,
  passes: 2,
  settleMs: 0,
  neighbourRuns: 0,
};

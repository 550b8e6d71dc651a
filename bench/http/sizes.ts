export type Sizes = {
  readonly tokenRuns: number;
  readonly textBytes: number;
  readonly textRuns: number;
  readonly streams: number;
  readonly streamPieces: number;
  /** Before the memory is read for the first time. */
  readonly settleMs: number;
  readonly uploadBytes: number;
  readonly uploadRuns: number;
};

export const full: Sizes = {
  tokenRuns: 60,
  textBytes: 10_000_000,
  textRuns: 3,
  streams: 500,
  streamPieces: 150,
  settleMs: 3_000,
  uploadBytes: 100_000_000,
  uploadRuns: 5,
};

export const short: Sizes = {
  tokenRuns: 1,
  textBytes: 100_000,
  textRuns: 1,
  streams: 10,
  streamPieces: 5,
  settleMs: 100,
  uploadBytes: 1_000_000,
  uploadRuns: 1,
};

/** The next file; none: there is nothing more to do. */
export interface ToLane {
  readonly file?: string;
}

export type FromLane =
  /** The name of the test that begins; empty: its file is loaded. */
  | { readonly kind: "started"; readonly name: string }
  /** What became of the tests of a file. */
  | { readonly kind: "tested"; readonly file: string; readonly outcomes: readonly TestOutcome[] }
  /** A file came to its end, or the lane is ready for its first one. `left`: what the file changed and did not put back. */
  | { readonly kind: "ready"; readonly left: readonly string[] };

export interface TestOutcome {
  readonly name: string;
  readonly state: "passed" | "failed" | "skipped";
  readonly ms: number;
  /** Of a failed test, the first lines of why. */
  readonly why?: string;
}

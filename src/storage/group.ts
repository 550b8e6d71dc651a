import { assert } from "../base/assert.ts";
import { failed, type Result } from "../base/result.ts";
import type { StorageFailure } from "./storage.ts";

// Writes that share a transaction, whatever the database.

/** A longer group would hold up the streams for more than some ten milliseconds. */
export const groupWritesMax = 1000;

export type Write<Run> = {
  readonly isOnDisk: boolean;
  readonly run: Run;
  readonly settle: (failure: StorageFailure | undefined) => void;
  readonly reject: (error: unknown) => void;
};

type Caller<T> = {
  readonly isOnDisk: boolean;
  readonly resolve: (outcome: Result<T, StorageFailure>) => void;
  readonly reject: (error: unknown) => void;
};

/** `running` makes what runs in the transaction; what it keeps last is what the caller gets, once that is committed. */
export function makeWrite<T, Run>(
  { isOnDisk, resolve, reject }: Caller<T>,
  running: (keep: (outcome: Result<T, StorageFailure>) => void) => Run,
): Write<Run> {
  let outcome: Result<T, StorageFailure> | undefined;
  return {
    isOnDisk,
    run: running((kept) => {
      outcome = kept;
    }),
    settle(failure) {
      if (failure !== undefined) return resolve(failed(failure));
      assert(outcome !== undefined, "a committed write has run");
      resolve(outcome);
    },
    reject,
  };
}

/** How a transaction ended that was not committed. `write`: the one that threw, where it was one of them. */
export type Broken<Run> =
  | { readonly kind: "failed"; readonly failure: StorageFailure }
  | { readonly kind: "threw"; readonly error: unknown; readonly write: Write<Run> | undefined };

/** A write that throws is taken out and the rest is tried again: one caller's mistake costs the others nothing. */
export function takeOut<Run>(
  group: Write<Run>[],
  { write, error }: Extract<Broken<Run>, { readonly kind: "threw" }>,
): void {
  const guilty = write === undefined ? group.splice(0) : group.splice(group.indexOf(write), 1);
  for (const one of guilty) one.reject(error);
}

import type { KeptBook } from "./kept.ts";
import { type Locks, openLocks } from "./locks.ts";
import type { Usage } from "./usage.ts";

/** What all views of the same folders share in this process: who writes where, how much is used, what is kept. */
export type Books = {
  readonly locks: Locks;
  /** By folder. */
  readonly usage: Map<string, Usage>;
  readonly kept: Map<string, KeptBook>;
};

export function openBooks(): Books {
  return { locks: openLocks(), usage: new Map(), kept: new Map() };
}

import type { KeptBook } from "./kept.ts";
import { type Locks, openLocks } from "./locks.ts";
import type { Count } from "./measure.ts";
import type { Seen } from "./seen.ts";
import type { Usage } from "./usage.ts";

/** What all views of the same folders share in this process: who writes where, how much is used, what is kept. */
export type Books = {
  readonly locks: Locks;
  /** By folder. */
  readonly usage: Map<string, Usage>;
  readonly kept: Map<string, KeptBook>;
  readonly seen: Map<string, Seen>;
  readonly counts: Map<string, Count>;
  /** Removals that go on, by the name that their folders have in the staging folder. */
  readonly removals: Set<string>;
  /** Folders that wait for the first write of a program, by how many guests have them; see `openWaiting`. */
  readonly held: Map<string, number>;
};

export function openBooks(): Books {
  const maps = { usage: new Map(), kept: new Map(), seen: new Map(), counts: new Map() };
  return { locks: openLocks(), ...maps, removals: new Set(), held: new Map() };
}

/** The folder was moved away, or another one has its place. */
export function forgetFolder({ usage, seen, counts }: Books, folder: string): void {
  for (const known of [usage, seen, counts]) known.delete(folder);
}

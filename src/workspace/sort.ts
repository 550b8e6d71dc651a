import { inSlices } from "./slices.ts";

type Named = { readonly name: string };

/** So many are sorted in one piece: about a millisecond. */
const runLength = 2_000;

/** Sorted by name in slices: runs first, then pairs of them merged, so that a huge folder holds up nobody. */
export async function sortedByName<Entry extends Named>(entries: readonly Entry[]): Promise<Entry[]> {
  let sorted: Entry[] = [];
  const steps = function* () {
    let runs: Entry[][] = [];
    for (let start = 0; start < entries.length; start += runLength) {
      runs.push(entries.slice(start, start + runLength).sort(compare));
      yield;
    }
    while (runs.length > 1) {
      const merged: Entry[][] = [];
      for (let index = 0; index < runs.length; index += 2) {
        const run: Entry[] = [];
        merged.push(run);
        yield* merge(runs[index] ?? [], runs[index + 1] ?? [], run);
      }
      runs = merged;
    }
    sorted = runs[0] ?? [];
  };
  await inSlices(steps());
  return sorted;
}

function* merge<Entry extends Named>(left: readonly Entry[], right: readonly Entry[], into: Entry[]) {
  let [l, r] = [0, 0];
  for (let a = left[l], b = right[r]; a !== undefined || b !== undefined; a = left[l], b = right[r]) {
    const isLeft = b === undefined || (a !== undefined && compare(a, b) <= 0);
    const next = isLeft ? a : b;
    if (next !== undefined) into.push(next);
    if (isLeft) l += 1;
    else r += 1;
    if (into.length % runLength === 0) yield;
  }
}

function compare(a: Named, b: Named): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

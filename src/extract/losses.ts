import type { Loss, Place } from "./extracted.ts";

const placesMax = 20;

/** What was met on the way, one entry for each kind. */
export type Losses = {
  add(kind: string, place: Place, count?: number): void;
  all(): readonly Loss[];
};

export function openLosses(): Losses {
  const found = new Map<string, { count: number; places: Place[] }>();
  return {
    add(kind, place, count = 1) {
      const loss = found.get(kind) ?? { count: 0, places: [] };
      found.set(kind, loss);
      loss.count += count;
      if (loss.places.length < placesMax) loss.places.push(place);
    },
    all: () => [...found].map(([kind, loss]) => ({ kind, ...loss })),
  };
}

/** Chance that can be had again: the same seed makes the same choices. */
export type Chance = {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** Both ends included. */
  int(min: number, max: number): number;
  /** True for so many of 1. */
  odds(share: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** The items in another order. */
  shuffled<T>(items: readonly T[]): T[];
};

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  // mulberry32: small, quick, and good enough to choose among odd values.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    int,
    odds: (share) => next() < share,
    pick(items) {
      const [item] = items.slice(int(0, items.length - 1));
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
    shuffled: (items) =>
      items
        .map((item) => ({ item, at: next() }))
        .sort((a, b) => a.at - b.at)
        .map(({ item }) => item),
  };
}

/** `AGENTYARD_SEED`, or the usual one, or a new one; it is said, so that whatever it finds can be had again. */
export function seedFor(what: string, usual?: number): number {
  const seed = Number(process.env.AGENTYARD_SEED ?? usual ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`${what}: AGENTYARD_SEED=${seed}`);
  return seed;
}

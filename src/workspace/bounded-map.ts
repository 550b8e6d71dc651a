/** Remembers so many entries at the most; those that nobody asked for the longest are forgotten first, many at once. */
export type BoundedMap<Value> = {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
};

/**
 * Two generations: what is asked for moves to the young one, and when that is half of all the old one is dropped.
 * Moving each entry to the end of one map instead gets slower the more entries there are.
 */
export function boundedMap<Value>(entriesMax: number): BoundedMap<Value> {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  const set = (key: string, value: Value) => {
    young.set(key, value);
    if (young.size <= entriesMax / 2) return;
    old = young;
    young = new Map();
  };
  return {
    get(key) {
      const value = young.get(key) ?? old.get(key);
      if (value !== undefined && !young.has(key)) set(key, value);
      return value;
    },
    set,
  };
}

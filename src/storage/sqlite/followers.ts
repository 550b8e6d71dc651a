export type Followers = {
  add(number: number, listener: (lastSeq: number) => void): () => void;
  /** Inside a transaction; told when it is committed. */
  appended(number: number, lastSeq: number): void;
  notify(): void;
  forget(): void;
};

/** Who wants to know that a conversation grew. */
export function openFollowers(): Followers {
  const listeners = new Map<number, Set<(lastSeq: number) => void>>();
  const fresh = new Map<number, number>();
  return {
    add(number, listener) {
      // Its own function, so that one listener added twice is called twice and ended one by one.
      const call = (lastSeq: number) => listener(lastSeq);
      const calls = listeners.get(number) ?? new Set();
      listeners.set(number, calls.add(call));
      return () => {
        calls.delete(call);
        if (calls.size === 0 && listeners.get(number) === calls) listeners.delete(number);
      };
    },
    appended(number, lastSeq) {
      if (listeners.has(number)) fresh.set(number, lastSeq);
    },
    notify() {
      if (fresh.size === 0) return;
      const told = [...fresh];
      fresh.clear();
      for (const [number, lastSeq] of told) {
        for (const call of listeners.get(number) ?? []) call(lastSeq);
      }
    },
    forget: () => fresh.clear(),
  };
}

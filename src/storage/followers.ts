/** Who wants to know that a conversation grew. */
export function openFollowers() {
  const listeners = new Map<number, Set<(lastSeq: number) => void>>();
  return {
    add(number: number, listener: (lastSeq: number) => void) {
      // Its own function, so that one listener added twice is called twice and ended one by one.
      const call = (lastSeq: number) => listener(lastSeq);
      const calls = listeners.get(number) ?? new Set();
      listeners.set(number, calls.add(call));
      return () => {
        calls.delete(call);
        if (calls.size === 0 && listeners.get(number) === calls) listeners.delete(number);
      };
    },
    has: (number: number) => listeners.has(number),
    tell(number: number, lastSeq: number) {
      for (const call of listeners.get(number) ?? []) call(lastSeq);
    },
  };
}

export type Followers = ReturnType<typeof openFollowers>;

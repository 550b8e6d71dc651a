/** Who wants to hear of something. One that is added twice hears it twice. */
export function openListeners<T>() {
  const calls = new Set<(told: T) => void>();
  return {
    add(listener: (told: T) => void): () => void {
      const call = (told: T) => listener(told);
      calls.add(call);
      return () => void calls.delete(call);
    },
    tell(told: T): void {
      for (const call of [...calls]) call(told);
    },
  };
}

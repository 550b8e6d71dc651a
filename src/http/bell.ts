import type { Clock } from "../base/clock.ts";

type Bell = { readonly ring: () => void; readonly heard: () => Promise<void> };

/** Remembers a ring that nobody waited for yet. */
export function makeBell(): Bell {
  let next = Promise.withResolvers<void>();
  return {
    ring: () => next.resolve(),
    async heard() {
      await next.promise;
      next = Promise.withResolvers();
    },
  };
}

/** How often a stream that has nothing to tell says that it is there. */
export const pingMs = 15_000;

/** Again and again, until the answer is called. */
export function every(clock: Clock, ms: number, action: () => void): () => void {
  let cancel = clock.after(ms, tick);
  function tick(): void {
    cancel = clock.after(ms, tick);
    action();
  }
  return () => cancel();
}

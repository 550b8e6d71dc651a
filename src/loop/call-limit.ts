import type { Clock } from "../base/clock.ts";

/** A limit of time that stands still while a person is asked: nobody is fast enough for a program's. */
export type CallLimit = {
  /** The same, with the clock stopped until it is over. */
  without<T>(work: () => Promise<T>): Promise<T>;
  /** Fires when the call is over, however it ended. */
  readonly over: AbortSignal;
  end(): void;
};

export function startLimit(clock: Clock, limitMs: number, onOver: () => void): CallLimit {
  let leftMs = limitMs;
  let startedAt = clock.monotonic();
  let stopped = 0;
  const over = new AbortController();
  let cancel = clock.after(leftMs, onOver);
  return {
    async without(work) {
      if (stopped === 0) {
        cancel();
        leftMs -= clock.monotonic() - startedAt;
      }
      stopped += 1;
      try {
        return await work();
      } finally {
        stopped -= 1;
        if (stopped === 0 && !over.signal.aborted) {
          startedAt = clock.monotonic();
          cancel = clock.after(Math.max(0, leftMs), onOver);
        }
      }
    },
    over: over.signal,
    end() {
      over.abort("over");
      cancel();
    },
  };
}

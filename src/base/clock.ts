/** Time as an argument: the process clock in production, a manual one in tests. */
export interface Clock {
  /** Wall time in milliseconds since 1970; may jump. */
  now(): number;
  /** Milliseconds that only grow; for durations, leases and time limits. */
  monotonic(): number;
  /** Resolves after `ms`, or at once with `"aborted"` when the signal fires. */
  wait(ms: number, signal?: AbortSignal | undefined): Promise<"elapsed" | "aborted">;
  /** Runs `action` once after `ms`; the answer cancels it. Does not keep the process alive. */
  after(ms: number, action: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  wait: (ms, signal) => waitOn(setTimeout, ms, signal),
  after(ms, action) {
    const timer = setTimeout(action, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

function waitOn(start: typeof setTimeout, ms: number, signal?: AbortSignal): Promise<"elapsed" | "aborted"> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve("aborted");
    const stop = () => {
      clearTimeout(timer);
      resolve("aborted");
    };
    const timer = start(() => {
      signal?.removeEventListener("abort", stop);
      resolve("elapsed");
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

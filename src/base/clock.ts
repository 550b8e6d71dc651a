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
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve("aborted");
      const stop = () => {
        cancel();
        resolve("aborted");
      };
      const cancel = startTimer(ms, () => {
        signal?.removeEventListener("abort", stop);
        resolve("elapsed");
      });
      signal?.addEventListener("abort", stop, { once: true });
    }),
  after: (ms, action) => startTimer(ms, action, letGo),
};

/** What setTimeout can count to: 24.8 days. A longer one it would run at once. */
const timerMsMax = 2 ** 31 - 1;

function startTimer(ms: number, action: () => void, onTimer: (timer: unknown) => void = () => {}): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const start = (restMs: number) => {
    const nowMs = Math.min(restMs, timerMsMax);
    timer = setTimeout(() => (restMs > nowMs ? start(restMs - nowMs) : action()), nowMs);
    onTimer(timer);
  };
  start(ms);
  return () => clearTimeout(timer);
}

/** Browsers have numbers for timers, and nothing that a timer could keep alive. */
function letGo(timer: unknown): void {
  if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function")
    timer.unref();
}

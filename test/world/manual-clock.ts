import { type Clock, systemClock } from "../../src/base/clock.ts";

/** Time that only moves when the test moves it; waiting costs nothing. */
export function manualClock(): Clock & { move(ms: number): void; timers(): number } {
  let now = 0;
  let timers: { at: number; action: () => void }[] = [];
  return {
    timers: () => timers.length,
    now: () => now,
    monotonic: () => now,
    wait: async (_, signal) => {
      await new Promise((resolve) => setImmediate(resolve));
      return signal?.aborted ? "aborted" : "elapsed";
    },
    after(ms, action) {
      const timer = { at: now + ms, action };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    move(ms) {
      now += ms;
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { action } of due) action();
    },
  };
}

/** The same, with how long was waited each time. */
export function notingClock() {
  const waits: number[] = [];
  const plain = manualClock();
  const wait: Clock["wait"] = (ms, signal) => {
    waits.push(ms);
    return plain.wait(ms, signal);
  };
  return { clock: { ...plain, wait }, waits };
}

/** The time of the machine, but no time limit ever passes: what ends under it ends by itself, and at once. */
export const endlessClock: Clock = {
  ...systemClock,
  after: () => () => {},
  wait: (_, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve("aborted");
      signal?.addEventListener("abort", () => resolve("aborted"), { once: true });
    }),
};

import type { Clock } from "../../base/clock.ts";

export interface Watchdog {
  /** Data came: from now on the idle time counts. */
  reset(): void;
  /** Whatever was allowed before, only this much time is left. */
  shorten(ms: number): void;
  stop(): void;
}

/**
 * Calls `onStall` when the first data is late, or later data too far apart. Data comes by the thousand, so a reset only
 * notes the time; the one timer looks at it when it fires and goes to sleep again for what is left.
 */
export function startWatchdog(
  clock: Clock,
  limits: { readonly firstDataTimeoutMs: number; readonly idleTimeoutMs: number },
  onStall: () => void,
): Watchdog {
  let deadline = clock.monotonic() + limits.firstDataTimeoutMs;
  let hasData = false;
  let cancel = clock.after(limits.firstDataTimeoutMs, check);

  function check(): void {
    const left = deadline - clock.monotonic();
    if (left <= 0) onStall();
    else cancel = clock.after(Math.ceil(left), check);
  }

  function shorten(ms: number): void {
    deadline = clock.monotonic() + ms;
    cancel();
    cancel = clock.after(ms, check);
  }

  return {
    reset() {
      if (hasData) deadline = clock.monotonic() + limits.idleTimeoutMs;
      // The first wait is mostly the longer one: a timer set for it would notice a stall too late.
      else shorten(limits.idleTimeoutMs);
      hasData = true;
    },
    shorten,
    stop: () => cancel(),
  };
}

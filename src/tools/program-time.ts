import { z } from "zod";

/** The longest a program may be given, in seconds; whatever is more was meant in milliseconds. */
const timeoutSecondsMax = 3_600;
/** Waiting for room, starting a sandbox and looking at files is not the program's time. */
const aroundMs = 120_000;

/** How long a program may run, in seconds, as models write it. */
export const timeoutInput = z.number().positive().optional();

export const otherTimeNames = {
  ...{ timeout_seconds: "timeout", timeout_s: "timeout", timeout_sec: "timeout", timeout_secs: "timeout" },
  ...{ timeout_ms: "timeout", timeout_millis: "timeout", timeout_milliseconds: "timeout" },
  ...{ time_limit: "timeout", max_time: "timeout" },
} as const;

const fromSeconds = (seconds: number) => Math.min(seconds, timeoutSecondsMax);
const fromMs = (ms: number) => fromSeconds(ms / 1000);

/** Names that say the unit are taken at their word. */
export const otherTimeUnits = {
  ...{ timeout_seconds: fromSeconds, timeout_s: fromSeconds, timeout_sec: fromSeconds, timeout_secs: fromSeconds },
  ...{ timeout_ms: fromMs, timeout_millis: fromMs, timeout_milliseconds: fromMs },
};

export function timeoutMsOf(timeout: number): number {
  return Math.min(Math.ceil(timeout > timeoutSecondsMax ? timeout : timeout * 1000), timeoutSecondsMax * 1000);
}

/** How long the loop waits for the whole call: the sandbox ends the program long before. */
export function callTimeoutMsOf(timeout: number): number {
  return timeoutMsOf(timeout) + aroundMs;
}

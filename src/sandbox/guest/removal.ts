import type { Clock } from "../../base/clock.ts";

/** How long somebody is asked to remove a guest: one that is not gone by then is found by whoever sweeps later. */
const removeMsMax = 15_000;
export const removeAgainMs = 3000;

/** Asks again and again: whoever answers none holds nobody up. `ask` says whether it is enough. */
export async function removeInTime(
  clock: Clock,
  signal: AbortSignal,
  ask: () => Promise<boolean>,
): Promise<"removed" | "late" | "aborted"> {
  if (signal.aborted) return "aborted";
  for (let askedMs = 0; askedMs < removeMsMax; askedMs += removeAgainMs) {
    const late = clock.wait(removeAgainMs, signal);
    if ((await Promise.race([ask(), late])) === true) return "removed";
    if ((await late) === "aborted") return "aborted";
  }
  return "late";
}

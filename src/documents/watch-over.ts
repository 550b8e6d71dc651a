import type { Clock } from "../base/clock.ts";
import { type Progress, place } from "./scan.ts";

const lookMs = 100;
/** A pattern that is seen at work on one piece of text so often has got lost in it. */
const lostLooksMax = 5;
/** A thread that is seen without any progress so often will not come back: its disk hangs, say. A minute. */
const stillLooksMax = 600;

/**
 * Looks at a thread that scans from time to time, and calls `giveUp` once when it does not get on; the answer ends it.
 * Looks are counted and not the time, which also passes while the machine sleeps or has much else to do.
 */
export function watchOver(progress: Progress, clock: Clock, giveUp: () => void): () => void {
  let [still, lost] = [0, 0];
  let seen = Atomics.load(progress, place.beats);
  const look = () => {
    const beats = Atomics.load(progress, place.beats);
    const isStill = beats === seen;
    seen = beats;
    still = isStill ? still + 1 : 0;
    lost = isStill && Atomics.load(progress, place.isMatching) === 1 ? lost + 1 : 0;
    if (lost >= lostLooksMax || still >= stillLooksMax) giveUp();
    else cancel = clock.after(lookMs, look);
  };
  let cancel = clock.after(lookMs, look);
  return () => cancel();
}

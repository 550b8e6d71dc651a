import { whenOver } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import type { FindLimits, PlainHit } from "./find.ts";
import type { Scope } from "./sqlite/bounds.ts";
import type { Asked, Thread } from "./thread.ts";

/** All of one search for a pattern: somebody may have written it to keep us busy. */
const timeMsMax = 10_000;
const lookMs = 100;
/** A pattern that is seen at work on one passage so often has got lost in it. */
const lostLooksMax = 5;
/** Between two passages nobody looks at the time, and the first may be long in coming. */
const looksMax = timeMsMax / lookMs;

type Scanned = { readonly stopped: Asked<"scan">; readonly hits: readonly PlainHit[] };

/** Searches for patterns, one after another, in a thread that is ended when one gets lost. */
export function openScans(thread: Thread, clock: Clock) {
  let last: Promise<unknown> = Promise.resolve();

  const scanNow = async (pattern: RegExp, scope: Scope, limits: FindLimits, signal?: AbortSignal): Promise<Scanned> => {
    const hits: PlainHit[] = [];
    if (signal?.aborted) return { stopped: { answer: "time" }, hits };
    const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    let isLost = false;
    const giveUp = () => {
      isLost = true;
      void thread.end();
    };
    const stopWatching = watch(beats, clock, giveUp);
    signal?.addEventListener("abort", giveUp, { once: true });
    const job = { do: "scan", pattern, scope, limits: { ...limits, timeMsMax }, beats } as const;
    const stopped = await thread.ask(job, (hit) => void hits.push(hit));
    stopWatching();
    signal?.removeEventListener("abort", giveUp);
    return { stopped: isLost ? { answer: "time" } : stopped, hits };
  };

  return {
    scan(pattern: RegExp, scope: Scope, limits: FindLimits, signal?: AbortSignal): Promise<Scanned> {
      const mine = whenOver(last).then(() => scanNow(pattern, scope, limits, signal));
      last = mine;
      return mine;
    },
    end: () => thread.end(),
  };
}

/** Looks are counted and not the time, which also passes while the machine sleeps. Nothing is lost before it began. */
function watch(beats: Int32Array, clock: Clock, giveUp: () => void): () => void {
  let [seen, lost, looks] = [0, 0, 0];
  const look = () => {
    const now = Atomics.load(beats, 0);
    const hasBegun = now > 0;
    const isTrying = hasBegun && now % 2 === 0;
    lost = isTrying && now === seen ? lost + 1 : 0;
    looks += hasBegun ? 1 : 0;
    seen = now;
    if (lost >= lostLooksMax || looks >= looksMax) giveUp();
    else cancel = clock.after(lookMs, look);
  };
  let cancel = clock.after(lookMs, look);
  return () => cancel();
}

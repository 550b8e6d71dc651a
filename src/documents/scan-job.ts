import type { Clock } from "../base/clock.ts";
import type { FileBelow } from "../workspace/workspace.ts";
import type { LineHit, SearchQuery, SearchResult } from "./documents.ts";
import type { Plan } from "./query.ts";
import { type Progress, place, scanFiles } from "./scan.ts";

/** What the thread is asked; `root` is an open folder of this process. */
export type ScanJob = Pick<SearchQuery, "path" | "hitsMax" | "contextCharacters"> & {
  readonly root: number;
  /** The next one counts only where the one before finds nothing at all. */
  readonly plans: readonly Plan[];
  readonly progress: Progress;
};

/** What it says: each hit when it is found, and at the end why it did not look at everything, if so. */
export type ScanNews = { readonly hit: LineHit } | { readonly stopped: SearchResult["stopped"] };

/** All of one search. A machine with much else to do is slow, and still comes to an end. */
const timeMsMax = 60_000;
/** All of one search for a pattern: somebody may have written it to keep us busy. */
const patternTimeMsMax = 10_000;

export type JobOptions = {
  readonly clock: Clock;
  /** All files from the beginning. */
  readonly files: () => Iterable<FileBelow>;
  readonly found: (hit: LineHit) => void;
};

/** Does the job, and answers why it did not look at everything, if so. */
export function runJob(job: ScanJob, { clock, files, found }: JobOptions): SearchResult["stopped"] {
  const { plans, progress } = job;
  const endsAt = clock.monotonic() + (plans.some(({ mayHang }) => mayHang) ? patternTimeMsMax : timeMsMax);
  let stopped: SearchResult["stopped"];
  for (const plan of plans) {
    for (const counted of [place.total, place.filesSearched, place.filesSkipped]) Atomics.store(progress, counted, 0);
    stopped = scanFiles(files(), { ...job, plan, isLate: () => clock.monotonic() >= endsAt, found });
    if (Atomics.load(progress, place.total) > 0 || stopped === "time") break;
  }
  return stopped;
}

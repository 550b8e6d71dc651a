import { parentPort } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { systemClock } from "../base/clock.ts";
import { filesBelow } from "../workspace/workspace.ts";
import type { SearchHit, SearchQuery, SearchResult } from "./documents.ts";
import { plansFor } from "./query.ts";
import { type Progress, place, scanFiles } from "./scan.ts";

/** What the thread is asked; `root` is an open folder of this process. */
export type ScanJob = Omit<SearchQuery, "signal"> & {
  readonly root: number;
  readonly timeMsMax: number;
  readonly progress: Progress;
};

/** What it says: each hit when it is found, and at the end why it did not look at everything, if so. */
export type ScanNews = { readonly hit: SearchHit } | { readonly stopped: SearchResult["stopped"] };

const port = parentPort;
assert(port !== null, "scan-worker runs in a thread of its own");
const tell = (news: ScanNews) => port.postMessage(news);
port.on("message", (job: ScanJob) => tell({ stopped: run(job) }));

function run(job: ScanJob): SearchResult["stopped"] {
  const { root, path, query, isRegex, progress } = job;
  const endsAt = systemClock.monotonic() + job.timeMsMax;
  const plans = plansFor(query, isRegex);
  assert(plans.ok, "the query was checked before");
  let stopped: SearchResult["stopped"];
  for (const plan of plans.value) {
    for (const counted of [place.total, place.filesSearched, place.filesSkipped]) Atomics.store(progress, counted, 0);
    stopped = scanFiles(filesBelow(root, path), {
      ...job,
      plan,
      isLate: () => systemClock.monotonic() >= endsAt,
      found: (hit) => tell({ hit }),
    });
    if (Atomics.load(progress, place.total) > 0 || stopped === "time") break;
  }
  return stopped;
}

import { parentPort } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { systemClock } from "../base/clock.ts";
import { filesBelow } from "../workspace/files-below.ts";
import { runJob, type ScanJob, type ScanNews } from "./scan-job.ts";

// A thread loads everything anew, and the first search waits for it: what is imported here must be little. The front file
// of workspace/ would bring zod and forty files. It is the wiring of its thread, so it hands the clock down as main.ts does.
const port = parentPort;
assert(port !== null, "scan-worker runs in a thread of its own");
const tell = (news: ScanNews) => port.postMessage(news);
port.on("message", (job: ScanJob) => {
  const files = () => filesBelow(job.root, job.path);
  tell({ stopped: runJob(job, { clock: systemClock, files, found: (hit) => tell({ hit }) }) });
});

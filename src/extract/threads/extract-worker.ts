import { getPriority, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { assert } from "../../base/assert.ts";
import { failed, ok } from "../../base/result.ts";
import { filesBelow } from "../../workspace/files-below.ts";
import type { Extracted } from "../extracted.ts";
import { fileBytesMax } from "../limits.ts";
import type { Progress } from "../reading.ts";
import { batchesOf, type Job, type News, type NotRead, type Order } from "./job.ts";
import { openReader } from "./open-reader.ts";

// A thread for documents. It is ended when it takes too long, so nothing in here waits for anything.
// Turns and searches come before it: it gets half as much of a full processor. Only on Linux this counts for a thread alone.
const backSteps = 3;
const lowestPriority = 19;
if (process.platform === "linux") setPriority(Math.min(getPriority() + backSteps, lowestPriority));
const port = parentPort;
assert(port !== null, "extract-worker runs in a thread of its own");
const tell = (news: News) => port.postMessage(news);
const read = openReader();
let rest: Iterator<News> | undefined;

port.on("message", (order: Order) => {
  if (order === "more") sendNext();
  else void take(order.job);
});

async function take(job: Job): Promise<void> {
  const bytes = bytesOf(job);
  if ("why" in bytes) return tell({ ended: failed(bytes) });
  const found = await read({ name: job.name, bytes }, { onProgress: openProgress() });
  if (!found.ok) return tell({ ended: found });
  rest = newsOf(found.value);
  sendNext();
}

/** Nobody sees more steps than these, and each wakes up the thread that serves everybody. */
const progressSteps = 100;

function openProgress(): (progress: Progress) => void {
  let told = -1;
  return (progress) => {
    const { done, total } = progress;
    const step = total === 0 ? done : Math.floor((done * progressSteps) / total);
    if (step === told) return;
    told = step;
    tell({ progress });
  };
}

function sendNext(): void {
  const next = rest?.next();
  if (next === undefined || next.done === true) rest = undefined;
  else tell(next.value);
}

function* newsOf({ blocks, ...known }: Extracted): Generator<News, void> {
  for (const batch of batchesOf(blocks)) yield { blocks: batch };
  yield { ended: ok(known) };
}

function bytesOf(job: Job): Uint8Array | NotRead {
  if ("bytes" in job) return job.bytes.length > fileBytesMax ? tooLarge(job.bytes.length) : job.bytes;
  // A path that names a file gives that file and nothing else; special files give none.
  for (const file of filesBelow(job.root, job.path)) {
    if (file.path !== job.path) return { why: "no_file" };
    if (file.bytes > fileBytesMax) return tooLarge(file.bytes);
    return file.read(fileBytesMax) ?? { why: "no_file" };
  }
  return { why: "no_file" };
}

function tooLarge(sizeBytes: number): NotRead {
  return { why: "too_large", sizeBytes, limitBytes: fileBytesMax };
}

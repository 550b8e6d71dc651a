import { Worker } from "node:worker_threads";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../observe/observe.ts";
import type { Block, Extracted } from "../extracted.ts";
import type { Progress } from "../reading.ts";
import type { Ended, Job, News, Order } from "./job.ts";

/** A thread that needs more has met something hostile. What PDFium has is not counted, and has its own bound. */
const heapMegabytesMax = 512;
/** Memory that was once taken is not given back: after so much work a thread makes room for a new one. */
const filesPerThread = 50;
const bytesPerThread = 200 * 1024 * 1024;

/** Of a job: what it came to, or why its thread is no more. */
export type Outcome =
  | { readonly kind: "read"; readonly extracted: Extracted }
  | { readonly kind: "unread"; readonly why: Extract<Ended, { ok: false }>["failure"] }
  | { readonly kind: "late" | "memory" | "stopped" }
  | { readonly kind: "crashed"; readonly error: Error };

export type Limits = {
  readonly timeMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
};

export type Thread = {
  /** One job at a time. */
  run(job: Job, limits: Limits): Promise<Outcome>;
  /** Whether it can take another job. */
  readonly isFit: boolean;
  end(): Promise<void>;
};

/** `env` is empty: nothing in there is a file's business. What PDFium has to say about one is for its developers. */
export const threadOptions = {
  ...{ name: "extract", env: {}, stdout: true, stderr: true },
  resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
};

export type ThreadParts = { readonly clock: Clock; readonly logger: Pick<Logger, "error"> };

/** `worker`: another one than ours is for tests, which cannot make ours break down. */
export function startThread(
  { clock, logger }: ThreadParts,
  worker = new Worker(new URL("./extract-worker.ts", import.meta.url), threadOptions),
): Thread {
  worker.unref();
  worker.stdout.resume();
  worker.stderr.resume();
  let [files, bytes, isBusy, isGone] = [0, 0, false, false];
  // Between two jobs nobody waits for it, and without a listener it would end the process.
  worker.on("error", (error) => {
    if (!isBusy) logger.error("document.reader_crashed", { error });
  });
  worker.once("exit", () => {
    isGone = true;
  });
  return {
    get isFit() {
      return !isGone && files < filesPerThread && bytes < bytesPerThread;
    },
    async run(job, limits) {
      files += 1;
      bytes += job.sizeBytes;
      isBusy = true;
      const outcome = await runIn(worker, job, { ...limits, clock });
      isBusy = false;
      if (outcome.kind !== "read" && outcome.kind !== "unread") {
        isGone = true;
        await worker.terminate();
      }
      return outcome;
    },
    async end() {
      isGone = true;
      await worker.terminate();
    },
  };
}

function runIn(
  worker: Worker,
  job: Job,
  { timeMs, signal, onProgress, clock }: Limits & { clock: Clock },
): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const blocks: Block[] = [];
  const order = (next: Order) => worker.postMessage(next);
  const onNews = (news: News) => {
    if ("progress" in news) return onProgress(news.progress);
    if ("ended" in news) return resolve(outcomeOf(news.ended, blocks));
    for (const block of news.blocks) blocks.push(block);
    order("more");
  };
  const onError = (error: Error & { code?: string }) =>
    resolve(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? { kind: "memory" } : { kind: "crashed", error });
  const onExit = () => resolve({ kind: "crashed", error: new Error("the thread ended") });
  const onAbort = () => resolve({ kind: "stopped" });
  const stopTimer = clock.after(timeMs, () => resolve({ kind: "late" }));
  worker.on("message", onNews).on("error", onError).on("exit", onExit);
  signal.addEventListener("abort", onAbort, { once: true });
  worker.ref();
  if (signal.aborted) onAbort();
  else order({ job });
  return promise.finally(() => {
    stopTimer();
    worker.off("message", onNews).off("error", onError).off("exit", onExit);
    signal.removeEventListener("abort", onAbort);
    worker.unref();
  });
}

function outcomeOf(ended: Ended, blocks: readonly Block[]): Outcome {
  if (!ended.ok) return { kind: "unread", why: ended.failure };
  return { kind: "read", extracted: { ...ended.value, blocks } };
}

import { Worker } from "node:worker_threads";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../observe/observe.ts";
import type { LineHit, SearchResult } from "./documents.ts";
import type { ScanJob, ScanNews } from "./scan-job.ts";
import { watchOver } from "./watch-over.ts";

const idleMsMax = 30_000;
/** A thread that needs more has met something hostile. */
const heapMegabytesMax = 512;

export type ScanThread = {
  /** One job at a time. Answers undefined when the thread had to be ended: it hung, or nobody waited for it any more. */
  scan(job: ScanJob, options: ScanOptions): Promise<Ending | undefined>;
  end(): Promise<void>;
};
export type ScanOptions = { readonly stop: AbortSignal; readonly found: (hit: LineHit) => void };
export type Ending = { readonly stopped: SearchResult["stopped"] };

export type Parts = { readonly clock: Clock; readonly logger: Pick<Logger, "error"> };

/** A thread that is started by the first job, kept warm for a while after each, and replaced when it hangs. */
export function openScanThread({ clock, logger }: Parts): ScanThread {
  let warm: { readonly worker: Worker; isBusy: boolean; stopIdling: () => void } | undefined;

  const start = () => {
    const worker = startWorker();
    const started = { worker, isBusy: false, stopIdling: () => {} };
    // Between two searches nobody waits for it, and without a listener it would end the process.
    worker.on("error", (error) => {
      if (!started.isBusy) logger.error("the thread of the search broke down", { error });
    });
    worker.once("exit", () => {
      started.stopIdling();
      if (warm === started) warm = undefined;
    });
    return started;
  };

  const end = async () => {
    const ending = warm;
    warm = undefined;
    ending?.stopIdling();
    await ending?.worker.terminate();
  };

  return {
    end,
    async scan(job, options) {
      const used = warm ?? start();
      warm = used;
      used.stopIdling();
      used.isBusy = true;
      let ending: Ending | undefined;
      try {
        ending = await scanIn(used.worker, job, clock, options);
      } finally {
        used.isBusy = false;
        if (ending === undefined) await end();
        else used.stopIdling = clock.after(idleMsMax, () => void end());
      }
      return ending;
    },
  };
}

function startWorker(): Worker {
  const worker = new Worker(new URL("./scan-worker.ts", import.meta.url), {
    name: "search",
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
  });
  worker.unref();
  return worker;
}

function scanIn(worker: Worker, job: ScanJob, clock: Clock, { stop, found }: ScanOptions): Promise<Ending | undefined> {
  return new Promise((resolve, reject) => {
    const stopWatching = watchOver(job.progress, clock, () => finish(undefined));
    const onNews = (news: ScanNews) => ("hit" in news ? found(news.hit) : finish(news));
    const onAbort = () => finish(undefined);
    const onExit = () => finish(undefined);
    const onError = (error: Error & { code?: string }) => {
      tidy();
      // What it was reading needed more memory than it may have.
      if (error.code === "ERR_WORKER_OUT_OF_MEMORY") resolve({ stopped: "size" });
      else reject(error);
    };
    const tidy = () => {
      stopWatching();
      worker.off("message", onNews).off("error", onError).off("exit", onExit);
      stop.removeEventListener("abort", onAbort);
      worker.unref();
    };
    const finish = (ending: Ending | undefined) => {
      tidy();
      resolve(ending);
    };
    worker.on("message", onNews).on("error", onError).on("exit", onExit);
    stop.addEventListener("abort", onAbort, { once: true });
    worker.ref();
    worker.postMessage(job);
  });
}

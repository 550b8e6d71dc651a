import { Worker } from "node:worker_threads";
import type { Clock } from "../base/clock.ts";
import type { PlainHit } from "./find.ts";
import type { Answers, Fault, Job, News, Order, ThreadTask } from "./jobs.ts";

/** A thread that needs more has met something hostile. */
const heapMegabytesMax = 1_024;
const idleMsMax = 60_000;

export type Asked<Name extends keyof Answers> = { readonly answer: Answers[Name] } | { readonly fault: Fault };

export type Thread = {
  ask<J extends Job>(job: J, found?: (hit: PlainHit) => void): Promise<Asked<J["do"]>>;
  /** At once, whatever it does; those who wait hear that it was ended. The next job starts another. */
  end(): Promise<void>;
};

const ended: Fault = { code: "ended", said: "the thread was ended" };

type Waiting = { resolve(asked: Asked<never>): void; reject(error: unknown): void; found(hit: PlainHit): void };

/** Started by the first job, ended when there was nothing to do for a while, and replaced when it breaks. */
export function openThread(task: ThreadTask, { clock, started }: { clock: Clock; started?: () => void }): Thread {
  let running: Worker | undefined;
  let stopIdling = () => {};
  let nextId = 0;
  const waiting = new Map<number, Waiting>();

  const loseAll = (settle: (each: Waiting) => void) => {
    running = undefined;
    const all = [...waiting.values()];
    waiting.clear();
    for (const each of all) settle(each);
  };
  const start = () => {
    const worker = startWorker(task);
    worker.on("message", (news: News) => {
      const asker = waiting.get(news.id);
      if ("hit" in news) return asker?.found(news.hit);
      waiting.delete(news.id);
      rest();
      asker?.resolve(news as Asked<never>);
    });
    worker.on("error", (error: Error & { readonly code?: string }) => {
      if (running !== worker) return;
      const isFull = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      loseAll((each) =>
        isFull ? each.resolve({ fault: { code: "memory", said: error.message } }) : each.reject(error),
      );
    });
    worker.once("exit", () => {
      if (running === worker) loseAll((each) => each.resolve({ fault: ended }));
    });
    started?.();
    return worker;
  };

  const rest = () => {
    stopIdling();
    if (waiting.size > 0) return;
    running?.unref();
    stopIdling = clock.after(idleMsMax, () => void end());
  };

  const end = async () => {
    stopIdling();
    const ending = running;
    loseAll((each) => each.resolve({ fault: ended }));
    await ending?.terminate();
  };

  return {
    end,
    ask(job, found = () => {}) {
      stopIdling();
      running ??= start();
      const id = nextId++;
      running.ref();
      const order: Order = { id, job };
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject, found });
        running?.postMessage(order);
      });
    },
  };
}

function startWorker(task: ThreadTask): Worker {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    name: "search",
    env: {},
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
  });
  worker.unref();
  return worker;
}

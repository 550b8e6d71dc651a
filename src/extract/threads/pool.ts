import type { Clock } from "../../base/clock.ts";
import type { Job } from "./job.ts";
import { type Limits, type Outcome, startThread, type Thread } from "./thread.ts";

const threadsMax = 2;
const idleMsMax = 30_000;

export type Pool = {
  /** Waits until a thread is free. */
  run(job: Job, limits: Limits): Promise<Outcome>;
  close(): Promise<void>;
};

/** Threads are started by the jobs that need them, and end when nothing came for a while. */
export function openPool(clock: Clock): Pool {
  const free: { readonly thread: Thread; stopIdling: () => void }[] = [];
  const waiting: (() => void)[] = [];
  const closing = new AbortController();
  let busy = 0;

  const enter = async (signal: AbortSignal) => {
    while (busy >= threadsMax && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
      await promise;
    }
    busy += 1;
  };
  const leave = async (thread: Thread) => {
    if (!thread.isFit || closing.signal.aborted) await thread.end();
    else {
      const idle = { thread, stopIdling: () => {} };
      idle.stopIdling = clock.after(idleMsMax, () => {
        free.splice(free.indexOf(idle), 1);
        void thread.end();
      });
      free.push(idle);
    }
    busy -= 1;
    waiting.shift()?.();
  };

  return {
    async run(job, limits) {
      const signal = AbortSignal.any([limits.signal, closing.signal]);
      await enter(signal);
      const idle = free.pop();
      idle?.stopIdling();
      const thread = idle?.thread ?? startThread(clock);
      const outcome = await thread.run(job, { ...limits, signal });
      await leave(thread);
      return outcome;
    },
    async close() {
      closing.abort();
      const idle = free.splice(0);
      for (const { stopIdling } of idle) stopIdling();
      await Promise.all(idle.map(({ thread }) => thread.end()));
    },
  };
}

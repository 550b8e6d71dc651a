import { totalmem } from "node:os";
import type { Job } from "./job.ts";
import { type Limits, type Outcome, startThread, type Thread, type ThreadParts } from "./thread.ts";

/** With less memory than this, what two threads may take and the rest of a server are together too much. */
const memoryBytesForTwo = 4_000_000_000;
const idleMsMax = 30_000;

export type Pool = {
  /** Waits until a thread is free. */
  run(job: Job, limits: Limits): Promise<Outcome>;
  close(): Promise<void>;
};

/** How many documents are read at once on a machine, or in a container, with so much memory. */
export function threadsFor(memoryBytes: number): number {
  return memoryBytes < memoryBytesForTwo ? 1 : 2;
}

/** Threads are started by the jobs that need them, and end when nothing came for a while. */
export function openPool(parts: ThreadParts, threadsMax = threadsFor(memoryHere())): Pool {
  const { clock } = parts;
  const free: { readonly thread: Thread; stopIdling: () => void }[] = [];
  const waiting: (() => void)[] = [];
  const closing = new AbortController();
  let busy = 0;

  /** False: nobody waits for the job any longer, and it has taken no thread. */
  const enter = async (signal: AbortSignal): Promise<boolean> => {
    if (signal.aborted) return false;
    if (busy < threadsMax) {
      busy += 1;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const take = () => {
      signal.removeEventListener("abort", stop);
      resolve(true);
    };
    const stop = () => {
      waiting.splice(waiting.indexOf(take), 1);
      resolve(false);
    };
    waiting.push(take);
    signal.addEventListener("abort", stop, { once: true });
    return promise;
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
    // Whoever waits longest has the place now, and nobody can come in between.
    const next = waiting.shift();
    if (next === undefined) busy -= 1;
    else next();
  };

  return {
    async run(job, limits) {
      const signal = AbortSignal.any([limits.signal, closing.signal]);
      if (!(await enter(signal))) return { kind: "stopped" };
      const idle = free.pop();
      idle?.stopIdling();
      const thread = idle?.thread ?? startThread(parts);
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

/** A container that takes more is ended as a whole. Without a limit of its own, Node says none, or more than there is. */
function memoryHere(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

import { whenOver } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import type { Job } from "./jobs.ts";
import type { Asked, Thread } from "./thread.ts";

/** All of one search by words. It takes a few milliseconds: one that takes so long keeps everybody else from theirs. */
const findMsMax = 10_000;

type FindJob = Extract<Job, { readonly do: "find" }>;

/** Searches by words, one after another: each has its own time, and when the thread is ended only one is lost. */
export function openFinds(thread: Thread, clock: Clock) {
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  const findNow = async (job: FindJob): Promise<Asked<"find">> => {
    // Another thread would be started for it.
    if (isClosed) return closed;
    let isLate = false;
    const stopWatching = clock.after(findMsMax, () => {
      isLate = true;
      void thread.end();
    });
    try {
      const asked = await thread.ask(job);
      return isLate && "fault" in asked ? tooLong : asked;
    } finally {
      stopWatching();
    }
  };

  return {
    find(job: FindJob): Promise<Asked<"find">> {
      const mine = whenOver(last).then(() => findNow(job));
      last = mine;
      return mine;
    },
    /** Ends the thread; those who wait for their turn hear it. */
    close() {
      isClosed = true;
      return thread.end();
    },
  };
}

const closed = { fault: { code: "ended", said: "the search was closed" } } as const;

const tooLong = { fault: { code: "ended", said: `the search took longer than ${findMsMax / 1_000} seconds` } } as const;

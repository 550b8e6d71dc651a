import { inBackground } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../observe/observe.ts";
import type { Workspaces } from "./workspace.ts";

/** Keeps the folders tidy beside everything else: one thing at a time, and what goes wrong stands in the log. */
export interface Upkeep {
  /** Finishes what a crash interrupted, cleans up every hour from now on, and once more at the end. */
  start(): void;
  /** Removes the folders of what was deleted, some time soon; again and again until they are gone. */
  sweep(): void;
  /** Closes the workspaces within a second, whether or not everything is tidy: the next start goes on with it. */
  close(): Promise<void>;
}

export type UpkeepOptions = {
  readonly workspaces: Pick<Workspaces, "clean" | "sweep" | "close">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What else is to be tidied every hour: the index of documents. */
  readonly tidyIndex: () => Promise<void>;
  /** For how long nobody used what is moved to the trash; 0 is never. */
  readonly cleanAfterMs: () => number;
};

const cleanEveryMs = 3_600_000;
/** After which times it is tried again to remove what could not be removed; the last one stays. */
const againMs = [1_000, 2_000, 3_000, 60_000] as const;
/** The end may take a second: half of it for the last clean-up, half for the one folder that is just being moved. */
const lastCleanMsMax = 500;
const closeMsMax = 500;

export function openUpkeep({ workspaces, clock, logger, tidyIndex, cleanAfterMs }: UpkeepOptions): Upkeep {
  const works = { sweep, clean, index: tidyIndex };
  const due = new Set<keyof typeof works>();
  let done: Promise<void> = Promise.resolve();
  let cancelTimer: (() => void) | undefined;
  let cancelAgain: (() => void) | undefined;
  let tries = 0;
  let isClosed = false;

  async function sweep(): Promise<void> {
    cancelAgain?.();
    const { left } = await workspaces.sweep();
    if (left === 0 || isClosed) {
      tries = 0;
      return;
    }
    cancelAgain = clock.after(againMs[Math.min(tries, againMs.length - 1)] ?? cleanEveryMs, () => queue("sweep"));
    tries += 1;
  }

  async function clean(): Promise<void> {
    const unusedMs = cleanAfterMs();
    if (unusedMs === 0) return;
    const { workspaces: count, bytes, skipped } = await workspaces.clean({ unusedMs });
    if (count > 0 || skipped > 0)
      logger.info("unused files were moved to the trash", { workspaces: count, bytes, skipped });
  }

  /** Asked for again before it began, it is done once. */
  function queue(what: keyof typeof works): void {
    if (due.has(what)) return;
    due.add(what);
    const tidied = done.then(() => {
      due.delete(what);
      return works[what]();
    });
    done = inBackground(logger, `the files could not be tidied (${what})`, tidied);
  }

  function tick(): void {
    queue("clean");
    queue("sweep");
    queue("index");
    cancelTimer = clock.after(cleanEveryMs, tick);
  }

  return {
    start() {
      queue("sweep");
      cancelTimer = clock.after(cleanEveryMs, tick);
    },
    sweep: () => queue("sweep"),
    async close() {
      isClosed = true;
      if (cancelTimer !== undefined) queue("clean");
      cancelTimer?.();
      cancelAgain?.();
      await within(lastCleanMsMax, done, clock);
      await within(closeMsMax, workspaces.close(), clock);
    },
  };
}

async function within(ms: number, work: Promise<void>, clock: Clock): Promise<void> {
  const isDone = new AbortController();
  await Promise.race([work, clock.wait(ms, isDone.signal)]);
  isDone.abort();
}

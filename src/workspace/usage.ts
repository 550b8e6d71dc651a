import type { Clock } from "../base/clock.ts";
import { makeFailure } from "../protocol/failure.ts";
import { Refused } from "./faults.ts";
import type { Locks } from "./locks.ts";
import type { WorkspaceLimits } from "./one-workspace.ts";
import { shownPath } from "./path.ts";

/** Bytes and files; a change may be negative. */
type Amount = { readonly bytes: number; readonly files: number };

/** What a workspace held when it was last counted, with our own changes since; changes under way count already. */
export type Usage = { bytes: number; files: number; countedAt: number; readonly underWay: Set<Promise<unknown>> };

/** Others write too: the count is made anew after this long, and always where it has come near to a limit. */
const trustedMs = 60_000;
const trustedShare = 0.75;

export type Budget = {
  readonly path: string;
  readonly limits: WorkspaceLimits;
  readonly clock: Clock;
  /** Walks the whole workspace. */
  readonly count: () => Promise<Amount>;
  readonly known: Map<string, Usage>;
  readonly locks: Locks;
  readonly folder: string;
};

/** Runs a change with room set aside for it; refuses where there is none. Those who write at the same time share it. */
export async function withRoom<T>(budget: Budget, more: Amount, work: () => Promise<T>): Promise<T> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const usage = await budget.locks(`room of ${budget.folder}`, async () => {
    const found = await usageFor(budget, more);
    add(found, more);
    found.underWay.add(ended);
    return found;
  });
  try {
    return await work();
  } catch (error) {
    add(usage, { bytes: -more.bytes, files: -more.files });
    throw error;
  } finally {
    usage.underWay.delete(ended);
    end();
  }
}

async function usageFor(budget: Budget, more: Amount): Promise<Usage> {
  const { path, limits, known, folder, clock, count } = budget;
  const trusted = { bytesMax: limits.bytesMax * trustedShare, filesMax: limits.filesMax * trustedShare };
  const usage = known.get(folder) ?? { bytes: 0, files: 0, countedAt: Number.NEGATIVE_INFINITY, underWay: new Set() };
  known.set(folder, usage);
  const isOld = clock.monotonic() - usage.countedAt >= trustedMs;
  if (isOld || exceeded(usage, more, trusted) !== undefined) {
    // What is under way may or may not be seen by a count; nothing new begins before this one has its answer.
    await Promise.all(usage.underWay);
    Object.assign(usage, await count(), { countedAt: clock.monotonic() });
  }
  const what = exceeded(usage, more, limits);
  if (what === undefined) return usage;
  const limit = what === "bytes" ? limits.bytesMax : limits.filesMax;
  const setting = `workspace.${what}_max`;
  throw new Refused(makeFailure("quota_exceeded", { path: shownPath(path), what, limit, setting }));
}

function exceeded(
  usage: Amount,
  more: Amount,
  limits: Pick<WorkspaceLimits, "bytesMax" | "filesMax">,
): "bytes" | "files" | undefined {
  // Making something smaller is always allowed: it is how room is made.
  if (more.bytes > 0 && usage.bytes + more.bytes > limits.bytesMax) return "bytes";
  return more.files > 0 && usage.files + more.files > limits.filesMax ? "files" : undefined;
}

function add(usage: Usage, { bytes, files }: Amount): void {
  usage.bytes += bytes;
  usage.files += files;
}

import type { Clock } from "../base/clock.ts";
import { makeFailure } from "../protocol/failure.ts";
import { Refused } from "./faults.ts";
import { shownPath } from "./path.ts";
import type { WorkspaceLimits } from "./port.ts";

/** How much a workspace holds, as far as this process knows. */
export type Usage = { bytes: number; files: number; readonly countedAt: number };

/** Others write too: the count is made anew after this long, and always where it has come near to a limit. */
const trustedMs = 60_000;
const trustedShare = 0.75;

export type Account = {
  readonly path: string;
  readonly limits: WorkspaceLimits;
  readonly clock: Clock;
  /** Walks the whole workspace. */
  readonly count: () => Promise<{ readonly bytes: number; readonly files: number }>;
  readonly known: Map<string, Usage>;
  readonly folder: string;
};

/** Refuses what there is no room for. */
export async function checkRoom(account: Account, more: { bytes: number; files: number }): Promise<void> {
  const { path, limits } = account;
  const trusted = { bytesMax: limits.bytesMax * trustedShare, filesMax: limits.filesMax * trustedShare };
  let usage = await usageOf(account, false);
  if (exceeded(usage, more, trusted) !== undefined) usage = await usageOf(account, true);
  const what = exceeded(usage, more, limits);
  if (what === undefined) return;
  const limit = what === "bytes" ? limits.bytesMax : limits.filesMax;
  const setting = `workspace.${what}_max`;
  throw new Refused(makeFailure("quota_exceeded", { path: shownPath(path), what, limit, setting }));
}

/** What was written or removed by us, so that the next check need not count. */
export function addUsage({ known, folder }: Account, more: { bytes: number; files: number }): void {
  const usage = known.get(folder);
  if (usage === undefined) return;
  usage.bytes += more.bytes;
  usage.files += more.files;
}

async function usageOf({ known, folder, clock, count }: Account, isFresh: boolean): Promise<Usage> {
  const usage = known.get(folder);
  if (!isFresh && usage !== undefined && clock.monotonic() - usage.countedAt < trustedMs) return usage;
  const counted = { ...(await count()), countedAt: clock.monotonic() };
  known.set(folder, counted);
  return counted;
}

function exceeded(
  usage: Usage,
  more: { bytes: number; files: number },
  limits: Pick<WorkspaceLimits, "bytesMax" | "filesMax">,
): "bytes" | "files" | undefined {
  // Making something smaller is always allowed: it is how room is made.
  if (more.bytes > 0 && usage.bytes + more.bytes > limits.bytesMax) return "bytes";
  return more.files > 0 && usage.files + more.files > limits.filesMax ? "files" : undefined;
}

import type { FileState } from "../protocol/events.ts";
import type { Books } from "./books.ts";
import { keptOf } from "./change.ts";
import type { Visit } from "./files.ts";
import { type LookOptions, lookAll } from "./look-all.ts";
import type { FileChange, ObserveOptions } from "./port.ts";
import { lookLock, newSeen, type Seen } from "./seen.ts";
import { sortedByName } from "./sort.ts";

/** Somebody who wants to know what programs do to files from now on. */
export type Observer = { seen: Seen; hasAnswered: boolean; readonly observing: ObserveOptions };

/** Files that are remembered over all workspaces; those that nobody observed the longest are looked at anew. */
const rememberedMax = 500_000;

/**
 * What changed before this look was done by others, and is no business of those who begin now. But where somebody is
 * still waiting it may be what they wait for.
 */
export async function beginLook(visit: Visit, observing: ObserveOptions): Promise<Observer> {
  const { books, at } = visit;
  return books.locks(lookLock(at.folder), async () => {
    const seen = books.seen.get(at.folder) ?? newSeen();
    // Whoever looked before said what is sure; who is the first reads everything, and not twice.
    await look(visit, seen, { ...observing, isQuick: seen.look > 0 });
    if (seen.waiting === 0) seen.untold = [];
    seen.waiting += 1;
    return { seen, hasAnswered: false, observing };
  });
}

/** What became of files since the last answer to anybody. */
export async function tellChanges(visit: Visit, observer: Observer): Promise<readonly FileChange[]> {
  const { books, at } = visit;
  return books.locks(lookLock(at.folder), async () => {
    if (!observer.hasAnswered) observer.seen.waiting -= 1;
    observer.hasAnswered = true;
    const seen = books.seen.get(at.folder) ?? newSeen();
    await look(visit, seen, observer.observing);
    const told = seen.untold;
    seen.untold = [];
    if (told.length > 0) books.usage.delete(at.folder); // What was counted is not true any more.
    if (seen === observer.seen) return joined(told);
    // The folder is another one by now, or we have forgotten it: what is in it was there before, for all we know.
    observer.seen = seen;
    return [];
  });
}

async function look(visit: Visit, seen: Seen, looking: LookOptions): Promise<void> {
  const { books, at, id, logger } = visit;
  books.seen.delete(at.folder);
  books.seen.set(at.folder, seen);
  const passedOver = await lookAll({ ...visit, ...looking }, seen, keptOf(visit));
  if (passedOver > 0)
    logger.warn("{count} files are too many to watch for changes", { count: passedOver, workspace: id });
  forgetOldest(books);
}

function forgetOldest({ seen: known }: Books): void {
  let remembered = 0;
  for (const { files } of known.values()) remembered += files.size;
  for (const [folder, { files, waiting }] of known) {
    if (remembered <= rememberedMax) return;
    if (waiting > 0) continue;
    known.delete(folder);
    remembered -= files.size;
  }
}

/** One a path, sorted: two looks may have found two changes of the same file. */
async function joined(changes: readonly FileChange[]): Promise<FileChange[]> {
  const byPath = new Map<string, FileChange>();
  for (const change of changes) {
    const earlier = byPath.get(change.path);
    byPath.set(change.path, earlier === undefined ? change : { ...earlier, after: change.after });
  }
  const real = [...byPath.values()].filter(({ before, after }) => !isSame(before, after));
  const sorted = await sortedByName(real.map((change) => ({ name: change.path, change })));
  return sorted.map(({ change }) => change);
}

function isSame(a: FileState | undefined, b: FileState | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.hash !== undefined && a.hash === b.hash && a.mode === b.mode;
}

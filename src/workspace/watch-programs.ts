import type { FileState } from "../protocol/events.ts";
import type { Books } from "./books.ts";
import { keptOf } from "./change.ts";
import type { Visit } from "./files.ts";
import { type LookOptions, lookAll } from "./look-all.ts";
import { type Count, measure, measuredBy } from "./measure.ts";
import type { FileChange, LookAheadOptions, Measured, ObserveOptions } from "./one-workspace.ts";
import { lookLock, newSeen, type Seen } from "./seen.ts";
import { sortedByName } from "./sort.ts";

/** Somebody who wants to know what programs do to files from now on. */
export type Observer = {
  seen: Seen;
  hasAnswered: boolean;
  /** By the last look; undefined where it failed. */
  measured: Measured | undefined;
  readonly hasEarlier: boolean;
  readonly observing: ObserveOptions;
};

/** Files that are remembered over all workspaces; those that nobody observed the longest are looked at anew. */
const rememberedMax = 500_000;
/** And of their paths. */
const rememberedCharactersMax = 64 * 1024 ** 2;

/**
 * What changed before this look was done by others, and is no business of those who begin now, unless they say that it
 * is. But where somebody is still waiting it may be what they wait for.
 */
export async function beginLook(visit: Visit, observing: ObserveOptions): Promise<Observer> {
  const { books, at } = visit;
  return books.locks(lookLock(at.folder), async () => {
    const seen = books.seen.get(at.folder) ?? newSeen();
    const isFirst = seen.look === 0;
    // Whoever looked before said what is sure; who is the first reads everything, and not twice.
    const measured = await measureBy(visit, await look(visit, seen, { ...observing, isQuick: !isFirst }));
    if (isFirst || (seen.waiting === 0 && !observing.isContinued)) seen.untold = [];
    const hasEarlier = seen.waiting === 0 && seen.untold.length > 0;
    seen.waiting += 1;
    return { seen, hasAnswered: false, measured, hasEarlier, observing };
  });
}

/** Everybody else finds it done, or waits until it is: it would take them as long. */
export async function lookAhead(visit: Visit, { signal, ...looking }: LookAheadOptions): Promise<void> {
  const { books, at } = visit;
  await books.locks(lookLock(at.folder), async () => {
    if (books.seen.has(at.folder) || signal.aborted) return;
    const seen = newSeen();
    await look(visit, seen, { ...looking, signal });
    seen.untold = [];
    // What was not met may be there all the same: the next look begins anew.
    if (signal.aborted) books.seen.delete(at.folder);
  });
}

/** What was found so far is told to whoever comes next. */
export function leaveLook(observer: Observer): void {
  if (!observer.hasAnswered) observer.seen.waiting -= 1;
  observer.hasAnswered = true;
}

/** What became of files since the last answer to anybody. */
export async function tellChanges(visit: Visit, observer: Observer): Promise<readonly FileChange[]> {
  const { books, at } = visit;
  return books.locks(lookLock(at.folder), async () => {
    leaveLook(observer);
    observer.measured = undefined;
    const seen = books.seen.get(at.folder) ?? newSeen();
    observer.measured = await measureBy(visit, await look(visit, seen, observer.observing));
    const told = seen.untold;
    seen.untold = [];
    if (told.length > 0) books.usage.delete(at.folder); // What was counted is not true any more.
    if (seen === observer.seen) return joined(told);
    // The folder is another one by now, or we have forgotten it: what is in it was there before, for all we know.
    observer.seen = seen;
    return [];
  });
}

/** Answers what it counted, where it went through all of it. */
async function look(visit: Visit, seen: Seen, looking: LookOptions): Promise<Count | undefined> {
  const { books, at, id, logger } = visit;
  books.seen.delete(at.folder);
  books.seen.set(at.folder, seen);
  const { passedOver, count } = await lookAll({ ...visit, ...looking }, seen, keptOf(visit)).catch((error) => {
    // Half a first look would take the other half for new.
    if (seen.look === 1) books.seen.delete(at.folder);
    throw error;
  });
  if (passedOver > 0)
    logger.warn("{count} files are too many to watch for changes", { count: passedOver, workspace: id });
  forgetOldest(books);
  return count;
}

async function measureBy(visit: Visit, count: Count | undefined): Promise<Measured> {
  return count === undefined ? measure(visit) : measuredBy(visit, count);
}

function forgetOldest({ seen: known }: Books): void {
  let [remembered, characters] = [0, 0];
  for (const seen of known.values()) {
    remembered += seen.files.size;
    characters += seen.characters;
  }
  for (const [folder, seen] of known) {
    if (remembered <= rememberedMax && characters <= rememberedCharactersMax) return;
    if (seen.waiting > 0) continue;
    known.delete(folder);
    remembered -= seen.files.size;
    characters -= seen.characters;
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

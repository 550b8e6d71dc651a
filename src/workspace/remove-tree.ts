import {
  chmodSync,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  type PathLike,
  renameSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { systemCode } from "../base/fault.ts";
import type { Ids } from "../base/ids.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { DiskFault } from "../words/words.ts";
import type { Books } from "./books.ts";
import { folderFlags, inFolder } from "./descend.ts";
import { attemptDisk } from "./faults.ts";
import { inSlices } from "./slices.ts";
import { namesAsBytes } from "./tree.ts";

/**
 * Removes a file or folder at a host path of ours with everything in it, however deep, odd or forbidden. It is moved to
 * the staging folder first, so that it is gone at once and a crash leaves only what the next sweep removes. Folders
 * inside are moved there too, one by one: nothing recurses and no path grows.
 */
export async function removeTree(path: PathLike, removal: Removal): Promise<Result<void, DiskFault>> {
  return removing(removal, async (place, go) => {
    const first = place();
    if (moveAway(path, first)) await go(removeAll([first], place));
  });
}

/** The same for everything in an open folder, which itself stays, with the mode it has. */
export async function emptyTree(folder: number, removal: Removal): Promise<Result<void, DiskFault>> {
  return removing(removal, async (place, go) => {
    const { mode } = fstatSync(folder);
    const waiting: string[] = [];
    try {
      await go(emptyInto(folder, waiting, place));
    } finally {
      chmodSync(`/proc/self/fd/${folder}`, mode & 0o7777);
    }
    await go(removeAll(waiting, place));
  });
}

export type Removal = {
  readonly stagingFolder: string;
  readonly ids: Ids;
  readonly books: Pick<Books, "removals">;
  /** From then on it is left as it is; what lies in the staging folder is for the next sweep. */
  readonly isOver?: (() => boolean) | undefined;
};

type Remove = (place: () => string, go: (steps: Iterable<void>) => Promise<void>) => Promise<void>;

/** Whether folders there are still being worked on is told by their names. */
async function removing(
  { stagingFolder, ids, books, isOver = () => false }: Removal,
  remove: Remove,
): Promise<Result<void, DiskFault>> {
  const name = `${goneMark}${ids.hex(24)}`;
  let count = 0;
  const place = () => {
    count += 1;
    return join(stagingFolder, `${name}.${count}`);
  };
  let isCut = false;
  function* untilOver(steps: Iterable<void>): Generator<void, void> {
    for (const step of steps) {
      isCut ||= isOver();
      if (isCut) return;
      yield step;
    }
  }
  books.removals.add(name);
  try {
    const done = await attemptDisk(() => {
      mkdirSync(stagingFolder, { recursive: true, mode: 0o700 });
      return remove(place, (steps) => inSlices(untilOver(steps)));
    });
    return done.ok && isCut ? failed("broken_off") : done.ok ? ok(undefined) : done;
  } finally {
    books.removals.delete(name);
  }
}

const goneMark = "gone-";

/** What a removal left there that was broken off or could not go on. */
export function isLeftBehind(staged: string, { removals }: Pick<Books, "removals">): boolean {
  return staged.startsWith(goneMark) && !removals.has(staged.replace(/\..*$/, ""));
}

/** False when nothing is there. */
function moveAway(path: PathLike, to: string): boolean {
  try {
    renameSync(path, to);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT") return false;
    if (code !== "EACCES") throw error;
    // Moving a folder changes its own entry `..`, so it must be writable itself.
    const folder = openSync(path, folderFlags);
    try {
      chmodSync(`/proc/self/fd/${folder}`, 0o700);
    } finally {
      closeSync(folder);
    }
    renameSync(path, to);
  }
  return true;
}

/** Folders inside are moved beside the first one and removed in their turn. */
function* removeAll(waiting: string[], place: () => string): Generator<void, void> {
  let refusals = 0;
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const folder = openIfFolder(path);
    if (folder === undefined) unlessGone(() => unlinkSync(path));
    else {
      try {
        yield* emptyInto(folder, waiting, place);
      } finally {
        closeSync(folder);
      }
      if (!removeEmpty(path)) {
        // Somebody who has it open put something into it. What they go on with is left to the next sweep.
        refusals += 1;
        if (refusals < refusalsMax) waiting.push(path);
      }
    }
    yield;
  }
}

const refusalsMax = 1_000;

function removeEmpty(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return true;
    if (systemCode(error) === "ENOTEMPTY") return false;
    throw error;
  }
}

function openIfFolder(path: string): number | undefined {
  try {
    return openSync(path, folderFlags);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOTDIR" || code === "ELOOP" || code === "ENOENT") return undefined;
    throw error;
  }
}

/** Read anew until it is empty: the system may pass over entries of a folder that shrinks. */
function* emptyInto(folder: number, waiting: string[], place: () => string): Generator<void, void> {
  chmodSync(`/proc/self/fd/${folder}`, 0o700); // Its owner may have locked themselves out.
  let found = -1;
  for (let rounds = 0; found !== 0 && rounds < refusalsMax; rounds += 1) {
    found = 0;
    for (const name of namesAsBytes(folder)) {
      found += 1;
      const entry = inFolder(folder, name);
      try {
        unlessGone(() => unlinkSync(entry));
      } catch (error) {
        const code = systemCode(error);
        if (code !== "EISDIR" && code !== "EPERM") throw error;
        const to = place();
        if (moveAway(entry, to)) waiting.push(to);
      }
      yield;
    }
  }
}

function unlessGone(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}

import { isUtf8 } from "node:buffer";
import {
  closeSync,
  constants,
  type Dir,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readdirSync,
  type Stats,
} from "node:fs";
import { assert } from "../base/assert.ts";
import { inFolder, openFolder, statIn } from "./descend.ts";
import { errorCode } from "./faults.ts";

/** One entry of a folder; a name that is no UTF-8 is kept as bytes, and `shown` has marks in place of what is not. */
export type TreeEntry = { readonly name: string | Buffer; readonly shown: string; readonly stat: Stats };

/** Entries read from the system at once: fewer make it slow, more would hold up the event loop. */
const bufferEntries = 256;

/** The entries of an open folder, in no order unless it is `sorted`. What vanishes meanwhile is left out. */
export function* entriesOf(folder: number, { isSorted = false } = {}): Generator<TreeEntry, void> {
  let hasOddNames = false;
  const names = namesOf(folder);
  const prefix = `/proc/self/fd/${folder}/`;
  for (const name of isSorted ? [...names].sort() : names) {
    const stat = lstatSync(prefix + name, ifThere);
    hasOddNames ||= name.includes(replacementMark);
    if (stat !== undefined) yield { name, shown: name, stat };
  }
  if (!hasOddNames) return;
  for (const name of readdirSync(`/proc/self/fd/${folder}`, { encoding: "buffer" })) {
    const stat = isUtf8(name) ? undefined : statIn(folder, name);
    if (stat !== undefined) yield { name, shown: name.toString("utf8"), stat };
  }
}

const ifThere = { throwIfNoEntry: false } as const;
const replacementMark = "\uFFFD";

/** A folder that may not be read counts as empty. */
function namesOf(folder: number): Iterable<string> {
  const path = `/proc/self/fd/${folder}/`;
  try {
    return fstatSync(folder).size <= smallFolderBytes
      ? readdirSync(path)
      : namesInPieces(opendirSync(path, { bufferSize: bufferEntries }));
  } catch (error) {
    if (errorCode(error) === "EACCES") return [];
    throw error;
  }
}

/** A folder's own size tells roughly how many names it has. Reading few of them at once is three times as fast. */
const smallFolderBytes = 128 * 1024;

function* namesInPieces(dir: Dir): Generator<string, void> {
  try {
    for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) yield entry.name;
  } finally {
    dir.closeSync();
  }
}

/** An entry somewhere below: `prefix` leads to its folder from where the walk began, with a slash at the end. */
export type DeepEntry = { readonly entry: TreeEntry; readonly prefix: string; readonly folder: number };
export type DeepOptions = {
  readonly isHiddenShown: boolean;
  /** By name, as people expect lists; costs memory for one folder at a time. */
  readonly isSorted: boolean;
};

/**
 * Everything below an open folder, folders before what is in them. `folder` of an entry is open until the next one is
 * asked for. However deep it goes, only so many descriptors are open: a folder further up is found again by its names.
 */
export function* entriesBelow(root: number, { isHiddenShown, isSorted }: DeepOptions): Generator<DeepEntry, void> {
  const level: Level[] = [];
  enter(level, openFolder(root, []), undefined, "");
  try {
    for (let here = level.at(-1); here !== undefined; here = level.at(-1)) {
      if (!here.isListed) {
        here.isListed = true;
        const { fd: folder, prefix, folders } = here;
        assert(folder !== undefined, "a folder is listed when it was just entered");
        for (const entry of entriesOf(folder, { isSorted })) {
          if (!isHiddenShown && entry.shown.startsWith(".")) continue;
          if (entry.stat.isDirectory()) folders.push(entry);
          yield { entry, prefix, folder };
        }
        folders.reverse();
      }
      const next = here.folders.pop();
      if (next === undefined) leave(level);
      else descendInto(level, root, next);
    }
  } finally {
    while (level.length > 0) leave(level);
  }
}

type Level = {
  fd: number | undefined;
  readonly name: string | Buffer | undefined;
  readonly prefix: string;
  readonly folders: TreeEntry[];
  isListed: boolean;
};

/** Levels whose descriptors stay open, the nearest ones. */
const openLevelsMax = 128;

function enter(level: Level[], fd: number, name: string | Buffer | undefined, prefix: string): void {
  level.push({ fd, name, prefix, folders: [], isListed: false });
  const far = level.at(-openLevelsMax - 1);
  if (far?.fd === undefined) return;
  closeSync(far.fd);
  far.fd = undefined;
}

function leave(level: Level[]): void {
  const left = level.pop();
  if (left?.fd !== undefined) closeSync(left.fd);
}

/** A folder that is gone, became something else or must not be read is left out, as if it had been empty. */
function descendInto(level: Level[], root: number, { name, shown }: TreeEntry): void {
  const here = level.at(-1);
  assert(here !== undefined, "there is a folder to go on from");
  try {
    here.fd ??= reopen(level, root);
    enter(level, openSync(inFolder(here.fd, name), folderFlags), name, `${here.prefix}${shown}/`);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
  }
}

function reopen(level: readonly Level[], root: number): number {
  let fd = openFolder(root, []);
  for (const { name } of level) {
    if (name === undefined) continue;
    const above = fd;
    try {
      fd = openSync(inFolder(above, name), folderFlags);
    } finally {
      closeSync(above);
    }
  }
  return fd;
}

const folderFlags = 0x200000 | constants.O_DIRECTORY | constants.O_NOFOLLOW;

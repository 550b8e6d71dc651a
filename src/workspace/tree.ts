import { isUtf8 } from "node:buffer";
import { closeSync, fstatSync, lstatSync, opendirSync, openSync, readdirSync, type Stats } from "node:fs";
import { assert } from "../base/assert.ts";
import { systemCode } from "../base/fault.ts";
import { folderFlags, inFolder, openFolder } from "./descend.ts";
import { isTooDeep } from "./path.ts";

/** One entry of a folder; a name that is no UTF-8 is kept as bytes, and `shown` has marks in place of what is not. */
export type TreeEntry = { readonly name: string | Buffer; readonly shown: string; readonly stat: Stats };

/** `step`: time went by without an entry. `unreadable`: there is something that we may not look at. */
export type Passing = "step" | "unreadable";

/** Entries read from the system at once: fewer make it slow, more would hold up the event loop. */
const bufferEntries = 256;

/**
 * The entries of an open folder, in no order unless it is `sorted`. What vanishes meanwhile is left out. With `isExact`
 * no two are shown the same.
 */
export function* entriesOf(
  folder: number,
  { isSorted = false, isExact = false } = {},
): Generator<TreeEntry | Passing, void> {
  let hasOddNames = false;
  const names = namesOf(folder);
  if (names === undefined) return yield "unreadable";
  const prefix = `/proc/self/fd/${folder}/`;
  for (const name of isSorted ? [...names].sort() : names) {
    // Some other name may be shown as this one: only its bytes tell which it is.
    const isOdd = name.includes(replacementMark);
    hasOddNames ||= isOdd;
    const stat = isOdd ? "step" : lookAt(prefix + name);
    yield typeof stat === "object" ? { name, shown: name, stat } : stat;
  }
  if (!hasOddNames) return;
  for (const bytes of namesAsBytes(folder)) {
    const shown = bytes.toString("utf8");
    const stat = shown.includes(replacementMark) ? lookAt(inFolder(folder, bytes)) : "step";
    if (typeof stat === "string") yield stat;
    else if (isUtf8(bytes)) yield { name: shown, shown, stat };
    else yield { name: bytes, shown: isExact ? escaped(bytes) : shown, stat };
  }
}

/** A backslash is in no path that we take: nobody can mean another file by it. */
function escaped(name: Buffer): string {
  return name
    .toString("latin1")
    .replaceAll(/[^ -~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

const replacementMark = "\uFFFD";
const ifThere = { throwIfNoEntry: false } as const;

function lookAt(path: Parameters<typeof lstatSync>[0]): Stats | Passing {
  try {
    return lstatSync(path, ifThere) ?? "step";
  } catch (error) {
    if (systemCode(error) === "EACCES") return "unreadable"; // Its names may be read, what they stand for may not.
    throw error;
  }
}

function namesOf(folder: number): Iterable<string> | undefined {
  const path = `/proc/self/fd/${folder}/`;
  try {
    if (fstatSync(folder).size <= smallFolderBytes) return readdirSync(path);
    const dir = opendirSync(path, { bufferSize: bufferEntries });
    return namesIn(
      () => dir.readSync()?.name,
      () => dir.closeSync(),
    );
  } catch (error) {
    if (systemCode(error) === "EACCES") return undefined;
    throw error;
  }
}

/** A folder's own size tells roughly how many names it has. Reading few of them at once is three times as fast. */
const smallFolderBytes = 128 * 1024;

/** Every name as the system has it, read in pieces; one character of Latin-1 is one byte. */
export function namesAsBytes(folder: number): Generator<Buffer, void> {
  const dir = opendirSync(`/proc/self/fd/${folder}/`, { bufferSize: bufferEntries, encoding: "latin1" });
  const next = () => {
    const name = dir.readSync()?.name;
    return name === undefined ? undefined : Buffer.from(name, "latin1");
  };
  return namesIn(next, () => dir.closeSync());
}

function* namesIn<Name>(next: () => Name | undefined, close: () => void): Generator<Name, void> {
  try {
    for (let name = next(); name !== undefined; name = next()) yield name;
  } finally {
    close();
  }
}

/** An entry somewhere below: `prefix` leads to its folder from where the walk began, with a slash at the end. */
export type DeepEntry = {
  readonly entry: TreeEntry;
  readonly prefix: string;
  readonly folder: number;
  /** No path leads to it: `prefix` is that of the last folder above it that one leads to. */
  readonly isTooDeep: boolean;
};
export type DeepOptions = {
  readonly isHiddenShown: boolean;
  /** By name, as people expect lists; costs memory for one folder at a time. */
  readonly isSorted: boolean;
  /** Each entry has a path of its own, also where names are no UTF-8. */
  readonly isExact?: boolean;
  /** What leads to the folder from the root of its workspace; none for the root itself. */
  readonly above?: readonly string[];
};

/**
 * Everything below an open folder, folders before what is in them. `folder` of an entry is open until the next one is
 * asked for. However deep it goes, only so many descriptors are open at a time, and no path grows for ever: a chain of
 * folders costs a program next to nothing, and the paths of all its links would fill any memory.
 */
export function* entriesBelow(root: number, options: DeepOptions): Generator<DeepEntry | Passing, void> {
  const { isHiddenShown, isSorted, isExact = false, above = [] } = options;
  const levels: Level[] = [];
  enter(levels, openFolder(root, []), { prefix: "", names: above.length, bytes: bytesOf(above) });
  try {
    for (let here = levels.at(-1); here !== undefined; here = levels.at(-1)) {
      if (!here.isListed) {
        here.isListed = true;
        const { fd: folder, way, folders } = here;
        assert(folder !== undefined, "a folder is listed when it was just entered");
        const place = { prefix: way.prefix, folder, isTooDeep: isTooDeep(way) };
        yield "step";
        for (const entry of entriesOf(folder, { isSorted, isExact })) {
          if (typeof entry === "string") yield entry;
          else if (!isHiddenShown && entry.shown.startsWith(".")) yield "step";
          else {
            if (entry.stat.isDirectory()) folders.push(entry);
            yield { entry, ...place };
          }
        }
        folders.reverse();
      }
      const next = here.folders.pop();
      if (next === undefined) leave(levels);
      else if (!descendInto(levels, next)) yield "unreadable";
    }
  } finally {
    while (levels.length > 0) leave(levels);
  }
}

type Level = {
  /** Undefined where it was closed to save descriptors; `inode` then tells it when we come back. */
  fd: number | undefined;
  inode: bigint | undefined;
  readonly way: Way;
  readonly folders: TreeEntry[];
  isListed: boolean;
};

/** How one comes to a folder: `prefix` from where the walk began, names and bytes from the root of the workspace. */
type Way = { readonly prefix: string; readonly names: number; readonly bytes: number };

function bytesOf(names: readonly string[]): number {
  return names.reduce((bytes, name) => bytes + Buffer.byteLength(name) + 1, 0);
}

/** Levels whose descriptors stay open, the nearest ones. */
const openLevelsMax = 128;

function enter(levels: Level[], fd: number, way: Way): void {
  levels.push({ fd, inode: undefined, way, folders: [], isListed: false });
  const far = levels.at(-openLevelsMax - 1);
  if (far?.fd === undefined) return;
  far.inode = inodeOf(far.fd);
  closeSync(far.fd);
  far.fd = undefined;
}

/** On the way back a folder that was closed is found as the parent of the one we leave, if it still is that folder. */
function leave(levels: Level[]): void {
  const left = levels.pop();
  const above = levels.at(-1);
  if (left?.fd === undefined) return;
  if (above !== undefined && above.fd === undefined && above.folders.length > 0) above.fd = parentOf(left.fd, above);
  closeSync(left.fd);
}

function parentOf(folder: number, { inode }: Level): number | undefined {
  try {
    const fd = openSync(inFolder(folder, ".."), folderFlags);
    if (inodeOf(fd) === inode) return fd;
    closeSync(fd); // It was moved elsewhere meanwhile: what lies around it there is none of our business.
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
  return undefined;
}

function inodeOf(fd: number): bigint {
  return fstatSync(fd, { bigint: true }).ino;
}

/** False when it may not be entered. One that is gone, or became something else, counts as empty. */
function descendInto(levels: Level[], { name, shown }: TreeEntry): boolean {
  const here = levels.at(-1);
  if (here?.fd === undefined) return false;
  try {
    enter(levels, openSync(inFolder(here.fd, name), folderFlags), wayInto(here.way, shown));
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    return code !== "EACCES";
  }
}

function wayInto(way: Way, name: string): Way {
  if (isTooDeep(way)) return way;
  return { prefix: `${way.prefix}${name}/`, names: way.names + 1, bytes: way.bytes + bytesOf([name]) };
}

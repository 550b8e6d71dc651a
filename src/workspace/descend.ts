import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  fsync,
  lstatSync,
  mkdirSync,
  openSync,
  type PathLike,
  type Stats,
} from "node:fs";
import { promisify } from "node:util";
import { systemCode } from "../base/fault.ts";
import { makeFailure } from "../protocol/failure.ts";
import { failureOf, type Operation, Refused } from "./faults.ts";
import type { FileFailure } from "./one-workspace.ts";
import { shownPath } from "./path.ts";

// Node has no openat. Under Linux `/proc/self/fd/N` stands for the folder that is open as N itself, whatever its name
// is by now, so `/proc/self/fd/N/name` opens one name in exactly that folder: a folder that is swapped for a link in
// the middle changes nothing. Each step takes one name and follows no link. All steps are synchronous: some microseconds.

/** Not in `fs.constants`; the same on x64 and arm64. Opens a place without the right to read it. */
const openPath = 0x200000;
/** Opens a folder as a place, and nothing that is no folder. */
export const folderFlags = openPath | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const placeFlags = openPath | constants.O_NOFOLLOW;

/** The folder a workspace begins with; undefined when it is not there. */
export function openRoot(folder: string): number | undefined {
  try {
    return openSync(folder, folderFlags);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Runs `work` with the folder that the names lead to, then closes it. */
export function withFolder<T>(root: number, names: readonly string[], work: (folder: number) => T): T {
  const folder = openFolder(root, names);
  try {
    return work(folder);
  } finally {
    closeSync(folder);
  }
}

/** The caller closes it. */
export function openFolder(root: number, names: readonly string[], operation: Operation = "read"): number {
  return descend(root, names, (folder, name) => openSync(inFolder(folder, name), folderFlags), operation);
}

type MakeOptions = {
  /** Told of each folder that got a new entry. */
  readonly made?: (folder: number) => void;
  /** Whom the new folders belong to; see `HostPlace`. */
  readonly uid: number | undefined;
};

/** As `openFolder`, but makes what is missing. */
export function makeFolders(root: number, names: readonly string[], { made, uid }: MakeOptions): number {
  return descend(
    root,
    names,
    (folder, name) => {
      try {
        return openSync(inFolder(folder, name), folderFlags);
      } catch (error) {
        if (systemCode(error) !== "ENOENT") throw error;
      }
      try {
        mkdirSync(inFolder(folder, name), { mode: 0o755 });
        made?.(folder);
        if (uid !== undefined) giveFolder(folder, name, uid);
      } catch (error) {
        if (systemCode(error) !== "EEXIST") throw error; // Somebody else was faster.
      }
      return openSync(inFolder(folder, name), folderFlags);
    },
    "write",
  );
}

/** Gives the folder of this name to a user. */
export function giveFolder(folder: number, name: string | Buffer, uid: number): void {
  const fd = openSync(inFolder(folder, name), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    giveTo(fd, uid);
  } finally {
    closeSync(fd);
  }
}

/** Gives what is open to a user. On a disk without owners it stays whose it is: programs see it and cannot change it. */
export function giveTo(fd: number, uid: number): void {
  try {
    fchownSync(fd, uid, uid);
  } catch (error) {
    if (!cannotGive.has(systemCode(error) ?? "")) throw error;
  }
}

const cannotGive: ReadonlySet<string> = new Set(["EPERM", "EINVAL", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"]);

function descend(
  root: number,
  names: readonly string[],
  open: (folder: number, name: string) => number,
  operation: Operation,
): number {
  let folder = openSync(`/proc/self/fd/${root}`, openPath | constants.O_DIRECTORY);
  for (const [index, name] of names.entries()) {
    const above = folder;
    try {
      folder = open(above, name);
    } catch (error) {
      const about = { folder: above, name, path: names.slice(0, index + 1).join("/") };
      throw new Refused(explain(error, operation, about), { cause: error });
    } finally {
      closeSync(above);
    }
  }
  return folder;
}

/** ENOTDIR is what the system says of a link too; people should know which it is. */
function explain(
  error: unknown,
  operation: Operation,
  { folder, name, path }: { folder: number; name: string; path: string },
): FileFailure {
  const isLink = systemCode(error) === "ENOTDIR" && statIn(folder, name)?.isSymbolicLink() === true;
  if (isLink) return makeFailure("permission_denied", { path: shownPath(path), folder: "", why: "link" });
  return failureOf(error, operation, path);
}

export type OpenEntry = { readonly fd: number; readonly stat: Stats };

/**
 * A name in a folder, opened without touching what it stands for: a pipe does not block, a device notices nothing. The
 * caller closes it.
 */
export function openPlace(folder: number, name: string | Buffer): OpenEntry {
  const fd = openSync(inFolder(folder, name), placeFlags);
  return { fd, stat: fstatSync(fd) };
}

/** A regular file with one name on the file system of the root; anything else is refused. */
export function checkRegular(stat: Stats, device: number, path: string): void {
  const why = stat.isSymbolicLink()
    ? "link"
    : stat.isFile()
      ? stat.nlink > 1
        ? "hard_link"
        : stat.dev === device
          ? undefined
          : "elsewhere"
      : "special";
  if (stat.isDirectory()) throw new Refused(makeFailure("not_a_file", { path: shownPath(path) }));
  if (why !== undefined)
    throw new Refused(makeFailure("permission_denied", { path: shownPath(path), folder: "", why }));
}

/** Names that were taken away under our eyes before we give up. */
const looksMax = 10;

/**
 * A regular file, open for reading; the caller closes it. That it has one name says nothing about whose name that is: a
 * file from outside that was linked in and taken away again in this moment has one too. So the name is looked at once
 * more: while it stands for this very file and is its only one, the file is ours.
 */
export function openRegular(folder: number, name: string | Buffer, about: { device: number; path: string }): OpenEntry {
  for (let looks = 1; ; looks += 1) {
    const { fd: place, stat } = openPlace(folder, name);
    try {
      checkRegular(stat, about.device, about.path);
      const named = stat.nlink === 0 ? stat : statIn(folder, name);
      const isOwn = named?.ino === stat.ino && named.nlink <= 1;
      // The place stands for the file that was looked at, and for no other.
      if (isOwn) return { fd: openSync(`/proc/self/fd/${place}`, constants.O_RDONLY | constants.O_NONBLOCK), stat };
    } finally {
      closeSync(place);
    }
    if (looks === looksMax)
      throw new Refused(makeFailure("read_failed", { path: shownPath(about.path), why: "changed" }));
  }
}

/** What stands under a name, links not followed; undefined when nothing does. */
export function statIn(folder: number, name: string | Buffer): Stats | undefined {
  return lstatSync(inFolder(folder, name), { throwIfNoEntry: false });
}

/** A name in an open folder, as the functions of node:fs take it. */
export function inFolder<Name extends string | Buffer>(folder: number, name: Name): PathLike {
  const prefix = `/proc/self/fd/${folder}/`;
  return typeof name === "string" ? prefix + name : Buffer.concat([Buffer.from(prefix), name]);
}

const sync = promisify(fsync);

/** The same folder, opened so that it can be synced; the caller closes it by `syncAndClose`. */
export function openForSync(folder: number): number {
  return openSync(`/proc/self/fd/${folder}/.`, constants.O_RDONLY | constants.O_DIRECTORY);
}

/** Makes the entries of a folder durable. */
export async function syncAndClose(readable: number): Promise<void> {
  try {
    await sync(readable);
  } finally {
    closeSync(readable);
  }
}

import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  type PathLike,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import type { Ids } from "../base/ids.ts";
import type { Result } from "../base/result.ts";
import type { DiskFault } from "../words/words.ts";
import { inFolder } from "./descend.ts";
import { attemptDisk, errorCode } from "./faults.ts";
import { inSlices } from "./slices.ts";

/**
 * Removes a file or folder at a host path of ours with everything in it, however deep, odd or forbidden. It is moved to
 * the staging folder first, so that it is gone at once and a crash leaves only what the next sweep removes. Folders
 * inside are moved there too, one by one: nothing recurses and no path grows.
 */
export async function removeTree(
  path: PathLike,
  { stagingFolder, ids }: { readonly stagingFolder: string; readonly ids: Ids },
): Promise<Result<void, DiskFault>> {
  const place = () => join(stagingFolder, `gone-${ids.hex(24)}`);
  return attemptDisk(async () => {
    mkdirSync(stagingFolder, { recursive: true, mode: 0o700 });
    const first = place();
    if (!moveAway(path, first)) return;
    await inSlices(removeAll(first, place));
  });
}

/** False when nothing is there. */
function moveAway(path: PathLike, to: string): boolean {
  try {
    renameSync(path, to);
  } catch (error) {
    const code = errorCode(error);
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

function* removeAll(first: string, place: () => string): Generator<void, void> {
  const waiting = [first];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const folder = openIfFolder(path);
    if (folder === undefined) {
      unlinkSync(path);
      continue;
    }
    try {
      yield* emptyInto(folder, waiting, place);
    } finally {
      closeSync(folder);
    }
    rmdirSync(path);
    yield;
  }
}

function openIfFolder(path: string): number | undefined {
  try {
    return openSync(path, folderFlags);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOTDIR" || code === "ELOOP") return undefined;
    throw error;
  }
}

const folderFlags = 0x200000 | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Read anew until it is empty: the system may pass over entries of a folder that shrinks. */
function* emptyInto(folder: number, waiting: string[], place: () => string): Generator<void, void> {
  chmodSync(`/proc/self/fd/${folder}`, 0o700); // Its owner may have locked themselves out.
  for (;;) {
    const names = readdirSync(`/proc/self/fd/${folder}`, { encoding: "buffer" });
    if (names.length === 0) return;
    for (const name of names) {
      const entry = inFolder(folder, name);
      try {
        unlinkSync(entry);
      } catch (error) {
        const code = errorCode(error);
        if (code !== "EISDIR" && code !== "EPERM") throw error;
        const to = place();
        if (moveAway(entry, to)) waiting.push(to);
      }
      yield;
    }
  }
}

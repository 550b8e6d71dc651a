import { closeSync, fstatSync, readSync } from "node:fs";
import { systemCode } from "../base/fault.ts";
import { openPlace, openRegular, withFolder } from "./descend.ts";
import { Refused } from "./faults.ts";
import { parsePath } from "./path.ts";
import { entriesBelow } from "./tree.ts";

/** A file that a thread of this process reads by itself. `read`: its first bytes, undefined where that is not possible. */
export type FileBelow = {
  readonly path: string;
  readonly bytes: number;
  readonly read: (bytesMax: number) => Buffer | undefined;
};

/**
 * Regular files below a path, ordered by folder and name, for threads that may block: hidden entries, links and special
 * files are left out, and what lies deeper than a path may lead cannot be read. `root` is from
 * `Workspace.openDescriptor`. A path that names a file gives that file.
 */
export function* filesBelow(root: number, path: string): Generator<FileBelow, void> {
  const names = parsePath(path);
  if (!names.ok) return;
  const start = openStart(root, names.value);
  if (start === undefined) return;
  const { device } = start;
  try {
    if (start.isFile)
      return yield fileIn(start.folder, start.name, { path: names.value.join("/"), bytes: start.bytes, device });
    const prefix = names.value.map((name) => `${name}/`).join("");
    const options = { isHiddenShown: false, isSorted: true, above: names.value };
    for (const found of entriesBelow(start.folder, options)) {
      if (typeof found === "string") continue;
      const { entry, folder, prefix: below } = found;
      const { name, stat } = entry;
      if (!stat.isFile() || typeof name !== "string") continue;
      if (found.isTooDeep) {
        yield { path: `${prefix + below}…`, bytes: 0, read: () => undefined };
        continue;
      }
      yield fileIn(folder, name, { path: prefix + below + name, bytes: stat.size, device });
    }
  } finally {
    closeSync(start.folder);
  }
}

function openStart(root: number, names: readonly string[]) {
  const name = names.at(-1) ?? ".";
  try {
    return withFolder(root, names.slice(0, -1), (folder) => {
      const { fd, stat } = openPlace(folder, name);
      const device = fstatSync(root).dev;
      if (stat.isDirectory()) return { folder: fd, isFile: false, bytes: 0, name, device };
      closeSync(fd);
      return { folder: openPlace(folder, ".").fd, isFile: stat.isFile(), bytes: stat.size, name, device };
    });
  } catch (error) {
    if (error instanceof Refused || systemCode(error) !== undefined) return undefined;
    throw error;
  }
}

function fileIn(
  folder: number,
  name: string,
  { path, bytes, device }: { path: string; bytes: number; device: number },
): FileBelow {
  return {
    path,
    bytes,
    read(bytesMax) {
      try {
        const { fd, stat } = openRegular(folder, name, { device, path });
        return readAll(fd, Math.min(bytesMax, stat.size));
      } catch (error) {
        if (error instanceof Refused || systemCode(error) !== undefined) return undefined;
        throw error;
      }
    },
  };
}

function readAll(fd: number, length: number): Buffer {
  try {
    const bytes = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const count = readSync(fd, bytes, filled, length - filled, filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  } finally {
    closeSync(fd);
  }
}

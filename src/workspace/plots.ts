import { lstatSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Ids } from "../base/ids.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { DiskFault } from "../words/words.ts";
import { type Books, forgetFolder } from "./books.ts";
import { attemptDisk } from "./faults.ts";
import { runProgram } from "./image-programs.ts";
import type { Images } from "./images.ts";
import { isTaskFolder, type Layout } from "./layout.ts";
import { removeTree } from "./remove-tree.ts";
import { endWaiting } from "./waiting.ts";

/** What lies under the names of rows: plain folders, and images where there are any. Names that are not ours name nothing. */
export interface Plots {
  /** A task's folder that waits for the first write of a program is put in its place. */
  settle(name: string): void;
  has(name: string): boolean;
  /** Where its files are, an image mounted; undefined when there is nothing. */
  open(name: string): Promise<Result<Plot | undefined, DiskFault>>;
  /** A folder is moved before this returns; false: somebody works with the image, or the name is taken. */
  move(from: string, to: string, moved?: () => Promise<void>): Promise<Result<boolean, DiskFault>>;
  /** With everything in it; nothing is fine too. */
  remove(name: string, isOver?: () => boolean): Promise<Result<void, DiskFault>>;
  /** It was moved away, or something else has its place. */
  forget(name: string): void;
  /** The same files on the file system of another plot, in its staging folder; as they are where they are there already. */
  beside(plot: Plot, other: Plot): Promise<Result<string, DiskFault>>;
}

export type Plot = { readonly folder: string; readonly stagingFolder: string; readonly isImage: boolean };

export type PlotsOptions = {
  readonly layout: Layout;
  readonly images: Images | undefined;
  readonly books: Books;
  readonly ids: Ids;
};

export function openPlots({ layout, images, books, ids }: PlotsOptions): Plots {
  const isImage = (name: string) => layout.hostPath(name) !== undefined && images?.has(name) === true;
  const folderOf = (name: string) => {
    const folder = layout.hostPath(name);
    return folder !== undefined && isThere(folder) ? folder : undefined;
  };
  return {
    settle(name) {
      const folder = layout.hostPath(name);
      if (folder !== undefined) endWaiting(layout.stagingFolder, folder);
    },
    has: (name) => isImage(name) || folderOf(name) !== undefined,
    async open(name) {
      const opened = images === undefined || !isImage(name) ? ok(undefined) : await images.open(name);
      if (!opened.ok) return opened;
      if (opened.value !== undefined)
        return ok({ folder: opened.value.files, stagingFolder: opened.value.staging, isImage: true });
      const folder = folderOf(name);
      return ok(folder === undefined ? undefined : { folder, stagingFolder: layout.stagingFolder, isImage: false });
    },
    async move(from, to, moved) {
      if (images !== undefined && isImage(from)) return images.move(from, to, moved);
      const [source, target] = [layout.hostPath(from), layout.hostPath(to)];
      if (source === undefined || target === undefined) return failed("io");
      return attemptDisk(async () => {
        mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
        renameSync(source, target);
        await moved?.();
        return true;
      });
    },
    async remove(name, isOver) {
      const gone = images !== undefined && isImage(name) ? await images.remove(name) : ok(undefined);
      if (isTaskFolder(name)) this.settle(name);
      const folder = folderOf(name);
      if (!gone.ok || folder === undefined) return gone;
      return removeTree(folder, { stagingFolder: layout.stagingFolder, ids, books, isOver });
    },
    forget(name) {
      const folder = layout.hostPath(name);
      if (folder !== undefined) forgetFolder(books, folder);
      if (images !== undefined) forgetFolder(books, images.foldersOf(name).files);
    },
    async beside(plot, other) {
      if (statSync(plot.folder).dev === statSync(other.folder).dev) return ok(plot.folder);
      const copy = join(other.stagingFolder, `made-${ids.hex(24)}`);
      // Nobody else gets at either place, so names lead where they led when they were looked at.
      const copied = await runProgram("cp", ["-a", "--", plot.folder, copy]);
      if (copied.ok) return ok(copy);
      await removeTree(copy, { stagingFolder: other.stagingFolder, ids, books });
      return failed(/no space left/i.test(copied.failure) ? "full" : "io");
    },
  };
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemCode } from "../base/fault.ts";
import { ok, type Result } from "../base/result.ts";
import type { Books } from "./books.ts";
import type { FileFailure } from "./one-workspace.ts";
import { makeSafeFolder } from "./safe-folder.ts";

/**
 * Programs of a task need a folder before they write anything, and a task has none before something is written. So they
 * are given one that waits in the staging folder, and that is put in its place when something is in it: whoever mounted
 * it sees the same folder, for a folder is moved with all its mounts. After a crash it is found under the same name.
 */
export interface Waiting {
  /** Where programs find the task's files: the folder that waits, or the task's own where there is one by now. */
  hold(): Promise<Result<string, FileFailure>>;
  /** Nobody mounts what `hold` answered any more: a folder that waits in vain goes. */
  release(held: string): void;
  /** Puts the folder in its place where something was written to it; `make` is asked before. */
  arrive(make: () => Promise<Result<void, FileFailure>>): Promise<Result<void, FileFailure>>;
}

export type WaitingOptions = {
  readonly folder: string;
  readonly stagingFolder: string;
  readonly books: Books;
  /** Refused for a conversation that is gone. */
  readonly mayBegin: () => Promise<Result<unknown, FileFailure>>;
};

export function openWaiting({ folder, stagingFolder, books, mayBegin }: WaitingOptions): Waiting {
  const path = waitingPath(stagingFolder, folder);
  const { held } = books;
  return {
    async hold() {
      const begun = await mayBegin();
      if (!begun.ok) return begun;
      // From here on nothing is waited for: nobody makes the task's own folder in between.
      if (existsSync(folder)) return ok(folder);
      mkdirSync(stagingFolder, { recursive: true, mode: 0o700 });
      makeFolder(path);
      held.set(path, (held.get(path) ?? 0) + 1);
      return ok(path);
    },
    release(given) {
      if (given !== path) return;
      const others = (held.get(path) ?? 1) - 1;
      if (others > 0) return void held.set(path, others);
      held.delete(path);
      removeEmpty(path);
    },
    arrive: async (make) => (existsSync(folder) || !hasEntries(path) ? ok(undefined) : make()),
  };
}

const mark = "wait-";

function waitingPath(stagingFolder: string, folder: string): string {
  return join(stagingFolder, `${mark}${basename(folder)}`);
}

/** The task whose folder waits under this name in the staging folder. */
export function waitingFor(staged: string): string | undefined {
  return staged.startsWith(mark) ? staged.slice(mark.length) : undefined;
}

/**
 * The task's folder is there afterwards: the one that waits, or a new one. In one step that another writer cannot repeat:
 * a folder moved onto an empty one would take that writer's away.
 */
export function makeTaskFolder(stagingFolder: string, folder: string): void {
  if (existsSync(folder)) return;
  if (!moveIn(waitingPath(stagingFolder, folder), folder)) makeFolder(folder);
}

/** Where there is one that waits, it is in its place afterwards, whatever is in it. */
export function endWaiting(stagingFolder: string, folder: string): void {
  const path = waitingPath(stagingFolder, folder);
  if (existsSync(folder) || !existsSync(path)) return;
  makeSafeFolder(dirname(folder));
  moveIn(path, folder);
}

function moveIn(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    return false;
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o755 });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

function hasEntries(path: string): boolean {
  try {
    return readdirSync(path).length > 0;
  } catch (error) {
    // Root reads everything; a program that closes its own folder to us has changed something in any case.
    const code = systemCode(error);
    if (code === "EACCES") return true;
    if (code !== "ENOENT") throw error;
    return false;
  }
}

/** False where something is in it. */
export function removeEmpty(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOENT") throw error;
    return code === "ENOENT";
  }
}

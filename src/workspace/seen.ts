import type { Stats } from "node:fs";
import type { FileState } from "../protocol/events.ts";
import type { FileChange } from "./one-workspace.ts";

/** The files of one workspace as they were when we last looked, by path. All who observe it share it. */
export type Seen = {
  /** Changed by `remember` and `forget` only. */
  readonly files: Map<string, SeenFile>;
  /** Of the paths of all these files: programs choose how long they are. */
  characters: number;
  /** Counts the looks: a file that the last one did not meet is gone. */
  look: number;
  /** Observations that have not answered yet. */
  waiting: number;
  /** Found by a look, and nobody was told. */
  untold: FileChange[];
};

export type SeenFile = {
  readonly state: FileState;
  /** Why its content is not kept. */
  readonly lost: FileChange["lost"];
  readonly stamp: Stamp;
  /**
   * A file that was written at the very time of the look can be written once more and bear the same time: then only
   * its content tells. The same is true of one that is shared with the memory of a program.
   */
  readonly isSure: boolean;
  look: number;
};

/** What the system says of a file that changes with its content, whatever a program does: nobody can set `ctimeMs`. */
export type Stamp = Pick<Stats, "ino" | "size" | "mode" | "mtimeMs" | "ctimeMs">;

/** Whoever holds it is the only one to look. */
export function lookLock(folder: string): string {
  return `look at ${folder}`;
}

export function newSeen(): Seen {
  return { files: new Map(), characters: 0, look: 0, waiting: 0, untold: [] };
}

export function remember(seen: Seen, path: string, file: SeenFile): void {
  if (!seen.files.has(path)) seen.characters += path.length;
  seen.files.set(path, file);
}

/** False when it was not known. */
export function forget(seen: Seen, path: string): boolean {
  if (!seen.files.delete(path)) return false;
  seen.characters -= path.length;
  return true;
}

export function stampOf({ ino, size, mode, mtimeMs, ctimeMs }: Stamp): Stamp {
  return { ino, size, mode, mtimeMs, ctimeMs };
}

export function isSameStamp(a: Stamp, b: Stamp): boolean {
  return (
    a.ctimeMs === b.ctimeMs && a.ino === b.ino && a.size === b.size && a.mode === b.mode && a.mtimeMs === b.mtimeMs
  );
}

/** We put a file there ourselves: that is no change by a program. Its content is looked at and kept by the next look. */
export function sawWrite(
  seen: Seen | undefined,
  path: string,
  { state, stat }: { state: FileState; stat: Stats | undefined },
): void {
  if (seen === undefined || stat === undefined) return;
  remember(seen, path, { state, lost: undefined, stamp: stampOf(stat), isSure: false, look: seen.look });
}

/** We took a file away ourselves, or a folder with everything in it. */
export function sawRemoval(seen: Seen | undefined, path: string): void {
  if (seen === undefined || forget(seen, path)) return;
  const prefix = path === "" ? "" : `${path}/`;
  for (const below of seen.files.keys()) if (below.startsWith(prefix)) forget(seen, below);
}

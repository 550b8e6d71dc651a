import type { Stats } from "node:fs";
import type { DeepEntry, Passing } from "./tree.ts";

/** All that lies in and below one folder, where no path leads any more: nobody can name it, and it is there all the same. */
export type Deeper = {
  /** Regular ones; there is at least one. */
  files: number;
  /** The folder's path, and `…` in the place of what lies there: no file has that path, for it would be too deep, too. */
  readonly path: string;
  bytes: number;
  modifiedAt: number;
  changedAt: number;
};

/** Puts what is too deep together, folder by folder: a walk comes by all of it before it goes on elsewhere. */
export function* gatherDeeper(
  walk: Iterable<DeepEntry | Passing>,
): Generator<DeepEntry | { readonly deeper: Deeper } | Passing, void> {
  let deeper: Deeper | undefined;
  let prefix: string | undefined;
  for (const found of walk) {
    const isDeep = typeof found === "object" && found.isTooDeep;
    if (deeper !== undefined && typeof found === "object" && found.prefix !== prefix) {
      yield { deeper };
      deeper = undefined;
    }
    if (isDeep && found.entry.stat.isFile()) {
      prefix = found.prefix;
      deeper ??= { path: `${prefix}…`, files: 0, bytes: 0, modifiedAt: 0, changedAt: 0 };
      add(deeper, found.entry.stat);
    }
    yield isDeep ? "step" : found;
  }
  if (deeper !== undefined) yield { deeper };
}

function add(deeper: Deeper, { size, mtimeMs, ctimeMs }: Stats): void {
  deeper.files += 1;
  deeper.bytes += size;
  deeper.modifiedAt = Math.max(deeper.modifiedAt, mtimeMs);
  deeper.changedAt = Math.max(deeper.changedAt, ctimeMs);
}

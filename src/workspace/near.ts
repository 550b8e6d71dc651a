import { closeSync } from "node:fs";
import { systemCode } from "../base/fault.ts";
import { nearest } from "../base/nearest.ts";
import { makeFailure } from "../protocol/failure.ts";
import { openRoot } from "./descend.ts";
import type { FileFailure } from "./one-workspace.ts";
import { shownPath } from "./path.ts";
import { entriesBelow } from "./tree.ts";

/** Entries looked at for a suggestion: enough for what people make, and done in some milliseconds. */
const entriesMax = 500;
const candidatesMax = 200;
const suggestionsMax = 3;

/** A missing file with the names of those that were probably meant: another folder, another ending, a typing error. */
export function withNear(reason: FileFailure, folder: string, names: readonly string[]): FileFailure {
  const name = names.at(-1);
  if (reason.code !== "file_not_found" || name === undefined) return reason;
  const files = filesOf(folder) ?? [];
  const sameName = files.filter((path) => path.endsWith(`/${name}`));
  const likely = nearest(names.join("/"), files, suggestionsMax, { onlyLikely: true });
  const near = [...new Set([...sameName, ...likely])].slice(0, suggestionsMax);
  return makeFailure("file_not_found", { path: reason.params.path, near: near.map(shownPath).join(", ") });
}

/** Undefined where the world does not let us look: a suggestion is not worth a failure. */
function filesOf(folder: string): string[] | undefined {
  const files: string[] = [];
  let root: number | undefined;
  try {
    root = openRoot(folder);
    if (root === undefined) return undefined;
    let looked = 0;
    for (const found of entriesBelow(root, { isHiddenShown: false, isSorted: false })) {
      const isNamed = typeof found === "object" && found.entry.stat.isFile() && !found.isTooDeep;
      if (isNamed) files.push(found.prefix + found.entry.shown);
      looked += 1;
      if (files.length === candidatesMax || looked === entriesMax) break;
    }
    return files;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  } finally {
    if (root !== undefined) closeSync(root);
  }
}

import { closeSync } from "node:fs";
import { nearest } from "../base/nearest.ts";
import { makeFailure } from "../protocol/failure.ts";
import { openRoot } from "./descend.ts";
import { shownPath } from "./path.ts";
import type { FileFailure } from "./port.ts";
import { entriesBelow } from "./tree.ts";

/** Files looked at for a suggestion: enough for what people make, and done in some milliseconds. */
const candidatesMax = 200;
const suggestionsMax = 3;

/** A missing file with the names of those that were probably meant: another folder, another ending, a typing error. */
export function withNear(reason: FileFailure, folder: string, names: readonly string[]): FileFailure {
  const name = names.at(-1);
  if (reason.code !== "file_not_found" || name === undefined) return reason;
  const files = filesOf(folder);
  const sameName = files.filter((path) => path.endsWith(`/${name}`));
  const likely = nearest(names.join("/"), files, suggestionsMax, { onlyLikely: true });
  const near = [...new Set([...sameName, ...likely])].slice(0, suggestionsMax);
  return makeFailure("file_not_found", { path: reason.params.path, near: near.map(shownPath).join(", ") });
}

function filesOf(folder: string): string[] {
  const root = openRoot(folder);
  if (root === undefined) return [];
  const files: string[] = [];
  try {
    for (const { entry, prefix } of entriesBelow(root, { isHiddenShown: false, isSorted: false })) {
      if (entry.stat.isFile()) files.push(prefix + entry.shown);
      if (files.length === candidatesMax) break;
    }
  } finally {
    closeSync(root);
  }
  return files;
}

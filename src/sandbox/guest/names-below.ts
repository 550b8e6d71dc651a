import { realpathSync } from "node:fs";
import { relative, sep } from "node:path";

/** The names that lead from a folder to a place below it; undefined for one that is not. */
export function namesBelow(root: string, path: string): readonly string[] | undefined {
  return checkedNames(relative(root, path).split(sep)) ?? checkedNames(relative(realOf(root), realOf(path)).split(sep));
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // Nothing is there: whoever opens it says so.
  }
}

/** Each of them one name of one folder. */
export function checkedNames(names: readonly string[]): readonly string[] | undefined {
  const isName = (name: string) => name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name);
  return names.length > 0 && names.every((name) => isName(name) && name.isWellFormed()) ? names : undefined;
}

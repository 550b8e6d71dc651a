import { closeSync, constants, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder with those above it, and safe from a power cut the names of all that are new: what is synced inside a
 * folder is lost with the folder's own name. Nothing else runs in between, so nobody finds a folder there that is not safe.
 */
export function makeSafeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; ; made = dirname(made)) {
    syncNames(dirname(made));
    if (made === first) return;
  }
}

/** Makes the names in a folder safe from a power cut. */
export function syncNames(folder: string): void {
  const opened = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

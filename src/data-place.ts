import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemCodeOrThrow } from "./base/fault.ts";
import { type Failure, makeFailure } from "./protocol/failure.ts";
import { readOwner } from "./storage/sqlite/owner-lock.ts";

/** Where the data lies. */
type Paths = { readonly dataDir: string; readonly sessionDbPath: string };

/** What a restore unpacks, and what it puts aside, lies beside everything else under these names. */
export const draftPrefix = "restoring-";
export const keptPrefix = "replaced-";

export function isDraft(name: string): boolean {
  return name.startsWith(draftPrefix);
}

export function isKept(name: string): boolean {
  return name.startsWith(keptPrefix);
}

/** Makes a folder and those above it; false where it cannot be. */
export function makeFolder(path: string): boolean {
  try {
    makeFolders(path);
    return statSync(path).isDirectory();
  } catch (error) {
    systemCodeOrThrow(error);
    return false;
  }
}

/**
 * For this user alone; throws what the system says. One by one: `recursive` never comes to an end in Node where the
 * system says “no such folder” below one that is there, as below /proc.
 */
export function makeFolders(path: string): void {
  const missing: string[] = [];
  for (let folder = path; !existsSync(folder) && folder !== dirname(folder); folder = dirname(folder))
    missing.unshift(folder);
  for (const folder of missing) makeOne(folder);
}

/** Another process may be faster. */
function makeOne(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

/** Whoever only looks must not begin a yard where somebody mistyped a path. A process that owns it may just begin it. */
export function findMissing({ dataDir, sessionDbPath }: Paths): Failure | undefined {
  if (existsSync(dataDir) && (existsSync(sessionDbPath) || readOwner(dataDir) !== undefined)) return undefined;
  return makeFailure("data_missing", { path: dataDir });
}

/** A restore that was killed between the old and the new: an empty yard in their place would look like a loss. */
export function findUnfinished({ dataDir, sessionDbPath }: Paths): Failure | undefined {
  if (existsSync(sessionDbPath)) return undefined;
  const names = readdirSync(dataDir).sort();
  if (!names.some(isDraft)) return undefined;
  const kept = names.findLast(isKept);
  return makeFailure("restore_unfinished", {
    path: dataDir,
    keptAt: kept === undefined ? "" : join(dataDir, kept),
  });
}

import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemCodeOrThrow } from "./base/fault.ts";
import { failed, type Result } from "./base/result.ts";
import type { Config } from "./config/config.ts";
import { type Failure, failure, makeFailure } from "./protocol/failure.ts";
import { protocolVersion } from "./protocol/routes.ts";
import { type OwnerLock, readOwner, takeOwnership } from "./storage/sqlite/owner-lock.ts";

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

/** For work that nobody else may disturb. The socket is nobody's: whoever comes meanwhile waits, and then finds what was done. */
export function holdData(dataDir: string, startedAt: number): Result<OwnerLock, Failure> {
  const taken = takeOwnership(dataDir, { pid: process.pid, startedAt, socket: "", protocol: protocolVersion });
  if (taken.ok) return taken;
  if (taken.failure.kind === "failed") return failed(taken.failure.failure);
  return failure("data_in_use", { pid: taken.failure.owner?.pid ?? 0 });
}

/** Whoever only looks must not begin a yard where somebody mistyped a path. A process that owns it may just begin it. */
export function findMissing({ dataDir, sessionDbPath }: Paths): Failure | undefined {
  if (existsSync(dataDir) && (existsSync(sessionDbPath) || readOwner(dataDir) !== undefined)) return undefined;
  return makeFailure("data_missing", { path: dataDir });
}

/** A restore that was killed between the old and the new: an empty yard in their place would look like a loss. */
export function findUnfinished({ dataDir, sessionDbPath }: Paths): Failure | undefined {
  return existsSync(sessionDbPath) ? undefined : findDraft(dataDir);
}

/** What a restore into this folder left that was killed; whether it was done is for others to say. */
export function findDraft(folder: string): Failure | undefined {
  if (!existsSync(folder)) return undefined;
  const names = readdirSync(folder).sort();
  if (!names.some(isDraft)) return undefined;
  const kept = names.findLast(isKept);
  return makeFailure("restore_unfinished", { path: folder, keptAt: kept === undefined ? "" : join(folder, kept) });
}

/** Whether some workspaces lie in images: they stay there whatever the settings say by now. */
export function hasImages(filesDir: string): boolean {
  const images = join(filesDir, "images");
  const kinds = existsSync(images) ? readdirSync(images, { withFileTypes: true }) : [];
  return kinds.some((kind) => kind.isDirectory() && readdirSync(join(images, kind.name)).length > 0);
}

/** Where packages and copies of skills lie, which sandboxes mount: where the machine of the sandboxes sees them. */
export function mountedDirOf({ provider, paths }: Pick<Config, "provider" | "paths">): string {
  return provider.kind === "remote" || provider.kind === "kubernetes" ? paths.filesDir : paths.dataDir;
}

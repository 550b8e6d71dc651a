import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { copyFile, mkdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { codeOf, faultOf, sync } from "./backup.ts";
import type { Clock } from "./base/clock.ts";
import type { Ids } from "./base/ids.ts";
import { failed, ok, type Result } from "./base/result.ts";
import { draftPrefix, isDraft, isKept, keptPrefix, makeFolder, makeFolders } from "./data-place.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import { protocolVersion } from "./protocol/routes.ts";
import { readCopy } from "./storage/sqlite/copy.ts";
import { takeOwnership } from "./storage/sqlite/owner-lock.ts";
import { syncNamesOf } from "./storage/sqlite/sync-folder.ts";
import { type ArchiveRead, openUnpacking, readArchive } from "./workspace/workspace.ts";

export type RestoreWanted = {
  readonly path: string;
  readonly dataDir: string;
  readonly sessionDbPath: string;
  /** What is there already is kept in a folder beside it; otherwise the directory must be empty. */
  readonly replaces: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Bytes of the archive that were read so far. */
  readonly onProgress?: ((readBytes: number) => void) | undefined;
};

export type Restored = {
  readonly conversations: number;
  readonly files: number;
  /** When the backup was made, and by which version. */
  readonly at: number;
  readonly agentyard: string;
  /** Where what was there before lies now. */
  readonly keptAt: string | undefined;
};

/**
 * Puts a backup back into a data directory that no process uses. It is unpacked beside everything else, compared with
 * its list, read back from the disk, and only then moved into place: a backup that is broken changes nothing.
 */
export async function restoreBackup(wanted: RestoreWanted): Promise<Result<Restored, Failure>> {
  const { dataDir, sessionDbPath, replaces, clock, ids } = wanted;
  const wasThere = existsSync(dataDir);
  if (!makeFolder(dataDir)) return failure("data_unusable", { path: dataDir });
  // The socket is nobody's: whoever comes meanwhile waits, and then finds the restored data.
  const owner = { pid: process.pid, startedAt: clock.now(), socket: "", protocol: protocolVersion };
  const taken = takeOwnership(dataDir, owner);
  if (!taken.ok) {
    if (taken.failure.kind === "failed") return failed(taken.failure.failure);
    return failure("data_in_use", { pid: taken.failure.owner?.pid ?? 0 });
  }
  const draft = join(dataDir, `${draftPrefix}${ids.hex(12)}`);
  let isDone = false;
  try {
    if (!replaces && contentOf(dataDir, sessionDbPath).length > 0)
      return failure("restore_not_empty", { path: dataDir });
    await mkdir(draft, { mode: 0o700 });
    const read = await unpack(wanted, draft);
    if (!read.ok) return read;
    const exchanged = await exchange(draft, wanted);
    if (!exchanged.ok) return exchanged;
    const { keptAt } = exchanged.value;
    // The directory may be as new as what is in it.
    for (const folder of new Set([dataDir, dirname(sessionDbPath)])) syncNamesOf(folder);
    isDone = true;
    await removeDrafts(dataDir).catch(codeOf);
    const { head, end } = read.value;
    const { conversations, files } = end;
    return ok({ conversations, files, at: head.at, agentyard: head.agentyard, keptAt });
  } catch (error) {
    return failure("restore_failed", { why: faultOf(codeOf(error)) });
  } finally {
    await rm(draft, { recursive: true, force: true });
    taken.value.release();
    if (!wasThere && !isDone) await removeUnused(dataDir);
  }
}

/** What a directory has that nobody has used yet, or that is of no worth. */
const worthless: ReadonlySet<string> = new Set([
  ...["owner.lock", "owner.lock-journal", "owner.json", "logs", "lost+found", "staging"],
]);

/** Host paths of all that a restore would mix with. */
function contentOf(dataDir: string, sessionDbPath: string): string[] {
  const names = readdirSync(dataDir).filter((name) => !worthless.has(name) && !isDraft(name) && !isKept(name));
  const paths = names.map((name) => join(dataDir, name));
  const elsewhere = ["", "-wal", "-shm", ".reserve"]
    .map((ending) => sessionDbPath + ending)
    .filter((path) => !paths.includes(path) && existsSync(path));
  return [...paths, ...elsewhere];
}

async function unpack({ path, onProgress }: RestoreWanted, draft: string): Promise<Result<ArchiveRead, Failure>> {
  const unpacking = openUnpacking(draft);
  try {
    const read = await readArchive(path, unpacking, onProgress);
    if (!read.ok) return "fault" in read.failure ? failure("backup_broken", { why: "cut" }) : failed(read.failure);
    await unpacking.finish();
    if ((await unpacking.findDifference()) !== undefined) return failure("restore_failed", { why: "unequal" });
    const database = await readCopy(join(draft, "sessions.db"));
    if (!database.ok || database.value.conversations !== read.value.end.conversations)
      return failure("backup_broken", { why: "database" });
    return ok(read.value);
  } finally {
    unpacking.close();
  }
}

type Moved = { readonly from: string; readonly to: string };

/** The new in the place of the old; where that fails, the old is back in its place, or it is said where it lies. */
async function exchange(
  draft: string,
  wanted: RestoreWanted,
): Promise<Result<{ readonly keptAt: string | undefined }, Failure>> {
  const moved: Moved[] = [];
  let keptAt: string | undefined;
  try {
    keptAt = makeKept(wanted);
    if (keptAt !== undefined) await moveAside(keptAt, wanted, moved);
    await moveIn(draft, wanted, moved);
    return ok({ keptAt });
  } catch (error) {
    const why = faultOf(codeOf(error));
    const isBack = await moveBack(moved);
    if (isBack && keptAt !== undefined) await rmdir(keptAt).catch(codeOf);
    return failure("restore_failed", { why, ...(!isBack && keptAt !== undefined && { keptAt }) });
  }
}

/** The folder for what is there, if anything is. */
function makeKept({ dataDir, sessionDbPath, clock }: RestoreWanted): string | undefined {
  if (contentOf(dataDir, sessionDbPath).length === 0) return undefined;
  const stamp = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  const folder = join(dataDir, `${keptPrefix}${stamp}`);
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

async function moveAside(folder: string, { dataDir, sessionDbPath }: RestoreWanted, moved: Moved[]): Promise<void> {
  for (const from of contentOf(dataDir, sessionDbPath)) await move({ from, to: join(folder, basename(from)) }, moved);
  await sync(folder);
}

/** The database last: without it nothing of the rest counts. */
async function moveIn(draft: string, { dataDir, sessionDbPath }: RestoreWanted, moved: Moved[]): Promise<void> {
  const names = readdirSync(draft).filter((name) => name !== "sessions.db" && name !== "manifest.jsonl");
  for (const name of names) await move({ from: join(draft, name), to: join(dataDir, name) }, moved);
  await sync(dataDir);
  makeFolders(dirname(sessionDbPath));
  await move({ from: join(draft, "sessions.db"), to: sessionDbPath }, moved);
  await sync(dirname(sessionDbPath));
}

/** The last first. False where something could not be moved back; the rest is. */
async function moveBack(moved: readonly Moved[]): Promise<boolean> {
  let isBack = true;
  for (const { from, to } of moved.toReversed()) {
    try {
      await move({ from: to, to: from }, []);
    } catch (error) {
      codeOf(error);
      isBack = false;
    }
  }
  return isBack;
}

/** The database may lie on another disk. What was done is noted at once. */
async function move({ from, to }: Moved, moved: Moved[]): Promise<void> {
  try {
    await rename(from, to);
    moved.push({ from, to });
  } catch (error) {
    if (codeOf(error) !== "EXDEV") throw error;
    await copyOver(from, to);
    moved.push({ from, to });
    await rm(from);
  }
}

async function copyOver(from: string, to: string): Promise<void> {
  const part = `${to}.part`;
  try {
    await copyFile(from, part);
    await sync(part);
    await rename(part, to);
  } finally {
    await rm(part, { force: true });
  }
}

/** Left by restores that were killed. */
async function removeDrafts(dataDir: string): Promise<void> {
  for (const name of readdirSync(dataDir).filter(isDraft))
    await rm(join(dataDir, name), { recursive: true, force: true });
}

/** Made for this restore alone, which came to nothing. */
async function removeUnused(dataDir: string): Promise<void> {
  await rm(join(dataDir, "owner.lock"), { force: true });
  await rmdir(dataDir).catch(() => {});
}

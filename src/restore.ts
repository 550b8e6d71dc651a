import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { copyFile, mkdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { codeOf, diskFaultOf, sync } from "./backup.ts";
import type { Clock } from "./base/clock.ts";
import type { Ids } from "./base/ids.ts";
import { failed, ok, type Result } from "./base/result.ts";
import { draftPrefix, holdData, isDraft, isKept, keptPrefix, makeFolder, makeFolders } from "./data-place.ts";
import type { EmptyDatabase } from "./onto-database.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import { readCopy } from "./storage/sqlite/copy.ts";
import { syncNamesOf } from "./storage/sqlite/sync-folder.ts";
import { type ArchiveRead, openUnpacking, readArchive } from "./workspace/workspace.ts";

/** Of the database inside a backup. */
const databaseName = "sessions.db";

export type RestoreWanted = {
  readonly path: string;
  readonly dataDir: string;
  readonly sessionDbPath: string;
  /** Where the files of conversations go, where that is not the data directory. */
  readonly filesDir?: string | undefined;
  /** Where a database server takes the place of the file: holds it for as long as this takes. */
  readonly holdDatabase?: (() => Promise<Result<EmptyDatabase, Failure>>) | undefined;
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
  /** Where what was there before lies now: in the data directory, and in the folder of files where that is another one. */
  readonly keptAt: string | undefined;
  readonly filesKeptAt?: string | undefined;
};

/**
 * Puts a backup back into a data directory that no process uses. It is unpacked beside everything else, compared with
 * its list, read back from the disk, and only then moved into place: a backup that is broken changes nothing.
 */
export async function restoreBackup(wanted: RestoreWanted): Promise<Result<Restored, Failure>> {
  const { dataDir, filesDir = dataDir, clock } = wanted;
  const wasThere = existsSync(dataDir);
  for (const path of [dataDir, filesDir]) if (!makeFolder(path)) return failure("data_unusable", { path });
  const held = holdData(dataDir, clock.now());
  if (!held.ok) return held;
  let isDone = false;
  try {
    const restored = await whileOwned({ ...wanted, filesDir });
    isDone = restored.ok;
    return restored;
  } catch (error) {
    return failure("restore_failed", { why: diskFaultOf(codeOf(error)) });
  } finally {
    held.value.release();
    if (!wasThere && !isDone) await removeUnused(dataDir);
  }
}

type Owned = RestoreWanted & { readonly filesDir: string };

async function whileOwned(wanted: Owned): Promise<Result<Restored, Failure>> {
  const held = await wanted.holdDatabase?.();
  if (held?.ok === false) return held;
  const { dataDir, filesDir, sessionDbPath, replaces, ids } = wanted;
  // Beside the files: most of a backup is moved within one disk.
  const draft = join(filesDir, `${draftPrefix}${ids.hex(12)}`);
  try {
    for (const place of placesOf(wanted))
      if (!replaces && contentOf(place, wanted).length > 0) return failure("restore_not_empty", { path: place });
    await mkdir(draft, { mode: 0o700 });
    const read = await unpack(wanted, draft);
    if (!read.ok) return read;
    const swapped = await putInPlace(draft, wanted, held?.value);
    if (!swapped.ok) return swapped;
    // The directory may be as new as what is in it.
    for (const folder of new Set([dataDir, filesDir, dirname(sessionDbPath)]))
      if (existsSync(folder)) syncNamesOf(folder);
    await removeDrafts(filesDir).catch(codeOf);
    const { head, end } = read.value;
    const { conversations, files } = end;
    return ok({ conversations, files, at: head.at, agentyard: head.agentyard, ...swapped.value });
  } finally {
    await rm(draft, { recursive: true, force: true });
    await held?.value.close();
  }
}

/** With a database server the files are swapped when only its commit is missing: what was unpacked counts as a whole, or not. */
async function putInPlace(
  draft: string,
  wanted: Owned,
  database: EmptyDatabase | undefined,
): Promise<Result<Kept, Failure>> {
  if (database === undefined) return swap(draft, wanted);
  let kept: Result<Kept, Failure> = ok({ keptAt: undefined });
  const brought = await database.bringIn(join(draft, databaseName), async () => {
    kept = await swap(draft, wanted);
    return kept.ok ? ok(undefined) : kept;
  });
  return brought.ok ? kept : brought;
}

/** Where something is put: one folder, or two. */
function placesOf({ dataDir, filesDir }: Owned): string[] {
  return [...new Set([dataDir, filesDir])];
}

/** What a directory has that nobody has used yet, or that is of no worth. */
const worthless: ReadonlySet<string> = new Set([
  ...["owner.lock", "owner.lock-journal", "owner.json", "logs", "lost+found", "staging", "server", ".agentyard-files"],
]);

/** Host paths of all in a place that a restore would mix with. */
function contentOf(place: string, { dataDir, sessionDbPath, holdDatabase }: Owned): string[] {
  const names = readdirSync(place).filter((name) => !worthless.has(name) && !isDraft(name) && !isKept(name));
  const paths = names.map((name) => join(place, name));
  if (place !== dataDir || holdDatabase !== undefined) return paths;
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
    if ((await unpacking.finish()) !== undefined) return failure("restore_failed", { why: "unequal" });
    const database = await readCopy(join(draft, databaseName));
    if (!database.ok || database.value.conversations !== read.value.end.conversations)
      return failure("backup_broken", { why: "database" });
    return ok(read.value);
  } finally {
    unpacking.close();
  }
}

type Moved = { readonly from: string; readonly to: string };
type Kept = Pick<Restored, "keptAt" | "filesKeptAt">;

/** The new in the place of the old; where that fails, the old is back in its place, or it is said where it lies. */
async function swap(draft: string, wanted: Owned): Promise<Result<Kept, Failure>> {
  const moved: Moved[] = [];
  const kept = new Map<string, string>();
  try {
    for (const place of placesOf(wanted)) {
      const folder = makeKept(place, wanted);
      if (folder === undefined) continue;
      kept.set(place, folder);
      await moveAside(place, folder, wanted, moved);
    }
    await moveIn(draft, wanted, moved);
    const { dataDir, filesDir } = wanted;
    const keptAt = kept.get(dataDir);
    return ok(dataDir === filesDir ? { keptAt } : { keptAt, filesKeptAt: kept.get(filesDir) });
  } catch (error) {
    const why = diskFaultOf(codeOf(error));
    const isBack = await moveBack(moved);
    if (isBack) for (const folder of kept.values()) await rmdir(folder).catch(codeOf);
    return failure("restore_failed", {
      why,
      ...(!isBack && kept.size > 0 && { keptAt: [...kept.values()].join(", ") }),
    });
  }
}

/** The folder for what is there, if anything is. */
function makeKept(place: string, wanted: Owned): string | undefined {
  if (contentOf(place, wanted).length === 0) return undefined;
  const stamp = new Date(wanted.clock.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  const name = join(place, `${keptPrefix}${stamp}`);
  let folder = name;
  for (let count = 2; existsSync(folder); count += 1) folder = `${name}-${count}`; // A restore a moment ago.
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

/** The database first: who is killed after that leaves no yard, and who began the old one would not find all that it had. */
async function moveAside(place: string, folder: string, wanted: Owned, moved: Moved[]): Promise<void> {
  const isDatabase = (path: string) => Number(path === wanted.sessionDbPath);
  const paths = contentOf(place, wanted).toSorted((one, other) => isDatabase(other) - isDatabase(one));
  for (const from of paths) await move({ from, to: join(folder, basename(from)) }, moved);
  await sync(folder);
}

/** The database last: without it nothing of the rest counts. A database server takes it when all of this is done. */
async function moveIn(draft: string, wanted: Owned, moved: Moved[]): Promise<void> {
  const { dataDir, filesDir, sessionDbPath, holdDatabase } = wanted;
  const names = readdirSync(draft).filter((name) => !name.startsWith(databaseName) && name !== "manifest.jsonl");
  for (const name of names) {
    // The key is this machine's own; the files are for all.
    const to = join(name === "key" ? dataDir : filesDir, name);
    await move({ from: join(draft, name), to }, moved);
  }
  for (const place of placesOf(wanted)) await sync(place);
  if (holdDatabase !== undefined) return;
  makeFolders(dirname(sessionDbPath));
  await move({ from: join(draft, databaseName), to: sessionDbPath }, moved);
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
async function removeDrafts(place: string): Promise<void> {
  for (const name of readdirSync(place).filter(isDraft)) await rm(join(place, name), { recursive: true, force: true });
}

/** Made for this restore alone, which came to nothing. */
async function removeUnused(dataDir: string): Promise<void> {
  await rm(join(dataDir, "owner.lock"), { force: true });
  await rmdir(dataDir).catch(() => {});
}

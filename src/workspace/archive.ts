import { closeSync, fstatSync, readlinkSync, type Stats } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { systemCode, systemCodeOrThrow } from "../base/fault.ts";
import type { Ids } from "../base/ids.ts";
import type { Storage } from "../storage/storage.ts";
import { type ArchiveHead, archiveFormat, databaseName, headName } from "./archive-format.ts";
import { openWork, type Work } from "./archive-work.ts";
import { gatherDeeper } from "./deeper.ts";
import { inFolder, openPlace, openRoot } from "./descend.ts";
import { namesIn } from "./faults.ts";
import type { Layout } from "./layout.ts";
import type { Plots } from "./plots.ts";
import { sliced } from "./slices.ts";
import { type DeepEntry, entriesBelow } from "./tree.ts";

export type ArchiveOptions = {
  readonly storage: Pick<Storage, "copyTo">;
  readonly layout: Layout;
  readonly keyDir?: string | undefined;
  readonly plots: Pick<Plots, "open">;
  readonly clock: Clock;
  readonly ids: Ids;
};

export type ArchiveWanted = Pick<ArchiveHead, "agentyard" | "protocol" | "withKey">;

/**
 * Everything worth keeping as one tar file, made while it is taken and while others go on working. First the database as
 * it is at one moment, then the files: what the log names was there before it. It ends with a list of all of it, or with
 * the reason why there is none.
 */
export async function* archive(
  options: ArchiveOptions,
  wanted: ArchiveWanted,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { layout, ids } = options;
  const staging = join(layout.stagingFolder, `backup-${ids.hex(24)}`);
  // Loaded when it is needed: whoever only talks has no use for it.
  const { pack: openPack } = await import("tar-stream");
  const pack = openPack();
  let isLeft = false;
  const work = openWork(options, { pack, staging, isLeft: () => isLeft });
  const packed = takeAll(work, wanted)
    .catch((error: unknown) => work.giveUp(error))
    .then(() => (isLeft ? undefined : pack.finalize()))
    // Whoever reads the archive sees what went wrong with it.
    .catch((error: unknown) => void pack.destroy(error instanceof Error ? error : undefined));
  try {
    for await (const piece of pack) {
      assert(piece instanceof Uint8Array, "an archive is made of bytes");
      yield piece;
    }
  } finally {
    isLeft = true;
    pack.destroy();
    await packed;
    await rm(staging, { recursive: true, force: true });
  }
}

async function takeAll(work: Work, wanted: ArchiveWanted): Promise<void> {
  const { layout, clock, storage, staging } = work;
  await mkdir(staging, { recursive: true, mode: 0o700 });
  const head: ArchiveHead = { format: archiveFormat, ...wanted, at: clock.now() };
  await work.addText(headName, `${JSON.stringify(head)}\n`);
  const copy = join(staging, databaseName);
  const copied = await storage.copyTo(copy);
  if (!copied.ok) return work.fail(copied.failure);
  work.holds(copied.value.conversations);
  await work.addStill(copy, { path: databaseName, mode: 0o600 });
  await rm(copy);
  const taken = new Set<string>();
  for (const folder of plotFolders) await takePlots(work, folder, taken);
  await takeFolder(work, join(layout.dataDir, "kept"), "kept");
  // What came back from the trash meanwhile was in neither place when its turn came.
  for (const folder of plotFolders.slice(0, 2)) await takePlots(work, folder, taken);
  if (wanted.withKey) await takeKey(work);
  await work.finish();
}

/** In this order: what is moved to the trash meanwhile is found there. */
const plotFolders = ["workspace", "workspaces", "trash"];

/** The folders of conversations, tasks or the trash, whether they lie on the disk or in images. */
async function takePlots(work: Work, folder: string, taken: Set<string>): Promise<void> {
  const { layout, plots } = work;
  const names = new Set([...namesIn(join(layout.dataDir, folder)), ...namesIn(join(layout.dataDir, "images", folder))]);
  for (const name of [...names].sort()) {
    const plot = `${folder}/${name}`;
    if (taken.has(plot) || layout.hostPath(plot) === undefined) continue;
    taken.add(plot);
    const opened = await plots.open(plot);
    if (!opened.ok) work.leaveOut(plot);
    else if (opened.value !== undefined) await takeFolder(work, opened.value.folder, plot);
  }
}

/** Everything below a folder. Each name is opened in the folder that it was found in, and no link is followed. */
async function takeFolder(work: Work, folder: string, path: string): Promise<void> {
  const root = openRoot(folder);
  if (root === undefined) return;
  try {
    const { mode, mtimeMs, dev } = fstatSync(root);
    const below: Below = { path, device: dev, owners: new Map() };
    await work.add({ path, type: "folder", mode: mode & 0o777, mtime: mtimeMs, bytes: 0 });
    for await (const found of sliced(gatherDeeper(entriesBelow(root, { isHiddenShown: true, isSorted: true })))) {
      if (work.isLeft()) return;
      if (found === "unreadable") work.leaveOut(`${path}/…`);
      if (typeof found !== "object") continue;
      if ("deeper" in found) work.leaveOut(`${path}/${found.deeper.path}`, found.deeper.files);
      else await takeEntry(work, found, below);
    }
  } finally {
    closeSync(root);
  }
}

type Below = {
  readonly path: string;
  readonly device: number;
  /** Names that are no UTF-8 may be shown alike: which folder has a path with one in it, by inode. */
  readonly owners: Map<string, number>;
};

async function takeEntry(work: Work, deep: DeepEntry, below: Below): Promise<void> {
  const { entry, prefix, folder } = deep;
  const { name, shown, stat: found } = entry;
  const path = `${below.path}/${prefix}${shown}`;
  const isOdd = typeof name !== "string";
  // A name that is no UTF-8 has a path only in bytes; one further up would need all of them.
  if (!hasPath(deep, below) || (isOdd && prefix.includes(replacementMark))) return work.leaveOut(path);
  const raw = isOdd ? Buffer.concat([Buffer.from(`${below.path}/${prefix}`), name]).toString("base64") : undefined;
  const facts = { path, raw, mode: found.mode & 0o777, mtime: found.mtimeMs, bytes: 0 };
  try {
    if (found.isDirectory()) return await work.add({ ...facts, type: "folder" });
    if (found.isSymbolicLink())
      return await work.add({ ...facts, type: "link", target: readlinkSync(inFolder(folder, name)) });
    if (!found.isFile()) return work.leaveOut(path);
    const { fd: place, stat: opened } = openPlace(folder, name);
    try {
      // The name may stand for something else by now; what is open stays what it is.
      if (!opened.isFile() || opened.dev !== below.device) return work.leaveOut(path);
      await work.addFile(`/proc/self/fd/${place}`, facts);
    } finally {
      closeSync(place);
    }
  } catch (error) {
    const code = systemCode(error);
    // It is gone, or became something else, or may not be read. A full disk ends all of it.
    if (code === undefined || !leftOutCodes.has(code)) throw error;
    work.leaveOut(path);
  }
}

const replacementMark = "\uFFFD";
/** No inode: nothing lies below such a path. */
const nobody = -1;

/** What has the path of something else, or one that leads through a file, would make all of a backup useless. */
function hasPath({ entry, prefix, folder }: DeepEntry, { owners }: Below): boolean {
  const { name, shown, stat } = entry;
  const path = `${prefix}${shown}/`;
  if (!path.includes(replacementMark)) return true;
  const { ino } = fstatSync(folder);
  if (!owners.has(prefix)) owners.set(prefix, ino);
  const isOwn = owners.get(prefix) === ino;
  const leadsOn = isOwn && (stat.isDirectory() || typeof name !== "string");
  if (!leadsOn && !owners.has(path)) owners.set(path, nobody);
  return isOwn;
}

const leftOutCodes: ReadonlySet<string> = new Set([
  ...["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM", "ENXIO", "EINVAL"],
  "ESTALE", // Over NFS: taken away by another machine.
]);

async function takeKey(work: Work): Promise<void> {
  const path = join(work.keyDir ?? work.layout.dataDir, "key");
  let found: Stats;
  try {
    found = await stat(path);
  } catch (error) {
    // Whoever asked for it hears that it is not in the backup.
    return systemCodeOrThrow(error) === "ENOENT" ? undefined : work.leaveOut("key");
  }
  if (found.isFile()) await work.addFile(path, { path: "key", mode: 0o600, mtime: found.mtimeMs });
}

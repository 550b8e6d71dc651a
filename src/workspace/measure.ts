import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "./faults.ts";
import type { Visit } from "./files.ts";
import type { Measured, WorkspaceLimits } from "./port.ts";
import { inSlices } from "./slices.ts";
import { entriesBelow } from "./tree.ts";

/** What was counted below a folder. Folders take room on the disk as files do. */
export type Count = { bytes: number; files: number; folders: number; trustedUntil: number };

/** Where counting takes long it takes up this share of the time at the most, however often somebody asks. */
const countingShareMax = 0.1;
const longMs = 50;
/** And yet never older than this: a program writes gigabytes in some seconds. */
const trustedMsMax = 2000;

/** Counts by blocks: a file of holes takes up nothing. Ends where a limit is passed by far: nothing more matters then. */
export async function measure({ root, at, books, limits }: Visit, moreBytes = 0): Promise<Measured> {
  const known = books.counts.get(at.folder);
  // The real time, as what matters is how long the machine was busy.
  const isFresh = known !== undefined && performance.now() < known.trustedUntil;
  const counted = isFresh ? known : await countBlocks(root, limits);
  books.counts.set(at.folder, counted);
  const count = { ...counted, bytes: counted.bytes + moreBytes };
  const { bytes, files, folders } = count;
  const { bytesMax, filesMax, freeBytesMin } = limits;
  const freeBytes = freeBelow(root === undefined ? dirname(at.folder) : `/proc/self/fd/${root}/.`);
  const over = passed(count, limits) ?? (freeBytes < freeBytesMin ? "disk" : undefined);
  const isFarOver = passed(count, farOver(limits)) !== undefined;
  return { bytes, files, folders, bytesMax, filesMax, freeBytes, over, isFarOver };
}

/** What a fast program can leave on top before anybody looks, and more: who finds that can still make room. */
const farBytesMin = 2 * 1024 ** 3;
const farFilesMin = 100_000;

function farOver({ bytesMax, filesMax }: Bounds): Bounds {
  return { bytesMax: bytesMax + Math.max(bytesMax, farBytesMin), filesMax: filesMax + Math.max(filesMax, farFilesMin) };
}

type Bounds = Pick<WorkspaceLimits, "bytesMax" | "filesMax">;

async function countBlocks(root: number | undefined, limits: Bounds): Promise<Count> {
  const count: Count = { bytes: 0, files: 0, folders: 0, trustedUntil: 0 };
  const began = performance.now();
  const far = farOver(limits);
  if (root !== undefined) await inSlices(entriesUntil(root, count, () => passed(count, far) !== undefined));
  const ended = performance.now();
  if (ended - began > longMs) count.trustedUntil = ended + Math.min((ended - began) / countingShareMax, trustedMsMax);
  return count;
}

function* entriesUntil(root: number, count: Count, isEnough: () => boolean): Generator<void, void> {
  const linked = new Set<number>();
  for (const found of entriesBelow(root, { isHiddenShown: true, isSorted: false })) {
    if (typeof found === "object") {
      const { stat } = found.entry;
      if (stat.isDirectory()) count.folders += 1;
      else count.files += 1;
      // A file with several names takes up its room once.
      const isOther = stat.isDirectory() || stat.nlink === 1 || !linked.has(stat.ino);
      if (isOther) count.bytes += stat.blocks * blockBytes;
      if (!stat.isDirectory() && stat.nlink > 1) linked.add(stat.ino);
      if (isEnough()) return;
    }
    yield;
  }
}

/** The unit of `blocks`, whatever the disk has. */
const blockBytes = 512;

function passed({ bytes, files, folders }: Count, limits: Bounds): "bytes" | "files" | undefined {
  if (bytes > limits.bytesMax) return "bytes";
  return Math.max(files, folders) > limits.filesMax ? "files" : undefined;
}

function freeBelow(path: string): number {
  for (let place = path; ; place = dirname(place)) {
    try {
      const { bavail, bsize } = statfsSync(place);
      return bavail * bsize;
    } catch (error) {
      if (errorCode(error) !== "ENOENT" || place === "/") throw error;
    }
  }
}

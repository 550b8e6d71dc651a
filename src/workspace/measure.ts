import { type Stats, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "../base/fault.ts";
import type { Visit } from "./files.ts";
import type { Measured, MeasureOptions, WorkspaceLimits } from "./one-workspace.ts";
import { inSlices } from "./slices.ts";
import { entriesBelow } from "./tree.ts";

/** What was counted below a folder. Folders take room on the disk as files do. */
export type Count = { bytes: number; files: number; folders: number; trustedUntil: number };

/** Where counting takes long it takes up this share of the time at the most, however often somebody asks. */
const countingShareMax = 0.1;
const longMs = 50;
/** Few entries take long only where the machine is busy with something else. */
const manyEntries = 1000;
/** And yet never older than this: a program writes gigabytes in some seconds. */
const trustedMsMax = 2000;

/** Counts by blocks: a file of holes takes up nothing. Ends where a limit is passed by far: nothing more matters then. */
export async function measure(
  visit: Visit,
  { moreBytes = 0, mayBeOld = false }: MeasureOptions = {},
): Promise<Measured> {
  const { at, books, limits, clock } = visit;
  const known = books.counts.get(at.folder);
  const isFresh = known !== undefined && clock.monotonic() < known.trustedUntil;
  const isGood = isFresh || (mayBeOld && known !== undefined && passed(known, limits) === undefined);
  return measuredBy(visit, isGood ? known : await countBlocks(visit), moreBytes);
}

/** What a count says against the limits and the disk of this moment. */
export function measuredBy({ root, at, books, limits }: Visit, counted: Count, moreBytes = 0): Measured {
  books.counts.set(at.folder, counted);
  const count = { ...counted, bytes: counted.bytes + moreBytes };
  const { bytes, files, folders } = count;
  const { bytesMax, filesMax, freeBytesMin } = limits;
  const freeBytes = freeBelow(at.image?.disk ?? (root === undefined ? dirname(at.folder) : `/proc/self/fd/${root}/.`));
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

async function countBlocks({ root, limits, clock }: Visit): Promise<Count> {
  const counting = beginCount();
  const began = clock.monotonic();
  if (root !== undefined) await inSlices(entriesUntil(root, counting, farOver(limits)));
  const [{ count }, ended] = [counting, clock.monotonic()];
  const isLong = ended - began > longMs && count.files + count.folders > manyEntries;
  if (isLong) count.trustedUntil = ended + Math.min((ended - began) / countingShareMax, trustedMsMax);
  return count;
}

function* entriesUntil(root: number, { count, add }: Counting, enough: Bounds): Generator<void, void> {
  for (const found of entriesBelow(root, { isHiddenShown: true, isSorted: false })) {
    if (typeof found === "object") {
      add(found.entry.stat);
      if (passed(count, enough) !== undefined) return;
    }
    yield;
  }
}

/** For whoever comes by every entry: a look counts along with what it is there for. */
export type Counting = { readonly count: Count; add(stat: Stats): void };

export function beginCount(): Counting {
  const count: Count = { bytes: 0, files: 0, folders: 0, trustedUntil: 0 };
  const linked = new Set<number>();
  return {
    count,
    add(stat) {
      const isFolder = stat.isDirectory();
      if (isFolder) count.folders += 1;
      else count.files += 1;
      // A file with several names takes up its room once.
      if (isFolder || stat.nlink === 1 || !linked.has(stat.ino)) count.bytes += stat.blocks * blockBytes;
      if (!isFolder && stat.nlink > 1) linked.add(stat.ino);
    },
  };
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
      if (systemCode(error) !== "ENOENT" || place === "/") throw error;
    }
  }
}

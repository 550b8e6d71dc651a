import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { systemCodeOrThrow } from "../../base/fault.ts";

/**
 * What processes hold of files without the folders telling. All of it is read by other threads: a process that is
 * stopped in the middle of something may keep its reader waiting.
 */

/** One look reads so much of the tables of memory: some fifty thousand pieces of memory. */
const tableBytesMax = 4 * 1024 * 1024;
/** Open files that one look goes through; who has more is not looked at any further. */
const descriptorsMax = 20_000;
const atOnceMax = 64;

/**
 * Inodes of files that are shared with the memory of these processes. Not only those that can be written just now:
 * that can be changed back and forth. Undefined: there is too much to look through, or it cannot be looked at now.
 */
export async function sharedFiles(pids: readonly number[]): Promise<ReadonlySet<number> | undefined> {
  const room = { bytes: tableBytesMax };
  const tables = await Promise.all(pids.map((pid) => tableOf(pid, room)));
  const known = tables.filter((table) => table !== undefined);
  if (room.bytes <= 0 || known.length < tables.length) return undefined;
  return new Set(known.flatMap((table) => Array.from(table.matchAll(sharedLine), ([, inode]) => Number(inode))));
}

/** Range, rights (`s` as the last: shared), offset, device, inode. Zero is memory without a file. */
const sharedLine = /^\S+ ...s \S+ \S+ ([1-9]\d*)/gm;

/** Bytes on this device that regular files take up which have no name any more, each once. */
export async function unnamedBytes(pids: readonly number[], device: number): Promise<number> {
  const held = new Map<number, number>();
  let left = descriptorsMax;
  for (const pid of pids) {
    const names = (await namesIn(`/proc/${pid}/fd`)).slice(0, left);
    left -= names.length;
    for (let from = 0; from < names.length; from += atOnceMax) {
      const paths = names.slice(from, from + atOnceMax).map((name) => `/proc/${pid}/fd/${name}`);
      for (const found of await Promise.all(paths.map(statOf)))
        if (found?.isFile() && found.nlink === 0 && found.dev === device)
          held.set(found.ino, found.blocks * blockBytes);
    }
    if (left === 0) break;
  }
  return held.values().reduce((sum, bytes) => sum + bytes, 0);
}

/** The unit of `blocks`, whatever the disk has. */
const blockBytes = 512;

/** Empty for a process that is gone, or that is not ours to look at; undefined where we cannot know. */
async function tableOf(pid: number, room: { bytes: number }): Promise<string | undefined> {
  let file: FileHandle | undefined;
  let text = "";
  try {
    file = await open(`/proc/${pid}/maps`);
    const piece = Buffer.allocUnsafe(pieceBytes);
    while (room.bytes > 0) {
      const { bytesRead } = await file.read(piece, 0, piece.length);
      if (bytesRead === 0) break;
      room.bytes -= bytesRead;
      text += piece.toString("latin1", 0, bytesRead);
    }
  } catch (error) {
    if (!over.has(systemCodeOrThrow(error))) return undefined;
  } finally {
    await file?.close();
  }
  return text;
}

const pieceBytes = 16 * 1024;

/** So says the system of processes that ended in between, and of those of others. */
const over: ReadonlySet<string> = new Set(["ENOENT", "ESRCH", "EACCES", "EPERM"]);

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (!over.has(systemCodeOrThrow(error))) throw error;
    return [];
  }
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    systemCodeOrThrow(error);
    return undefined; // Closed in between. No program can hide the others by one that cannot be looked at.
  }
}

import { lstat, mkdir, readdir, readlink, rename, statfs, symlink } from "node:fs/promises";
import { join } from "node:path";
import { systemCode, systemCodeOrThrow } from "../base/fault.ts";
import { derivedHex, type Ids } from "../base/ids.ts";
import type { Logger } from "../observe/observe.ts";
import type { OwnerId } from "../protocol/ids.ts";
import { isLeftBehind, removeTree } from "../workspace/workspace.ts";

/**
 * What was installed for each user, on the host: a folder for each installation, and a link `current` to the last one
 * that came to a good end. Guests have the folder of their user mounted, so that they see the link change.
 */
export interface PackageFolders {
  /** With a `current` that may be empty. */
  of(owner: OwnerId): Promise<string>;
  /** For one installation; nobody sees it before it is made current. */
  begin(owner: OwnerId): Promise<{ readonly name: string; readonly folder: string }>;
  /** In one stroke. What was current before stays for those who are just reading it; all else is removed. */
  makeCurrent(owner: OwnerId, name: string): Promise<void>;
  /** Whatever the code of a package made of it. What cannot be removed is in the log, and tried again with the next one. */
  drop(owner: OwnerId, name: string): Promise<void>;
  /** All of a user. */
  forget(owner: OwnerId): Promise<void>;
}

const link = "current";
const none = "none";
/** Beside the folders of users: what is removed is moved here first. */
const staging = "gone";

export function openPackageFolders(dir: string, { ids, logger }: { ids: Ids; logger: Logger }): PackageFolders {
  const removal = { stagingFolder: join(dir, staging), ids, books: { removals: new Set<string>() } };
  const remove = async (path: string) => {
    const removed = await removeTree(path, removal);
    if (!removed.ok) logger.warn("packages could not be removed", { why: removed.failure });
  };
  const removeLeftBehind = async () => {
    for (const name of await readdir(removal.stagingFolder).catch(noneYet))
      if (isLeftBehind(name, removal.books)) await remove(join(removal.stagingFolder, name));
  };
  // Guests can read where their mounts come from: nothing of a user may stand there.
  const folderOf = (owner: OwnerId) => join(dir, derivedHex(32, owner));
  const of = async (owner: OwnerId) => {
    const folder = folderOf(owner);
    // Where programs look for modules there has to be a folder from the beginning: what is missing is not looked for again.
    await mkdir(join(folder, none, "python"), { recursive: true, mode: 0o755 });
    await symlink(none, join(folder, link)).catch(unlessThere);
    return folder;
  };
  const drop = (owner: OwnerId, name: string) => remove(join(folderOf(owner), name));
  return {
    of,
    async begin(owner) {
      await removeLeftBehind();
      const name = ids.hex(16);
      const folder = join(await of(owner), name);
      await mkdir(folder, { mode: 0o755 });
      return { name, folder };
    },
    async makeCurrent(owner, name) {
      const folder = folderOf(owner);
      const before = await readlink(join(folder, link));
      // One that a crash left behind would be in the way for ever.
      await drop(owner, `${link}.next`);
      await symlink(name, join(folder, `${link}.next`));
      await rename(join(folder, `${link}.next`), join(folder, link));
      const kept = new Set([link, none, name, before]);
      for (const other of await readdir(folder)) if (!kept.has(other)) await drop(owner, other);
    },
    drop,
    forget: (owner) => remove(folderOf(owner)),
  };
}

function noneYet(error: unknown): readonly string[] {
  if (systemCode(error) !== "ENOENT") throw error;
  return [];
}

function unlessThere(error: unknown): void {
  if (systemCode(error) !== "EEXIST") throw error;
}

export type RoomLimits = { readonly bytesMax: number; readonly filesMax: number; readonly freeBytesMin: number };

/** Whether a folder, or the disk it is on, holds more than it may. A tree that cannot be walked holds too much. */
export async function isOver(folder: string, { bytesMax, filesMax, freeBytesMin }: RoomLimits): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < freeBytesMin) return true;
  let [bytes, files] = [0, 0];
  const waiting = [folder];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const entries = await readdir(path, { withFileTypes: true }).catch(goneOr(() => "too_deep" as const, []));
    if (entries === "too_deep") return true;
    for (const entry of entries) {
      const child = join(path, entry.name);
      if (entry.isDirectory()) waiting.push(child);
      const stat = await lstat(child).catch(goneOr(() => "too_deep" as const, undefined));
      if (stat === "too_deep") return true;
      bytes += (stat?.blocks ?? 0) * blockBytes;
      files += 1;
      if (bytes > bytesMax || files > filesMax) return true;
    }
  }
  return false;
}

/** The unit of `blocks`, whatever the disk has. */
const blockBytes = 512;

function goneOr<T, U>(otherwise: () => T, gone: U): (error: unknown) => T | U {
  return (error) => {
    const code = systemCodeOrThrow(error);
    return code === "ENOENT" || code === "ENOTDIR" ? gone : otherwise();
  };
}

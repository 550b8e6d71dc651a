import { closeSync, constants, fchownSync, fstatSync, openSync, readFileSync } from "node:fs";
import { assert } from "../base/assert.ts";
import { systemCode } from "../base/fault.ts";
import { derivedHex } from "../base/ids.ts";
import { giveFolder, giveTo, openFolder, openRegular } from "./descend.ts";
import { Refused } from "./faults.ts";
import { inSlices } from "./slices.ts";
import { type DeepEntry, entriesBelow } from "./tree.ts";

// Programs of each workspace run as a user of their own, whom nothing else belongs to. Only root can give files to
// others; for anybody else programs run as the same user as we do.

/** Far above what people and services get, below what does not fit into a signed number. */
const firstUid = 0x7000_0000;
/** Data directories on the same machine have ranges of their own. */
const ranges = 250;
const ordinalsMax = 2 ** 20;

/** Whom the files of a workspace belong to; undefined where we cannot give them to anybody. */
export function guestUid(dataDir: string, ordinal: number): number | undefined {
  if (process.geteuid?.() !== 0) return undefined;
  assert(ordinal < ordinalsMax, "there are fewer workspaces than users for them");
  const range = Number.parseInt(derivedHex(8, dataDir), 16) % ranges;
  const uid = firstUid + range * ordinalsMax + ordinal;
  return isMapped(uid) ? uid : undefined;
}

/** In a container with users of its own there may be no such user. */
function isMapped(uid: number): boolean {
  mappedUids ??= readMap();
  return mappedUids.some(({ first, count }) => uid >= first && uid < first + count);
}

let mappedUids: readonly { readonly first: number; readonly count: number }[] | undefined;

function readMap() {
  const lines = readFileSync("/proc/self/uid_map", "utf8").trim().split("\n");
  return lines.map((line) => {
    const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
    return { first, count };
  });
}

/**
 * The group of a workspace's folder says that everything in it was given to this user: what an older version, the trash
 * or another machine left there was somebody else's.
 */
export function isGiven(root: number, uid: number): boolean {
  return fstatSync(root).gid === uid;
}

/** Gives everything below these folders to the user, and `.` for the root itself. Links and odd things stay. */
export async function giveAll(root: number, uid: number, folders: readonly string[]): Promise<void> {
  const device = fstatSync(root).dev;
  for (const name of folders) {
    giveFolder(root, name, uid);
    const folder = openFolder(root, name === "." ? [] : [name]);
    try {
      await inSlices(entriesBelow(folder, { isHiddenShown: true, isSorted: false }), (found) => {
        if (typeof found === "object" && found.entry.stat.uid !== uid) give(found, uid, device);
      });
    } finally {
      closeSync(folder);
    }
  }
  setGroup(root, uid);
}

function give({ entry, folder, prefix }: DeepEntry, uid: number, device: number): void {
  const { name, shown, stat } = entry;
  try {
    if (stat.isDirectory()) giveFolder(folder, name, uid);
    if (!stat.isFile()) return;
    const { fd } = openRegular(folder, name, { device, path: prefix + shown });
    try {
      giveTo(fd, uid);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    // It has gone, is another one's too, or became something else.
    if (!(error instanceof Refused) && systemCode(error) === undefined) throw error;
  }
}

/** Something came back that may be somebody else's: all of it is given anew before programs run. */
export function ungive(folder: string): void {
  if (process.geteuid?.() !== 0) return;
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    fchownSync(fd, fstatSync(fd).uid, 0);
  } finally {
    closeSync(fd);
  }
}

function setGroup(root: number, gid: number): void {
  const fd = openSync(`/proc/self/fd/${root}/.`, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fchownSync(fd, fstatSync(fd).uid, gid);
  } finally {
    closeSync(fd);
  }
}

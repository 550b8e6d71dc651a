import { hash as digest } from "node:crypto";
import { closeSync, fstatSync, readSync, type Stats } from "node:fs";
import { systemCode } from "../base/fault.ts";
import type { FileState } from "../protocol/events.ts";
import { type Deeper, gatherDeeper } from "./deeper.ts";
import { openRegular, statIn, withFolder } from "./descend.ts";
import { Refused } from "./faults.ts";
import type { Visit } from "./files.ts";
import type { Kept, KeptNow } from "./kept.ts";
import { digestOf } from "./look.ts";
import { beginCount, type Count, type Counting } from "./measure.ts";
import type { FileChange, ObserveOptions } from "./one-workspace.ts";
import { parsePath, writableFolders } from "./path.ts";
import { forget, isSameStamp, remember, type Seen, type SeenFile, type Stamp, stampOf } from "./seen.ts";
import { inSlices } from "./slices.ts";
import { timeOfDisk } from "./stage.ts";
import { type DeepEntry, entriesBelow, type Passing } from "./tree.ts";

/** Files of one workspace that are watched; beyond that new ones are passed over. Above what it may hold by default. */
const watchedMax = 100_000;
/** Of all their paths together: 500 for each file that a workspace may hold by default. */
const watchedCharactersMax = 32 * 1024 ** 2;
/** Entries that one look goes through: who has more than this is about to be stopped for it. */
const entriesMax = 500_000;
/** Read in one piece while the walk stands still: less than a millisecond. */
const smallBytesMax = 256 * 1024;

export type LookOptions = ObserveOptions & {
  /** Does not ask which files are shared with memory, which takes a while: then nothing that is read becomes sure. */
  readonly isQuick?: boolean;
  /** When it fires the look is broken off, and what it says is of no use. */
  readonly signal?: AbortSignal;
};

/** `passedOver`: so many are not watched, as there are too many. `count`: undefined where not all were gone through. */
type Looked = { readonly passedOver: number; readonly count: Count | undefined };

/** Looks at every file that programs can change, and counts all there is: going through them is what takes the time. */
export async function lookAll(visit: Visit & LookOptions, seen: Seen, kept: Kept): Promise<Looked> {
  const { root, signal } = visit;
  const look = await beginLook(visit, seen, kept);
  if (root !== undefined) {
    await inSlices(gatherDeeper(entriesIn(look, root, signal)), (found) => {
      if (typeof found === "object" && "deeper" in found) meetDeeper(look, found.deeper);
      else meet(look, found);
    });
    for (const path of look.later) if (!signal?.aborted) await meetLarge(look, root, path);
  }
  if (look.isPartial) return { passedOver: look.passedOver, count: undefined };
  await inSlices(findRemoved(look, root));
  return { passedOver: look.passedOver, count: look.counting.count };
}

type Look = {
  readonly kind: Visit["kind"];
  readonly counting: Counting;
  readonly seen: Seen;
  readonly kept: Kept;
  readonly keptNow: KeptNow;
  readonly device: number;
  readonly keptFileBytesMax: number;
  /** A file that was last changed before is not just being changed, unless it is shared with a program's memory. */
  readonly beganAt: number;
  readonly isShared: (inode: number) => boolean;
  readonly canBeSure: boolean;
  /** These contents must not make room for others: those of files as they are, and as they were before a change. */
  readonly isNeeded: (hash: string) => boolean;
  /** Those of the known files that this look has met. */
  readonly met: Set<string>;
  /** Paths of files that take longer to read. */
  readonly later: string[];
  laterCharacters: number;
  /** There is no room for contents of this size and above. */
  noRoomBytes: number;
  /** The folder that the last entry lay in, and whether programs can change what is there. */
  prefix: string | undefined;
  isWritable: boolean;
  entries: number;
  /** It did not come to its end. */
  isPartial: boolean;
  passedOver: number;
  hasUnreadable: boolean;
};

async function beginLook(
  { root, limits, sharedFiles, isQuick, ...visit }: Visit & LookOptions,
  seen: Seen,
  kept: Kept,
): Promise<Look> {
  seen.look += 1;
  const met = new Set<string>();
  // Gathered when room is short, which it hardly ever is.
  let others: ReadonlySet<string | undefined> | undefined;
  const isNeeded = (hash: string) => {
    others ??= new Set([...seen.files.values(), ...seen.untold.map(({ before }) => ({ state: before }))].map(hashIn));
    return met.has(hash) || others.has(hash);
  };
  const isAsked = sharedFiles !== undefined && !isQuick;
  const canBeSure = isAsked || sharedFiles === undefined;
  const beganAt = (canBeSure ? timeOfDisk(visit) : undefined) ?? Number.NEGATIVE_INFINITY;
  // After the time is taken: what is shared from then on bears a later one.
  const [shared, keptNow] = await Promise.all([isAsked ? sharedFiles() : none, kept.now()]);
  return {
    ...{ kind: visit.kind, counting: beginCount(), seen, kept, met, isNeeded, beganAt, keptNow, canBeSure },
    isShared: (inode) => shared === undefined || shared.has(inode),
    device: root === undefined ? 0 : fstatSync(root).dev,
    keptFileBytesMax: limits.keptFileBytesMax,
    ...{ later: [], laterCharacters: 0, noRoomBytes: Number.POSITIVE_INFINITY, prefix: undefined, isWritable: false },
    ...{ entries: 0, isPartial: false, passedOver: 0, hasUnreadable: false },
  };
}

const none: ReadonlySet<number> = new Set();

function hashIn({ state }: { readonly state: FileState | undefined }): string | undefined {
  return state?.hash;
}

function* entriesIn(look: Look, root: number, signal?: AbortSignal): Generator<DeepEntry | Passing, void> {
  for (const found of entriesBelow(root, { isHiddenShown: true, isSorted: false, isExact: true })) {
    look.isPartial = look.entries === entriesMax || signal?.aborted === true;
    if (look.isPartial) return;
    look.entries += 1;
    if (typeof found === "object") look.counting.add(found.entry.stat);
    yield found;
  }
}

/** In one go: nobody else of us changes a file between the look at it and what is noted about it. */
function meet(look: Look, found: DeepEntry | Passing): void {
  if (found === "unreadable") look.hasUnreadable = true;
  if (typeof found === "string") return;
  const { entry, folder, prefix } = found;
  const { stat, name, shown } = entry;
  if (!stat.isFile() || stat.dev !== look.device || !isWritable(look, prefix)) return;
  const { seen } = look;
  const path = prefix + shown;
  const known = seen.files.get(path);
  if (known !== undefined) known.look = seen.look;
  if (known?.isSure && isSameStamp(known.stamp, stat) && !look.isShared(stat.ino)) return;
  if (known === undefined && !hasRoom(look)) {
    look.passedOver += 1;
    return;
  }
  if (stat.size > look.keptFileBytesMax) note(look, path, { stat, lost: "too_large" });
  else if (!parsePath(path).ok) note(look, path, { stat, lost: "unreadable" });
  else if (stat.size > smallBytesMax) {
    look.later.push(path);
    if (known === undefined) look.laterCharacters += path.length;
  } else meetSmall(look, path, { folder, name, stat });
}

/** Files where no path leads are watched as one: that something there has changed is told, and that it cannot be undone. */
function meetDeeper(look: Look, { path, files, bytes, modifiedAt, changedAt }: Deeper): void {
  if (look.isPartial || !isWritable(look, path)) return;
  if (look.seen.files.has(path) || hasRoom(look)) {
    const stat = { ino: files, size: bytes, mode: 0, mtimeMs: modifiedAt, ctimeMs: changedAt };
    note(look, path, { stat, lost: "unreadable" });
  } else look.passedOver += files;
}

function hasRoom({ seen, laterCharacters }: Look): boolean {
  return seen.files.size < watchedMax && seen.characters + laterCharacters < watchedCharactersMax;
}

/** Programs can write some folders of a conversation only, and nothing beside them. */
function isWritable(look: Look, prefix: string): boolean {
  if (look.prefix === prefix) return look.isWritable;
  look.prefix = prefix;
  look.isWritable = look.kind === "task" || writableFolders.some((name) => prefix.startsWith(`${name}/`));
  return look.isWritable;
}

function meetSmall(look: Look, path: string, { folder, name, stat: listed }: Named): void {
  const file = openIfAllowed(() => openRegular(folder, name, { device: look.device, path }));
  if (file === "gone") return;
  if (file === "refused") return note(look, path, { stat: listed, lost: "unreadable" });
  const { fd, stat } = file;
  try {
    const content = readWhole(fd, Math.min(stat.size, smallBytesMax));
    const hash = digest("sha256", content);
    look.met.add(hash);
    const lost = unlessFull(look, { hash, bytes: content.length }) ?? look.keptNow.keep(content, hash, look);
    if (lost === "quota") look.noRoomBytes = Math.min(look.noRoomBytes, content.length);
    note(look, path, { stat, lost, content: { hash, bytes: content.length } });
  } finally {
    closeSync(fd);
  }
}

/** Looking for room once is enough: nothing that takes it up now is given up in this look. */
function unlessFull({ noRoomBytes, keptNow }: Look, { hash, bytes }: Content): FileChange["lost"] {
  return bytes >= noRoomBytes && !keptNow.use(hash) ? "quota" : undefined;
}

type Content = { readonly hash: string; readonly bytes: number };
type Named = { readonly folder: number; readonly name: string | Buffer; readonly stat: Stats };

function readWhole(fd: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, bytes, filled, length - filled, filled);
    if (count === 0) break; // It has become shorter.
    filled += count;
  }
  return bytes.subarray(0, filled);
}

async function meetLarge(look: Look, root: number, path: string): Promise<void> {
  const { seen, device } = look;
  const known = seen.files.get(path);
  const names = path.split("/");
  const file = openIfAllowed(() =>
    withFolder(root, names.slice(0, -1), (folder) => openRegular(folder, names.at(-1) ?? "", { device, path })),
  );
  if (file === "gone") return;
  if (file === "refused") {
    const stat = ifThere(() => withFolder(root, names.slice(0, -1), (folder) => statIn(folder, names.at(-1) ?? "")));
    if (stat?.isFile()) note(look, path, { stat, lost: "unreadable" });
    return;
  }
  const { fd, stat } = file;
  try {
    const content = { hash: await digestOf({ fd, stat: { bytes: stat.size } }), bytes: stat.size };
    look.met.add(content.hash);
    const lost = unlessFull(look, content) ?? (await keepLarge(look, fd, { ...content, mode: stat.mode & 0o777 }));
    if (lost === "quota") look.noRoomBytes = Math.min(look.noRoomBytes, content.bytes);
    // We changed it ourselves meanwhile, and know better.
    if (seen.files.get(path) === known) note(look, path, { stat, lost, content });
  } finally {
    closeSync(fd);
  }
}

async function keepLarge(
  { kept, keptNow, isNeeded }: Look,
  fd: number,
  state: FileState & { hash: string },
): Promise<FileChange["lost"]> {
  try {
    return await kept.keep(fd, state, { isNeeded });
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return keptNow.refused(error);
  }
}

type Met = {
  readonly stat: Stamp;
  readonly lost: FileChange["lost"];
  /** Absent where it was not read. */
  readonly content?: Content;
};

/** What is known of a file from now on, and whether that is a change. */
function note(look: Look, path: string, { stat, lost, content }: Met): void {
  const { seen, met, keptNow } = look;
  const known = seen.files.get(path);
  if (known?.state.hash !== undefined) met.add(known.state.hash);
  const state: FileState = { bytes: stat.size, ...content, mode: stat.mode & 0o777 };
  const stamp = stampOf(stat);
  const isSure = look.canBeSure && stat.ctimeMs < look.beganAt && !look.isShared(stat.ino);
  remember(seen, path, { state, lost, stamp, isSure, look: seen.look });
  if (known === undefined) seen.untold.push({ path, before: undefined, after: state, lost: undefined });
  else if (!isSameFile(known, { state, stamp }))
    seen.untold.push({ path, before: known.state, after: state, lost: lostOf(known, keptNow) });
}

/** Where the content was not read, now or before, the times tell: rather a change too many than one too few. */
function isSameFile(known: SeenFile, { state, stamp }: Pick<SeenFile, "state" | "stamp">): boolean {
  const { hash } = known.state;
  if (hash === undefined || state.hash === undefined)
    return hash === state.hash ? isSameStamp(known.stamp, stamp) : false;
  return hash === state.hash && known.state.mode === state.mode;
}

/** Newer contents may have taken the room since it was kept. */
function lostOf({ state, lost }: SeenFile, keptNow: KeptNow): FileChange["lost"] {
  if (lost !== undefined) return lost;
  return state.hash !== undefined && keptNow.use(state.hash) ? undefined : "quota";
}

function* findRemoved({ seen, keptNow, hasUnreadable }: Look, root: number | undefined): Generator<void, void> {
  for (const [path, known] of seen.files) {
    yield;
    if (known.look === seen.look) continue;
    // What lies in a folder that may not be read is still there, for all we know.
    if (hasUnreadable && root !== undefined && !isGone(root, path)) continue;
    forget(seen, path);
    seen.untold.push({ path, before: known.state, after: undefined, lost: lostOf(known, keptNow) });
  }
}

function isGone(root: number, path: string): boolean {
  const names = path.split("/");
  try {
    const stat = withFolder(root, names.slice(0, -1), (folder) => statIn(folder, names.at(-1) ?? ""));
    return stat?.isFile() !== true;
  } catch (error) {
    if (error instanceof Refused)
      return error.reason.code !== "permission_denied" || error.reason.params.why !== "system";
    if (systemCode(error) === undefined) throw error;
    return systemCode(error) !== "EACCES";
  }
}

function openIfAllowed<T>(open: () => T): T | "gone" | "refused" {
  try {
    return open();
  } catch (error) {
    const code = error instanceof Refused ? error.reason.code : systemCode(error);
    if (code === undefined) throw error;
    return code === "ENOENT" || code === "file_not_found" || code === "not_a_folder" ? "gone" : "refused";
  }
}

function ifThere<T>(open: () => T): T | undefined {
  const opened = openIfAllowed(open);
  return opened === "gone" || opened === "refused" ? undefined : opened;
}

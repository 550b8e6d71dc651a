import { chmodSync, closeSync, createReadStream, renameSync, unlinkSync } from "node:fs";
import type { FileState } from "../protocol/events.ts";
import { makeFailure } from "../protocol/failure.ts";
import { inFolder, makeFolders, openFolder, openForSync, openRoot, statIn, syncAndClose } from "./descend.ts";
import { errorCode, Refused } from "./faults.ts";
import type { Visit } from "./files.ts";
import { type Kept, openKept } from "./kept.ts";
import { countAll, digestOf, type OpenFile, openFile } from "./look.ts";
import { shownPath } from "./path.ts";
import type { ChangeOptions, FileChange, FileData, WriteOptions } from "./port.ts";
import { removeTree } from "./remove-tree.ts";
import { discard, type Staged, stage } from "./stage.ts";
import { entriesOf } from "./tree.ts";
import { type Account, addUsage, checkRoom } from "./usage.ts";

/** Everything is written beside its place first and moved there when it is whole and on the disk. */
export async function writeFile(visit: Visit, data: FileData, options: WriteOptions): Promise<FileChange> {
  const staged = await stage(visit, data, options);
  try {
    return await inTurn(visit, () => put(visit, staged, { ...options, keeps: options.key !== undefined }));
  } finally {
    discard(staged.path);
  }
}

export async function removeFile(visit: Visit, options: ChangeOptions): Promise<FileChange> {
  return inTurn(visit, () => take(visit, { ...options, keeps: options.key !== undefined }));
}

/** What is there now is kept first: taking a turn back must not be the end of what somebody did since. */
export async function restoreFile(visit: Visit, state: FileState | undefined): Promise<FileChange> {
  if (state === undefined) return inTurn(visit, () => take(visit, { keeps: true }));
  const source = state.hash === undefined ? undefined : await keptOf(visit).find(state.hash);
  if (source === undefined)
    throw new Refused(makeFailure("read_failed", { path: shownPath(visit.path), why: "changed" }));
  const staged = await stage(visit, createReadStream(source), { mode: state.mode });
  try {
    return await inTurn(visit, () => put(visit, staged, { mode: state.mode, keeps: true }));
  } finally {
    discard(staged.path);
  }
}

/** The folder itself stays; one that is not there is empty. */
export async function emptyFolder(visit: Visit): Promise<void> {
  const { root, names, books, at } = visit;
  if (root === undefined) return;
  const folder = ifThere(() => openFolder(root, names));
  if (folder === undefined) return;
  try {
    for (const { name } of [...entriesOf(folder)]) await removeBelow(visit, folder, name);
  } finally {
    closeSync(folder);
    books.usage.delete(at.folder);
  }
}

type Putting = WriteOptions & { readonly keeps: boolean };

/** Writers of the same file take turns; what they say about the file before is then true. */
function inTurn<T>({ books, at, names }: Visit, work: () => Promise<T>): Promise<T> {
  return books.locks([at.folder, ...names].join("/"), work);
}

async function put(visit: Visit, staged: Staged, options: Putting): Promise<FileChange> {
  const { path, names } = visit;
  const root = visit.root ?? (await makeRoot(visit));
  try {
    const present = ifThere(() => openFile({ root, names, path }));
    try {
      const kept = keptOf(visit);
      const before = await stateOf(present, visit, options);
      const done = await alreadyDone(kept, visit, options, before);
      if (done !== undefined) return done;
      checkExpected(visit, options, before);
      const more = { bytes: staged.bytes - (before?.bytes ?? 0), files: before === undefined ? 1 : 0 };
      await checkRoom(accountOf(visit, root), more);
      const after = { hash: staged.hash, bytes: staged.bytes, mode: options.mode ?? before?.mode ?? 0o644 };
      const lost = await keepBefore(kept, present, before, options);
      const change: FileChange = { path: names.join("/"), before, after, lost };
      if (options.key !== undefined) await kept.note(options.key, change);
      await moveIn(visit, root, staged, after.mode);
      addUsage(accountOf(visit, root), more);
      return change;
    } finally {
      if (present !== undefined) closeSync(present.fd);
    }
  } finally {
    if (visit.root === undefined) closeSync(root);
  }
}

async function take(visit: Visit, options: ChangeOptions & { readonly keeps: boolean }): Promise<FileChange> {
  const { root, names, path } = visit;
  const gone = { path: names.join("/"), before: undefined, after: undefined, lost: undefined };
  const kept = keptOf(visit);
  if (root === undefined) throw new Refused(makeFailure("file_not_found", { path: shownPath(path), near: "" }));
  const done = options.key === undefined ? undefined : await kept.noted(options.key, gone.path);
  const folder = openFolder(root, names.slice(0, -1));
  try {
    const name = names.at(-1) ?? "";
    const stat = statIn(folder, name);
    if (stat === undefined && done !== undefined) return done;
    if (stat?.isFile() !== true) {
      if (stat === undefined) throw new Refused(makeFailure("file_not_found", { path: shownPath(path), near: "" }));
      await removeBelow(visit, folder, name);
      visit.books.usage.delete(visit.at.folder);
      return { ...gone, lost: stat.isDirectory() ? undefined : "unreadable" };
    }
    const present = ifThere(() => openFile({ root, names, path }));
    try {
      const before = await stateOf(present, visit, options);
      const lost = await keepBefore(kept, present, before, options);
      const change = { ...gone, before, lost };
      if (options.key !== undefined) await kept.note(options.key, change);
      unlinkSync(inFolder(folder, name));
      await syncAndClose(openForSync(folder));
      addUsage(accountOf(visit, root), { bytes: -(before?.bytes ?? 0), files: -1 });
      return change;
    } finally {
      if (present !== undefined) closeSync(present.fd);
    }
  } finally {
    closeSync(folder);
  }
}

async function makeRoot({ at, path }: Visit): Promise<number> {
  const made = await at.make();
  if (!made.ok) throw new Refused(made.failure);
  const root = openRoot(at.folder);
  if (root === undefined) throw new Refused(makeFailure("write_failed", { path: shownPath(path), why: "changed" }));
  return root;
}

/** What is there now, with its hash where somebody will ask for it and it is not too much to read. */
async function stateOf(
  present: OpenFile | undefined,
  { limits }: Visit,
  { key, expected, keeps }: Putting,
): Promise<FileState | undefined> {
  if (present === undefined) return undefined;
  const { bytes, mode } = present.stat;
  const state = { bytes, mode };
  const isSmall = bytes <= limits.keptFileBytesMax;
  if (typeof expected !== "string" && !((key !== undefined || keeps) && isSmall)) return state;
  return { ...state, hash: await digestOf(present) };
}

/** The same call once more after a crash: what it found then and what it did are known. */
async function alreadyDone(
  kept: Kept,
  { names }: Visit,
  { key }: Putting,
  present: FileState | undefined,
): Promise<FileChange | undefined> {
  const noted = key === undefined ? undefined : await kept.noted(key, names.join("/"));
  return noted?.after !== undefined && noted.after.hash === present?.hash ? noted : undefined;
}

function checkExpected({ path }: Visit, { expected }: Putting, present: FileState | undefined): void {
  const isAsExpected = expected === null ? present === undefined : expected === present?.hash;
  if (expected === undefined || isAsExpected) return;
  throw new Refused(makeFailure("conflict", { path: shownPath(path) }));
}

async function keepBefore(
  kept: Kept,
  present: OpenFile | undefined,
  before: FileState | undefined,
  { keeps }: { readonly keeps: boolean },
): Promise<FileChange["lost"]> {
  if (!keeps || present === undefined || before === undefined) return undefined;
  const { hash } = before;
  return hash === undefined ? "too_large" : kept.keep(present.fd, { ...before, hash });
}

async function moveIn({ names }: Visit, root: number, staged: Staged, mode: number): Promise<void> {
  const grown: number[] = [];
  const folder = makeFolders(root, names.slice(0, -1), (above) => grown.push(openForSync(above)));
  try {
    if (mode !== staged.mode) chmodSync(staged.path, mode);
    renameSync(staged.path, inFolder(folder, names.at(-1) ?? ""));
    grown.push(openForSync(folder));
  } finally {
    closeSync(folder);
    for (const readable of grown) await syncAndClose(readable);
  }
}

async function removeBelow({ stagingFolder, ids, path }: Visit, folder: number, name: string | Buffer): Promise<void> {
  const removed = await removeTree(inFolder(folder, name), { stagingFolder, ids });
  if (!removed.ok) throw new Refused(makeFailure("write_failed", { path: shownPath(path), why: removed.failure }));
}

function accountOf({ path, limits, clock, books, at, kind }: Visit, root: number): Account {
  const count = async () => {
    const { fileCount: files, totalSize: bytes } = await countAll({ root, kind });
    return { files, bytes };
  };
  return { path, limits, clock, count, known: books.usage, folder: at.folder };
}

function keptOf({ at, limits, clock, ids, books }: Visit): Kept {
  return openKept({ folder: at.keptFolder, limits, clock, ids, books: books.kept });
}

function ifThere<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    const isMissing = error instanceof Refused ? error.reason.code === "file_not_found" : errorCode(error) === "ENOENT";
    if (isMissing) return undefined;
    throw error;
  }
}

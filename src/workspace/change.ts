import { chmodSync, closeSync, createReadStream, fstatSync, readdirSync, renameSync, unlinkSync } from "node:fs";
import { systemCode, systemCodeOrThrow } from "../base/fault.ts";
import type { FileState } from "../protocol/events.ts";
import { makeFailure } from "../protocol/failure.ts";
import {
  checkRegular,
  inFolder,
  makeFolders,
  openFolder,
  openForSync,
  openRoot,
  statIn,
  syncAndClose,
  withFolder,
} from "./descend.ts";
import { Refused } from "./faults.ts";
import type { Visit } from "./files.ts";
import { type Kept, openKept } from "./kept.ts";
import { countAll, digestOf, type OpenFile, openFile } from "./look.ts";
import type { ChangeOptions, FileChange, FileData, RestoreOptions, WriteOptions } from "./one-workspace.ts";
import { shownPath } from "./path.ts";
import { emptyTree, removeTree } from "./remove-tree.ts";
import { lookLock, sawRemoval, sawWrite } from "./seen.ts";
import { discard, type Staged, stage } from "./stage.ts";
import { type Budget, withRoom } from "./usage.ts";

/** `keeps`: what is there now is kept, so that it can be given back. */
type Changing = Omit<WriteOptions, "keeps"> & { readonly keeps: boolean };

/** Everything is written beside its place first and moved there when it is whole and on the disk. */
export async function writeFile(visit: Visit, data: FileData, options: WriteOptions): Promise<FileChange> {
  const staged = await stage(visit, data, options);
  try {
    const putAt = (here: Visit) => inTurn(here, () => put(here, staged, { ...options, keeps: keepsBefore(options) }));
    const { choose } = options;
    if (choose === undefined) return await putAt(visit);
    return await inTurnOfFolder(visit, () => withRoot(visit, (here) => putAt(named(here, choose))));
  } finally {
    discard(staged.path);
  }
}

export async function removeFile(visit: Visit, options: ChangeOptions): Promise<FileChange> {
  return inTurn(visit, () => take(visit, { ...options, keeps: keepsBefore(options) }));
}

function keepsBefore({ key, keeps }: ChangeOptions): boolean {
  return key !== undefined || keeps === true;
}

/** What is there now is kept first: undoing a turn must not be the end of what somebody did since. */
export async function restoreFile(
  visit: Visit,
  state: FileState | undefined,
  options: RestoreOptions,
): Promise<FileChange> {
  if (state === undefined) return inTurn(visit, () => take(visit, { ...options, keeps: true }));
  const source = state.hash === undefined ? undefined : await keptOf(visit).find(state.hash);
  if (source === undefined) throw refused(visit, "read_failed");
  const staged = await stage(visit, createReadStream(source), { mode: state.mode });
  try {
    return await inTurn(visit, () => put(visit, staged, { ...options, mode: state.mode, keeps: true }));
  } finally {
    discard(staged.path);
  }
}

/** The folder itself stays; one that is not there is empty. */
export async function emptyFolder(visit: Visit): Promise<void> {
  const { root, names, books, at, path } = visit;
  const folder = root === undefined ? undefined : ifThere(() => openFolder(root, names, "write"));
  if (folder === undefined) return;
  try {
    const emptied = await asOwn(visit, () => emptyTree(folder, visit));
    if (!emptied.ok) throw new Refused(makeFailure("write_failed", { path: shownPath(path), why: emptied.failure }));
  } finally {
    closeSync(folder);
    books.usage.delete(at.folder);
  }
}

/** Much is removed, and nobody looks for changes by programs meanwhile: these are ours. */
function asOwn<T>({ books, at, names }: Visit, work: () => Promise<T>): Promise<T> {
  return books.locks(lookLock(at.folder), async () => {
    const done = await work();
    sawRemoval(books.seen.get(at.folder), names.join("/"));
    return done;
  });
}

/** Writers of the same file take turns; what they say about the file before is then true. */
function inTurn<T>({ books, at, names }: Visit, work: () => Promise<T>): Promise<T> {
  return books.locks([at.folder, ...names].join("/"), work);
}

function inTurnOfFolder<T>({ books, at, names }: Visit, work: () => Promise<T>): Promise<T> {
  return books.locks(`names in ${[at.folder, ...names.slice(0, -1)].join("/")}`, work);
}

/** The folder as it is by now: where there was none, another writer may have made it since. */
async function withRoot<T>(visit: Visit, work: (visit: Visit) => Promise<T>): Promise<T> {
  if (visit.root !== undefined) return work(visit);
  const root = await makeRoot(visit);
  try {
    return await work({ ...visit, root });
  } finally {
    closeSync(root);
  }
}

function named(visit: Visit, choose: NonNullable<WriteOptions["choose"]>): Visit {
  const { root, names } = visit;
  const above = names.slice(0, -1);
  const taken =
    root === undefined ? [] : ifThere(() => withFolder(root, above, (folder) => readdirSync(inFolder(folder, "."))));
  const chosen = choose(new Set(taken ?? []));
  if (!chosen.ok) throw new Refused(chosen.failure);
  return { ...visit, path: [...above, chosen.value].join("/"), names: [...above, chosen.value] };
}

async function put(visit: Visit, staged: Staged, options: Changing): Promise<FileChange> {
  const root = visit.root ?? (await makeRoot(visit));
  const present = presentAt(root, visit, options);
  try {
    const before = await stateOf(present);
    const done = await alreadyDone(visit, options, before);
    if (done !== undefined) return done;
    checkExpected(visit, options, before);
    const more = { bytes: staged.bytes - (before?.bytes ?? 0), files: before === undefined ? 1 : 0 };
    return await withRoom(budgetOf(visit, root), more, async () => {
      const after = { hash: staged.hash, bytes: staged.bytes, mode: options.mode ?? before?.mode ?? 0o644 };
      const change = await prepare(visit, options, { present, before, after });
      await moveIn(visit, root, { staged, after });
      return change;
    });
  } finally {
    if (present?.file !== undefined) closeSync(present.file.fd);
    if (visit.root === undefined) closeSync(root);
  }
}

async function take(visit: Visit, options: Changing): Promise<FileChange> {
  const { root, names, path, books, at } = visit;
  const folder = root === undefined ? undefined : ifThere(() => openFolder(root, names.slice(0, -1), "write"));
  const name = names.at(-1) ?? "";
  const stat = folder === undefined ? undefined : statIn(folder, name);
  try {
    if (root === undefined || folder === undefined || stat === undefined) {
      const done = options.key === undefined ? undefined : await keptOf(visit).noted(options.key, names.join("/"));
      if (done !== undefined) return done;
      throw new Refused(makeFailure("file_not_found", { path: shownPath(path), near: "" }));
    }
    if (stat.isFile()) return await takeFile(visit, options, { root, folder, name });
    checkStopped(visit, options);
    options.onStart?.();
    const removed = await asOwn(visit, () => removeTree(inFolder(folder, name), visit));
    if (!removed.ok) throw new Refused(makeFailure("write_failed", { path: shownPath(path), why: removed.failure }));
    books.usage.delete(at.folder);
    const lost = stat.isDirectory() ? undefined : "unreadable";
    return { path: names.join("/"), before: undefined, after: undefined, lost };
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

async function takeFile(
  visit: Visit,
  options: Changing,
  { root, folder, name }: { root: number; folder: number; name: string },
): Promise<FileChange> {
  const present = presentAt(root, visit, options);
  try {
    const before = await stateOf(present);
    checkExpected(visit, options, before);
    return await withRoom(budgetOf(visit, root), { bytes: -(before?.bytes ?? 0), files: -1 }, async () => {
      const change = await prepare(visit, options, { present, before, after: undefined });
      const readable = openForSync(folder);
      await syncAfter(visit, [readable], () => {
        unlinkSync(inFolder(folder, name));
        sawRemoval(visit.books.seen.get(visit.at.folder), visit.names.join("/"));
      });
      return change;
    });
  } finally {
    if (present?.file !== undefined) closeSync(present.file.fd);
  }
}

/** The folder of a workspace in which nothing was written so far, open. */
export async function makeRoot(visit: Visit): Promise<number> {
  const made = await visit.at.make();
  if (!made.ok) throw new Refused(made.failure);
  const root = openRoot(visit.at.folder);
  if (root === undefined) throw refused(visit, "write_failed");
  return root;
}

/** The file that is to be replaced or removed; open only where its content is asked for and may be read. */
type Present = { readonly bytes: number; readonly mode: number; readonly file: OpenFile | undefined };

function presentAt(root: number, visit: Visit, options: Changing): Present | undefined {
  const { names, path, limits } = visit;
  const stat = ifThere(() => withFolder(root, names.slice(0, -1), (folder) => statIn(folder, names.at(-1) ?? "")));
  if (stat === undefined) return undefined;
  // A name can be taken away from a file that has others; all else that is no file stays as it is.
  if (!stat.isFile()) checkRegular(stat, fstatSync(root).dev, path);
  const isWanted = typeof options.expected === "string" || (options.keeps && stat.size <= limits.keptFileBytesMax);
  const file = isWanted ? ifAllowed(() => openFile({ root, names, path })) : undefined;
  return { bytes: file?.stat.bytes ?? stat.size, mode: stat.mode & 0o777, file };
}

async function stateOf(present: Present | undefined): Promise<FileState | undefined> {
  if (present === undefined) return undefined;
  const { bytes, mode, file } = present;
  return { bytes, mode, ...(file === undefined ? {} : { hash: await digestOf(file) }) };
}

/** The same call once more after a crash: what it found then and what it did are known. */
async function alreadyDone(
  visit: Visit,
  { key }: Changing,
  present: FileState | undefined,
): Promise<FileChange | undefined> {
  const noted = key === undefined ? undefined : await keptOf(visit).noted(key, visit.names.join("/"));
  return noted?.after !== undefined && noted.after.hash === present?.hash ? noted : undefined;
}

function checkExpected({ path }: Visit, { expected }: Changing, present: FileState | undefined): void {
  const isAsExpected = expected === null ? present === undefined : expected === present?.hash;
  if (expected === undefined || isAsExpected) return;
  throw new Refused(makeFailure("conflict", { path: shownPath(path) }));
}

type States = {
  readonly present: Present | undefined;
  readonly before: FileState | undefined;
  readonly after: FileState | undefined;
};

/** Keeps what is there and notes what will be; the last moment at which somebody can still stop it. */
async function prepare(visit: Visit, options: Changing, { present, before, after }: States): Promise<FileChange> {
  const kept = keptOf(visit);
  const lost = options.keeps ? await keepBefore(visit, kept, present, before) : undefined;
  const change: FileChange = { path: visit.names.join("/"), before, after, lost };
  checkStopped(visit, options);
  if (options.key !== undefined) await kept.note(options.key, change);
  options.onStart?.();
  return change;
}

function checkStopped({ path }: Visit, { signal }: Changing): void {
  if (signal?.aborted) throw new Refused(makeFailure("write_failed", { path: shownPath(path), why: "broken_off" }));
}

async function keepBefore(
  { limits }: Visit,
  kept: Kept,
  present: Present | undefined,
  before: FileState | undefined,
): Promise<FileChange["lost"]> {
  if (present === undefined || before === undefined) return undefined;
  if (present.file !== undefined && before.hash !== undefined)
    return kept.keep(present.file.fd, { ...before, hash: before.hash });
  return present.bytes > limits.keptFileBytesMax ? "too_large" : "unreadable";
}

type Arrival = { readonly staged: Staged; readonly after: FileState };

async function moveIn(visit: Visit, root: number, { staged, after }: Arrival): Promise<void> {
  const { names, at, books } = visit;
  const name = names.at(-1) ?? "";
  const grown: number[] = [];
  let folder: number | undefined;
  try {
    const made = (above: number) => void grown.push(openForSync(above));
    const above = makeFolders(root, names.slice(0, -1), { made, uid: at.uid });
    folder = above;
    grown.push(openForSync(above));
    if (after.mode !== staged.mode) chmodSync(staged.path, after.mode);
    await syncAfter(visit, grown.splice(0), () => {
      renameSync(staged.path, inFolder(above, name));
      sawWrite(books.seen.get(at.folder), names.join("/"), { state: after, stat: statIn(above, name) });
    });
  } finally {
    for (const readable of grown) closeSync(readable);
    if (folder !== undefined) closeSync(folder);
  }
}

/** The change itself, then the syncs that make it durable. When those fail the change is made all the same. */
async function syncAfter({ id, logger }: Visit, readables: readonly number[], change: () => void): Promise<void> {
  try {
    change();
  } catch (error) {
    for (const readable of readables) closeSync(readable);
    throw error;
  }
  let isSafe = true;
  const unsafe = (error: unknown) => {
    systemCodeOrThrow(error);
    isSafe = false;
  };
  await Promise.all(readables.map((readable) => syncAndClose(readable).catch(unsafe)));
  if (!isSafe)
    logger.error("a change of a file may not survive a power cut: the disk did not confirm it", { workspace: id });
}

function budgetOf({ path, limits, clock, books, at, kind }: Visit, root: number): Budget {
  const count = async () => {
    const { fileCount: files, totalSize: bytes } = await countAll({ root, kind });
    return { files, bytes };
  };
  return { path, limits, clock, count, known: books.usage, locks: books.locks, folder: at.folder };
}

export function keptOf({ at, limits, clock, ids, logger, books }: Visit): Kept {
  return openKept({ folder: at.keptFolder, limits, clock, ids, logger, books: books.kept });
}

function ifThere<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    const isMissing =
      error instanceof Refused ? error.reason.code === "file_not_found" : systemCode(error) === "ENOENT";
    if (isMissing) return undefined;
    throw error;
  }
}

function ifAllowed<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    const isRefused = error instanceof Refused && error.reason.code === "permission_denied";
    if (isRefused || systemCode(error) === "EACCES") return undefined;
    throw error;
  }
}

function refused({ path }: Visit, code: "read_failed" | "write_failed"): Refused {
  return new Refused(makeFailure(code, { path: shownPath(path), why: "changed" }));
}

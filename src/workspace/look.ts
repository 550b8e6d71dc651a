import { createHash } from "node:crypto";
import { closeSync, fstatSync, read, type Stats } from "node:fs";
import { promisify } from "node:util";
import { systemCode } from "../base/fault.ts";
import { makeFailure } from "../protocol/failure.ts";
import { type Deeper, gatherDeeper } from "./deeper.ts";
import { checkRegular, openFolder, openPlace, openRegular, openRoot, withFolder } from "./descend.ts";
import { Refused } from "./faults.ts";
import type { Visit } from "./files.ts";
import type { Entry, FileStat, FileStream, Listing, WalkEntry, WalkOptions, WorkspaceInfo } from "./one-workspace.ts";
import { shownPath } from "./path.ts";
import { isSkillLink } from "./skill-links.ts";
import { inSlices, sliced } from "./slices.ts";
import { sortedByName } from "./sort.ts";
import { entriesBelow, entriesOf, type Passing, type TreeEntry } from "./tree.ts";

const readAt = promisify(read);
const pieceBytes = 256 * 1024;

/** A regular file that is open for reading; the caller closes it. */
export type OpenFile = { readonly fd: number; readonly stat: FileStat };

export function statOf({ root, names, path, above }: Visit): FileStat {
  if (root === undefined) {
    if (names.length === 0) return { path: ".", type: "folder", bytes: 0, mode: 0o755, modifiedAt: 0 };
    throw missing(path);
  }
  return withFolder(root, names.slice(0, -1), (folder) => {
    const { fd, stat } = openPlace(folder, names.at(-1) ?? ".");
    closeSync(fd);
    if (!stat.isDirectory()) checkRegular(stat, fstatSync(root).dev, path);
    return fileStat([...above, ...names], stat);
  });
}

type Opening = Pick<Visit, "root" | "names" | "path"> & Partial<Pick<Visit, "above">>;

export function openFile({ root, names, path, above = [] }: Opening): OpenFile {
  if (root === undefined) throw missing(path);
  return withFolder(root, names.slice(0, -1), (folder) => {
    const { fd, stat } = openRegular(folder, names.at(-1) ?? ".", { device: fstatSync(root).dev, path });
    return { fd, stat: fileStat([...above, ...names], stat) };
  });
}

type Sized = { readonly fd: number; readonly stat: Pick<FileStat, "bytes"> };

/** As many bytes as there are and are wanted. */
export async function readRange({ fd, stat }: Sized, offset: number, bytesMax: number): Promise<Buffer> {
  const length = Math.max(0, Math.min(bytesMax, stat.bytes - offset));
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await readAt(fd, bytes, filled, length - filled, offset + filled);
    if (bytesRead === 0) break; // It has become shorter.
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** The bytes piece by piece. The file is closed when the last one was taken, or when the reader ends it. */
export function openStream(file: OpenFile, range: { offset?: number; length?: number } = {}): FileStream {
  const { fd, stat } = file;
  let position = range.offset ?? 0;
  const end = Math.min(stat.bytes, position + (range.length ?? stat.bytes));
  let isOpen = true;
  const close = () => {
    if (isOpen) closeSync(fd);
    isOpen = false;
  };
  const chunks: FileStream["chunks"] = {
    [Symbol.asyncIterator]: () => chunks,
    async next() {
      if (!isOpen || position >= end) return chunks.return();
      try {
        const bytes = await readRange(file, position, Math.min(pieceBytes, end - position));
        if (bytes.length === 0)
          throw new Refused(makeFailure("read_failed", { path: shownPath(stat.path), why: "changed" }));
        position += bytes.length;
        return { done: false, value: bytes };
      } catch (error) {
        close();
        throw error;
      }
    },
    async return() {
      close();
      return { done: true, value: undefined };
    },
  };
  return { stat, chunks };
}

/** SHA-256 of all bytes; the file stays open. */
export async function digestOf(file: Sized): Promise<string> {
  const hash = createHash("sha256");
  for (let position = 0; position < file.stat.bytes; ) {
    const bytes = await readRange(file, position, pieceBytes);
    if (bytes.length === 0) break;
    hash.update(bytes);
    position += bytes.length;
  }
  return hash.digest("hex");
}

/** One level, sorted by name. */
export async function listFolder(here: Visit, isHiddenShown: boolean): Promise<Listing> {
  const { root, names, above } = here;
  const shown = [...above, ...names].join("/") || ".";
  if (root === undefined) return { path: shown, entries: [], isUnwritten: true };
  const entries: Entry[] = [];
  await inSlices(withFolderOpen(root, names), (entry) => {
    if (typeof entry === "object" && (isHiddenShown || !entry.shown.startsWith(".")))
      entries.push(entryOf(entry, isSkill(here, entry)));
  });
  return { path: shown, entries: await sortedByName(entries), isUnwritten: false };
}

function* withFolderOpen(root: number, names: readonly string[]): Generator<TreeEntry | Passing, void> {
  const folder = openFolder(root, names);
  try {
    yield* entriesOf(folder);
  } finally {
    closeSync(folder);
  }
}

/** A link that we placed; any other is nothing that could be used. */
function isSkill({ root, names, above, kind, skills }: Visit, { shown, stat }: TreeEntry): boolean {
  const isLink = stat.isSymbolicLink() && kind === "conversation" && skills !== undefined;
  if (!isLink || root === undefined || above.length > 0 || names.length !== 1 || names[0] !== "skills") return false;
  return withFolder(root, names, (folder) => isSkillLink(folder, shown));
}

function entryOf({ shown, stat }: TreeEntry, isSkill: boolean): Entry {
  const type = stat.isFile() ? "file" : stat.isDirectory() ? "folder" : isSkill ? "skill" : "special";
  return { name: shown, type, bytes: type === "file" ? stat.size : 0, modifiedAt: stat.mtimeMs };
}

/** Checked at once; the descriptors are opened when the first entry is asked for, and closed by the walk itself. */
export function walkFrom(here: Visit, { hidden = false, signal }: WalkOptions): AsyncIterable<WalkEntry> {
  if (here.root === undefined) return walked([]);
  const first = statOf(here);
  if (first.type === "file") return walked([first]);
  const prefix = [...here.above, ...here.names].map((name) => `${name}/`).join("");
  return (async function* () {
    const below = openAgain(here);
    if (below === undefined) return;
    try {
      const options = { isHiddenShown: hidden, isSorted: false, above: [...here.above, ...here.names] };
      for await (const found of sliced(gatherDeeper(entriesBelow(below, options)))) {
        if (signal?.aborted) return;
        if (typeof found === "string") continue;
        if ("deeper" in found) {
          yield deeperStat(prefix, found.deeper);
          continue;
        }
        const { prefix: inside } = found;
        const { stat, shown } = found.entry;
        if (stat.isFile() || stat.isDirectory()) yield fileStat([prefix + inside + shown], stat);
      }
    } finally {
      closeSync(below);
    }
  })();
}

function deeperStat(prefix: string, { path, files, bytes, modifiedAt }: Deeper): WalkEntry {
  return { path: prefix + path, type: "file", bytes, mode: 0, modifiedAt, standsFor: files };
}

/** Undefined when the folder has gone or become something else meanwhile: then there is nothing to walk through. */
function openAgain({ at, names }: Visit): number | undefined {
  let root: number | undefined;
  try {
    root = openRoot(at.folder);
    return root === undefined ? undefined : openFolder(root, names);
  } catch (error) {
    if (error instanceof Refused || systemCode(error) !== undefined) return undefined;
    throw error;
  } finally {
    if (root !== undefined) closeSync(root);
  }
}

async function* walked(entries: readonly WalkEntry[]): AsyncGenerator<WalkEntry, void> {
  yield* entries;
}

/** Every regular file and folder below the root; our own `.metadata.json` is not the user's. */
export async function countAll({ root, kind }: Pick<Visit, "root" | "kind">): Promise<WorkspaceInfo> {
  let [fileCount, dirCount, totalSize, newest] = [0, 0, 0, 0];
  let isPartial = false;
  if (root !== undefined) {
    await inSlices(entriesBelow(root, { isHiddenShown: true, isSorted: false }), (found) => {
      if (found === "unreadable") isPartial = true;
      if (typeof found === "string") return;
      const { prefix } = found;
      const { stat, shown } = found.entry;
      if (prefix === "" && shown === ".metadata.json" && kind === "conversation") return;
      if (stat.isFile()) {
        fileCount += 1;
        totalSize += stat.size;
      } else if (stat.isDirectory()) dirCount += 1;
      else return;
      if (stat.mtimeMs > newest) newest = stat.mtimeMs;
    });
  }
  const lastModified = newest === 0 ? null : new Date(newest).toISOString();
  return { fileCount, dirCount, totalSize, lastModified, ...(isPartial ? { isPartial: true } : {}) };
}

function fileStat(names: readonly string[], stat: Stats): FileStat {
  const isFolder = stat.isDirectory();
  return {
    path: names.join("/") || ".",
    type: isFolder ? "folder" : "file",
    bytes: isFolder ? 0 : stat.size,
    mode: stat.mode & 0o777,
    modifiedAt: stat.mtimeMs,
  };
}

function missing(path: string): Refused {
  return new Refused(makeFailure("file_not_found", { path: shownPath(path), near: "" }));
}

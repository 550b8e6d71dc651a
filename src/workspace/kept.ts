import { createHash } from "node:crypto";
import { constants, createReadStream, existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { copyFile, open, readdir, readFile, rename, rm, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Clock } from "../base/clock.ts";
import { systemCodeOrThrow } from "../base/fault.ts";
import { derivedHex, type Ids } from "../base/ids.ts";
import type { Logger } from "../observe/observe.ts";
import { FileState } from "../protocol/events.ts";
import { diskFault, ifThere } from "./faults.ts";
import type { FileChange, WorkspaceLimits } from "./one-workspace.ts";
import { makeSafeFolder } from "./safe-folder.ts";

/** Earlier contents of a workspace's files by hash, in a folder of our own beside it. */
export type Kept = {
  /** Keeps what is open as `fd`; says why where that is not possible. */
  keep(fd: number, state: FileState & { hash: string }, keeping?: Keeping): Promise<FileChange["lost"]>;
  /** A host path to the bytes; undefined when they are not there any more. */
  find(hash: string): Promise<string | undefined>;
  /** A change is noted before it is made, so that the same call after a crash finds what was there before. */
  note(key: string, change: FileChange): Promise<void>;
  noted(key: string, path: string): Promise<FileChange | undefined>;
  /** For walks, which keep many small contents at once and wait for nothing. */
  now(): Promise<KeptNow>;
};

/** `isNeeded`: these contents are not given up for the new one. */
export type Keeping = { readonly isNeeded?: (hash: string) => boolean };

export type KeptNow = {
  /** These bytes have this hash. A power cut may take them: then their hash tells. */
  keep(bytes: Buffer, hash: string, keeping: Required<Keeping>): FileChange["lost"];
  /** What was thrown when a content was kept, as the reason for which it is lost. */
  refused(error: unknown): FileChange["lost"];
  /** Whether it is kept; it is then among the last to be given up. */
  use(hash: string): boolean;
};

/** Sizes of the kept contents, oldest first, and what they come to; those that a walk kept and nobody has synced yet. */
export type KeptBook = {
  readonly sizes: Map<string, number>;
  bytes: number;
  readonly unsafe: Set<string>;
  /** The log has it that the disk refused one. */
  isFaultTold: boolean;
};

export type KeptOptions = {
  readonly folder: string;
  readonly limits: WorkspaceLimits;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly books: Map<string, KeptBook>;
};

/** Notes are needed until their call has ended; these are far more than run at once. */
const notesMax = 200;

export function openKept({ folder, limits, clock, ids, logger, books }: KeptOptions): Kept {
  const contents = join(folder, "contents");
  const notes = join(folder, "notes");
  const noteOf = (key: string, path: string) => join(notes, derivedHex(32, key, path));

  async function book(): Promise<KeptBook> {
    const read = books.get(folder) ?? (await readBook(contents));
    const known = books.get(folder) ?? read; // Somebody else may have read it meanwhile.
    books.set(folder, known);
    return known;
  }

  return {
    async keep(fd, { hash, bytes }, { isNeeded = () => false } = {}) {
      if (bytes > limits.keptFileBytesMax) return "too_large";
      if (bytes > limits.keptBytesMax) return "quota";
      const known = await book();
      const place = join(contents, hash);
      const now = clock.now() / 1000;
      // Used again: it becomes the newest. Somebody may have tidied it away meanwhile; then it is copied anew.
      const isKept = drop(known, hash) && (await ifThere(utimes(place, now, now).then(() => true))) === true;
      if (!isKept) {
        for (const old of givenUp(known, limits.keptBytesMax - bytes, isNeeded))
          await ifThere(unlink(join(contents, old)));
        if (known.bytes + bytes > limits.keptBytesMax) return "quota";
        makeSafeFolder(contents);
        const part = join(contents, `.${ids.hex(16)}`);
        if (!(await copyIn(fd, { part, place, hash }))) return "unreadable";
        await syncFile(contents);
      } else if (known.unsafe.has(hash)) {
        // The only copy from now on: the file that has it too is about to be replaced.
        await Promise.all([syncFile(place), syncFile(contents)]);
      }
      known.unsafe.delete(hash);
      add(known, hash, bytes);
      return undefined;
    },
    async find(hash) {
      const place = join(contents, z.hash("sha256").parse(hash));
      return (await hashOfFile(place)) === hash ? place : undefined;
    },
    async note(key, change) {
      makeSafeFolder(notes);
      const place = noteOf(key, change.path);
      const part = join(notes, `.${ids.hex(16)}`);
      await writeFile(part, JSON.stringify(change), { mode: 0o600, flush: true });
      await rename(part, place);
      await syncFile(notes);
      await dropOldNotes(notes);
    },
    async noted(key, path) {
      const text = await ifThere(readFile(noteOf(key, path), "utf8"));
      if (text === undefined) return undefined;
      const { before, after, lost } = Note.parse(JSON.parse(text));
      return { path, before, after, lost };
    },
    now: async () => openNow({ contents, known: await book(), limits, ids, logger }),
  };
}

type Keeper = Pick<KeptOptions, "limits" | "ids" | "logger"> & { readonly contents: string; readonly known: KeptBook };
type Content = Required<Keeping> & { readonly bytes: Buffer; readonly hash: string };

function openNow(keeper: Keeper): KeptNow {
  const { contents, known } = keeper;
  return {
    keep: (bytes, hash, { isNeeded }) => keepNow(keeper, { bytes, hash, isNeeded }),
    refused: (error) => refused(keeper, error),
    use(hash) {
      const size = known.sizes.get(hash);
      if (size !== undefined) add(known, hash, size);
      return size !== undefined && existsSync(join(contents, hash));
    },
  };
}

function keepNow(keeper: Keeper, { bytes, hash, isNeeded }: Content): FileChange["lost"] {
  const { contents, known, limits, ids } = keeper;
  if (bytes.length > limits.keptFileBytesMax) return "too_large";
  if (bytes.length > limits.keptBytesMax) return "quota";
  const place = join(contents, hash);
  const isKept = drop(known, hash) && existsSync(place);
  if (!isKept) {
    for (const old of givenUp(known, limits.keptBytesMax - bytes.length, isNeeded))
      rmSync(join(contents, old), { force: true });
    if (known.bytes + bytes.length > limits.keptBytesMax) return "quota";
    const part = join(contents, `.${ids.hex(16)}`);
    try {
      if (known.sizes.size === 0) makeSafeFolder(contents);
      writeFileSync(part, bytes, { mode: 0o600 });
      renameSync(part, place);
      known.unsafe.add(hash);
    } catch (error) {
      rmSync(part, { force: true });
      return refused(keeper, error);
    }
  }
  add(known, hash, bytes.length);
  return undefined;
}

/** A full disk is a quota too. Any other reason is told, once: a disk that fails shows here first. */
function refused({ known, logger }: Keeper, error: unknown): FileChange["lost"] {
  const code = systemCodeOrThrow(error);
  if (diskFault(code) !== "full" && !known.isFaultTold) {
    known.isFaultTold = true;
    logger.error("earlier contents of files are not kept for undo: the disk does not take them", { code });
  }
  return "quota";
}

const Note = z.object({
  before: FileState.optional(),
  after: FileState.optional(),
  lost: z.enum(["too_large", "quota", "unreadable"]).optional(),
});

async function readBook(contents: string): Promise<KeptBook> {
  const names = (await ifThere(readdir(contents))) ?? [];
  const found: { name: string; size: number; at: number }[] = [];
  for (const name of names) {
    const place = await ifThere(stat(join(contents, name)));
    if (name.startsWith(".")) await ifThere(unlink(join(contents, name)));
    else if (place !== undefined) found.push({ name, size: place.size, at: place.mtimeMs });
  }
  const sizes = new Map(found.sort((a, b) => a.at - b.at).map(({ name, size }) => [name, size]));
  return { sizes, bytes: found.reduce((sum, { size }) => sum + size, 0), unsafe: new Set(), isFaultTold: false };
}

/** As the newest. */
function add(book: KeptBook, hash: string, size: number): void {
  drop(book, hash);
  book.sizes.set(hash, size);
  book.bytes += size;
}

function drop(book: KeptBook, hash: string): boolean {
  book.bytes -= book.sizes.get(hash) ?? 0;
  return book.sizes.delete(hash);
}

/** The oldest contents go first: those of turns that are least likely to be undone. The caller removes them. */
function* givenUp(book: KeptBook, bytesMax: number, isNeeded: (hash: string) => boolean): Generator<string, void> {
  if (book.bytes <= bytesMax) return;
  for (const hash of book.sizes.keys()) {
    if (book.bytes <= bytesMax) return;
    if (isNeeded(hash)) continue;
    drop(book, hash);
    yield hash;
  }
}

type Copying = { readonly part: string; readonly place: string; readonly hash: string };

/** False where the bytes are not those of the hash. What finds no place leaves nothing: the disk may be full already. */
async function copyIn(fd: number, { part, place, hash }: Copying): Promise<boolean> {
  let isPlaced = false;
  try {
    await copyFile(`/proc/self/fd/${fd}`, part, constants.COPYFILE_FICLONE);
    // The file may have been written to while it was copied; kept under the wrong hash it would be worse than lost.
    if ((await hashOfFile(part)) === hash) {
      await syncFile(part);
      await rename(part, place);
      isPlaced = true;
    }
    return isPlaced;
  } finally {
    if (!isPlaced) await rm(part, { force: true });
  }
}

async function dropOldNotes(notes: string): Promise<void> {
  const names = await readdir(notes);
  if (names.length < 2 * notesMax) return;
  const dated: { name: string; at: number }[] = [];
  for (const name of names) dated.push({ name, at: (await ifThere(stat(join(notes, name))))?.mtimeMs ?? 0 });
  dated.sort((a, b) => b.at - a.at);
  for (const { name } of dated.slice(notesMax)) await ifThere(unlink(join(notes, name)));
}

/** A file or a folder: what is in it survives a power cut. */
async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Piece by piece: others have their turn in between. */
async function hashOfFile(path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  const read = async () => {
    for await (const piece of createReadStream(path, { highWaterMark: pieceBytes })) hash.update(piece);
    return hash.digest("hex");
  };
  return ifThere(read());
}

const pieceBytes = 256 * 1024;

import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { copyFile, open, readdir, readFile, rename, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Clock } from "../base/clock.ts";
import { derivedHex, type Ids } from "../base/ids.ts";
import { FileState } from "../protocol/events.ts";
import { errorCode } from "./faults.ts";
import type { FileChange, WorkspaceLimits } from "./port.ts";

/** Earlier contents of a workspace's files by hash, in a folder of our own beside it. */
export type Kept = {
  /** Keeps what is open as `fd`; says why where that is not possible. */
  keep(fd: number, state: FileState & { hash: string }): Promise<FileChange["lost"]>;
  /** A host path to the bytes; undefined when they are not there any more. */
  find(hash: string): Promise<string | undefined>;
  /** A change is noted before it is made, so that the same call after a crash finds what was there before. */
  note(key: string, change: FileChange): Promise<void>;
  noted(key: string, path: string): Promise<FileChange | undefined>;
};

/** Sizes of the kept contents, oldest first. */
export type KeptBook = Map<string, number>;

export type KeptOptions = {
  readonly folder: string;
  readonly limits: WorkspaceLimits;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly books: Map<string, KeptBook>;
};

/** Notes are needed until their call has ended; these are far more than run at once. */
const notesMax = 200;

export function openKept({ folder, limits, clock, ids, books }: KeptOptions): Kept {
  const contents = join(folder, "contents");
  const notes = join(folder, "notes");
  const noteOf = (key: string, path: string) => join(notes, derivedHex(32, key, path));

  async function book(): Promise<KeptBook> {
    const known = books.get(folder) ?? (await readBook(contents));
    books.set(folder, known);
    return known;
  }

  return {
    async keep(fd, { hash, bytes }) {
      if (bytes > limits.keptFileBytesMax) return "too_large";
      if (bytes > limits.keptBytesMax) return "quota";
      const sizes = await book();
      const place = join(contents, hash);
      const now = clock.now() / 1000;
      // Used again: it becomes the newest. Somebody may have tidied it away meanwhile; then it is copied anew.
      const isKept = sizes.delete(hash) && (await ifThere(utimes(place, now, now).then(() => true))) === true;
      if (!isKept) {
        await makeRoom(contents, sizes, limits.keptBytesMax - bytes);
        mkdirSync(contents, { recursive: true, mode: 0o700 });
        const part = join(contents, `.${ids.hex(16)}`);
        await copyFile(`/proc/self/fd/${fd}`, part);
        // The file may have been written to while it was copied; kept under the wrong hash it would be worse than lost.
        if ((await hashOfFile(part)) !== hash) {
          await unlink(part);
          return "unreadable";
        }
        await syncFile(part);
        await rename(part, place);
        await syncFile(contents);
      }
      sizes.set(hash, bytes);
      return undefined;
    },
    async find(hash) {
      const place = join(contents, z.hash("sha256").parse(hash));
      return (await hashOfFile(place)) === hash ? place : undefined;
    },
    async note(key, change) {
      mkdirSync(notes, { recursive: true, mode: 0o700 });
      const place = noteOf(key, change.path);
      const part = join(notes, `.${ids.hex(16)}`);
      await writeFile(part, JSON.stringify(change), { mode: 0o600, flush: true });
      await rename(part, place);
      await dropOldNotes(notes);
    },
    async noted(key, path) {
      const text = await ifThere(readFile(noteOf(key, path), "utf8"));
      if (text === undefined) return undefined;
      const { before, after, lost } = Note.parse(JSON.parse(text));
      return { path, before, after, lost };
    },
  };
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
  return new Map(found.sort((a, b) => a.at - b.at).map(({ name, size }) => [name, size]));
}

/** The oldest contents go first: those of turns that are least likely to be taken back. */
async function makeRoom(contents: string, sizes: KeptBook, bytesMax: number): Promise<void> {
  let total = 0;
  for (const size of sizes.values()) total += size;
  for (const [hash, size] of sizes) {
    if (total <= bytesMax) return;
    await ifThere(unlink(join(contents, hash)));
    sizes.delete(hash);
    total -= size;
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

async function hashOfFile(path: string): Promise<string | undefined> {
  const bytes = await ifThere(readFile(path));
  return bytes === undefined ? undefined : createHash("sha256").update(bytes).digest("hex");
}

/** What a call of the file system gives, or undefined when there is nothing at the place. */
async function ifThere<T>(wanted: Promise<T>): Promise<T | undefined> {
  try {
    return await wanted;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

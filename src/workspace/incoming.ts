import { createHash } from "node:crypto";
import { openSync } from "node:fs";
import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { parsedJson } from "../base/json.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { OwnerId, shownId } from "../protocol/ids.ts";
import { syncAndClose } from "./descend.ts";
import { failureOf, ifThere, type Operation } from "./faults.ts";
import { type IncomingMarks, openIncomingMarks } from "./incoming-marks.ts";
import { type Locks, openLocks } from "./locks.ts";
import type { FileFailure } from "./one-workspace.ts";
import { shownPath } from "./path.ts";
import { makeSafeFolder } from "./safe-folder.ts";
import { inOneBuffer, orBrokenOff } from "./spool.ts";

/** Uploads that come in several parts. What has come stays through a crash, for a day. */
export interface Incoming {
  create(wanted: NewIncoming): Promise<Result<IncomingUpload, IncomingFailure>>;
  find(id: string): Promise<Result<IncomingUpload | undefined, FileFailure>>;
  /** Adds what comes at the end; what has come when it breaks off stays. Answered when it is on the disk. */
  append(
    id: string,
    offset: number,
    chunks: AsyncIterable<Uint8Array>,
  ): Promise<Result<IncomingUpload, IncomingFailure>>;
  /** It has found its place: its bytes go, and what became of it is told until its time is over. */
  finish(id: string, file: FinishedUpload): Promise<Result<void, FileFailure>>;
  /** False when there is none. */
  remove(id: string): Promise<boolean>;
  /** Removes those whose time is over, and what belongs to none. */
  sweep(): Promise<void>;
}

export type IncomingFailure = FileFailure | Failure<"upload_not_found" | "upload_offset_unfit" | "uploads_too_many">;

export type NewIncoming = Pick<Note, "owner" | "name" | "conversationId" | "folder" | "bytes" | "sha256"> & {
  /** 32 hexadecimal characters, a new one unless said otherwise; one that was created before is the same upload. */
  readonly id?: string | undefined;
};
export type FinishedUpload = { readonly path: string; readonly type: string };

export type IncomingUpload = Note & {
  readonly id: string;
  readonly expiresAt: number;
  /** Bytes that are here. */
  readonly offset: number;
  /** Each piece is good until the next one is asked for. */
  chunks(): AsyncIterable<Uint8Array>;
  /** SHA-256 of what is here. */
  hash(): Promise<Result<string, FileFailure>>;
};

type Note = z.infer<typeof Note>;
const Note = z.object({
  owner: OwnerId,
  name: z.string(),
  conversationId: z.string(),
  folder: z.string(),
  bytes: z.number().int().min(0),
  sha256: z.string().optional(),
  createdAt: z.number(),
  done: z.object({ path: z.string(), type: z.string() }).optional(),
});

export type IncomingOptions = {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  /** Other servers have the same folder. */
  readonly isShared?: boolean | undefined;
};

type Place = IncomingOptions & { readonly folder: string; readonly marks: IncomingMarks; readonly locks: Locks };

const keptMs = 24 * 3_600_000;
/** Not whole, of one owner. */
const uploadsMax = 20;
/** Whole ones of one owner of which it is still told where they are; the oldest are forgotten before their day is over. */
const finishedMax = 100;
const isId = /^tus-[0-9a-f]{32}$/;

/** Below the data directory, seen by nobody else: `{id}.json` says what it will be, `{id}.part` has its bytes. */
export function openIncoming(options: IncomingOptions): Incoming {
  const locks = openLocks();
  const marks = openIncomingMarks(join(options.dataDir, "incoming-owners"));
  const place = { ...options, folder: join(options.dataDir, "incoming"), marks, locks };
  return {
    create: (wanted) =>
      locks(`owner ${wanted.owner}`, () => attempt("write", wanted.name, () => create(place, wanted))),
    find: (id) => attempt("read", id, async () => ok(await find(place, id))),
    append: (id, offset, chunks) => locks(id, () => attempt("write", id, () => append(place, id, offset, chunks))),
    finish: (id, file) => attempt("write", id, () => finish(place, id, file)),
    async remove(id) {
      const found = await find(place, id);
      if (found !== undefined) await drop(place, id, found.owner);
      return found !== undefined;
    },
    sweep: () => locks("all", () => sweep(place)),
  };
}

async function attempt<V, F>(
  operation: Operation,
  path: string,
  work: () => Promise<Result<V, F>>,
): Promise<Result<V, F | FileFailure>> {
  try {
    return await work();
  } catch (error) {
    return failed(failureOf(error, operation, path));
  }
}

async function create(
  place: Place,
  { id: given = place.ids.hex(32), ...wanted }: NewIncoming,
): Promise<Result<IncomingUpload, IncomingFailure>> {
  makeSafeFolder(place.folder);
  const id = `tus-${given}`;
  const before = await find(place, id);
  if (before !== undefined) return ok(before);
  if (!(await makeRoom(place, wanted.owner))) return failure("uploads_too_many", { limit: uploadsMax });
  const note = { ...wanted, createdAt: place.clock.now() };
  // Not while others are swept: half of one looks like what a crash left.
  await place.locks("all", async () => {
    await place.marks.add(wanted.owner, id);
    // One that is there without its note was left by a crash, and is empty.
    await (await open(partOf(place, id), "w", 0o600)).close();
    await writeNote(place, id, note);
  });
  return ok(uploadOf(place, id, note, 0));
}

/** False where the owner has as many unfinished ones as there may be. Only theirs are looked at, and those are few. */
async function makeRoom(place: Place, owner: OwnerId): Promise<boolean> {
  const own: { readonly id: string; readonly note: Note }[] = [];
  for (const id of await place.marks.of(owner)) {
    const note = await readNote(place, id);
    if (note !== undefined) own.push({ id, note });
  }
  if (own.filter(({ note }) => note.done === undefined).length >= uploadsMax) return false;
  const finished = own.filter(({ note }) => note.done !== undefined);
  const newestFirst = finished.toSorted((one, other) => other.note.createdAt - one.note.createdAt);
  for (const { id } of newestFirst.slice(finishedMax - 1)) await drop(place, id, owner);
  return true;
}

async function find(place: Place, id: string): Promise<IncomingUpload | undefined> {
  if (!isId.test(id)) return undefined;
  const note = await readNote(place, id);
  if (note === undefined || note.createdAt + keptMs <= place.clock.now()) return undefined;
  if (note.done !== undefined) return uploadOf(place, id, note, note.bytes);
  const here = await ifThere(stat(partOf(place, id)));
  if (here !== undefined) return uploadOf(place, id, note, here.size);
  // It has found its place since the note was read: that is noted before its bytes go.
  const later = await readNote(place, id);
  return later?.done === undefined ? undefined : uploadOf(place, id, later, later.bytes);
}

function uploadOf(place: Place, id: string, note: Note, offset: number): IncomingUpload {
  const chunks = () => piecesOf(partOf(place, id));
  return {
    ...note,
    ...{ id, offset, chunks, expiresAt: note.createdAt + keptMs },
    hash: () =>
      attempt("read", note.name, async () => {
        const hash = createHash("sha256");
        for await (const piece of chunks()) hash.update(piece);
        return ok(hash.digest("hex"));
      }),
  };
}

async function* piecesOf(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  const file = await open(path);
  try {
    yield* inOneBuffer((buffer, position) => file.read(buffer, 0, buffer.length, position));
  } finally {
    await file.close();
  }
}

async function append(
  place: Place,
  id: string,
  offset: number,
  chunks: AsyncIterable<Uint8Array>,
): Promise<Result<IncomingUpload, IncomingFailure>> {
  const found = await find(place, id);
  if (found === undefined) return failure("upload_not_found", { id: shownId(id) });
  if (found.offset !== offset) return failure("upload_offset_unfit", { offset, have: found.offset });
  if (offset === found.bytes) return ok(found);
  const file = await open(partOf(place, id), "a", 0o600);
  let here = offset;
  let end: "whole" | "broken off" | "too large" = "whole";
  try {
    for await (const piece of orBrokenOff(chunks)) {
      end = piece === "broken off" ? piece : here + piece.length > found.bytes ? "too large" : end;
      if (end !== "whole" || piece === "broken off") break;
      await file.writeFile(piece);
      here += piece.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  const path = shownPath(found.name);
  if (end === "broken off") return failure("write_failed", { path, why: "broken_off" });
  if (end === "too large")
    return failure("too_large", { path, sizeBytes: found.bytes + 1, limitBytes: found.bytes, setting: "" });
  return ok({ ...found, offset: here });
}

async function finish(place: Place, id: string, file: FinishedUpload): Promise<Result<void, FileFailure>> {
  const note = await readNote(place, id);
  if (note === undefined) return ok(undefined);
  await writeNote(place, id, { ...note, done: { ...file } });
  await rm(partOf(place, id), { force: true });
  return ok(undefined);
}

async function drop(place: Place, id: string, owner: OwnerId): Promise<void> {
  await rm(noteOf(place, id), { force: true });
  await rm(partOf(place, id), { force: true });
  await place.marks.drop(owner, id);
}

async function sweep(place: Place): Promise<void> {
  const { clock, logger, marks } = place;
  const names = (await ifThere(readdir(place.folder))) ?? [];
  for (const [id, own] of Map.groupBy(names, (name) => name.slice(0, name.indexOf(".")))) {
    const note = isId.test(id) ? await readNote(place, id) : undefined;
    if (note !== undefined && clock.now() < note.createdAt + keptMs) continue;
    // Another server may just be about to write it.
    if (note === undefined && place.isShared && !(await isOld(place, id))) continue;
    for (const name of own) await rm(join(place.folder, name), { force: true });
    if (note !== undefined) await marks.drop(note.owner, id);
    logger.debug("an upload that never became whole is gone", { id });
  }
  await marks.sweep(async (id) => (await ifThere(stat(noteOf(place, id)))) !== undefined, clock.now() - keptMs);
}

async function isOld(place: Place, id: string): Promise<boolean> {
  const part = await ifThere(stat(partOf(place, id)));
  return part === undefined || Math.abs(place.clock.now() - part.mtimeMs) > keptMs;
}

async function readNote(place: Place, id: string): Promise<Note | undefined> {
  const text = await ifThere(readFile(noteOf(place, id), "utf8"));
  return Note.safeParse(parsedJson(text ?? "")).data;
}

/** Old or new, never half of one. */
async function writeNote(place: Place, id: string, note: Note): Promise<void> {
  const draft = join(place.folder, `${id}.new`);
  const file = await open(draft, "w", 0o600);
  try {
    await file.writeFile(JSON.stringify(note));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, noteOf(place, id));
  // Its bytes and what is noted of it would be lost with their names.
  await syncAndClose(openSync(place.folder, "r"));
}

function noteOf({ folder }: Place, id: string): string {
  return join(folder, `${id}.json`);
}

function partOf({ folder }: Place, id: string): string {
  return join(folder, `${id}.part`);
}

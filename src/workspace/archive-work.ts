import { closeSync, constants, createReadStream, fstatSync, openSync } from "node:fs";
import { appendFile, copyFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Pack } from "tar-stream";
import { whenOver } from "../base/background.ts";
import { systemCode } from "../base/fault.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import type { ArchiveOptions } from "./archive.ts";
import {
  type ArchiveEnd,
  type ArchiveFault,
  endLineOf,
  faultName,
  type Listed,
  lineOf,
  listName,
  sha256,
} from "./archive-format.ts";
import { readRange } from "./look.ts";

/** A file of this size is read at once; a larger one is copied first, so that it is whole when it is sent. */
const readAtOnceBytesMax = 4 * 1024 ** 2;
/** How often a file is read again that was changed meanwhile. */
const readsMax = 4;
/** So many names are told of what is left out, and of what changed while it was read. */
const namedMax = 100;
const linesCharactersMax = 64 * 1024;
const pieceBytes = 256 * 1024;

type Packing = {
  readonly pack: Pack;
  readonly staging: string;
  readonly isLeft: () => boolean;
};
export type Work = ArchiveOptions & Packing & ReturnType<typeof openWork>;
type FileFacts = Pick<Listed, "path" | "raw" | "mode" | "mtime">;

/** Takes entries in, one after another. */
export function openWork(options: ArchiveOptions, packing: Packing) {
  const { pack, staging, isLeft } = packing;
  const list = openList(staging);
  const addOwn = (path: string, bytes: number, pieces: Iterable<Buffer> | AsyncIterable<Buffer>) =>
    put(packing, { path, type: "file", mode: 0o600, mtime: options.clock.now(), bytes }, pieces);

  async function fail({ code, params }: Pick<Failure, "code" | "params">): Promise<void> {
    const fault: ArchiveFault = { code, params: { ...params } };
    const data = Buffer.from(JSON.stringify(fault));
    await addOwn(faultName, data.length, [data]);
  }

  return {
    ...options,
    ...packing,
    ...openFiles(options, packing, list),
    holds: list.holds,
    leaveOut: list.leaveOut,
    async add(listed: Listed) {
      await put(packing, listed, []);
      await list.note(listed);
    },
    async finish() {
      const { path, bytes } = await list.finish();
      await addOwn(listName, bytes, read(path));
    },
    fail,
    /** What the disk did to us is told to whoever reads the archive. */
    async giveUp(error: unknown): Promise<void> {
      const code = systemCode(error);
      if (isLeft() || code === undefined || pack.destroyed) throw error;
      const isFull = code === "ENOSPC" || code === "EDQUOT";
      await fail(isFull ? makeFailure("storage_full", {}) : makeFailure("backup_failed", { why: "io" }));
    },
  };
}

type List = ReturnType<typeof openList>;

/** What is taken so far, on the disk as far as it is much. */
function openList(staging: string) {
  const end: Writable<ArchiveEnd> = {
    conversations: 0,
    files: 0,
    bytes: 0,
    leftOut: [],
    leftOutCount: 0,
    changing: [],
  };
  const path = join(staging, listName);
  let lines = "";
  return {
    async note(listed: Listed) {
      lines += lineOf(listed);
      end.bytes += listed.bytes;
      if (listed.type === "file") end.files += 1;
      if (lines.length < linesCharactersMax) return;
      await appendFile(path, lines);
      lines = "";
    },
    holds(conversations: number) {
      end.conversations = conversations;
    },
    leaveOut(left: string, count = 1) {
      end.leftOutCount += count;
      if (end.leftOut.length < namedMax) end.leftOut.push(left);
    },
    changes(changing: string) {
      if (end.changing.length < namedMax) end.changing.push(changing);
    },
    async finish() {
      await appendFile(path, lines + endLineOf(end));
      return { path, bytes: (await stat(path)).size };
    },
  };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function openFiles({ clock }: ArchiveOptions, packing: Packing, list: List) {
  const copy = join(packing.staging, "file");

  /** The bytes are there and stay as they are. */
  async function addStill(from: string, facts: Omit<FileFacts, "mtime"> & { readonly mtime?: number }): Promise<void> {
    const { size, mtimeMs } = await stat(from);
    const hash = sha256();
    const listed = { mtime: mtimeMs, ...facts, type: "file" as const, bytes: size };
    await put(packing, listed, read(from, hash));
    await list.note({ ...listed, hash: hash.digest("hex") });
  }

  async function addBytes(data: Buffer, facts: FileFacts): Promise<void> {
    const listed = { ...facts, type: "file" as const, bytes: data.length };
    await put(packing, listed, [data]);
    await list.note({ ...listed, hash: sha256().update(data).digest("hex") });
  }

  return {
    addStill,
    addText: (path: string, text: string) => addBytes(Buffer.from(text), { path, mode: 0o600, mtime: clock.now() }),
    /** A file that others may be writing to. */
    async addFile(path: string, facts: FileFacts) {
      const { data, mtime, isChanging } = await readWhole(path, copy);
      if (isChanging) list.changes(facts.path);
      if (data !== undefined) return addBytes(data, { ...facts, mtime });
      await addStill(copy, { ...facts, mtime });
      await rm(copy);
    },
  };
}

type Whole = { readonly data: Buffer | undefined; readonly mtime: number; readonly isChanging: boolean };

/** The file as it was at one moment: in memory, or as a copy where it is large. Who writes to it all the time is not waited for. */
async function readWhole(path: string, copy: string): Promise<Whole> {
  for (let reads = 1; ; reads += 1) {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const before = fstatSync(fd, { bigint: true });
      // Not to its end: whoever makes it larger meanwhile would fill our memory. It is then read again, as the large one it is.
      const bytes = Number(before.size);
      const data = bytes <= readAtOnceBytesMax ? await readRange({ fd, stat: { bytes } }, 0, bytes) : undefined;
      if (data === undefined) await copyFile(`/proc/self/fd/${fd}`, copy, constants.COPYFILE_FICLONE);
      const after = fstatSync(fd, { bigint: true });
      const isStill =
        before.size === after.size && before.mtimeNs === after.mtimeNs && before.ctimeNs === after.ctimeNs;
      if (isStill || reads === readsMax) return { data, mtime: Number(after.mtimeNs) / 1e6, isChanging: !isStill };
    } finally {
      closeSync(fd);
    }
  }
}

async function* read(path: string, hash?: ReturnType<typeof sha256>): AsyncGenerator<Buffer, void> {
  for await (const piece of createReadStream(path, { highWaterMark: pieceBytes })) {
    hash?.update(piece);
    yield piece;
  }
}

/** The packer takes a mode of 0 for none and gives its own. It does not write this bit. */
const modeGiven = 0o100_000;
const tarTypes = { file: "file", folder: "directory", link: "symlink" } as const;

/** Puts one entry in, no faster than it is taken out at the other end. */
async function put({ pack }: Packing, listed: Listed, pieces: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<void> {
  const { path, raw, type, mode, mtime, bytes, target } = listed;
  const header = {
    name: type === "folder" ? `${path}/` : path,
    type: tarTypes[type],
    mode: mode | modeGiven,
    mtime: new Date(mtime),
    size: bytes,
    ...(target === undefined ? {} : { linkname: target }),
    // A plain tar knows whole seconds only, and no names that are no text.
    pax: {
      mtime: String(mtime / 1000),
      "AGENTYARD.mtime": String(mtime),
      ...(raw === undefined ? {} : { "AGENTYARD.path": raw }),
    },
  };
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Whoever reads may leave while the next piece is on its way from the disk; it is awaited after that.
  void whenOver(promise);
  const sink = pack.entry(header, (error) => (error ? reject(error) : resolve()));
  if (type === "file") {
    sink.on("error", reject);
    for await (const piece of pieces) {
      if (sink.destroyed) break;
      if (!sink.write(piece))
        await Promise.race([new Promise<void>((drained) => sink.once("drain", () => drained())), promise]);
    }
    sink.end(null);
  }
  await promise;
}

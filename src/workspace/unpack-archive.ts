import {
  chmodSync,
  closeSync,
  constants,
  createReadStream,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { appendFile, open } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { assert } from "../base/assert.ts";
import { headName, type Listed, listName, sha256 } from "./archive-format.ts";
import { inFolder, makeFolders, openForSync, openPlace, openRoot, syncAndClose, withFolder } from "./descend.ts";
import type { ArchiveTaker } from "./read-archive.ts";

/** What takes entries and puts them below a folder that is ours alone, and empty. */
export type Unpacking = ArchiveTaker & {
  /** Makes everything safe from a power cut and reads it back; answers the first path that is not as it was in the archive. */
  finish(): Promise<string | undefined>;
  close(): void;
};

const topFolders = ["workspace", "workspaces", "trash", "kept"];

export function openUnpacking(folder: string): Unpacking {
  for (const name of topFolders) mkdirSync(join(folder, name), { mode: 0o700 });
  const root = openRoot(folder);
  assert(root !== undefined, "the folder was just made");
  /** Folders, whose times change with what is put into them, and files that their owner may not read back. */
  const undressed: Listed[] = [];
  /** Folders in which something was put, or a folder made on the way. */
  const parents = new Set([""]);
  return {
    async take(listed, pieces) {
      if (listed.path === headName) return;
      if (listed.type === "folder" || isUnreadable(listed)) undressed.push(listed);
      for (let path = parentOf(listed.path); !parents.has(path); path = parentOf(path)) parents.add(path);
      await put(root, listed, pieces);
    },
    list: (pieces) => appendFile(join(folder, listName), pieces),
    async finish() {
      // Files are synced one by one; without their names they would be lost all the same.
      for (const path of parents) await syncAndClose(withFolder(root, path === "" ? [] : path.split("/"), openForSync));
      const different = await findDifference(folder, root);
      // The innermost first: behind a folder that nobody may enter there is nothing to be done any more.
      for (const listed of undressed.toReversed()) dress(root, listed);
      return different;
    },
    close: () => closeSync(root),
  };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Every step of a path is made or opened by its one name, and no link is followed: none leads out of the folder. */
async function put(root: number, listed: Listed, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const { type, mode, mtime, target } = listed;
  const { names, name } = namesOf(listed);
  const parent = makeFolders(root, type === "folder" && typeof name === "string" ? [...names, name] : names, {
    uid: undefined,
  });
  try {
    const path = inFolder(parent, name);
    if (type === "folder" && typeof name !== "string") mkdirSync(path, { mode: 0o755 });
    if (type === "link") {
      symlinkSync(target ?? "", path);
      lutimesSync(path, mtime / 1000, mtime / 1000);
    }
    if (type !== "file") return;
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      for await (const piece of pieces) await file.writeFile(piece);
      if (!isUnreadable(listed)) await file.chmod(mode);
      await file.utimes(mtime / 1000, mtime / 1000);
      await file.sync();
    } finally {
      await file.close();
    }
  } finally {
    closeSync(parent);
  }
}

function isUnreadable({ type, mode }: Listed): boolean {
  return type === "file" && (mode & constants.S_IRUSR) === 0;
}

/** Gives a folder or a file its mode and time, by the same steps that it was made by: a link that stands there is not followed. */
function dress(root: number, listed: Listed): void {
  const { names, name } = namesOf(listed);
  withFolder(root, names, (parent) => {
    const { fd, stat } = openPlace(parent, name);
    try {
      assert(stat.isDirectory() || stat.isFile(), "it was made by us, and is ours alone");
      chmodSync(`/proc/self/fd/${fd}`, listed.mode);
      utimesSync(`/proc/self/fd/${fd}`, listed.mtime / 1000, listed.mtime / 1000);
    } finally {
      closeSync(fd);
    }
  });
}

/** A last name that is no UTF-8 is known by its bytes alone. */
function namesOf({ path, raw }: Listed): { readonly names: string[]; readonly name: string | Buffer } {
  const names = path.split("/");
  const last = names.pop() ?? "";
  if (raw === undefined) return { names, name: last };
  const bytes = Buffer.from(raw, "base64");
  return { names, name: bytes.subarray(bytes.lastIndexOf("/") + 1) };
}

const Line = z.object({
  path: z.string(),
  raw: z.string().optional(),
  type: z.enum(["file", "folder", "link"]),
  mode: z.number(),
  mtime: z.number(),
  bytes: z.number(),
  hash: z.string().optional(),
  target: z.string().optional(),
});

async function findDifference(folder: string, root: number): Promise<string | undefined> {
  const lines = createInterface({
    input: createReadStream(join(folder, listName)),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  for await (const text of lines) {
    const listed = Line.parse(JSON.parse(text));
    if (listed.path !== headName && !(await isEqual(root, listed))) return listed.path;
  }
  return undefined;
}

async function isEqual(root: number, listed: Listed): Promise<boolean> {
  const { names, name } = namesOf(listed);
  const { stat, target, pieces } = withFolder(root, names, (parent) => {
    const path = inFolder(parent, name);
    const found = lstatSync(path);
    return {
      stat: found,
      target: found.isSymbolicLink() ? readlinkSync(path) : undefined,
      // Opened here and now, while the folder is; what is no file in the list is never read.
      pieces:
        listed.type === "file" && found.isFile()
          ? createReadStream("", {
              fd: openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW),
              highWaterMark: 1024 ** 2,
            })
          : undefined,
    };
  });
  if (listed.type === "folder") return stat.isDirectory();
  if (listed.type === "link") return target === listed.target;
  if (pieces === undefined) return false;
  const hash = sha256();
  for await (const piece of pieces) hash.update(piece);
  return hash.digest("hex") === listed.hash;
}

import { isUtf8 } from "node:buffer";
import { closeSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { systemCode } from "../base/fault.ts";
import { ok, type Result } from "../base/result.ts";
import { failure, makeFailure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { StorageFailure, TrashRow } from "../storage/storage.ts";
import type { DiskFault } from "../words/words.ts";
import { inFolder, openFolder, openRoot, statIn } from "./descend.ts";
import { attempt, Refused } from "./faults.ts";
import { isTaskFolder, trashFolder } from "./layout.ts";
import { notTheUsers } from "./metadata.ts";
import type { FileFailure } from "./one-workspace.ts";
import { ungive } from "./owner.ts";
import type { Plot } from "./plots.ts";
import { removeTree } from "./remove-tree.ts";
import { inSlices } from "./slices.ts";
import type { TrashParts } from "./trash.ts";
import { namesAsBytes } from "./tree.ts";
import type { Restored, Trashed, TrashFailure } from "./workspace.ts";

/** What the trash shows at the most, and where the beginning of an id is looked for. */
const rowsMax = 1000;

/** What can be given back, newest first. A folder in which there were no files is of no use to anybody. */
export async function listTrash({ storage, limits }: TrashParts, owner: OwnerId): Promise<Trashed[]> {
  const rows = await storage.listTrash(owner, rowsMax);
  return rows
    .filter(({ files }) => files > 0)
    .map(({ id, conversation, workspace, movedAt, bytes, files }) => ({
      ...{ id, conversation, movedAt, bytes, files },
      ...(workspace === conversation ? {} : { task: workspace }),
      until: movedAt + limits.trashMs,
    }));
}

/** Gives files back. What is there by now stays as it is; a crash in between loses nothing, and it can be asked again. */
export async function restoreTrash(
  parts: TrashParts,
  owner: OwnerId,
  id: string,
): Promise<Result<Restored, FileFailure | StorageFailure | TrashFailure>> {
  const { storage, clock, plots } = parts;
  const row = await findRow(parts, owner, id);
  const isOurs = [trashFolder(row?.id ?? ""), row?.folder ?? ""].map(parts.layout.hostPath).every(Boolean);
  if (row === undefined || !isOurs) return failure("trash_not_found", { id });
  const given = await attempt("write", ".", () => giveBack(parts, row));
  if (!given.ok) return given;
  plots.forget(row.folder);
  if (given.value !== undefined) {
    const now = clock.now();
    const recorded = await storage.updateWorkspace(row.folder, { madeAt: now, usedAt: now, cleanedAt: null });
    if (!recorded.ok) return recorded;
  }
  const dropped = await storage.dropTrash(row.id);
  if (!dropped.ok) return dropped;
  if (given.value === undefined) return failure("trash_not_found", { id });
  return ok({ conversation: row.conversation, files: row.files, beside: given.value });
}

/** By the whole id, or by the beginning of just one. */
async function findRow({ storage }: TrashParts, owner: OwnerId, id: string): Promise<TrashRow | undefined> {
  if (id === "") return undefined;
  const found = await storage.findTrash(owner, id);
  if (found !== undefined) return found;
  const [first, ...others] = (await storage.listTrash(owner, rowsMax)).filter((row) => row.id.startsWith(id));
  return others.length === 0 ? first : undefined;
}

/** Answers the places where things lie that could not go back to their own; undefined when there was nothing any more. */
async function giveBack(parts: TrashParts, row: TrashRow): Promise<string[] | undefined> {
  const { plots } = parts;
  const [from, to] = [trashFolder(row.id), row.folder];
  if (isTaskFolder(to)) plots.settle(to);
  // A crash or a full disk after the move back, the last time.
  if (!plots.has(from) && !plots.has(to)) return undefined;
  const beside = !plots.has(from) ? [] : plots.has(to) ? await unite(parts, row) : await bringBack(parts, row);
  ungive((await openPlot(parts, to)).folder);
  return beside;
}

async function bringBack(parts: TrashParts, row: TrashRow): Promise<string[]> {
  const moved = await parts.plots.move(trashFolder(row.id), row.folder);
  if (!moved.ok) throw cannotWrite(moved.failure);
  return moved.value ? [] : unite(parts, row); // Somebody has just made it anew.
}

/** Where the trash and the folder it came from both have something by now. */
async function unite(parts: TrashParts, row: TrashRow): Promise<string[]> {
  const { plots, ids, books } = parts;
  const [from, to] = [await openPlot(parts, trashFolder(row.id)), await openPlot(parts, row.folder)];
  const near = await plots.beside(from, to);
  if (!near.ok) throw cannotWrite(near.failure);
  const beside = new Set<string>();
  await inSlices(giveBackInto(row, near.value, to.folder), (place) => {
    if (place !== undefined) beside.add(place);
  });
  // Only what we laid out is left; what is not gone now is gone with the time of the trash.
  if (near.value !== from.folder) await removeTree(near.value, { stagingFolder: to.stagingFolder, ids, books });
  await plots.remove(trashFolder(row.id));
  return [...beside].sort();
}

async function openPlot({ plots }: TrashParts, name: string): Promise<Plot> {
  const plot = await plots.open(name);
  if (!plot.ok) throw cannotWrite(plot.failure);
  if (plot.value === undefined) throw new Refused(makeFailure("file_not_found", { path: ".", near: "" }));
  return plot.value;
}

function cannotWrite(why: DiskFault): Refused {
  return new Refused(makeFailure("write_failed", { path: ".", why }));
}

/** Each entry goes to its old place, or next to what has taken it; yields the places of the latter. */
function* giveBackInto({ id, folder }: TrashRow, from: string, to: string): Generator<string | undefined, void> {
  const [source, target] = [openThere(from), openThere(to)];
  try {
    for (const name of [...namesAsBytes(source)]) {
      if (folder.startsWith("workspace/") && notTheUsers.includes(name.toString())) continue;
      yield moveBack({ source, target, name, aside: `restored-${id}` });
    }
  } finally {
    closeSync(source);
    closeSync(target);
  }
}

function openThere(path: string): number {
  const folder = openRoot(path);
  if (folder === undefined) throw new Refused(makeFailure("file_not_found", { path: ".", near: "" }));
  return folder;
}

type Entry = {
  readonly source: number;
  readonly target: number;
  readonly name: Buffer;
  readonly aside: string;
};

/** Undefined when it has its old place. Links are not followed anywhere: agents may have put one in the way. */
function moveBack({ source, target, name, aside }: Entry): string | undefined {
  const stat = statIn(source, name);
  if (stat === undefined) return undefined;
  if (!stat.isDirectory()) {
    if (statIn(target, name) === undefined) return move({ source, name, to: target });
  } else {
    if (readdirSync(inFolder(source, name)).length === 0) return undefined;
    // A folder that is moved onto an empty one takes its place; the system refuses it onto any other.
    const refusal = whyNot(() => move({ source, name, to: target }));
    if (refusal === undefined) return undefined;
    if (refusal !== "ENOTDIR" && isUtf8(name)) {
      inside(target, name.toString(), (to) => move({ source, name, to, as: aside }));
      return `${name}/${aside}`;
    }
  }
  makeFolder(target, aside);
  inside(target, aside, (to) => move({ source, name, to }));
  return aside;
}

type Move = {
  readonly source: number;
  readonly name: Buffer;
  readonly to: number;
  readonly as?: string;
};

function move({ source, name, to, as }: Move): undefined {
  renameSync(inFolder(source, name), inFolder(to, as ?? name));
}

/** Why a folder cannot take a place: there are files in it, or something that is no folder. */
function whyNot(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOTEMPTY" || code === "EEXIST" || code === "ENOTDIR") return code;
    throw error;
  }
}

function makeFolder(folder: number, name: string): void {
  try {
    mkdirSync(inFolder(folder, name), { mode: 0o755 });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

function inside(folder: number, name: string, work: (inner: number) => void): void {
  const inner = openFolder(folder, [name]);
  try {
    work(inner);
  } finally {
    closeSync(inner);
  }
}

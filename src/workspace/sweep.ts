import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { TrashRow, WorkspaceRow } from "../storage/storage.ts";
import { forgetFolder } from "./books.ts";
import { errorCode } from "./faults.ts";
import type { Incoming } from "./incoming.ts";
import { keptFolder, trashFolder } from "./layout.ts";
import { eachRow, isThere, nothingRemoved, type Parts, removeFolder } from "./trash.ts";
import type { Swept } from "./workspace.ts";

/** How long something may lie in the staging folder while this process runs. */
const stagedMsMax = 24 * 3_600_000;

/** Finishes what a crash interrupted, and removes what nobody can ask for any more. Each part can be repeated. */
export function openSweep(parts: Parts & { readonly incoming: Pick<Incoming, "sweep"> }): () => Promise<Swept> {
  // What lies there now was left by a process before us. Names and our own clock decide, not the times of files:
  // a clock that was put forward must not take away what is just being written.
  const seenAt = new Map(namesIn(parts.layout.stagingFolder).map((name) => [name, Number.NEGATIVE_INFINITY]));
  return async () => {
    await removeExpired(parts);
    await finishMoves(parts);
    const left = await removeOrphans(parts);
    await removeStaged(parts, seenAt);
    await parts.incoming.sweep();
    return { left };
  };
}

/** Trash past its time, and that of deleted conversations. */
async function removeExpired(parts: Parts): Promise<void> {
  const { storage, clock, layout, limits } = parts;
  const list = (limit: number) => storage.expiredTrash(clock.now() - limits.trashMs, limit);
  for await (const row of eachRow(list, ({ id }) => id)) {
    if (parts.isClosing()) return;
    const folder = layout.hostPath(row.folder);
    const isLast = folder !== undefined && !isThere(folder);
    // Earlier contents serve to undo what was done in files that cannot come back now.
    const gone = (await removeNamed(parts, trashFolder(row.id))) && (!isLast || (await removeKept(parts, row.folder)));
    if (gone) await storage.dropTrash(row.id);
  }
}

/** A crash came between the row and the move to the trash, or between the move back and the row. */
async function finishMoves(parts: Parts): Promise<void> {
  const { storage, layout, logger } = parts;
  const known = new Set<string>();
  const list = (limit: number) => storage.expiredTrash(Number.MAX_SAFE_INTEGER, limit);
  for await (const row of eachRow(list, ({ id }) => id)) {
    if (parts.isClosing()) return;
    known.add(row.id);
    await finishMove(parts, row);
  }
  const unknown = namesIn(layout.trashFolder).filter((name) => !known.has(name));
  if (unknown.length > 0)
    logger.warn("the trash has {count} folders that we did not put there", { count: unknown.length });
}

async function finishMove({ storage, clock, layout, logger }: Parts, row: TrashRow): Promise<void> {
  const [from, to] = [trashFolder(row.id), row.folder].map(layout.hostPath);
  if (from === undefined || to === undefined) return;
  const isBack = isThere(to);
  if (!isThere(from)) {
    logger.info("{folder} is not in the trash", { folder: row.folder, trash: row.id, isBack });
    if (isBack) await storage.updateWorkspace(row.folder, { usedAt: clock.now(), cleanedAt: null });
    await storage.dropTrash(row.id);
  } else if (!isBack && (await workspaceOf(storage, row))?.cleanedAt === undefined) {
    await storage.updateWorkspace(row.folder, { cleanedAt: row.files === 0 ? nothingRemoved : row.movedAt });
  }
}

async function workspaceOf(storage: Parts["storage"], { number, folder }: TrashRow): Promise<WorkspaceRow | undefined> {
  const own = await storage.findWorkspace(number);
  if (own?.folder === folder) return own;
  return (await storage.agentsOf(number)).find(({ workspace }) => workspace?.folder === folder)?.workspace;
}

/** The row is forgotten last: until then the next sweep comes back to it. Answers how many it has to come back to. */
async function removeOrphans(parts: Parts): Promise<number> {
  const { storage, books, inUse, layout } = parts;
  let left = 0;
  for await (const row of eachRow(
    (limit) => storage.orphanedWorkspaces(limit),
    ({ folder }) => folder,
  )) {
    if (parts.isClosing()) return left;
    const folder = layout.hostPath(row.folder);
    if (folder !== undefined) forgetFolder(books, folder);
    const gone = (await removeNamed(parts, row.folder)) && (await removeKept(parts, row.folder));
    // A write that began before the conversation was deleted may still make the folder again.
    if (gone && !inUse.has(row)) await storage.forgetWorkspace(row.folder);
    else left += 1;
  }
  return left;
}

async function removeKept(parts: Parts, folder: string): Promise<boolean> {
  const kept = keptFolder(folder);
  const path = parts.layout.hostPath(kept);
  if (path !== undefined) parts.books.kept.delete(path);
  return removeNamed(parts, kept);
}

async function removeNamed(parts: Parts, folder: string): Promise<boolean> {
  const path = parts.layout.hostPath(folder);
  if (path === undefined) {
    parts.logger.error("{folder} is not removed: we would not have given it this name", { folder });
    return false;
  }
  const removed = isThere(path) ? await removeFolder(parts, path) : undefined;
  if (removed?.ok === false) parts.logger.warn("{folder} was not removed: {why}", { folder, why: removed.failure });
  return removed?.ok !== false;
}

/** Drafts of files, and what was being removed. */
async function removeStaged(parts: Parts, seenAt: Map<string, number>): Promise<void> {
  const { clock, layout, logger } = parts;
  const names = new Set(namesIn(layout.stagingFolder));
  for (const name of seenAt.keys()) if (!names.has(name)) seenAt.delete(name);
  for (const name of names) {
    if (parts.isClosing()) return;
    const since = seenAt.get(name) ?? clock.monotonic();
    seenAt.set(name, since);
    if (clock.monotonic() - since < stagedMsMax) continue;
    const removed = await removeFolder(parts, join(layout.stagingFolder, name));
    if (!removed.ok) logger.warn("the staging folder keeps something: {why}", { why: removed.failure });
  }
}

/** None in a folder that is not there or cannot be read. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return [];
  }
}

import { join } from "node:path";
import type { TrashRow, WorkspaceRow } from "../storage/storage.ts";
import { attemptDisk, namesIn } from "./faults.ts";
import type { Incoming } from "./incoming.ts";
import { keptFolder, taskFolder, trashFolder } from "./layout.ts";
import { isLeftBehind } from "./remove-tree.ts";
import { eachRow, nothingRemoved, removeFolder, type TrashParts } from "./trash.ts";
import { removeEmpty, waitingFor } from "./waiting.ts";
import type { Swept } from "./workspace.ts";

/** How long something may lie in the staging folder while this process runs. */
const stagedMsMax = 24 * 3_600_000;
/** How long what a removal left may be still in the hands of another process. */
const leftMsMax = 600_000;
/** For what was deleted together; after it others have their turn, and it is tried again. */
const attemptMsMax = 30_000;

/** Finishes what a crash interrupted, and removes what nobody can ask for any more. Each part can be repeated. */
export function openSweep(parts: TrashParts & { readonly incoming: Pick<Incoming, "sweep"> }): () => Promise<Swept> {
  // What lies there now was left by a process before us. Names and our own clock decide, not the times of files:
  // a clock that was put forward must not take away what is just being written.
  // Where others have the same folders, only time tells.
  const before = parts.isShared ? [] : namesIn(parts.layout.stagingFolder);
  const seenAt = new Map(before.map((name) => [name, Number.NEGATIVE_INFINITY]));
  return async () => {
    await endUnused(parts);
    const expired = await removeExpired(parts);
    await finishMoves(parts);
    const orphans = await removeOrphans(parts);
    await endWaits(parts);
    const staged = await removeStaged(parts, seenAt);
    await parts.incoming.sweep();
    return { left: expired + orphans + staged };
  };
}

/** After its last use, of what a caller wants nothing kept of: its results may still be on their way. */
const passingMsMax = 3_600_000;
/** Ended in one transaction: others have their turn in between. */
const endedTogetherMax = 20;

/** Callers make conversations for single calls and leave them: those end here, and their files go like those of deleted ones. */
async function endUnused(parts: TrashParts): Promise<void> {
  const { storage, clock, limits, logger } = parts;
  let count = 0;
  for (const isPassing of limits.callerMs === 0 ? [true] : [true, false]) {
    const before = clock.now() - (isPassing ? passingMsMax : Math.max(limits.callerMs, passingMsMax));
    for (let isMore = true; isMore && !parts.isClosing(); ) {
      const rows = await storage.unusedByCallers({ before, isPassing, limit: endedTogetherMax });
      const ended = await Promise.all(rows.map(({ number }) => endOne(parts, number, { before, isPassing })));
      const endedCount = ended.filter(Boolean).length;
      count += endedCount;
      isMore = rows.length === endedTogetherMax && endedCount > 0;
    }
  }
  if (count > 0) logger.info("conversations that callers left have ended", { count });
}

/** Whoever says something to it in this moment keeps it: the log has moved then. */
async function endOne(
  { storage, clock, isHere }: TrashParts,
  number: number,
  unused: { readonly before: number; readonly isPassing: boolean },
): Promise<boolean> {
  if (!(await isHere(number))) return false;
  const expectedHead = await storage.headOf(number);
  const [still] = await storage.unusedByCallers({ ...unused, limit: 1, only: number });
  if (still === undefined) return false;
  const ended = await storage.append({ number, expectedHead, events: [], with: { deleted: { at: clock.now() } } });
  return ended.ok;
}

/** Trash past its time, and that of deleted conversations. Answers how many are left. */
async function removeExpired(parts: TrashParts): Promise<number> {
  let left = 0;
  let times: Map<string, number> | undefined;
  const { storage, clock, plots, limits } = parts;
  const list = (limit: number) => storage.expiredTrash(clock.now() - limits.trashMs, limit);
  for await (const row of eachRow(list, ({ id }) => id)) {
    if (parts.isClosing()) return left;
    if (!(await parts.isHere(row.number))) continue;
    const attempt = beginAttempt(parts);
    times ??= await timesInTrash(parts);
    const others = (times.get(row.folder) ?? 1) - 1;
    const isLast = others === 0 && !plots.has(row.folder);
    // Earlier contents serve to undo what was done in files: they go when none can come back any more. And first: trash that
    // is not in its place any more is forgotten, also where its removal was cut.
    const gone =
      (!isLast || (await removeKept(parts, row.folder, attempt))) &&
      (await removeNamed(parts, trashFolder(row.id), attempt));
    if (gone) {
      await storage.dropTrash(row.id);
      times.set(row.folder, others);
    } else left += 1;
  }
  return left;
}

/** A folder that was made anew after its files went may have been moved to the trash once more. */
async function timesInTrash({ storage }: TrashParts): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  for await (const { folder } of eachTrash(storage)) times.set(folder, (times.get(folder) ?? 0) + 1);
  return times;
}

function eachTrash(storage: TrashParts["storage"]): AsyncGenerator<TrashRow, void> {
  return eachRow(
    (limit) => storage.expiredTrash(Number.MAX_SAFE_INTEGER, limit),
    ({ id }) => id,
  );
}

type Attempt = { readonly isOver: () => boolean; readonly restMs: () => number };

function beginAttempt({ clock }: TrashParts): Attempt {
  const end = clock.monotonic() + attemptMsMax;
  const restMs = () => Math.max(end - clock.monotonic(), 0);
  return { isOver: () => restMs() === 0, restMs };
}

/** A crash came between the row and the move to the trash, or between the move back and the row. */
async function finishMoves(parts: TrashParts): Promise<void> {
  const { storage, layout, logger } = parts;
  const known = new Set<string>();
  for await (const row of eachTrash(storage)) {
    if (parts.isClosing()) return;
    known.add(row.id);
    if (await parts.isHere(row.number)) await finishMove(parts, row);
  }
  const unknown = namesIn(layout.trashFolder).filter((name) => !known.has(name));
  if (unknown.length > 0)
    logger.warn("the trash has {count} folders that we did not put there", { count: unknown.length });
}

async function finishMove({ storage, clock, plots, logger }: TrashParts, row: TrashRow): Promise<void> {
  const isBack = plots.has(row.folder);
  if (!plots.has(trashFolder(row.id))) {
    logger.info("{folder} is not in the trash", { folder: row.folder, trash: row.id, isBack });
    if (isBack) await storage.updateWorkspace(row.folder, { usedAt: clock.now(), cleanedAt: null });
    await storage.dropTrash(row.id);
  } else if (!isBack && (await workspaceOf(storage, row))?.cleanedAt === undefined) {
    await storage.updateWorkspace(row.folder, { cleanedAt: row.files === 0 ? nothingRemoved : row.movedAt });
  }
}

async function workspaceOf(
  storage: TrashParts["storage"],
  { number, folder }: TrashRow,
): Promise<WorkspaceRow | undefined> {
  const own = await storage.findWorkspace(number);
  if (own?.folder === folder) return own;
  return (await storage.agentsOf(number)).find(({ workspace }) => workspace?.folder === folder)?.workspace;
}

/** The row is forgotten last: until then the next sweep comes back to it. Answers how many it has to come back to. */
async function removeOrphans(parts: TrashParts): Promise<number> {
  const { storage, inUse, plots } = parts;
  let left = 0;
  for await (const row of eachRow(
    (limit) => storage.orphanedWorkspaces(limit),
    ({ folder }) => folder,
  )) {
    if (parts.isClosing()) return left;
    if (!(await parts.isHere(row.number))) continue;
    plots.forget(row.folder);
    const attempt = beginAttempt(parts);
    const gone =
      (await isDeserted(parts, row, attempt)) &&
      (await removeNamed(parts, row.folder, attempt)) &&
      (await removeKept(parts, row.folder, attempt));
    // A write that began before the conversation was deleted may still make the folder again.
    if (gone && !inUse.has(row)) await storage.forgetWorkspace(row.folder);
    else left += 1;
  }
  return left;
}

/** No program may still write while its files go. False: one does not end. */
async function isDeserted(parts: TrashParts, { number, folder }: WorkspaceRow, { restMs }: Attempt): Promise<boolean> {
  const { leave, clock, logger } = parts;
  if (leave === undefined) return true;
  const isDone = new AbortController();
  const left = await Promise.race([leave(number).then(() => true), clock.wait(restMs(), isDone.signal)]);
  isDone.abort();
  if (left !== true) logger.warn("the workspace {folder} is not removed yet: a program in it does not end", { folder });
  return left === true;
}

async function removeKept(parts: TrashParts, folder: string, attempt: Attempt): Promise<boolean> {
  const kept = keptFolder(folder);
  const path = parts.layout.hostPath(kept);
  if (path !== undefined) parts.books.kept.delete(path);
  return removeNamed(parts, kept, attempt);
}

async function removeNamed(parts: TrashParts, folder: string, { isOver }: Attempt): Promise<boolean> {
  if (parts.layout.hostPath(folder) === undefined) {
    parts.logger.error("{folder} is not removed: we would not have given it this name", { folder });
    return false;
  }
  const removed = await parts.plots.remove(folder, isOver);
  if (!removed.ok) parts.logger.warn("{folder} was not removed: {why}", { folder, why: removed.failure });
  return removed.ok;
}

/** What programs of a process before us wrote is put in its place; what waited in vain goes. */
async function endWaits(parts: TrashParts): Promise<void> {
  const { storage, clock, layout, books, plots, logger } = parts;
  for (const name of namesIn(layout.stagingFolder)) {
    const agent = waitingFor(name);
    const path = join(layout.stagingFolder, name);
    if (agent === undefined || books.held.has(path) || !(await isOurs(parts, agent))) continue;
    const ended = await attemptDisk(async () => {
      if (removeEmpty(path)) return;
      const now = clock.now();
      const folder = taskFolder(agent);
      await storage.updateWorkspace(folder, { madeAt: now, usedAt: now, cleanedAt: null });
      plots.settle(folder);
    });
    if (!ended.ok)
      logger.warn("what programs of {agent} wrote is not in its place yet: {why}", { agent, why: ended.failure });
  }
}

/** Whether no other server may have programs in the folder of this task. */
async function isOurs({ storage, isHere, isShared }: TrashParts, agent: string): Promise<boolean> {
  if (!isShared) return true;
  const number = await storage.numberOfFolder(taskFolder(agent));
  return number !== undefined && isHere(number);
}

/** Drafts of files after their time, and at once what a removal left. Answers how much of that is still left. */
async function removeStaged(parts: TrashParts, seenAt: Map<string, number>): Promise<number> {
  const { clock, layout, logger, books } = parts;
  let left = 0;
  const names = new Set(namesIn(layout.stagingFolder));
  for (const name of seenAt.keys()) if (!names.has(name)) seenAt.delete(name);
  for (const name of names) {
    if (parts.isClosing()) return left;
    const since = seenAt.get(name) ?? clock.monotonic();
    seenAt.set(name, since);
    if (waitingFor(name) !== undefined) continue;
    const patienceMs = !isLeftBehind(name, books) ? stagedMsMax : parts.isShared ? leftMsMax : 0;
    if (clock.monotonic() - since < patienceMs) continue;
    const removed = await removeFolder(parts, join(layout.stagingFolder, name), beginAttempt(parts).isOver);
    if (removed.ok) continue;
    left += 1;
    logger.warn("the staging folder keeps something: {why}", { why: removed.failure });
  }
  return left;
}

/** None in a folder that is not there or cannot be read. */

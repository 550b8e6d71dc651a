import { lstatSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import type { Storage, WorkspaceRow } from "../storage/storage.ts";
import type { Books } from "./books.ts";
import { attemptDisk } from "./faults.ts";
import type { InUse } from "./in-use.ts";
import { type Layout, trashFolder } from "./layout.ts";
import { isLaidOutFor, removeLaidOut } from "./metadata.ts";
import type { Workspace, WorkspaceLimits } from "./one-workspace.ts";
import type { Plots } from "./plots.ts";
import { removeTree } from "./remove-tree.ts";
import type { Cleaned, CleanWanted } from "./workspace.ts";

/** What cleaning up works with. */
export type TrashParts = {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly limits: WorkspaceLimits;
  readonly layout: Layout;
  readonly books: Books;
  readonly plots: Plots;
  readonly inUse: InUse;
  /** The files of a row, looked at without counting as a use. */
  readonly filesOf: (row: WorkspaceRow) => Workspace;
  /** Ends what works in the folders of a conversation: moved away under it, what it writes would go along. */
  readonly leave?: ((conversation: number) => Promise<void>) | undefined;
  readonly isHere: (conversation: number) => Promise<boolean>;
  readonly isShared?: boolean | undefined;
  readonly isClosing: () => boolean;
};

/** Rows that are asked for at once. */
const rowsPerLook = 100;

/** Said of a workspace in which there was nothing to remove: not a time, so that nobody is told of files that never were. */
export const nothingRemoved = 0;

/** Moves what nobody used since then to the trash. One after another; a crash leaves each where it was or in the trash. */
export async function cleanUnused(parts: TrashParts, { unusedMs, owner, conversation }: CleanWanted): Promise<Cleaned> {
  const { storage, clock, logger } = parts;
  const before = clock.now() - unusedMs;
  let [workspaces, bytes, skipped] = [0, 0, 0];
  const elsewhere = new Set<number>();
  const list = (limit: number) => storage.unusedWorkspaces(before, limit, { owner });
  for await (const row of eachRow(list, ({ folder }) => folder)) {
    if (parts.isClosing()) break;
    if (conversation !== undefined && row.number !== conversation) continue;
    if (!(await parts.isHere(row.number))) {
      elsewhere.add(row.number);
      continue;
    }
    const isStillUnused = async () => (await storage.unusedWorkspaces(before, 1, { folder: row.folder })).length > 0;
    const done = await attemptDisk(() => cleanOne(parts, row, isStillUnused));
    const moved = done.ok ? done.value : done;
    if (!moved.ok) {
      skipped += 1;
      logger.warn("{folder} was left as it is: {why}", { folder: row.folder, why: moved.failure });
    } else if (moved.value !== undefined) {
      workspaces += 1;
      bytes += moved.value.bytes;
    }
  }
  return { workspaces, bytes, skipped, ...(elsewhere.size > 0 && { elsewhere: [...elsewhere] }) };
}

/** Each row once, although those that are dealt with leave the list and the others stay in it. */
export async function* eachRow<Row>(
  list: (limit: number) => Promise<Row[]>,
  keyOf: (row: Row) => string,
): AsyncGenerator<Row, void> {
  const seen = new Set<string>();
  for (;;) {
    const rows = (await list(seen.size + rowsPerLook)).filter((row) => !seen.has(keyOf(row)));
    if (rows.length === 0) return;
    for (const row of rows) {
      seen.add(keyOf(row));
      yield row;
    }
  }
}

type Moved = { readonly bytes: number };

/** Undefined: there was nothing to move, or somebody works with it. A failure says why it cannot be moved. */
async function cleanOne(
  parts: TrashParts,
  row: WorkspaceRow,
  isStillUnused: () => Promise<boolean>,
): Promise<Result<Moved | undefined, string>> {
  const { storage, clock, layout, inUse, plots } = parts;
  if (layout.hostPath(row.folder) === undefined) return failed("we would not have given it this name");
  const plot = await plots.open(row.folder);
  if (!plot.ok) return plot;
  if (plot.value === undefined) {
    // Somebody else removed it. It has its turn again after as long as all others.
    await storage.updateWorkspace(row.folder, { usedAt: clock.now() });
    return ok(undefined);
  }
  const { folder, isImage } = plot.value;
  if (!lstatSync(folder).isDirectory()) return failed("it is no folder");
  if (row.kind === "conversation" && !isLaidOutFor(folder, row)) return failed("it has no metadata of ours");
  // Asked right before something is removed for good: the list may be old by now.
  if (inUse.has(row) || !(await isStillUnused())) return ok(undefined);
  await parts.leave?.(row.number);
  const files = parts.filesOf(row);
  const emptied = row.kind === "conversation" ? await files.empty("temp") : ok(undefined);
  if (!emptied.ok) return failed(emptied.failure.code);
  const info = await files.info();
  if (!info.ok) return failed(info.failure.code);
  const { fileCount, totalSize, isPartial } = info.value;
  if (isPartial) return failed("some of its folders may not be read");
  if (fileCount === 0 && !isImage && !inUse.has(row) && removeLaidOut(folder, row)) {
    await storage.updateWorkspace(row.folder, { cleanedAt: nothingRemoved });
    return ok(undefined);
  }
  return moveAway(parts, { row, files: fileCount, bytes: totalSize }, isStillUnused);
}

type Leaving = {
  readonly row: WorkspaceRow;
  readonly files: number;
  readonly bytes: number;
};

/** The row first: a folder in the trash that no row knows of could neither be given back nor be removed. */
async function moveAway(
  parts: TrashParts,
  { row, files, bytes }: Leaving,
  isStillUnused: () => Promise<boolean>,
): Promise<Result<Moved | undefined, string>> {
  const { storage, clock, inUse, plots, logger } = parts;
  const { owner, number } = row;
  const movedAt = clock.now();
  const id = freshId(parts);
  const recorded = await storage.putTrash({
    id,
    owner,
    number,
    workspace: row.id,
    folder: row.folder,
    movedAt,
    bytes,
    files,
  });
  if (!recorded.ok) return failed(recorded.failure.code);
  // From this answer on nothing is waited for: whoever comes next finds the folder gone and has it made again.
  if (!(await isStillUnused()) || inUse.has(row)) {
    await storage.dropTrash(id);
    return ok(undefined);
  }
  const moved = await plots.move(row.folder, trashFolder(id), async () => {
    plots.forget(row.folder);
    const cleanedAt = files === 0 ? nothingRemoved : movedAt;
    const noted = await storage.updateWorkspace(row.folder, { cleanedAt });
    if (!noted.ok) logger.warn("{folder} is in the trash, but not yet said to be", { folder: row.folder });
  });
  if (moved.ok && moved.value) return ok(files === 0 ? undefined : { bytes });
  await storage.dropTrash(id);
  return moved.ok ? ok(undefined) : moved;
}

/** Eight characters are few: one that is taken must not be given again. */
function freshId({ ids, plots }: TrashParts): string {
  for (;;) {
    const id = ids.hex(8);
    if (!plots.has(trashFolder(id))) return id;
  }
}

/** Removes a folder below the data directory with everything in it. */
export function removeFolder(
  { layout: { stagingFolder }, ids, books }: TrashParts,
  path: string,
  isOver?: () => boolean,
) {
  return removeTree(path, { stagingFolder, ids, books, isOver });
}

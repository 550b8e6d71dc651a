import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { inBackground } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import { systemCode } from "../base/fault.ts";
import type { Ids } from "../base/ids.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import { failure, makeFailure } from "../protocol/failure.ts";
import type { ConversationRow, Storage, StorageFailure, WorkspaceRow } from "../storage/storage.ts";
import type { DiskFault } from "../words/words.ts";
import type { Books } from "./books.ts";
import { boundedMap } from "./bounded-map.ts";
import { attempt } from "./faults.ts";
import type { HostPlace } from "./files.ts";
import type { FoundImage } from "./here.ts";
import type { Images } from "./images.ts";
import { conversationFolder, type Disk, keptFolder, type Layout } from "./layout.ts";
import { layOut } from "./metadata.ts";
import type { FileFailure } from "./one-workspace.ts";
import { guestUid } from "./owner.ts";
import { makeSafeFolder, syncNames } from "./safe-folder.ts";
import { makeTaskFolder, openWaiting } from "./waiting.ts";

/** Where the files of a conversation or task lie, made when something is written. */
export type Places = {
  /** Looks up the conversation's row; one that an older version left without is given its own now. */
  ofConversation(conversation: ConversationRow): Promise<Result<HostPlace, FileFailure | StorageFailure>>;
  ofRow(row: WorkspaceRow): Result<HostPlace, FileFailure>;
  /** Resolves when every use so far is recorded. */
  settled(): Promise<void>;
};

export type PlacesOptions = {
  /** Where there are images, or shall be. */
  readonly images?: Images | undefined;
  /** What a workspace that is made anew is. */
  readonly disk?: Disk | undefined;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly layout: Layout;
  readonly books: Books;
};

/** Uses of one workspace are recorded this often at the most. */
const usedEveryMs = 60_000;
const placesMax = 5000;

export function openPlaces(options: PlacesOptions): Places {
  const { storage, clock, ids } = options;
  // The folder of a workspace never changes; its name may be given to another one when it was deleted.
  const rows = boundedMap<WorkspaceRow>(placesMax);
  const places = boundedMap<HostPlace>(placesMax);
  const pending = new Set<Promise<void>>();

  function ofRow(row: WorkspaceRow): Result<HostPlace, FileFailure> {
    const key = `${row.number} ${row.folder}`;
    const known = places.get(key);
    if (known !== undefined) return ok(known);
    const folder = options.layout.hostPath(row.folder);
    const kept = options.layout.hostPath(keptFolder(row.folder));
    if (folder === undefined || kept === undefined) return failure("workspace_not_assigned", { agent: row.id });
    const make = () => makeHome({ ...options, row, folder });
    const uid = guestUid(options.layout.dataDir, row.ordinal);
    const { images } = options;
    const findImage = images && (() => imageFor(images, { ...options, name: row.folder, folder }));
    const { books, layout } = options;
    const mayBegin = () => checkAlive(options, row);
    const waiting = row.kind === "task" ? openWaiting({ folder, ...layout, books, mayBegin }) : undefined;
    const used = recorder(options, row.folder, pending);
    const place = { folder, keptFolder: kept, uid, make, findImage, waiting, used };
    places.set(key, place);
    return ok(place);
  }

  return {
    ofRow,
    async ofConversation({ number, id }) {
      const known = rows.get(String(number)) ?? (await storage.findWorkspace(number));
      const wanted = { folder: conversationFolder(id), otherFolder: conversationFolder(ids.uuid()), at: clock.now() };
      const found = known === undefined ? await storage.workspaceOf(number, wanted) : ok(known);
      if (!found.ok) return found;
      rows.set(String(number), found.value);
      return ofRow(found.value);
    },
    async settled() {
      await Promise.all(pending);
    },
  };
}

/** What storage could not do, in the words of files. */
export function asFileFailure(reason: FileFailure | StorageFailure, agent: string): FileFailure {
  switch (reason.code) {
    case "conversation_not_found":
    case "conversation_exists":
      return makeFailure("workspace_not_assigned", { agent });
    case "storage_full":
      return makeFailure("write_failed", { path: ".", why: "full" });
    case "storage_read_only":
      return makeFailure("write_failed", { path: ".", why: "read_only" });
    case "storage_busy":
    case "storage_broken":
    case "database_away":
    case "fenced":
    case "log_moved":
      return makeFailure("write_failed", { path: ".", why: "io" });
    default:
      return reason;
  }
}

/** Called after each operation, so it only looks at the clock most of the time and never waits. */
function recorder({ storage, clock, logger }: PlacesOptions, folder: string, pending: Set<Promise<void>>): () => void {
  let recordedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.monotonic() - recordedAt < usedEveryMs) return;
    recordedAt = clock.monotonic();
    const what = "the use of {folder} was not recorded";
    const recorded = storage.updateWorkspace(folder, { usedAt: clock.now() }).then((done) => {
      if (!done.ok) logger.warn(what, { folder, why: done.failure.code });
    });
    const recording = inBackground(logger, what, recorded, { folder });
    pending.add(recording);
    void recording.then(() => pending.delete(recording));
  };
}

type Wanted = Pick<PlacesOptions, "disk"> & { readonly name: string; readonly folder: string };

/** What is there counts, whatever is set by now: a folder stays a folder, and an image an image. */
async function imageFor(
  images: Images,
  { disk, name, folder }: Wanted,
): Promise<Result<FoundImage | undefined, DiskFault>> {
  const opened = await images.open(name);
  if (!opened.ok) return opened;
  if (opened.value !== undefined) return ok({ ...opened.value, isMade: true });
  return ok(disk === "image" && !existsSync(folder) ? { ...images.foldersOf(name), isMade: false } : undefined);
}

type Making = PlacesOptions & { readonly row: WorkspaceRow; readonly folder: string };

/** Recorded first: a folder that no row knows of would never be cleaned up. */
async function makeHome(making: Making): Promise<Result<void, FileFailure>> {
  const { storage, clock, row, folder, images } = making;
  const alive = await checkAlive(making, row);
  if (!alive.ok) return alive;
  const now = clock.now();
  const recorded = await storage.updateWorkspace(row.folder, { madeAt: now, usedAt: now, cleanedAt: null });
  if (!recorded.ok) return failed(asFileFailure(recorded.failure, row.id));
  const image = images && (await imageFor(images, { ...making, name: row.folder }));
  if (image?.ok === false) return failure("write_failed", { path: ".", why: image.failure });
  if (images !== undefined && image?.value !== undefined)
    return image.value.isMade ? ok(undefined) : makeImage(images, row);
  return attempt("write", ".", async () => {
    makeSafeFolder(dirname(folder));
    if (row.kind === "task") makeTaskFolder(making.layout.stagingFolder, folder);
    else makeConversationFolder(making);
    await syncEntries(dirname(folder));
  });
}

/** Nothing is made for a conversation that was deleted. */
async function checkAlive({ storage }: PlacesOptions, row: WorkspaceRow): Promise<Result<void, FileFailure>> {
  const conversation = await storage.conversationByNumber(row.number);
  if (conversation === undefined || conversation.deletedAt !== undefined)
    return failure("workspace_not_assigned", { agent: row.id });
  return ok(undefined);
}

async function makeImage(images: Images, row: WorkspaceRow): Promise<Result<void, FileFailure>> {
  const layOutFor = (folder: string) => (row.kind === "task" ? undefined : layOut(folder, row));
  const made = await images.make(row.folder, layOutFor);
  const opened = made.ok ? await images.open(row.folder) : made;
  return opened.ok ? ok(undefined) : failure("write_failed", { path: ".", why: opened.failure });
}

/** Laid out in the staging folder and then moved, so that there is the whole of it or nothing. */
function makeConversationFolder({ layout, ids, row, folder }: Making): void {
  const draft = join(layout.stagingFolder, `made-${ids.hex(24)}`);
  mkdirSync(layout.stagingFolder, { recursive: true, mode: 0o700 });
  mkdirSync(draft, { mode: 0o755 });
  try {
    layOut(draft, row);
    // A file that is put into `uploads/` and synced there would be lost with that name.
    syncNames(draft);
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true });
    const code = systemCode(error);
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error; // Somebody else was faster.
  }
}

async function syncEntries(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

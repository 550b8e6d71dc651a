import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import type { FileState } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { ConversationRow, SideRows, Storage, StorageFailure } from "../storage/storage.ts";
import { type ArchiveWanted, archive } from "./archive.ts";
import { agentRow, type NewAgent, openAssignments } from "./assignments.ts";
import { openBooks } from "./books.ts";
import { checkDisk } from "./check.ts";
import { type Copied, copyFiles, copyKept } from "./copy.ts";
import { openPlaces } from "./folders.ts";
import { listTrash, restoreTrash } from "./from-trash.ts";
import { openImages } from "./images.ts";
import { openInUse } from "./in-use.ts";
import { type Incoming, openIncoming } from "./incoming.ts";
import { type Kept, openKept } from "./kept.ts";
import { type Disk, layoutOf } from "./layout.ts";
import { openLocks } from "./locks.ts";
import type { FileFailure, Workspace, WorkspaceLimits } from "./one-workspace.ts";
import { openPlots } from "./plots.ts";
import type { SkillCopies } from "./skill-links.ts";
import { openSpool, type Spooled, type SpoolOptions } from "./spool.ts";
import { openSweep } from "./sweep.ts";
import { cleanUnused, nothingRemoved } from "./trash.ts";
import { openViews } from "./views.ts";

export { openBooks } from "./books.ts";
export { BrokenOff } from "./faults.ts";
export { openFiles } from "./files.ts";
export { type FileBelow, filesBelow } from "./files-below.ts";
export { probeImages } from "./image-probe.ts";
export type { IncomingUpload } from "./incoming.ts";
export { joined } from "./joined.ts";
export type { Disk } from "./layout.ts";
export { noWorkspace } from "./none.ts";
export type * from "./one-workspace.ts";
export { parsePath, shownPath } from "./path.ts";
export { type ArchiveRead, readArchive } from "./read-archive.ts";
export { isLeftBehind, removeTree } from "./remove-tree.ts";
export type { Spooled } from "./spool.ts";
export { openUnpacking } from "./unpack-archive.ts";
export { openUpkeep } from "./upkeep.ts";

/** Who has which files. The one owner of host paths: tools, uploads, HTTP and the sandbox all come this way. */
export interface Workspaces {
  /** Makes the conversation's folders now; without it they are made by the first write. */
  create(conversation: ConversationRow): Promise<Result<void, FileFailure | StorageFailure>>;
  /** What the main agent and the user work with. Touches nothing by itself. */
  ofConversation(conversation: ConversationRow): Workspace;
  /** The same for looking only: that is no use of it, so it is cleaned up all the same. Undefined where it has none yet. */
  lookInto(conversation: ConversationRow): Promise<Workspace | undefined>;
  /**
   * What an agent works with: the conversation's for `root` and the workers it delegates to; a task's for the task's
   * agents, found by the chain of ancestors. Touches nothing by itself.
   */
  ofAgent(conversation: ConversationRow, agent: string | undefined): Promise<Result<Workspace, FileFailure>>;
  /** The task's workspace that an agent shares, by its ancestors; `root` and `user` have none. */
  taskOf(conversation: ConversationRow, agent: string): Promise<Result<Workspace, FileFailure>>;
  /** Records an agent of the tree; one that root makes gets a workspace of its own, whose folder its first write makes. */
  assignTask(conversation: ConversationRow, made: NewAgent): Promise<Result<void, FileFailure | StorageFailure>>;
  /** The same, to be stored together with the event that makes the agent. */
  agentRow(made: NewAgent): NonNullable<SideRows["agents"]>[number];
  /** A branch begins with the files of its parent, and with those `earlier` contents of them that are still kept. */
  copy(
    from: ConversationRow,
    to: ConversationRow,
    earlier?: readonly FileState[],
  ): Promise<Result<Copied, FileFailure | StorageFailure>>;
  /** When the files of this conversation were last moved to the trash, if they were. */
  cleanedAt(conversation: ConversationRow): Promise<number | undefined>;

  /** Moves what nobody used for so long to the trash: everybody's, or with `owner` only theirs. */
  clean(options: CleanWanted): Promise<Cleaned>;
  trash(owner: ConversationRow["owner"]): Promise<Trashed[]>;
  /** By id or the beginning of one. */
  restore(
    owner: ConversationRow["owner"],
    id: string,
  ): Promise<Result<Restored, FileFailure | StorageFailure | TrashFailure>>;
  /** Finishes what a crash interrupted: half-written files, folders of deleted conversations, trash past its time. */
  sweep(): Promise<Swept>;
  /** Takes in bytes before it is known whose they are. */
  spool(source: AsyncIterable<Uint8Array>, options: SpoolOptions): Promise<Result<Spooled, FileFailure>>;
  /** Uploads that come in several parts. */
  readonly incoming: Incoming;
  /** The database and all files as one tar file, made while it is taken and while others go on working. */
  archive(wanted: ArchiveWanted): AsyncGenerator<Uint8Array, void, undefined>;
  /** Whether files can be written and read back right now: really tried. */
  check(): Promise<Result<void, FileFailure>>;
  /** Ends cleaning up after the workspace it is at, and records every use. Takes a second at the most. */
  close(): Promise<void>;
}

export type CleanWanted = {
  readonly unusedMs: number;
  readonly owner?: ConversationRow["owner"] | undefined;
  /** Its number: only what this one has. */
  readonly conversation?: number | undefined;
};
/** `workspaces` and `bytes` went to the trash; `skipped` could not be moved (the log says why). */
export type Cleaned = {
  readonly workspaces: number;
  readonly bytes: number;
  readonly skipped: number;
  /** Conversations that are at home in another process, which alone may move what they have; left out where there are none. */
  readonly elsewhere?: readonly number[];
};
/** `left`: folders of deleted conversations that could not be removed yet. */
export type Swept = { readonly left: number };
export type Trashed = {
  readonly id: string;
  /** The conversation it belongs to, as its owner knows it. */
  readonly conversation: string;
  /** The files of this agent's task; absent for the conversation's own. */
  readonly task?: string;
  readonly movedAt: number;
  readonly bytes: number;
  readonly files: number;
  /** After this it may be gone. */
  readonly until: number;
};
export type Restored = {
  readonly conversation: string;
  readonly files: number;
  /** Where things lie whose own place was taken by then: paths of folders such as `uploads/restored-1a2b3c4d`. */
  readonly beside: readonly string[];
};
export type TrashFailure = Failure<"trash_not_found">;

export type WorkspacesOptions = {
  /** Where all files lie. */
  readonly dataDir: string;
  /** Where the key of secrets is, where that is not there. */
  readonly keyDir?: string | undefined;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly limits: WorkspaceLimits;
  /** What workspaces lie in that are made from now on: a folder, unless said otherwise. */
  readonly disk?: Disk | undefined;
  /** Ends the programs of a conversation, before its folders are moved away. */
  readonly leave?: ((conversation: number) => Promise<void>) | undefined;
  /** Whether this process may tidy up for a conversation: another one may have it in use. Always, unless it is given. */
  readonly isHere?: ((conversation: number) => Promise<boolean>) | undefined;
  /** Other processes have the same folders: what lies in the staging folder may be theirs. */
  readonly isShared?: boolean | undefined;
  /** What the links in the `skills/` of conversations stand for. */
  readonly skills?: SkillCopies | undefined;
};

const closeMsMax = 1000;

/** Below the data directory: `workspace/` for conversations, `workspaces/` for tasks, `kept/`, `trash/` and `staging/`. */
export function openWorkspaces(options: WorkspacesOptions): Workspaces {
  const { storage } = options;
  const layout = layoutOf(options.dataDir);
  const [inUse, books] = [openInUse(), openBooks()];
  const images = hasImages(options) ? openImages({ ...options, layout, books }) : undefined;
  const places = openPlaces({ ...options, layout, images, books });
  const assignments = openAssignments(storage, layout);
  const views = openViews({ ...options, stagingFolder: layout.stagingFolder, places, books, inUse });
  let isClosing = false;
  const plots = openPlots({ ...options, layout, images, books });
  const isHere = options.isHere ?? (async () => true);
  const parts = {
    ...options,
    isHere,
    layout,
    books,
    inUse,
    plots,
    filesOf: views.unnoticed,
    isClosing: () => isClosing,
  };
  const incoming = openIncoming(options);
  const sweep = openSweep({ ...parts, incoming });
  // Cleaning up, giving back and removing would pull folders away under each other.
  const locks = openLocks();
  const inTurn = <T>(work: () => Promise<T>) => locks("trash", work);
  const keptOf = async (conversation: ConversationRow) => {
    const place = await places.ofConversation(conversation);
    return place.ok ? ok(openKept({ ...options, folder: place.value.keptFolder, books: books.kept })) : place;
  };

  return {
    async create(conversation) {
      const place = await places.ofConversation(conversation);
      return place.ok ? place.value.make() : place;
    },
    ofConversation: views.ofConversation,
    lookInto: ({ number }) => storage.findWorkspace(number).then((row) => row && views.unnoticed(row)),
    ...ofAgents(assignments, views),
    agentRow,
    async copy(from, to, earlier = []) {
      const created = await this.create(to);
      if (!created.ok) return created;
      const copied = await copyFiles(views.ofConversation(from), views.ofConversation(to));
      if (!copied.ok) return copied;
      const kept = await copyKeptOf(keptOf, { from, to, earlier });
      return kept.ok ? copied : kept;
    },
    async cleanedAt({ number }) {
      const cleanedAt = (await storage.findWorkspace(number))?.cleanedAt;
      return cleanedAt === nothingRemoved ? undefined : cleanedAt;
    },
    clean: (cleaning) => inTurn(() => cleanUnused(parts, cleaning)),
    trash: (owner) => listTrash(parts, owner),
    restore: (owner, id) => inTurn(() => restoreTrash(parts, owner, id)),
    sweep: () => inTurn(sweep),
    spool: (source, spooling) => openSpool(parts, source, spooling),
    incoming,
    archive: (wanted) => archive(parts, wanted),
    check: () => checkDisk(parts),
    async close() {
      isClosing = true;
      const isDone = new AbortController();
      await Promise.race([inTurn(places.settled), options.clock.wait(closeMsMax, isDone.signal)]);
      isDone.abort();
      await images?.close();
    },
  };
}

/** The conversation's own files, or those of the task that an agent works for. */
function ofAgents(
  assignments: ReturnType<typeof openAssignments>,
  views: ReturnType<typeof openViews>,
): Pick<Workspaces, "ofAgent" | "taskOf" | "assignTask"> {
  return {
    async ofAgent(conversation, agent = "root") {
      const found = await assignments.find(conversation.number, agent);
      if (!found.ok) return found;
      return ok(found.value === "conversation" ? views.ofConversation(conversation) : views.ofTask(found.value));
    },
    async taskOf({ number }, agent) {
      const found = await assignments.find(number, agent);
      if (!found.ok) return found;
      if (found.value === "conversation") return failure("workspace_not_assigned", { agent });
      return ok(views.ofTask(found.value));
    },
    assignTask: ({ number }, made) => assignments.assign(number, made),
  };
}

/** Images that were made once are there whatever is set by now. */
function hasImages({ disk, dataDir }: WorkspacesOptions): boolean {
  return disk === "image" || existsSync(join(dataDir, "images"));
}

type KeptOf = (conversation: ConversationRow) => Promise<Result<Kept, FileFailure | StorageFailure>>;

async function copyKeptOf(
  keptOf: KeptOf,
  { from, to, earlier }: { from: ConversationRow; to: ConversationRow; earlier: readonly FileState[] },
) {
  const [source, target] = [await keptOf(from), await keptOf(to)];
  if (!source.ok) return source;
  return target.ok ? copyKept(source.value, target.value, earlier) : target;
}

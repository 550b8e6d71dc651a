import type { Result } from "../base/result.ts";
import type { FileState } from "../protocol/events.ts";
import type { Failure } from "../protocol/failure.ts";

/**
 * The files below one root, and nowhere else. Paths are relative, with forward slashes; a path that could lead outside
 * is refused before anything is touched, links are never followed, and no answer holds a host path.
 */
export interface Workspace {
  /** As agents and users know it: the conversation's id, or the agent's. */
  readonly id: string;
  readonly kind: "conversation" | "task";
  readonly owner: string;
  /** Unlike that of any other workspace: `12` of a conversation by its number, `12@agent-1` of a task in it. */
  readonly name: string;

  /** What stands at a path: a file or a folder. */
  stat(path: string): Promise<Result<FileStat, FileFailure>>;
  /** Bytes of a regular file from `offset` on, at most `bytesMax` (16 MiB unless said otherwise). */
  read(path: string, range?: { offset?: number; bytesMax?: number }): Promise<Result<FileContent, FileFailure>>;
  /** The whole file piece by piece. Broken off with `read_failed` when it shrinks meanwhile; what is added is left out. */
  stream(path: string, range?: { offset?: number; length?: number }): Promise<Result<FileStream, FileFailure>>;
  /** SHA-256 of a regular file's bytes, read piece by piece. */
  hash(path: string): Promise<Result<string, FileFailure>>;
  /** One level, sorted by name; hidden entries only when asked for. */
  list(path?: string, options?: { hidden?: boolean }): Promise<Result<Listing, FileFailure>>;
  /** Everything below a folder, in slices that leave the event loop free; hidden entries and links are left out. */
  walk(path?: string, options?: WalkOptions): Promise<Result<AsyncIterable<WalkEntry>, FileFailure>>;
  info(): Promise<Result<WorkspaceInfo, FileFailure>>;

  /** Old or new, never a mix; parents are made. The folder itself is made by the first write. */
  write(path: string, data: FileData, options?: WriteOptions): Promise<Result<FileChange, FileFailure>>;
  /** A file. A folder goes with everything in it, and its change has neither before nor after. */
  remove(path: string, options?: ChangeOptions): Promise<Result<FileChange, FileFailure>>;
  /** Empties a folder that stays, `temp` for one; one that is not there counts as empty. */
  empty(path: string): Promise<Result<void, FileFailure>>;
  /** Gives a file the bytes and mode of an earlier state, or takes it away where there was none; `read_failed` when they were not kept. */
  restore(
    path: string,
    state: FileState | undefined,
    options?: RestoreOptions,
  ): Promise<Result<FileChange, FileFailure>>;

  /**
   * Looks at everything before programs run that may change any of it: earlier contents are kept for undo, then and
   * after every answer of `changes`. Two at a time share what they know, and each change is told once. Whoever begins
   * to observe asks for the changes however the program ends: until then nothing counts as done by others.
   */
  observe(options?: ObserveOptions): Promise<Result<Observation, FileFailure>>;
  /** Takes the long first look now where there was none, so that who observes next finds it done. Broken off by `signal`. */
  lookAhead(options: LookAheadOptions): Promise<Result<void, FileFailure>>;
  /**
   * What it takes up on disk now, by blocks, against what it may; quick enough to be asked every second. `moreBytes`:
   * what no folder tells of.
   */
  measure(options?: MeasureOptions): Promise<Result<Measured, FileFailure>>;
  /**
   * Where a sandbox finds these files; made when they are not there. That of a task waits elsewhere until a program has
   * written something. Host paths: for the sandbox alone.
   */
  guestFolder(): Promise<Result<GuestFolder, FileFailure>>;

  /**
   * The root that a path lies below, for a thread of this process that reads by itself, see `filesBelow`: the
   * workspace's own, or that of a skill. Undefined while nothing was written.
   */
  openDescriptor(path?: string): Promise<Result<Descriptor | undefined, FileFailure>>;
}

export type FileFailure = Failure<
  | "workspace_not_assigned"
  | "path_traversal_blocked"
  | "path_invalid"
  | "file_not_found"
  | "permission_denied"
  | "write_failed"
  | "read_failed"
  | "not_a_file"
  | "not_a_folder"
  | "too_large"
  | "quota_exceeded"
  | "conflict"
  | "unsupported_type"
>;

export type FileStat = {
  /** As listed: without a leading `./`, folders without a trailing slash. */
  readonly path: string;
  readonly type: "file" | "folder";
  readonly bytes: number;
  /** Permission bits. */
  readonly mode: number;
  readonly modifiedAt: number;
};

export type FileContent = {
  readonly stat: FileStat;
  readonly bytes: Buffer;
  /** Nothing was ever written into this task's workspace: every file in it reads as empty. */
  readonly isUnwritten: boolean;
};

/** `chunks` holds the file open until it is read to its end, or ended by `return`. */
export type FileStream = { readonly stat: FileStat; readonly chunks: Chunks };
export type Chunks = AsyncIterable<Buffer> & {
  next(): Promise<IteratorResult<Buffer, undefined>>;
  return(): Promise<IteratorResult<Buffer, undefined>>;
};
export type FileData = Uint8Array | string | AsyncIterable<Uint8Array>;

/** `special`: a link, pipe, socket or device, which cannot be used. `skill`: a link that we placed. */
export type Entry = {
  readonly name: string;
  readonly type: "file" | "folder" | "skill" | "special";
  readonly bytes: number;
  readonly modifiedAt: number;
};
export type Listing = { readonly path: string; readonly entries: readonly Entry[]; readonly isUnwritten: boolean };

export type WalkOptions = { readonly hidden?: boolean; readonly signal?: AbortSignal };
/**
 * `standsFor`: so many files lie deeper than a path may lead, below the folder that this path names before its `…`. None
 * of them can be read; there is one such entry for each folder.
 */
export type WalkEntry = FileStat & { readonly standsFor?: number };

/** Under the names that `get_workspace_info` answers with [W8]. */
export type WorkspaceInfo = {
  readonly fileCount: number;
  readonly dirCount: number;
  readonly totalSize: number;
  readonly lastModified: string | null;
  /** Some folders may not be read: what is in them is not counted. */
  readonly isPartial?: true;
};

export type ChangeOptions = {
  /** The same for every attempt at one call: a change that was made before a crash is found again, not made twice. */
  readonly key?: string | undefined;
  /** What is there now is kept, so that it can be given back; a change under a key keeps it anyway. */
  readonly keeps?: true | undefined;
  /** Fires before the change was begun: it is refused. Afterwards it runs to its end. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the change is begun: from here on it cannot be stopped. */
  readonly onStart?: (() => void) | undefined;
};

export type RestoreOptions = Pick<ChangeOptions, "signal" | "onStart"> & Pick<WriteOptions, "expected">;

export type WriteOptions = ChangeOptions & {
  readonly mode?: number | undefined;
  /** `conflict` unless the present content has this hash; null: unless there is no file. */
  readonly expected?: string | null | undefined;
  /** `too_large` as soon as more has come in. */
  readonly limit?: { readonly bytes: number; readonly setting: string } | undefined;
  /**
   * Chooses the last name of the path when everything has come in, given the names in its folder by then. Nobody else
   * who chooses there comes in between.
   */
  readonly choose?: ((taken: ReadonlySet<string>) => Result<string, FileFailure>) | undefined;
  /** Looks at everything that came in before it takes the file's place; a failure leaves all as it was. */
  readonly inspect?: (() => FileFailure | undefined) | undefined;
};

/** What a change did, for the ledger. `lost`: why the bytes before cannot be given back. */
export type FileChange = {
  readonly path: string;
  readonly before: FileState | undefined;
  readonly after: FileState | undefined;
  readonly lost: "too_large" | "quota" | "unreadable" | undefined;
};

export type ObserveOptions = {
  /** Inodes of files that are changed by writing into memory: only their content tells. Undefined: any may be. */
  readonly sharedFiles?: (() => Promise<ReadonlySet<number> | undefined>) | undefined;
  /** Those who were observed before may have left something running: what it did since is told to this one. */
  readonly isContinued?: boolean | undefined;
};

export type LookAheadOptions = Pick<ObserveOptions, "sharedFiles"> & { readonly signal: AbortSignal };

export type Observation = {
  /** Some of what is told was done before this one began. */
  readonly hasEarlier: boolean;
  /** What became of files since the last answer, by path, for the ledger. Links and other odd things are no files. */
  changes(): Promise<Result<readonly FileChange[], FileFailure>>;
  /** What all of it took up at the last look: the one it began with, or that of `changes`. Undefined: that one failed. */
  measured(): Measured | undefined;
  /** There will be no program after all, and nobody asks for changes. */
  leave(): void;
};

/** `mayBeOld`: the last count will do, whenever it was made, as long as it is within the limits. The disk is asked anew. */
export type MeasureOptions = { readonly moreBytes?: number | undefined; readonly mayBeOld?: boolean | undefined };

export type Measured = {
  /** When it is far over, what is said may not be all. */
  readonly bytes: number;
  /** All that is no folder; of folders there may be as many. */
  readonly files: number;
  readonly folders: number;
  /** What is free on the disk below. */
  readonly freeBytes: number;
  readonly over: "bytes" | "files" | "disk" | undefined;
  /** By so much that no program leaves it by mistake. */
  readonly isFarOver: boolean;
  /** What it may take up. */
  readonly bytesMax: number;
  readonly filesMax: number;
};

export type GuestFolder = {
  readonly folder: string;
  /** As programs inside see it: `/workspace/{id}`. */
  readonly inside: string;
  /** A conversation: only these folders can be written; a task: everything. */
  readonly writable: readonly string[] | "all";
  /** Where the skills of the conversation lie, if it has any; inside they can only be read. */
  readonly skills: string | undefined;
  /** What the links there lead to, which programs find at `/skills`. */
  readonly skillCopies?: string | undefined;
  /** Whom its files belong to when this process is root: nobody else's, now or later. */
  readonly uid: number | undefined;
  /** Which folders these are, by name, `.` for all: from the descriptors that uploads go through. */
  readonly marks: Readonly<Record<string, string>>;
  /** Nobody mounts it any more, or it was not mounted after all. */
  release(): void;
};

/** `path`: from this root on; `prefix`: what leads to the root, to be put before every path that is found. */
export type Descriptor = { readonly fd: number; readonly path: string; readonly prefix: string; close(): void };

export type WorkspaceLimits = {
  /** Of one workspace. */
  readonly bytesMax: number;
  readonly filesMax: number;
  /** What must stay free on the disk: programs are stopped before. */
  readonly freeBytesMin: number;
  /** Of a file's earlier content that is kept for undo, and of all kept contents of one workspace. */
  readonly keptFileBytesMax: number;
  readonly keptBytesMax: number;
  /** How long the trash can be restored. */
  readonly trashMs: number;
  /** How long a conversation that a caller made for one call of its own stays after its last use; 0 is for ever. */
  readonly callerMs: number;
};

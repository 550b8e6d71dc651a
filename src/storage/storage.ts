import type { Result } from "../base/result.ts";
import type { EventType } from "../protocol/events.ts";
import type { Failure } from "../protocol/failure.ts";
import type { ConversationId, OwnerId } from "../protocol/ids.ts";
import type {
  AgentRow,
  ApiKeyRow,
  BoxToolRow,
  ConversationRow,
  CopyFacts,
  ExecutionRow,
  ListedExecution,
  MemoryRow,
  NewConversation,
  NewTrash,
  OnceRow,
  RuleRow,
  SecretNote,
  SecretRow,
  SessionRow,
  SignInRow,
  StorageCounts,
  ToolboxRow,
  TrashRow,
  UserRow,
  WorkspaceRow,
} from "./records.ts";
import type { Sharing } from "./sharing.ts";

export type * from "./records.ts";
export { type Present, type ServerRow, type Sharing, serverGoneMs, type Told, toldTopics } from "./sharing.ts";

/**
 * The only place that keeps events and rows. SQLite or PostgreSQL; one suite for both (decisions 0044, 0100).
 * Every read of something that belongs to somebody takes its owner. What was acknowledged is on disk.
 */
export interface Storage extends Sharing {
  /** An id that was deleted stays taken: `conversation_not_found`, for ever. */
  createConversation(conversation: NewConversation): Promise<Result<ConversationRow, StorageFailure>>;
  findConversation(owner: OwnerId, id: ConversationId): Promise<ConversationRow | undefined>;
  /** For the engine's own use (recovery, branches): no owner asked, and a deleted one is found by its `deletedAt`. */
  conversationByNumber(number: number): Promise<ConversationRow | undefined>;
  /** Who has a conversation of this id: those who still have it, else those who had. For a caller whom nothing else names. */
  ownersOfConversation(id: ConversationId, limit: number): Promise<OwnerId[]>;
  /** By id prefix, newest first, at most `limit`. Deleted ones are not found. */
  findByPrefix(owner: OwnerId, prefix: string, limit: number): Promise<ConversationRow[]>;
  /**
   * Those that changed last come first; `before` is the cursor of the last row seen. What a caller made for one call of
   * its own (`origin: "program"`) is not listed. `isPinned`: only those.
   */
  listConversations(
    owner: OwnerId,
    page: { limit: number; before?: string | undefined; isPinned?: boolean | undefined },
  ): Promise<ConversationRow[]>;
  /** The same order, by number of the page, and how many there are; `title` is a part of it, in any case of letters. */
  searchConversations(
    owner: OwnerId,
    wanted: { appKey?: string | undefined; title?: string | undefined; limit: number; offset: number },
  ): Promise<{ readonly items: ConversationRow[]; readonly total: number }>;
  /**
   * Conversations of callers that nobody used since `before`: neither changed nor woken since, no live lease, and no
   * person is asked. Passing ones or the others; the longest unused comes first. `only`: whether this number is one.
   */
  unusedByCallers(wanted: {
    readonly before: number;
    readonly isPassing: boolean;
    readonly limit: number;
    readonly only?: number | undefined;
  }): Promise<ConversationRow[]>;

  /**
   * Appends all events of the batch with its side rows, or nothing. Appends of one tick share one transaction.
   * `epoch` given: fails with `fenced` unless it is the lease's current one, checked in the same transaction.
   */
  append(batch: Append): Promise<Result<{ readonly lastSeq: number }, StorageFailure>>;
  /** Events with `after < seq`, in order. */
  read(number: number, range: { after: number; limit: number; upTo?: number | undefined }): Promise<StoredEvent[]>;
  /** The newest events, newest first, with `seq < before`. */
  readBack(number: number, range: { before: number; limit: number }): Promise<StoredEvent[]>;
  headOf(number: number): Promise<number>;
  /** Calls `listener` after each commit that appended to the conversation; the answer ends it. */
  onAppend(number: number, listener: (lastSeq: number) => void): () => void;

  /** A client's own id for a message it sent: the seq it was stored at, if it was. */
  received(number: number, clientId: string): Promise<number | undefined>;

  /**
   * `fenced` while a lease lives, also the claimer's own. `wasAbandoned`: the holder before never released it, so its
   * process ended in the middle of something (an orderly stop releases).
   */
  claimLease(
    number: number,
    holder: string,
    ttlMs: number,
  ): Promise<Result<{ readonly epoch: number; readonly wasAbandoned: boolean }, StorageFailure>>;
  /** For a process that has just opened this storage: leases of processes that do not live any more run out now. */
  expireLeases(): Promise<void>;
  /** False: somebody else holds it by now. A failure, twice in a row, does not say whose it is: the next append does. */
  renewLease(
    number: number,
    lease: { holder: string; epoch: number; ttlMs: number },
  ): Promise<Result<boolean, StorageFailure>>;
  releaseLease(number: number, lease: { holder: string; epoch: number }): Promise<void>;

  /**
   * Conversations that have something to do and whose lease is free or run out, oldest wake first. `server`: without those
   * that are at home with another one that lives.
   */
  dueWakes(limit: number, server?: string): Promise<Wake[]>;

  /** Belongs to the conversation and goes with it. The same bytes twice are stored once. */
  putBlob(number: number, data: Uint8Array): Promise<Result<{ readonly hash: string }, StorageFailure>>;
  getBlob(number: number, hash: string): Promise<Uint8Array | undefined>;

  /** Decisions that nobody made yet, over all conversations of the owner, oldest first. */
  openDecisions(owner: OwnerId, limit: number): Promise<OpenDecisionRow[]>;

  /** Newest first; with `number` only those that count in that conversation: the user's own and that conversation's. */
  listRules(owner: OwnerId, where: { number?: number | undefined; limit: number }): Promise<RuleRow[]>;
  /** The same id again replaces it. Rules of a conversation go with it. */
  putRule(row: RuleRow): Promise<Result<void, StorageFailure>>;
  /** False: there was none. */
  dropRule(owner: OwnerId, id: string): Promise<Result<boolean, StorageFailure>>;

  /** What a user wants to be known everywhere, oldest first. */
  listMemory(owner: OwnerId, limit: number): Promise<MemoryRow[]>;
  /** The same id again replaces it. */
  putMemory(row: MemoryRow): Promise<Result<void, StorageFailure>>;
  dropMemory(owner: OwnerId, id: string): Promise<Result<boolean, StorageFailure>>;

  /** The same name again replaces the value, and keeps since when there is one. */
  putSecret(row: SecretRow): Promise<Result<void, StorageFailure>>;
  findSecret(owner: OwnerId, name: string): Promise<SecretRow | undefined>;
  /** In the order of their names. */
  listSecrets(owner: OwnerId, limit: number): Promise<SecretNote[]>;
  dropSecret(owner: OwnerId, name: string): Promise<Result<boolean, StorageFailure>>;

  /** With these of its tools, or nothing of it. The same ids again replace; what another owner has stays as it is. */
  putToolbox(row: ToolboxRow, tools: readonly BoxToolRow[]): Promise<Result<void, StorageFailure>>;
  /** With its tools. False: there was none. */
  dropToolbox(owner: OwnerId, id: string): Promise<Result<boolean, StorageFailure>>;
  dropBoxTools(owner: OwnerId, box: string, ids: readonly string[]): Promise<Result<void, StorageFailure>>;
  /** Of all users, oldest first: who may see them is operators' business. */
  listToolboxes(limit: number): Promise<ToolboxRow[]>;
  /** Of all boxes, in the order they came. */
  listBoxTools(limit: number): Promise<BoxToolRow[]>;

  /**
   * The workspace of a conversation: made with this folder when it has none yet, else the one it has. Where another
   * conversation already has the folder's name, `otherFolder` is taken instead.
   */
  workspaceOf(
    number: number,
    wanted: { folder: string; otherFolder: string; at: number },
  ): Promise<Result<WorkspaceRow, StorageFailure>>;
  /** Looking never makes one. */
  findWorkspace(number: number): Promise<WorkspaceRow | undefined>;
  /** The conversation that this folder was given to, or to a task of it; also one that is deleted. */
  numberOfFolder(folder: string): Promise<number | undefined>;
  /** Agents of the conversation's tree, in the order they were made; `root` is not among them. */
  agentsOf(number: number): Promise<AgentRow[]>;
  /** Given fields are set, but `usedAt` never to an earlier time; null takes `cleanedAt` away. Unknown folders are left alone. */
  updateWorkspace(
    folder: string,
    set: { madeAt?: number; usedAt?: number; cleanedAt?: number | null },
  ): Promise<Result<void, StorageFailure>>;
  /**
   * Workspaces whose folder was made, that have no `cleanedAt` and were not used since `before`, and whose conversation
   * was not changed since then either, has no live lease, no wake and no open decision. The longest unused comes first.
   */
  unusedWorkspaces(
    before: number,
    limit: number,
    only?: { readonly owner?: OwnerId | undefined; readonly folder?: string | undefined },
  ): Promise<WorkspaceRow[]>;
  /** Of deleted conversations, tasks included: their folders are to be removed, then `forgetWorkspace` ends it. */
  orphanedWorkspaces(limit: number): Promise<WorkspaceRow[]>;
  /** One of a living conversation stays. */
  forgetWorkspace(folder: string): Promise<Result<void, StorageFailure>>;

  /** The same id again replaces its row. */
  putTrash(row: NewTrash): Promise<Result<void, StorageFailure>>;
  /** Newest first; those of deleted conversations are not found. */
  listTrash(owner: OwnerId, limit: number): Promise<TrashRow[]>;
  findTrash(owner: OwnerId, id: string): Promise<TrashRow | undefined>;
  /** Moved before this time, over all owners, and those of deleted conversations; oldest first. */
  expiredTrash(before: number, limit: number): Promise<TrashRow[]>;
  dropTrash(id: string): Promise<Result<void, StorageFailure>>;

  /** One a user; the same owner again replaces it. */
  putSession(row: SessionRow): Promise<Result<void, StorageFailure>>;
  findSession(owner: OwnerId): Promise<SessionRow | undefined>;
  /** Only ever later; nothing else of it changes. */
  touchSession(owner: OwnerId, usedAt: number): Promise<Result<void, StorageFailure>>;
  /** The sessions of all users, those used last first. */
  listSessions(limit: number): Promise<SessionRow[]>;
  /** With the records of its executions. */
  forgetSession(owner: OwnerId): Promise<Result<void, StorageFailure>>;

  /**
   * The same id again replaces it, until it has its end: what is over stays as it is, and the answer is false.
   * `isOnDisk: false`: it is safe from the end of this process, but from a power cut only with the next write. `server`:
   * which one runs it.
   */
  putExecution(
    row: ExecutionRow,
    options?: { readonly isOnDisk?: boolean; readonly server?: string },
  ): Promise<Result<boolean, StorageFailure>>;
  findExecution(owner: OwnerId, id: string): Promise<ExecutionRow | undefined>;
  /** For a caller whom nothing else names. */
  ownerOfExecution(id: string): Promise<OwnerId | undefined>;
  /** Newest first. */
  listExecutions(
    owner: OwnerId,
    page: { limit: number; offset: number },
  ): Promise<{ readonly items: ListedExecution[]; readonly total: number }>;
  /** The executions of all users that have no end yet and that no living server runs, oldest first. */
  openExecutions(limit: number): Promise<ExecutionRow[]>;
  /** Takes away those that ended before this time. */
  dropExecutions(before: number): Promise<Result<void, StorageFailure>>;
  /** Takes away the oldest ones of a user until so many are left; what has no end yet counts and stays. */
  trimExecutions(
    owner: OwnerId,
    to: { readonly rowsMax: number; readonly bytesMax: number },
  ): Promise<Result<void, StorageFailure>>;

  /** The same id again replaces it. */
  putUser(row: UserRow): Promise<Result<void, StorageFailure>>;
  findUser(id: OwnerId): Promise<UserRow | undefined>;
  /** By who they are at the sign-in service. */
  findUserBySubject(subject: string): Promise<UserRow | undefined>;
  /** In the order they were added. */
  listUsers(limit: number): Promise<UserRow[]>;
  /** With keys, sign-ins and secrets; what else they own stays. False: there was none. */
  dropUser(id: OwnerId): Promise<Result<boolean, StorageFailure>>;
  /** Whether something was left under this name, deleted conversations included, with a user or without. */
  ownsAnything(owner: OwnerId): Promise<boolean>;

  /** The same id again replaces it; one that another owner has stays as it is. */
  putKey(row: ApiKeyRow): Promise<Result<void, StorageFailure>>;
  findKey(hash: string): Promise<ApiKeyRow | undefined>;
  /** When it was used; one that was revoked meanwhile stays so. */
  touchKey(hash: string, usedAt: number): Promise<Result<void, StorageFailure>>;
  listKeys(owner: OwnerId): Promise<ApiKeyRow[]>;
  dropKey(owner: OwnerId, id: string): Promise<Result<boolean, StorageFailure>>;

  putSignIn(row: SignInRow): Promise<Result<void, StorageFailure>>;
  findSignIn(hash: string): Promise<SignInRow | undefined>;
  /** False: it has ended meanwhile, and stays so. */
  renewSignIn(hash: string, endsAt: number): Promise<Result<boolean, StorageFailure>>;
  /** False: there was none (any more): a one-time link counts once. */
  dropSignIn(hash: string): Promise<Result<boolean, StorageFailure>>;
  /** All of a user; and, whosever they are, those that ended before this time. */
  dropSignIns(which: { readonly owner: OwnerId } | { readonly before: number }): Promise<Result<void, StorageFailure>>;

  /**
   * Notes that a call under this key begins, unless one has: the answer is the row as it stands, `isNew` when it is this
   * one. What a caller did under a key is theirs: keys of two owners never meet.
   */
  beginOnce(row: Omit<OnceRow, "answer">): Promise<Result<{ row: OnceRow; isNew: boolean }, StorageFailure>>;
  endOnce(owner: OwnerId, key: string, answer: string): Promise<Result<void, StorageFailure>>;
  dropOnceBefore(at: number): Promise<Result<void, StorageFailure>>;

  /** A whole, checked copy of the database as it is at one moment, in a new file; others write on meanwhile. */
  copyTo(path: string): Promise<Result<CopyFacts, StorageFailure>>;
  /** How much there is of everything, over all owners. */
  count(): Promise<StorageCounts>;

  /** Whether the database can be read and locked for writing right now: really tried. */
  check(): Promise<Result<void, StorageFailure>>;
  close(): Promise<void>;
}

/** Tool boxes with their tools. */
export type ToolboxStorage = Pick<
  Storage,
  "putToolbox" | "dropToolbox" | "dropBoxTools" | "listToolboxes" | "listBoxTools" | "onTold"
>;

/** What is kept for calls to others. */
export type SecretStorage = Pick<Storage, "putSecret" | "findSecret" | "listSecrets" | "dropSecret">;

/** Who may call, with what. */
export type UserStorage = Pick<
  Storage,
  | "putUser"
  | "findUser"
  | "findUserBySubject"
  | "listUsers"
  | "dropUser"
  | "ownsAnything"
  | "putKey"
  | "touchKey"
  | "findKey"
  | "listKeys"
  | "dropKey"
  | "putSignIn"
  | "renewSignIn"
  | "findSignIn"
  | "dropSignIn"
  | "dropSignIns"
  | "onTold"
>;

/** Body as JSON text, checked by log/. */
export type EncodedEvent = {
  readonly type: EventType;
  readonly version: number;
  readonly at: number;
  readonly body: string;
};
export type StoredEvent = {
  readonly seq: number;
  readonly type: string;
  readonly version: number;
  readonly at: number;
  readonly body: string;
};

export type Append = {
  readonly number: number;
  readonly epoch?: number | undefined;
  /** The batch rests on the log up to here: `log_moved` when it has grown since, and nothing is written. */
  readonly expectedHead?: number | undefined;
  readonly events: readonly EncodedEvent[];
  /** Rows beside the events, written in the same transaction. */
  readonly with?: SideRows | undefined;
};

export type SideRows = {
  /** The events carry a client's message under this id; appending it twice appends once and answers the first seq. */
  readonly received?: string | undefined;
  /**
   * Something is to be done (a time: not before it); or nothing is any more, provided that the log's head before this
   * batch is `doneAtHead` (a message that came in between keeps its wake).
   */
  readonly wake?: { readonly notBefore: number } | { readonly doneAtHead: number } | undefined;
  readonly row?:
    | {
        readonly title?: string;
        readonly lastMessage?: string;
        readonly turns?: number;
        /** Set once: what is there stays. */
        readonly agentId?: string;
        readonly appKey?: string;
        readonly readIndex?: number;
        readonly isPinned?: boolean;
        /** Only ever later. */
        readonly seenAt?: number;
        /** Absent: nothing of the conversation itself has changed. */
        readonly updatedAt?: number;
      }
    | undefined;
  readonly asked?: readonly { readonly decision: string; readonly body: string }[] | undefined;
  readonly decided?: readonly string[] | undefined;
  /** What is allowed always from the moment of these events on; the same id again replaces it. */
  readonly rules?: readonly RuleRow[] | undefined;
  /** Agents made by these events. `folder`: it gets a workspace of its own (a task). An id that is there already stays as it is. */
  readonly agents?:
    | readonly { readonly id: string; readonly parent: string; readonly folder?: string | undefined }[]
    | undefined;
  /**
   * Tombstone: the conversation is gone for every read from here on; its events (those of this batch too), received
   * rows, wake, lease, decisions, rules, agents and blobs are removed; its workspaces become orphans. Followers are told; `conversationByNumber` says why.
   */
  readonly deleted?: { readonly at: number } | undefined;
};

/** `head`: how far its log has come. */
export type Wake = { readonly number: number; readonly notBefore: number; readonly head: number };

export type OpenDecisionRow = {
  readonly conversation: ConversationRow;
  readonly decision: string;
  readonly body: string;
  readonly at: number;
};

/** Thrown where something is read, which has no failure as an answer: whoever asked can do so again later. */
export class StorageAway extends Error {
  readonly failure: Failure<"database_away" | "storage_busy">;

  constructor(failure: Failure<"database_away" | "storage_busy">, cause: unknown) {
    super("the database does not answer", { cause });
    this.failure = failure;
  }
}

export type StorageFailure = Failure<
  | "fenced"
  | "log_moved"
  | "storage_busy"
  | "storage_full"
  | "storage_read_only"
  | "storage_broken"
  | "database_away"
  | "conversation_exists"
  | "conversation_not_found"
>;

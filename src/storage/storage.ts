import type { Result } from "../base/result.ts";
import type { EventType } from "../protocol/events.ts";
import type { Failure } from "../protocol/failure.ts";
import type { ConversationId, OwnerId } from "../protocol/ids.ts";

/**
 * The only place that keeps facts. SQLite today, PostgreSQL with growth; one contract suite for both.
 * Every read of something that belongs to somebody takes its owner. What was acknowledged is on disk.
 */
export interface Storage {
  /** An id that was deleted stays taken: `conversation_not_found`, for ever. */
  createConversation(conversation: NewConversation): Promise<Result<ConversationRow, StorageFailure>>;
  findConversation(owner: OwnerId, id: ConversationId): Promise<ConversationRow | undefined>;
  /** For the engine's own use (recovery, branches): no owner asked, and a deleted one is found by its `deletedAt`. */
  conversationByNumber(number: number): Promise<ConversationRow | undefined>;
  /** By id prefix, newest first, at most `limit`. Deleted ones are not found. */
  findByPrefix(owner: OwnerId, prefix: string, limit: number): Promise<ConversationRow[]>;
  /** Those that changed last come first; `before` is the cursor of the last row seen. */
  listConversations(owner: OwnerId, page: { limit: number; before?: string | undefined }): Promise<ConversationRow[]>;

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
  /** For a process that has just become the sole owner of this storage: leases of earlier processes run out now. */
  expireLeases(): Promise<void>;
  /** False: somebody else holds it by now, or it could not be written twice in a row. */
  renewLease(number: number, lease: { holder: string; epoch: number; ttlMs: number }): Promise<boolean>;
  releaseLease(number: number, lease: { holder: string; epoch: number }): Promise<void>;

  /** Conversations that have something to do and whose lease is free or run out, oldest wake first. */
  dueWakes(limit: number): Promise<Wake[]>;

  /** Belongs to the conversation and goes with it. The same bytes twice are stored once. */
  putBlob(number: number, data: Uint8Array): Promise<Result<{ readonly hash: string }, StorageFailure>>;
  getBlob(number: number, hash: string): Promise<Uint8Array | undefined>;

  /** Decisions that nobody made yet, over all conversations of the owner, oldest first. */
  openDecisions(owner: OwnerId, limit: number): Promise<OpenDecisionRow[]>;

  close(): Promise<void>;
}

export type NewConversation = {
  readonly owner: OwnerId;
  readonly id: ConversationId;
  readonly title?: string | undefined;
  readonly at: number;
  readonly events: readonly EncodedEvent[];
  /** A branch: the events may name blobs of this conversation, which are copied. */
  readonly blobsOf?: number | undefined;
};

export type ConversationRow = {
  readonly number: number;
  readonly owner: OwnerId;
  readonly id: ConversationId;
  readonly title: string;
  readonly lastMessage: string;
  readonly turns: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt: number | undefined;
  /** For paging. */
  readonly cursor: string;
};

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
    | { readonly title?: string; readonly lastMessage?: string; readonly turns?: number; readonly updatedAt: number }
    | undefined;
  readonly asked?: readonly { readonly decision: string; readonly body: string }[] | undefined;
  readonly decided?: readonly string[] | undefined;
  /**
   * Tombstone: the conversation is gone for every read from here on; its events (those of this batch too), received
   * rows, wake, lease, decisions and blobs are removed. Followers are told; `conversationByNumber` says why.
   */
  readonly deleted?: { readonly at: number } | undefined;
};

export type Wake = { readonly number: number; readonly notBefore: number };

export type OpenDecisionRow = {
  readonly conversation: ConversationRow;
  readonly decision: string;
  readonly body: string;
  readonly at: number;
};

export type StorageFailure = Failure<
  | "fenced"
  | "log_moved"
  | "storage_busy"
  | "storage_full"
  | "storage_read_only"
  | "storage_broken"
  | "conversation_exists"
  | "conversation_not_found"
>;

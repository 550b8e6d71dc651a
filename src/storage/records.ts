import type { ConversationId, OwnerId } from "../protocol/ids.ts";
import type { EncodedEvent } from "./storage.ts";

// The rows beside the log, as every storage hands them out.

/** What a user allowed always; `body` is approvals' own, as JSON text. `number` is absent where it counts in all conversations. */
export type RuleRow = {
  readonly owner: OwnerId;
  readonly id: string;
  /** The conversation's number. */
  readonly number: number | undefined;
  readonly body: string;
  readonly at: number;
};

export type MemoryRow = {
  readonly owner: OwnerId;
  readonly id: string;
  readonly fact: string;
  /** Id of the conversation in which an agent wrote it down; undefined when the user did. */
  readonly conversation: string | undefined;
  readonly at: number;
};

/** A tool box; `body` is operators' own, as JSON text. */
export type ToolboxRow = {
  readonly id: string;
  readonly owner: OwnerId;
  readonly body: string;
  readonly createdAt: number;
  readonly updatedAt: number;
};
/** A tool in it. */
export type BoxToolRow = ToolboxRow & { readonly box: string };

/** That there is a secret, and since when. */
export type SecretNote = {
  readonly owner: OwnerId;
  readonly name: string;
  readonly createdAt: number;
  readonly updatedAt: number;
};
/** `sealed` is users' own: what it holds cannot be read without the key. */
export type SecretRow = SecretNote & { readonly sealed: Uint8Array };

export type UserRow = {
  readonly id: OwnerId;
  readonly name: string;
  /** As users/ hashed it; undefined: no sign-in by password. */
  readonly password: string | undefined;
  readonly isAdmin: boolean;
  /** `issuer subject` of the sign-in service; or, as users/ writes it, for whom of it the user waits. */
  readonly subject: string | undefined;
  readonly at: number;
};

export type ApiKeyRow = {
  readonly id: string;
  readonly owner: OwnerId;
  readonly name: string;
  /** SHA-256 of the key; the key itself is shown once and kept nowhere. */
  readonly hash: string;
  /** The first characters, for people to tell keys apart. */
  readonly shown: string;
  readonly scopes: readonly string[];
  readonly at: number;
  readonly usedAt: number | undefined;
  readonly endsAt: number | undefined;
};

/** A browser that is signed in, or a link that signs one in once. */
export type SignInRow = {
  readonly hash: string;
  readonly owner: OwnerId;
  readonly kind: "cookie" | "link";
  readonly at: number;
  readonly endsAt: number;
};

/** A call under an `Idempotency-Key`; `answer` is http's own, as JSON text, and absent while the call runs. */
export type OnceRow = {
  readonly owner: OwnerId;
  readonly key: string;
  /** What was asked: a key belongs to one call. */
  readonly fingerprint: string;
  readonly at: number;
  readonly answer: string | undefined;
};

/** What a copy of the database holds, as it was read back. */
export type CopyFacts = { readonly conversations: number; readonly events: number };

export type StorageCounts = {
  readonly conversations: number;
  readonly decisionsOpen: number;
};

/** What sandbox/ knows about a session, as JSON text. */
export type SessionRow = {
  readonly owner: OwnerId;
  readonly id: string;
  readonly usedAt: number;
  readonly body: string;
};

/** What sandbox/ knows about an execution, as JSON text. */
export type ExecutionRow = {
  readonly id: string;
  readonly owner: OwnerId;
  readonly createdAt: number;
  /** Undefined while it waits or runs. */
  readonly endedAt: number | undefined;
  /** What a list shows of it. */
  readonly body: string;
  /** All of it, where the body leaves something out. */
  readonly full: string | undefined;
};

export type ListedExecution = Omit<ExecutionRow, "full">;

/** Which folder a conversation or a task works in. `folder` is relative to the data directory, with forward slashes. */
export type WorkspaceRow = {
  readonly folder: string;
  readonly kind: "conversation" | "task";
  /** The conversation's id, or the agent's. */
  readonly id: string;
  readonly number: number;
  readonly owner: OwnerId;
  readonly createdAt: number;
  /** When the folder was made; undefined while nothing was written. */
  readonly madeAt: number | undefined;
  readonly usedAt: number;
  /** When its files were moved to the trash. */
  readonly cleanedAt: number | undefined;
  /** Counts up from 1 over all workspaces that ever were, and is never given twice. */
  readonly ordinal: number;
};

export type AgentRow = {
  readonly id: string;
  /** `root` or another agent. */
  readonly parent: string;
  /** Its own workspace; undefined where it shares that of an ancestor. */
  readonly workspace: WorkspaceRow | undefined;
};

/** `conversation`: the id of the one it belongs to, as its owner knows it. */
export type TrashRow = NewTrash & { readonly conversation: string };

export type NewTrash = {
  readonly id: string;
  readonly owner: OwnerId;
  readonly number: number;
  /** The conversation's or the agent's id, as people know it. */
  readonly workspace: string;
  /** Where its files were and go back to. */
  readonly folder: string;
  readonly movedAt: number;
  readonly bytes: number;
  readonly files: number;
};

export type NewConversation = {
  readonly owner: OwnerId;
  readonly id: ConversationId;
  readonly title?: string | undefined;
  /** `person` unless said otherwise. */
  readonly origin?: ConversationRow["origin"] | undefined;
  /** Made by a caller that wants nothing kept: it goes soon after its last use. */
  readonly isPassing?: boolean | undefined;
  readonly agentId?: string | undefined;
  readonly appKey?: string | undefined;
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
  /** `program`: made for one call of a caller that keeps its own history. */
  readonly origin: "person" | "program";
  /** Nothing of it is to be kept: it goes soon after its last use. */
  readonly isPassing: boolean;
  /** As the first chat named them. */
  readonly agentId: string | undefined;
  readonly appKey: string | undefined;
  /** Up to which message of the chat routes it was read. */
  readonly readIndex: number;
  readonly isPinned: boolean;
  /** Up to when its owner has looked at it; undefined where that was never told. */
  readonly seenAt: number | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt: number | undefined;
  /** For paging. */
  readonly cursor: string;
};

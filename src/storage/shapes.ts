import { ConversationId, OwnerId } from "../protocol/ids.ts";
import { integer, optionalInteger, optionalText, type Row, text } from "./rows.ts";
import type {
  AgentRow,
  ApiKeyRow,
  ConversationRow,
  ExecutionRow,
  ListedExecution,
  MemoryRow,
  OnceRow,
  OpenDecisionRow,
  RuleRow,
  SecretNote,
  SessionRow,
  SignInRow,
  StoredEvent,
  ToolboxRow,
  TrashRow,
  UserRow,
  Wake,
  WorkspaceRow,
} from "./storage.ts";

// Rows of the tables as storages hand them out. The columns have one name in every database.

export function conversationRow(row: Row): ConversationRow {
  const number = integer(row, "number");
  const updatedAt = integer(row, "updated_at");
  return {
    number,
    owner: OwnerId.parse(text(row, "owner")),
    id: ConversationId.parse(text(row, "id")),
    title: text(row, "title"),
    lastMessage: text(row, "last_message"),
    turns: integer(row, "turns"),
    origin: text(row, "origin") === "program" ? "program" : "person",
    isPassing: integer(row, "is_passing") === 1,
    agentId: optionalText(row, "agent_id"),
    appKey: optionalText(row, "app_key"),
    readIndex: integer(row, "read_index"),
    isPinned: integer(row, "is_pinned") === 1,
    seenAt: optionalInteger(row, "seen_at"),
    createdAt: integer(row, "created_at"),
    updatedAt,
    deletedAt: optionalInteger(row, "deleted_at"),
    cursor: `${updatedAt}.${number}`,
  };
}

export function workspaceRow(row: Row): WorkspaceRow {
  return {
    folder: text(row, "folder"),
    kind: text(row, "kind") === "task" ? "task" : "conversation",
    id: text(row, "id"),
    number: integer(row, "number"),
    owner: OwnerId.parse(text(row, "owner")),
    createdAt: integer(row, "created_at"),
    madeAt: optionalInteger(row, "made_at"),
    usedAt: integer(row, "used_at"),
    cleanedAt: optionalInteger(row, "cleaned_at"),
    ordinal: integer(row, "ordinal"),
  };
}

export function agentRow(row: Row): AgentRow {
  return {
    id: text(row, "agent"),
    parent: text(row, "parent"),
    workspace: row.folder === null ? undefined : workspaceRow(row),
  };
}

export function trashRow(row: Row): TrashRow {
  return {
    id: text(row, "id"),
    owner: OwnerId.parse(text(row, "owner")),
    number: integer(row, "number"),
    conversation: text(row, "conversation"),
    workspace: text(row, "workspace"),
    folder: text(row, "folder"),
    movedAt: integer(row, "moved_at"),
    bytes: integer(row, "bytes"),
    files: integer(row, "files"),
  };
}

export function sessionRow(row: Row): SessionRow {
  return {
    owner: OwnerId.parse(text(row, "owner")),
    id: text(row, "id"),
    usedAt: integer(row, "used_at"),
    body: text(row, "body"),
  };
}

export function executionRow(row: Row): ExecutionRow {
  return { ...listed(row), full: optionalText(row, "long_body") };
}

export function listed(row: Row): ListedExecution {
  return {
    id: text(row, "id"),
    owner: OwnerId.parse(text(row, "owner")),
    createdAt: integer(row, "created_at"),
    endedAt: optionalInteger(row, "ended_at"),
    body: text(row, "body"),
  };
}

export function ruleRow(row: Row): RuleRow {
  return {
    owner: OwnerId.parse(text(row, "owner")),
    id: text(row, "id"),
    number: optionalInteger(row, "number"),
    body: text(row, "body"),
    at: integer(row, "at"),
  };
}

export function memoryRow(row: Row): MemoryRow {
  return {
    owner: OwnerId.parse(text(row, "owner")),
    id: text(row, "id"),
    fact: text(row, "fact"),
    conversation: optionalText(row, "conversation"),
    at: integer(row, "at"),
  };
}

export function secretNote(row: Row): SecretNote {
  return {
    owner: OwnerId.parse(text(row, "owner")),
    name: text(row, "name"),
    createdAt: integer(row, "created_at"),
    updatedAt: integer(row, "updated_at"),
  };
}

export function boxRow(row: Row): ToolboxRow {
  return {
    id: text(row, "id"),
    owner: OwnerId.parse(text(row, "owner")),
    body: text(row, "body"),
    createdAt: integer(row, "created_at"),
    updatedAt: integer(row, "updated_at"),
  };
}

export function userRow(row: Row): UserRow {
  return {
    id: OwnerId.parse(text(row, "id")),
    name: text(row, "name"),
    password: optionalText(row, "password"),
    isAdmin: integer(row, "is_admin") === 1,
    subject: optionalText(row, "subject"),
    at: integer(row, "at"),
  };
}

export function keyRow(row: Row): ApiKeyRow {
  return {
    id: text(row, "id"),
    owner: OwnerId.parse(text(row, "owner")),
    name: text(row, "name"),
    hash: text(row, "hash"),
    shown: text(row, "shown"),
    scopes: text(row, "scopes")
      .split(" ")
      .filter((scope) => scope !== ""),
    at: integer(row, "at"),
    usedAt: optionalInteger(row, "used_at"),
    endsAt: optionalInteger(row, "ends_at"),
  };
}

export function signInRow(row: Row): SignInRow {
  return {
    hash: text(row, "hash"),
    owner: OwnerId.parse(text(row, "owner")),
    kind: text(row, "kind") === "link" ? "link" : "cookie",
    at: integer(row, "at"),
    endsAt: integer(row, "ends_at"),
  };
}

/** Where a page of a list begins; undefined for a cursor that is none of ours. */
export function placeOf(
  cursor: string | undefined,
): { readonly updatedAt: number; readonly number: number } | undefined {
  if (cursor === undefined) return { updatedAt: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER };
  const found = /^(\d{1,15})\.(\d{1,9})$/.exec(cursor);
  return found === null ? undefined : { updatedAt: Number(found[1]), number: Number(found[2]) };
}

/** By place: id, type, version, time, body. */
export function storedEvent(row: Row, base: number): StoredEvent {
  return {
    seq: integer(row, 0) - base,
    type: text(row, 1),
    version: integer(row, 2),
    at: integer(row, 3),
    body: text(row, 4),
  };
}

export function onceRow(row: Row): OnceRow {
  return {
    owner: OwnerId.parse(text(row, "owner")),
    key: text(row, "key"),
    fingerprint: text(row, "fingerprint"),
    at: integer(row, "at"),
    answer: optionalText(row, "answer"),
  };
}

export function openDecisionRow(row: Row): OpenDecisionRow {
  return {
    conversation: conversationRow(row),
    decision: text(row, "decision"),
    body: text(row, "body"),
    at: integer(row, "at"),
  };
}

export function wakeRow(row: Row): Wake {
  return { number: integer(row, "number"), notBefore: integer(row, "not_before"), head: integer(row, "head") };
}

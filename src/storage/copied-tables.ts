import type { Result } from "../base/result.ts";
import type { CopyFacts, StorageFailure } from "./storage.ts";

/**
 * What a whole copy of a database holds: every table with its columns, by names and kinds that all databases share. A copy is
 * always a file of SQLite, whatever it was made from: it can be opened by itself, and brought into any other.
 */
export const copiedTables: Readonly<Record<string, Readonly<Record<string, ColumnKind>>>> = {
  conversation: {
    ...{ number: "integer", owner: "text", id: "text", title: "text", last_message: "text", turns: "integer" },
    ...{ created_at: "integer", updated_at: "integer", deleted_at: "integer", origin: "text", agent_id: "text" },
    ...{ app_key: "text", read_index: "integer", is_passing: "integer", is_pinned: "integer", seen_at: "integer" },
  },
  event: { id: "integer", type: "text", v: "integer", at: "integer", body: "text" },
  lease: { number: "integer", epoch: "integer", holder: "text", granted_at: "integer", until: "integer" },
  wake: { number: "integer", not_before: "integer", set_at: "integer" },
  received: { number: "integer", client_id: "text", seq: "integer" },
  decision: { key: "integer", number: "integer", decision: "text", body: "text", at: "integer" },
  old_decision: { decision: "text" },
  blob: { number: "integer", hash: "text", data: "bytes" },
  counter: { name: "text", last: "integer" },
  workspace: {
    ...{ folder: "text", number: "integer", kind: "text", id: "text", created_at: "integer", made_at: "integer" },
    ...{ used_at: "integer", cleaned_at: "integer", ordinal: "integer" },
  },
  agent: { key: "integer", number: "integer", id: "text", parent: "text" },
  trash: {
    ...{ id: "text", number: "integer", workspace: "text", folder: "text", moved_at: "integer" },
    ...{ bytes: "integer", files: "integer" },
  },
  sandbox_session: { owner: "text", id: "text", used_at: "integer", body: "text" },
  execution: {
    ...{ key: "integer", id: "text", owner: "text", created_at: "integer", ended_at: "integer", bytes: "integer" },
    ...{ body: "text", long_body: "text" },
  },
  rule: { key: "integer", owner: "text", id: "text", number: "integer", body: "text", at: "integer" },
  memory: { key: "integer", owner: "text", id: "text", fact: "text", conversation: "text", at: "integer" },
  user: {
    ...{ key: "integer", id: "text", name: "text", password: "text", is_admin: "integer", subject: "text" },
    at: "integer",
  },
  api_key: {
    ...{ id: "text", owner: "text", name: "text", hash: "text", shown: "text", scopes: "text", at: "integer" },
    ...{ used_at: "integer", ends_at: "integer" },
  },
  sign_in: { hash: "text", owner: "text", kind: "text", at: "integer", ends_at: "integer" },
  idempotency: { owner: "text", key: "text", fingerprint: "text", at: "integer", answer: "text" },
  secret: { owner: "text", name: "text", sealed: "bytes", created_at: "integer", updated_at: "integer" },
  toolbox: { id: "text", owner: "text", body: "text", created_at: "integer", updated_at: "integer" },
  toolbox_tool: {
    ...{ key: "integer", box: "text", id: "text", owner: "text", body: "text" },
    ...{ created_at: "integer", updated_at: "integer" },
  },
};

export type ColumnKind = "integer" | "text" | "bytes";

/** Some rows of a table, their values in the order of its columns. */
export type CopiedRows = { readonly table: string; readonly rows: readonly (readonly unknown[])[] };

/** Makes a new file of these rows and reads it back; where that fails nothing is left of it. */
export type FillCopy = (path: string, batches: AsyncIterable<CopiedRows>) => Promise<Result<CopyFacts, StorageFailure>>;

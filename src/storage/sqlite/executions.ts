import type { DatabaseSync } from "node:sqlite";
import { assert } from "../../base/assert.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { checkLimit } from "../checks.ts";
import { integer, text } from "../rows.ts";
import { executionRow, listed } from "../shapes.ts";
import type { ExecutionRow, ListedExecution } from "../storage.ts";

/** What became of programs that were run. */
export type Executions = {
  /** Inside a transaction, as are `forget`, `drop` and `trim`. False: it is over already and stays as it is. */
  put(row: ExecutionRow): boolean;
  forget(owner: OwnerId): void;
  drop(before: number): void;
  trim(owner: OwnerId, to: { rowsMax: number; bytesMax: number }): void;
  find(owner: OwnerId, id: string): ExecutionRow | undefined;
  ownerOf(id: string): OwnerId | undefined;
  list(owner: OwnerId, page: { limit: number; offset: number }): { items: ListedExecution[]; total: number };
  open(limit: number): ExecutionRow[];
};

export function openExecutions(writer: DatabaseSync, reader: DatabaseSync): Executions {
  const { insert, ownerOf, remove, removeEnded, removeOldest } = prepareWrites(writer);
  const one = reader.prepare("SELECT * FROM execution WHERE id = ? AND owner = ?");
  const whose = reader.prepare("SELECT owner FROM execution WHERE id = ?");
  const count = reader.prepare("SELECT count(*) AS total FROM execution WHERE owner = ?");
  const newest = reader.prepare(`SELECT id, owner, created_at, ended_at, body FROM execution WHERE owner = ?
    ORDER BY created_at DESC, key DESC LIMIT ? OFFSET ?`);
  const unended = reader.prepare(`SELECT * FROM execution WHERE ended_at IS NULL
    ORDER BY created_at, key LIMIT ?`);

  return {
    put({ id, owner, createdAt, endedAt, body, full }) {
      const bytes = Buffer.byteLength(body) + Buffer.byteLength(full ?? "");
      if (insert.run(id, owner, createdAt, endedAt ?? null, bytes, body, full ?? null).changes === 1) return true;
      assert(text(ownerOf.get(id) ?? {}, "owner") === owner, "an execution stays with its owner");
      return false;
    },
    forget(owner) {
      remove.run(owner);
    },
    drop(before) {
      removeEnded.run(before);
    },
    trim(owner, { rowsMax, bytesMax }) {
      removeOldest.run(owner, rowsMax, bytesMax);
    },
    find(owner, id) {
      const row = one.get(id, owner);
      return row === undefined ? undefined : executionRow(row);
    },
    ownerOf(id) {
      const row = whose.get(id);
      return row === undefined ? undefined : OwnerId.parse(text(row, "owner"));
    },
    list(owner, { limit, offset }) {
      assert(Number.isInteger(offset) && offset >= 0, "an offset is no negative number");
      const items = newest.all(owner, checkLimit(limit), offset).map(listed);
      return { items, total: integer(count.get(owner) ?? {}, "total") };
    },
    open: (limit) => unended.all(checkLimit(limit)).map(executionRow),
  };
}

function prepareWrites(writer: DatabaseSync) {
  return {
    insert: writer.prepare(`INSERT INTO execution (id, owner, created_at, ended_at, bytes, body, long_body)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, ended_at = excluded.ended_at,
        bytes = excluded.bytes, body = excluded.body, long_body = excluded.long_body
      WHERE ended_at IS NULL AND owner = excluded.owner`),
    ownerOf: writer.prepare("SELECT owner FROM execution WHERE id = ?"),
    remove: writer.prepare("DELETE FROM execution WHERE owner = ?"),
    removeEnded: writer.prepare("DELETE FROM execution WHERE ended_at < ?"),
    // The index holds all that this asks for.
    removeOldest: writer.prepare(`DELETE FROM execution WHERE key IN (
      SELECT key FROM (SELECT key, ended_at, row_number() OVER newest_first AS place, sum(bytes) OVER newest_first AS held
        FROM execution WHERE owner = ? WINDOW newest_first AS (ORDER BY created_at DESC, key DESC))
      WHERE ended_at IS NOT NULL AND (place > ? OR held > ?))`),
  };
}

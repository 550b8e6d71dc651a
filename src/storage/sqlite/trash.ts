import type { DatabaseSync } from "node:sqlite";
import { assert } from "../../base/assert.ts";
import type { OwnerId } from "../../protocol/ids.ts";
import { checkLimit } from "../checks.ts";
import { trashRow } from "../shapes.ts";
import type { NewTrash, TrashRow } from "../storage.ts";

/** Files that were moved away and can come back for a while. */
export type Trash = {
  /** Inside a transaction, as is `drop`. */
  put(row: NewTrash): void;
  drop(id: string): void;
  list(owner: OwnerId, limit: number): TrashRow[];
  find(owner: OwnerId, id: string): TrashRow | undefined;
  expired(before: number, limit: number): TrashRow[];
};

export function openTrash(writer: DatabaseSync, reader: DatabaseSync): Trash {
  const insert = writer.prepare(`INSERT OR REPLACE INTO trash (id, number, workspace, folder, moved_at, bytes, files)
    SELECT ?, number, ?, ?, ?, ?, ? FROM conversation WHERE number = ? AND owner = ?`);
  const remove = writer.prepare("DELETE FROM trash WHERE id = ?");
  const select = "SELECT trash.*, owner, conversation.id AS conversation FROM trash JOIN conversation USING (number)";
  const ofOwner = reader.prepare(`${select} WHERE owner = ? AND deleted_at IS NULL
    ORDER BY moved_at DESC, trash.id DESC LIMIT ?`);
  const one = reader.prepare(`${select} WHERE trash.id = ? AND owner = ? AND deleted_at IS NULL`);
  const old = reader.prepare(
    `${select} WHERE moved_at < ? OR deleted_at IS NOT NULL ORDER BY moved_at, trash.id LIMIT ?`,
  );

  return {
    put({ id, owner, number, workspace, folder, movedAt, bytes, files }) {
      const { changes } = insert.run(id, workspace, folder, movedAt, bytes, files, number, owner);
      assert(changes === 1, "what is in the trash belongs to the owner of its conversation");
    },
    drop(id) {
      remove.run(id);
    },
    list: (owner, limit) => ofOwner.all(owner, checkLimit(limit)).map(trashRow),
    find(owner, id) {
      const row = one.get(id, owner);
      return row === undefined ? undefined : trashRow(row);
    },
    expired: (before, limit) => old.all(before, checkLimit(limit)).map(trashRow),
  };
}

import type { DatabaseSync } from "node:sqlite";
import type { OwnerId } from "../../protocol/ids.ts";
import { checkLimit } from "../checks.ts";
import { sessionRow } from "../shapes.ts";
import type { SessionRow } from "../storage.ts";

/** The sandbox sessions, one a user. */
export type Sessions = {
  /** Inside a transaction, as are `touch` and `forget`. */
  put(row: SessionRow): void;
  touch(owner: OwnerId, usedAt: number): void;
  forget(owner: OwnerId): void;
  find(owner: OwnerId): SessionRow | undefined;
  list(limit: number): SessionRow[];
};

export function openSessions(writer: DatabaseSync, reader: DatabaseSync): Sessions {
  const insert = writer.prepare(
    "INSERT OR REPLACE INTO sandbox_session (owner, id, used_at, body) VALUES (?, ?, ?, ?)",
  );
  const later = writer.prepare("UPDATE sandbox_session SET used_at = max(used_at, ?) WHERE owner = ?");
  const remove = writer.prepare("DELETE FROM sandbox_session WHERE owner = ?");
  const one = reader.prepare("SELECT * FROM sandbox_session WHERE owner = ?");
  const all = reader.prepare("SELECT * FROM sandbox_session ORDER BY used_at DESC, owner LIMIT ?");

  return {
    put({ owner, id, usedAt, body }) {
      insert.run(owner, id, usedAt, body);
    },
    touch(owner, usedAt) {
      later.run(usedAt, owner);
    },
    forget(owner) {
      remove.run(owner);
    },
    find(owner) {
      const row = one.get(owner);
      return row === undefined ? undefined : sessionRow(row);
    },
    list: (limit) => all.all(checkLimit(limit)).map(sessionRow),
  };
}

import type { DatabaseSync } from "node:sqlite";
import type { OwnerId } from "../../protocol/ids.ts";
import { checkLimit } from "../checks.ts";
import { bytes } from "../rows.ts";
import { secretNote } from "../shapes.ts";
import type { SecretNote, SecretRow } from "../storage.ts";

/** Sealed values of users. */
export type Secrets = {
  /** Inside a transaction, as is `drop`. */
  put(row: SecretRow): void;
  drop(owner: OwnerId, name: string): boolean;
  find(owner: OwnerId, name: string): SecretRow | undefined;
  list(owner: OwnerId, limit: number): SecretNote[];
};

export function openSecrets(writer: DatabaseSync, reader: DatabaseSync): Secrets {
  const insert = writer.prepare(`INSERT INTO secret (owner, name, sealed, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (owner, name) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at`);
  const remove = writer.prepare("DELETE FROM secret WHERE owner = ? AND name = ?");
  const one = reader.prepare("SELECT * FROM secret WHERE owner = ? AND name = ?");
  const ofOwner = reader.prepare(
    "SELECT owner, name, created_at, updated_at FROM secret WHERE owner = ? ORDER BY name LIMIT ?",
  );

  return {
    put({ owner, name, sealed, createdAt, updatedAt }) {
      insert.run(owner, name, sealed, createdAt, updatedAt);
    },
    drop: (owner, name) => remove.run(owner, name).changes === 1,
    find(owner, name) {
      const row = one.get(owner, name);
      return row === undefined ? undefined : { ...secretNote(row), sealed: bytes(row, "sealed") };
    },
    list: (owner, limit) => ofOwner.all(owner, checkLimit(limit)).map(secretNote),
  };
}

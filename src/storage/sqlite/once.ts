import type { DatabaseSync } from "node:sqlite";
import { assert } from "../../base/assert.ts";
import type { OwnerId } from "../../protocol/ids.ts";
import { onceRow } from "../shapes.ts";
import type { OnceRow } from "../storage.ts";

/** What was done under a caller's key. All inside a transaction. */
export type Once = {
  begin(row: Omit<OnceRow, "answer">): { row: OnceRow; isNew: boolean };
  end(owner: OwnerId, key: string, answer: string): void;
  dropBefore(at: number): void;
};

export function openOnce(writer: DatabaseSync): Once {
  const insert = writer.prepare(
    "INSERT INTO idempotency (owner, key, fingerprint, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const one = writer.prepare("SELECT * FROM idempotency WHERE owner = ? AND key = ?");
  const answer = writer.prepare("UPDATE idempotency SET answer = ? WHERE owner = ? AND key = ?");
  const removeOld = writer.prepare("DELETE FROM idempotency WHERE at < ?");
  return {
    begin({ owner, key, fingerprint, at }) {
      const isNew = insert.run(owner, key, fingerprint, at).changes === 1;
      const row = one.get(owner, key);
      assert(row !== undefined, "it was there, or it is now");
      return { row: onceRow(row), isNew };
    },
    end: (owner, key, given) => void answer.run(given, owner, key),
    dropBefore: (at) => void removeOld.run(at),
  };
}

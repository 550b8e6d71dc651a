import type { DatabaseSync } from "node:sqlite";
import type { OwnerId } from "../../protocol/ids.ts";
import { checkLimit } from "../checks.ts";
import { memoryRow } from "../shapes.ts";
import type { MemoryRow } from "../storage.ts";

/** What users want to be known everywhere. */
export type Memory = {
  /** Inside a transaction, as is `drop`. */
  put(row: MemoryRow): void;
  drop(owner: OwnerId, id: string): boolean;
  list(owner: OwnerId, limit: number): MemoryRow[];
};

export function openMemory(writer: DatabaseSync, reader: DatabaseSync): Memory {
  const insert = writer.prepare(`INSERT INTO memory (owner, id, fact, conversation, at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (owner, id) DO UPDATE SET fact = excluded.fact, conversation = excluded.conversation, at = excluded.at`);
  const remove = writer.prepare("DELETE FROM memory WHERE owner = ? AND id = ?");
  const ofOwner = reader.prepare("SELECT * FROM memory WHERE owner = ? ORDER BY at, key LIMIT ?");

  return {
    put({ owner, id, fact, conversation, at }) {
      insert.run(owner, id, fact, conversation ?? null, at);
    },
    drop: (owner, id) => remove.run(owner, id).changes === 1,
    list: (owner, limit) => ofOwner.all(owner, checkLimit(limit)).map(memoryRow),
  };
}

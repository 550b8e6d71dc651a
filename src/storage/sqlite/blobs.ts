import type { DatabaseSync } from "node:sqlite";
import { checkNumber } from "../checks.ts";
import { bytes } from "../rows.ts";

/** Results too large for an event, by the hash of their bytes. */
export type Blobs = {
  /** Inside a transaction, as is `copy`. */
  put(number: number, hash: string, data: Uint8Array): void;
  copy(from: number, to: number): void;
  get(number: number, hash: string): Uint8Array | undefined;
};

export function openBlobs(writer: DatabaseSync, reader: DatabaseSync): Blobs {
  const insert = writer.prepare(`INSERT INTO blob (number, hash, data) VALUES (?, ?, ?)
    ON CONFLICT (number, hash) DO NOTHING`);
  const copyAll = writer.prepare(
    "INSERT INTO blob (number, hash, data) SELECT ?, hash, data FROM blob WHERE number = ?",
  );
  const select = reader.prepare("SELECT data FROM blob WHERE number = ? AND hash = ?");
  return {
    put(number, hash, data) {
      insert.run(checkNumber(number), hash, data);
    },
    copy(from, to) {
      copyAll.run(to, checkNumber(from));
    },
    get(number, hash) {
      const row = select.get(checkNumber(number), hash);
      return row === undefined ? undefined : bytes(row, "data");
    },
  };
}

import type { DatabaseSync } from "node:sqlite";
import { checkNumber } from "../checks.ts";
import { integer } from "../rows.ts";

/** Which messages of clients were stored, and where: a message that is sent again finds its seq. */
export type Received = {
  /** Inside a transaction, as is `add`: sees what this transaction has added. */
  seqOf(number: number, clientId: string): number | undefined;
  add(number: number, clientId: string, seq: number): void;
  find(number: number, clientId: string): number | undefined;
};

export function openReceived(writer: DatabaseSync, reader: DatabaseSync): Received {
  const insert = writer.prepare("INSERT INTO received (number, client_id, seq) VALUES (?, ?, ?)");
  const written = writer.prepare(selectSql);
  const committed = reader.prepare(selectSql);
  return {
    seqOf(number, clientId) {
      const row = written.get(number, clientId);
      return row === undefined ? undefined : integer(row, "seq");
    },
    add(number, clientId, seq) {
      insert.run(number, clientId, seq);
    },
    find(number, clientId) {
      const row = committed.get(checkNumber(number), clientId);
      return row === undefined ? undefined : integer(row, "seq");
    },
  };
}

const selectSql = "SELECT seq FROM received WHERE number = ? AND client_id = ?";

import { baseOf, checkLimit, checkNumber, seqMax } from "../checks.ts";
import type { Followers } from "../followers.ts";
import { bytes, integer } from "../rows.ts";
import { storedEvent } from "../shapes.ts";
import type { Storage } from "../storage.ts";
import { append } from "./append.ts";
import type { Parts } from "./parts.ts";

type Logging = "append" | "read" | "readBack" | "headOf" | "onAppend" | "received" | "getBlob";

export function logging({ reader, lanes, now }: Parts, followers: Followers): Pick<Storage, Logging> {
  return {
    append: (batch) => lanes.write(batch.number, (transaction) => append(transaction, batch, now())),
    // Both ranges are held inside the conversation: its neighbours lie right beside it in the table.
    async read(number, { after, limit, upTo = seqMax }) {
      const base = baseOf(number);
      const [from, to] = [base + Math.max(after, 0), base + Math.min(upTo, seqMax)];
      const rows = await reader.list(forwardSql, from, to, checkLimit(limit));
      return rows.map((row) => storedEvent(row, base));
    },
    async readBack(number, { before, limit }) {
      const base = baseOf(number);
      const rows = await reader.list(backSql, base, base + Math.min(before, seqMax + 1), checkLimit(limit));
      return rows.map((row) => storedEvent(row, base));
    },
    async headOf(number) {
      const row = await reader.one("SELECT head FROM log WHERE number = $1", checkNumber(number));
      return row === undefined ? 0 : integer(row, "head");
    },
    onAppend: followers.add,
    async received(number, clientId) {
      const row = await reader.one(receivedSql, checkNumber(number), clientId);
      return row === undefined ? undefined : integer(row, "seq");
    },
    async getBlob(number, hash) {
      const row = await reader.one("SELECT data FROM blob WHERE number = $1 AND hash = $2", checkNumber(number), hash);
      return row === undefined ? undefined : new Uint8Array(bytes(row, "data"));
    },
  };
}

const forwardSql = "SELECT id, type, v, at, body FROM event WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3";
const backSql = "SELECT id, type, v, at, body FROM event WHERE id > $1 AND id < $2 ORDER BY id DESC LIMIT $3";
const receivedSql = "SELECT seq FROM received WHERE number = $1 AND client_id = $2";

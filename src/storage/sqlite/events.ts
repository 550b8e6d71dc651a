import type { DatabaseSync, StatementSync } from "node:sqlite";
import { assert } from "../../base/assert.ts";
import { baseOf, checkLimit, seqMax } from "../checks.ts";
import { openFollowers } from "../followers.ts";
import { integer, type Row } from "../rows.ts";
import { storedEvent } from "../shapes.ts";
import type { EncodedEvent, StoredEvent } from "../storage.ts";

export type Events = {
  /** Inside a transaction. The seq of the last one, or the head when there are none. */
  append(number: number, events: readonly EncodedEvent[]): number;
  remove(number: number): void;
  head(number: number): number;
  read(number: number, range: { after: number; limit: number; upTo?: number | undefined }): StoredEvent[];
  readBack(number: number, range: { before: number; limit: number }): StoredEvent[];
  onAppend(number: number, listener: (lastSeq: number) => void): () => void;
  /** The life of a transaction, told by the group commit. */
  began(): void;
  rolledBack(): void;
  committed(): void;
};

/** The event table. Its key packs conversation and seq, so that appending touches this one tree and no counter. */
export function openEvents(writer: DatabaseSync, reader: DatabaseSync): Events {
  const insert = writer.prepare("INSERT INTO event (id, type, v, at, body) VALUES (?, ?, ?, ?, ?)");
  const removeRange = writer.prepare("DELETE FROM event WHERE id BETWEEN ? AND ?");
  const lastWritten = writer.prepare(lastSql);
  const lastCommitted = reader.prepare(lastSql);
  const forward = byPlace(reader, "id > ? AND id <= ? ORDER BY id LIMIT ?");
  const backward = byPlace(reader, "id > ? AND id < ? ORDER BY id DESC LIMIT ?");
  const heads = rememberHeads(writer);
  const followers = openFollowers();
  const fresh = new Map<number, number>();

  return {
    append(number, events) {
      const base = baseOf(number);
      let seq = heads.get(number) ?? lastIn(lastWritten.get(base, base + seqMax), base);
      assert(seq + events.length <= seqMax, "a conversation holds fewer than 2^24 events");
      if (events.length === 0) return seq;
      for (const event of events) {
        seq += 1;
        insert.run(base + seq, event.type, event.version, event.at, event.body);
      }
      heads.set(number, seq);
      if (followers.has(number)) fresh.set(number, seq);
      return seq;
    },
    remove(number) {
      const base = baseOf(number);
      removeRange.run(base, base + seqMax);
      heads.forget();
    },
    head(number) {
      const base = baseOf(number);
      return lastIn(lastCommitted.get(base, base + seqMax), base);
    },
    // Both ranges are held inside the conversation: its neighbours lie right beside it in the table.
    read(number, { after, limit, upTo = seqMax }) {
      const base = baseOf(number);
      const rows = forward.all(base + Math.max(after, 0), base + Math.min(upTo, seqMax), checkLimit(limit));
      return rows.map((row) => storedEvent(row, base));
    },
    readBack(number, { before, limit }) {
      const base = baseOf(number);
      const rows = backward.all(base, base + Math.min(before, seqMax + 1), checkLimit(limit));
      return rows.map((row) => storedEvent(row, base));
    },
    onAppend: followers.add,
    began: heads.check,
    rolledBack() {
      heads.forget();
      fresh.clear();
    },
    committed() {
      const told = [...fresh];
      fresh.clear();
      for (const [number, lastSeq] of told) followers.tell(number, lastSeq);
    },
  };
}

const lastSql = "SELECT id FROM event WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1";
const headsMax = 10_000;

function lastIn(row: Row | undefined, base: number): number {
  return row === undefined ? 0 : integer(row, "id") - base;
}

/** Rows by place cost half of rows by name, and a log is read whole when its conversation is opened. */
function byPlace(reader: DatabaseSync, where: string): StatementSync {
  const statement = reader.prepare(`SELECT id, type, v, at, body FROM event WHERE ${where}`);
  statement.setReturnArrays(true);
  return statement;
}

/** Heads as the writer left them. Another process may write to the file too: then SQLite's data version differs. */
function rememberHeads(writer: DatabaseSync) {
  const dataVersion = writer.prepare("PRAGMA data_version");
  const heads = new Map<number, number>();
  let version = 0;
  return {
    get: (number: number) => heads.get(number),
    set(number: number, seq: number) {
      if (heads.size >= headsMax) heads.clear();
      heads.set(number, seq);
    },
    forget: () => heads.clear(),
    check() {
      const found = integer(dataVersion.get() ?? {}, "data_version");
      if (found !== version) heads.clear();
      version = found;
    },
  };
}

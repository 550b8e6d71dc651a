import type { DatabaseSync, StatementSync } from "node:sqlite";
import { assert } from "../../base/assert.ts";
import type { EncodedEvent, StoredEvent } from "../storage.ts";
import { integer, type Row, text } from "./rows.ts";

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
      followers.appended(number, seq);
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
      followers.forget();
    },
    committed: followers.notify,
  };
}

/** Who wants to know that a conversation grew. */
function openFollowers() {
  const listeners = new Map<number, Set<(lastSeq: number) => void>>();
  const fresh = new Map<number, number>();
  return {
    add(number: number, listener: (lastSeq: number) => void) {
      // Its own function, so that one listener added twice is called twice and ended one by one.
      const call = (lastSeq: number) => listener(lastSeq);
      const calls = listeners.get(number) ?? new Set();
      listeners.set(number, calls.add(call));
      return () => {
        calls.delete(call);
        if (calls.size === 0 && listeners.get(number) === calls) listeners.delete(number);
      };
    },
    /** Inside a transaction; told when it is committed. */
    appended(number: number, lastSeq: number) {
      if (listeners.has(number)) fresh.set(number, lastSeq);
    },
    notify() {
      if (fresh.size === 0) return;
      const told = [...fresh];
      fresh.clear();
      for (const [number, lastSeq] of told) {
        for (const call of listeners.get(number) ?? []) call(lastSeq);
      }
    },
    forget: () => fresh.clear(),
  };
}

/** Below 2^29, so that a packed key stays below 2^53 and JavaScript numbers hold it exactly. */
export function checkNumber(number: number): number {
  assert(Number.isInteger(number) && number > 0 && number < 2 ** 29, "a conversation number lies in 1 to 2^29");
  return number;
}

/** A negative limit means none to SQLite. */
export function checkLimit(limit: number): number {
  assert(Number.isInteger(limit) && limit > 0, "a limit is a positive integer");
  return limit;
}

const seqMax = 2 ** 24 - 1;
const lastSql = "SELECT id FROM event WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1";
const headsMax = 10_000;

function baseOf(number: number): number {
  return checkNumber(number) * 2 ** 24;
}

function lastIn(row: Row | undefined, base: number): number {
  return row === undefined ? 0 : integer(row, "id") - base;
}

/** Rows by place cost half of rows by name, and a log is read whole when its conversation is opened. */
function byPlace(reader: DatabaseSync, where: string): StatementSync {
  const statement = reader.prepare(`SELECT id, type, v, at, body FROM event WHERE ${where}`);
  statement.setReturnArrays(true);
  return statement;
}

function storedEvent(row: Row, base: number): StoredEvent {
  return {
    seq: integer(row, 0) - base,
    type: text(row, 1),
    version: integer(row, 2),
    at: integer(row, 3),
    body: text(row, 4),
  };
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

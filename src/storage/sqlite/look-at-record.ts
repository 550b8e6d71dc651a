import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { failed, ok, type Result } from "../../base/result.ts";
import { eventVersions } from "../../protocol/events.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { integer, optionalText, type Row, text } from "../rows.ts";
import { ruleRow } from "../shapes.ts";
import type { RuleRow, StoredEvent } from "../storage.ts";
import { failureOf } from "./failures.ts";
import { readVersion } from "./migrations.ts";

/** What a check of the record of decisions looks at, all as of one moment. */
export type Record = {
  /**
   * What is about decisions, and events that nobody could have written, one conversation after the other, in the order of
   * its log.
   */
  readonly rows: Iterable<StoredEvent & { readonly number: number }>;
  /** Made before decisions had hashes. */
  isOld(decision: string): boolean;
  /** A person is still asked. */
  isOpen(number: number, decision: string): boolean;
  ownerOf(number: number): string | undefined;
  /** What is allowed always. `mayBeLost`: its owner has deleted a conversation since, and the record with it. */
  readonly rules: Iterable<RuleRow & { readonly mayBeLost: boolean }>;
  /** Logs in which a number is missing, with the first that is. */
  readonly gaps: Iterable<{ readonly number: number; readonly seq: number }>;
  /** The conversation's id, as its owner knows it. */
  idOf(number: number): string;
};

/** Lets `use` read the record. Nothing is made, migrated or held; undefined where there is no database yet. */
export function lookAtRecord<T>(path: string, use: (record: Record) => T): Result<T | undefined, Failure> {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return ok(undefined);
    if (!found.isFile()) return failure("storage_broken", { why: "not_a_file" });
    const database = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
    try {
      const version = readVersion(database);
      if (!version.ok) return version;
      if (version.value === 0) return ok(undefined);
      database.exec("BEGIN");
      return ok(use(recordIn(database)));
    } finally {
      database.close();
    }
  } catch (error) {
    const reason = failureOf(error);
    if (reason === undefined) throw error;
    return failed(reason);
  }
}

const busyTimeoutMs = 500;
const seqs = 2 ** 24;

const decisions = "'decision.asked', 'decision.made'";
/** What says whether somebody went on without a decision. */
const after = "'call.started', 'step.started', 'turn.finished', 'rewound'";

/** Read in one pass and mostly passed over: only what is about decisions, and what no program of ours has written. */
const eventsSql = `SELECT id, type, v, at, body FROM event
  WHERE (type IN (${decisions}, ${after}) AND id / ${seqs} IN (SELECT id / ${seqs} FROM event WHERE type IN (${decisions})))
  OR v <> 1 OR type NOT IN (SELECT value FROM json_each(?)) ORDER BY id`;

function recordIn(database: DatabaseSync): Record {
  const events = database.prepare(eventsSql);
  events.setReturnArrays(true); // Rows by place cost half of rows by name.
  const conversation = database.prepare("SELECT id, owner FROM conversation WHERE number = ?");
  const open = database.prepare("SELECT 1 FROM decision WHERE number = ? AND decision = ?");
  const hasMarks = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'old_decision'").get() !== undefined;
  const old = hasMarks ? database.prepare("SELECT 1 FROM old_decision WHERE decision = ?") : undefined;
  return {
    rows: mapped(events.iterate(JSON.stringify(Object.keys(eventVersions))), recordRow),
    // A database that no newer program has opened yet holds no others.
    isOld: (decision) => old === undefined || old.get(decision) !== undefined,
    isOpen: (number, decision) => open.get(number, decision) !== undefined,
    ownerOf: (number) => optionalText(conversation.get(number) ?? { owner: null }, "owner"),
    rules: hasMarks ? rulesIn(database) : [],
    gaps: gapsIn(database),
    idOf: (number) => text(conversation.get(number) ?? { id: String(number) }, "id"),
  };
}

function* rulesIn(database: DatabaseSync): Generator<RuleRow & { readonly mayBeLost: boolean }> {
  const rules = database.prepare("SELECT * FROM rule ORDER BY key");
  const deleted = database.prepare("SELECT 1 FROM conversation WHERE owner = ? AND deleted_at >= ? LIMIT 1");
  for (const row of rules.iterate()) {
    const rule = ruleRow(row);
    yield { ...rule, mayBeLost: deleted.get(rule.owner, rule.at) !== undefined };
  }
}

function recordRow(row: Row): StoredEvent & { readonly number: number } {
  const id = integer(row, 0);
  const [number, seq] = [Math.floor(id / seqs), id % seqs];
  return {
    number,
    seq,
    type: text(row, 1),
    version: integer(row, 2),
    at: integer(row, 3),
    body: text(row, 4),
  };
}

/** Events are numbered from 1 on without a gap, and go only with their whole conversation. */
function* gapsIn(database: DatabaseSync): Generator<{ readonly number: number; readonly seq: number }> {
  const conversations = database.prepare("SELECT number FROM conversation ORDER BY number");
  const counted = database.prepare("SELECT count(*) AS events, max(id) AS last FROM event WHERE id BETWEEN ? AND ?");
  const places = database.prepare("SELECT id FROM event WHERE id BETWEEN ? AND ? ORDER BY id");
  for (const row of conversations.iterate()) {
    const base = integer(row, "number") * seqs;
    const found = counted.get(base, base + seqs - 1) ?? {};
    const events = integer(found, "events");
    if (events === 0 || integer(found, "last") - base === events) continue;
    let seq = 1;
    for (const place of places.iterate(base, base + seqs - 1)) {
      if (integer(place, "id") - base !== seq) break;
      seq += 1;
    }
    yield { number: integer(row, "number"), seq };
  }
}

function* mapped<T>(rows: Iterable<Row>, make: (row: Row) => T): Generator<T> {
  for (const row of rows) yield make(row);
}

import { assert } from "../../base/assert.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { baseOf, checkNumber, seqMax } from "../checks.ts";
import { type Row, text } from "../rows.ts";
import type { EncodedEvent, StorageFailure } from "../storage.ts";
import type { Transaction } from "./lanes.ts";
import type { Query } from "./query.ts";

/** Undefined when there is no conversation of this number, or no longer. Nobody else writes to it until the commit. */
export function lockLog(query: Query, number: number): Promise<Row | undefined> {
  return query.one("SELECT head, epoch, holder FROM log WHERE number = $1 FOR UPDATE", checkNumber(number));
}

export async function notFound(query: Query, number: number): Promise<StorageFailure> {
  const row = await query.one("SELECT id FROM conversation WHERE number = $1", checkNumber(number));
  return makeFailure("conversation_not_found", { id: row === undefined ? String(number) : text(row, "id") });
}

/** All in one statement; the seq of the last one, or the head where there are none. */
export async function appendEvents(
  transaction: Transaction,
  number: number,
  head: number,
  events: readonly EncodedEvent[],
): Promise<number> {
  const lastSeq = head + events.length;
  assert(lastSeq <= seqMax, "a conversation holds fewer than 2^24 events");
  if (events.length === 0) return head;
  const added = await transaction.run(
    appendSql,
    ...[number, lastSeq, baseOf(number) + head],
    events.map(({ type }) => type),
    events.map(({ version }) => version),
    events.map(({ at }) => at),
    events.map(({ body }) => body),
  );
  assert(added === events.length, "every event of a batch is a row");
  transaction.appended(number, lastSeq);
  return lastSeq;
}

const appendSql = `WITH moved AS (UPDATE log SET head = $2 WHERE number = $1)
  INSERT INTO event (id, type, v, at, body)
  SELECT $3::bigint + place, type, v, at, body
  FROM unnest($4::text[], $5::bigint[], $6::bigint[], $7::text[]) WITH ORDINALITY AS given (type, v, at, body, place)`;

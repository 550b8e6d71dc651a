import { assert } from "../../base/assert.ts";
import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { checkLimit, checkNumber } from "../checks.ts";
import { integer, optionalInteger, type Row, text } from "../rows.ts";
import { conversationRow, placeOf } from "../shapes.ts";
import type { ConversationRow, NewConversation, SideRows, Storage } from "../storage.ts";
import { appendEvents } from "./event-rows.ts";
import type { Transaction } from "./lanes.ts";
import { isFree } from "./moment.ts";
import type { Parts } from "./parts.ts";
import type { Query } from "./query.ts";

type Conversing =
  | ("createConversation" | "findConversation" | "conversationByNumber" | "ownersOfConversation" | "findByPrefix")
  | ("listConversations" | "searchConversations" | "unusedByCallers");

export function conversing({ reader, lanes, now }: Parts): Pick<Storage, Conversing> {
  return {
    createConversation: (wanted) => lanes.write(wanted.owner, (transaction) => create(transaction, wanted)),
    findConversation: async (owner, id) => optionalRow(await reader.one(oneSql, owner, id)),
    conversationByNumber: async (number) =>
      optionalRow(await reader.one("SELECT * FROM conversation WHERE number = $1", checkNumber(number))),
    async ownersOfConversation(id, limit) {
      const rows = await reader.all(ownersSql, id, checkLimit(limit));
      return rows.map((row) => OwnerId.parse(text(row, "owner")));
    },
    async findByPrefix(owner, prefix, limit) {
      const rows = await reader.all(prefixSql, owner, prefix, `${prefix}${lastCharacter}`, checkLimit(limit));
      return rows.map(conversationRow);
    },
    async listConversations(owner, { limit, before, isPinned = false }) {
      const place = placeOf(before);
      // A cursor that is none of ours: nothing lies before it.
      if (place === undefined) return [];
      const rows = await reader.all(listSql, owner, place.updatedAt, place.number, Number(isPinned), checkLimit(limit));
      return rows.map(conversationRow);
    },
    async searchConversations(owner, { appKey, title = "", limit, offset }) {
      const where = [owner, appKey, title.toLowerCase()] as const;
      const rows = await reader.all(searchSql, ...where, checkLimit(limit), offset);
      const total = integer((await reader.one(countSql, ...where)) ?? {}, "total");
      return { items: rows.map(conversationRow), total };
    },
    async unusedByCallers({ before, isPassing, limit, only }) {
      const rows = await reader.all(unusedSql, before, Number(isPassing), only, now(), checkLimit(limit));
      return rows.map(conversationRow);
    },
  };
}

/** A new conversation with its first events. */
async function create(transaction: Transaction, wanted: NewConversation) {
  const { owner, id, title = "", origin = "person", isPassing = false, agentId, appKey, at, events, blobsOf } = wanted;
  const taken = await transaction.one("SELECT deleted_at FROM conversation WHERE owner = $1 AND id = $2", owner, id);
  if (taken !== undefined) return takenBy(taken, id);
  const row = await transaction.one(
    createSql,
    ...[owner, id, title, title.toLowerCase(), origin, Number(isPassing), agentId, appKey, at],
  );
  // Another server was quicker by a moment.
  if (row === undefined) return failure("conversation_exists", { id });
  const number = checkNumber(integer(row, "number"));
  await transaction.run("INSERT INTO log VALUES ($1, 0, 0, NULL, 0, 0)", number);
  await appendEvents(transaction, number, 0, events);
  if (blobsOf !== undefined) await transaction.run(copyBlobsSql, number, checkNumber(blobsOf));
  return ok(conversationRow(row));
}

function takenBy(row: Row, id: string) {
  const isDeleted = optionalInteger(row, "deleted_at") !== undefined;
  return failure(isDeleted ? "conversation_not_found" : "conversation_exists", { id });
}

export async function updateConversation(
  query: Query,
  number: number,
  { title, lastMessage, turns, agentId, appKey, readIndex, isPinned, seenAt, updatedAt }: NonNullable<SideRows["row"]>,
): Promise<void> {
  const pin = isPinned === undefined ? undefined : Number(isPinned);
  const values = [title, title?.toLowerCase(), lastMessage, turns, agentId, appKey, readIndex, updatedAt];
  await query.run(updateSql, number, ...values, pin, seenAt);
}

/** Removes all that a conversation holds; leaves the number and the id, and nothing that somebody wrote. Rows of folders stay. */
export async function bury(query: Query, number: number, at: number): Promise<void> {
  await query.run("DELETE FROM event WHERE id BETWEEN $1::bigint << 24 AND ($1::bigint << 24) + 16777215", number);
  for (const table of ["received", "log", "wake", "decision", "blob", "agent", "rule"])
    await query.run(`DELETE FROM ${table} WHERE number = $1`, number);
  const buried = await query.run(burySql, number, at);
  assert(buried === 1, "a conversation that is deleted was there");
}

const createSql = `INSERT INTO conversation (owner, id, title, small_title, origin, is_passing, agent_id, app_key,
    last_message, turns, read_index, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '', 0, 0, $9, $9) ON CONFLICT (owner, id) DO NOTHING RETURNING *`;
const copyBlobsSql = "INSERT INTO blob (number, hash, data) SELECT $1, hash, data FROM blob WHERE number = $2";
const updateSql = `UPDATE conversation SET title = coalesce($2, title), small_title = coalesce($3, small_title),
    last_message = coalesce($4, last_message), turns = coalesce($5, turns), agent_id = coalesce(agent_id, $6),
    app_key = coalesce(app_key, $7), read_index = coalesce($8, read_index), updated_at = coalesce($9, updated_at),
    is_pinned = coalesce($10, is_pinned), seen_at = greatest(seen_at, $11) WHERE number = $1`;
const burySql = `UPDATE conversation SET title = '', small_title = '', last_message = '', turns = 0, agent_id = NULL,
    app_key = NULL, read_index = 0, is_pinned = 0, seen_at = NULL, updated_at = $2, deleted_at = $2 WHERE number = $1`;

const oneSql = "SELECT * FROM conversation WHERE owner = $1 AND id = $2 AND deleted_at IS NULL";
const ownersSql = `SELECT owner FROM conversation AS one WHERE id = $1 AND (deleted_at IS NULL
    OR NOT EXISTS (SELECT 1 FROM conversation WHERE id = one.id AND deleted_at IS NULL)) ORDER BY number LIMIT $2`;
const newestFirst = "ORDER BY updated_at DESC, number DESC";
const prefixSql = `SELECT * FROM conversation WHERE owner = $1 AND id >= $2 AND id < $3 AND deleted_at IS NULL
  ${newestFirst} LIMIT $4`;
const listSql = `SELECT * FROM conversation WHERE owner = $1 AND deleted_at IS NULL AND origin = 'person'
    AND (updated_at, number) < ($2, $3) AND is_pinned >= $4 ${newestFirst} LIMIT $5`;
const fitting = `FROM conversation WHERE owner = $1 AND deleted_at IS NULL AND origin = 'person'
    AND ($2::text IS NULL OR app_key = $2) AND strpos(small_title, $3) > 0`;
const searchSql = `SELECT * ${fitting} ${newestFirst} LIMIT $4 OFFSET $5`;
const countSql = `SELECT count(*) AS total ${fitting}`;
/** A turn that waits for functions of its caller keeps its wake: it is left when nobody has brought a result for as long. */
const unusedSql = `SELECT conversation.* FROM conversation JOIN log USING (number)
  WHERE deleted_at IS NULL AND origin = 'program' AND is_passing = $2 AND updated_at < $1
    AND ${isFree(4)} AND ($3::bigint IS NULL OR number = $3)
    AND NOT EXISTS (SELECT 1 FROM wake WHERE wake.number = conversation.number AND set_at >= $1)
    AND NOT EXISTS (SELECT 1 FROM decision WHERE decision.number = conversation.number)
  ORDER BY updated_at, number LIMIT $5`;

const lastCharacter = "\u{10ffff}";

function optionalRow(row: Row | undefined): ConversationRow | undefined {
  return row === undefined ? undefined : conversationRow(row);
}

import type { DatabaseSync } from "node:sqlite";
import { assert } from "../../base/assert.ts";
import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure, makeFailure } from "../../protocol/failure.ts";
import { type ConversationId, OwnerId } from "../../protocol/ids.ts";
import { checkLimit, checkNumber } from "../checks.ts";
import { integer, optionalInteger, type Row, text } from "../rows.ts";
import { conversationRow, placeOf } from "../shapes.ts";
import type { ConversationRow, NewConversation, SideRows, Storage } from "../storage.ts";
import { isFree } from "./leases.ts";

export type Conversations = {
  /** Inside a transaction, as are `checkAlive`, `update` and `bury`. */
  create(
    conversation: NewConversation,
  ): Result<ConversationRow, Failure<"conversation_exists" | "conversation_not_found">>;
  /** A failure when there is none of this number, or no longer. */
  checkAlive(number: number): Failure<"conversation_not_found"> | undefined;
  update(number: number, row: NonNullable<SideRows["row"]>): void;
  /** Leaves the number and the id, and nothing that somebody wrote. */
  bury(number: number, at: number): void;
  find(owner: OwnerId, id: ConversationId): ConversationRow | undefined;
  owners(id: ConversationId, limit: number): OwnerId[];
  byNumber(number: number): ConversationRow | undefined;
  byPrefix(owner: OwnerId, prefix: string, limit: number): ConversationRow[];
  list(owner: OwnerId, page: ListPage): ConversationRow[];
  search(owner: OwnerId, wanted: Wanted): { readonly items: ConversationRow[]; readonly total: number };
  unusedByCallers(wanted: Unused): ConversationRow[];
};

type ListPage = Parameters<Storage["listConversations"]>[1];
type Wanted = Parameters<Storage["searchConversations"]>[1];
type Unused = Parameters<Storage["unusedByCallers"]>[0] & { readonly now: number };

export function openConversations(writer: DatabaseSync, reader: DatabaseSync): Conversations {
  const { insert, taken, deletedAt, updateRow, buryRow } = prepareWrites(writer);
  const one = reader.prepare("SELECT * FROM conversation WHERE owner = ? AND id = ? AND deleted_at IS NULL");
  const owning = reader.prepare(`SELECT owner FROM conversation AS one WHERE id = ? AND (deleted_at IS NULL
    OR NOT EXISTS (SELECT 1 FROM conversation WHERE id = one.id AND deleted_at IS NULL)) ORDER BY number LIMIT ?`);
  const numbered = reader.prepare("SELECT * FROM conversation WHERE number = ?");
  const prefixed = reader.prepare(`SELECT * FROM conversation
    WHERE owner = ? AND id >= ? AND id < ? AND deleted_at IS NULL ORDER BY updated_at DESC, number DESC LIMIT ?`);
  const listed = reader.prepare(`SELECT * FROM conversation
    WHERE owner = ? AND deleted_at IS NULL AND origin = 'person' AND (updated_at, number) < (?, ?) AND is_pinned >= ?
    ORDER BY updated_at DESC, number DESC LIMIT ?`);

  return {
    create({ owner, id, title = "", origin = "person", agentId = null, appKey = null, at, isPassing = false }) {
      const found = taken.get(owner, id);
      if (found !== undefined) {
        return failure(
          optionalInteger(found, "deleted_at") === undefined ? "conversation_exists" : "conversation_not_found",
          { id },
        );
      }
      const row = insert.get(owner, id, title, origin, Number(isPassing), agentId, appKey, at, at);
      assert(row !== undefined, "an insert that returns has a row");
      checkNumber(integer(row, "number"));
      return ok(conversationRow(row));
    },
    checkAlive(number) {
      const row = deletedAt.get(checkNumber(number));
      if (row === undefined) return makeFailure("conversation_not_found", { id: String(number) });
      if (optionalInteger(row, "deleted_at") === undefined) return undefined;
      return makeFailure("conversation_not_found", { id: text(row, "id") });
    },
    update(number, { title = null, lastMessage = null, turns = null, agentId = null, appKey = null, ...row }) {
      const { readIndex = null, isPinned, seenAt = null, updatedAt = null } = row;
      const pin = isPinned === undefined ? null : Number(isPinned);
      updateRow.run(title, lastMessage, turns, agentId, appKey, readIndex, pin, seenAt, updatedAt, number);
    },
    bury(number, at) {
      buryRow.run(at, at, number);
    },
    find: (owner, id) => optionalRow(one.get(owner, id)),
    owners: (id, limit) => owning.all(id, checkLimit(limit)).map((row) => OwnerId.parse(text(row, "owner"))),
    byNumber: (number) => optionalRow(numbered.get(checkNumber(number))),
    byPrefix: (owner, prefix, limit) =>
      prefixed.all(owner, prefix, `${prefix}${lastCharacter}`, checkLimit(limit)).map(conversationRow),
    list(owner, { limit, before, isPinned = false }) {
      const place = placeOf(before);
      // A cursor that is none of ours: nothing lies before it.
      if (place === undefined) return [];
      return listed.all(owner, place.updatedAt, place.number, Number(isPinned), checkLimit(limit)).map(conversationRow);
    },
    ...openSearches(reader),
  };
}

function openSearches(reader: DatabaseSync): Pick<Conversations, "search" | "unusedByCallers"> {
  // SQLite's own lower() knows the letters of English alone.
  reader.function("in_small_letters", { deterministic: true }, (value) => String(value).toLowerCase());
  const fitting = `FROM conversation WHERE owner = ? AND deleted_at IS NULL AND origin = 'person'
    AND (? IS NULL OR app_key = ?) AND instr(in_small_letters(title), ?) > 0`;
  const searched = reader.prepare(`SELECT * ${fitting} ORDER BY updated_at DESC, number DESC LIMIT ? OFFSET ?`);
  const counted = reader.prepare(`SELECT count(*) AS total ${fitting}`);

  const ofCallers = reader.prepare(unusedByCallers);
  return {
    search(owner, { appKey = null, title = "", limit, offset }) {
      const where = [owner, appKey, appKey, title.toLowerCase()] as const;
      return {
        items: searched.all(...where, checkLimit(limit), offset).map(conversationRow),
        total: integer(counted.get(...where) ?? {}, "total"),
      };
    },
    unusedByCallers: ({ before, isPassing, limit, only = null, now }) =>
      ofCallers
        .all({ before, isPassing: Number(isPassing), only, now, limit: checkLimit(limit) })
        .map((row) => conversationRow(row)),
  };
}

/** A turn that waits for functions of its caller keeps its wake: it is left when nobody has brought a result for as long. */
const unusedByCallers = `SELECT conversation.* FROM conversation LEFT JOIN lease USING (number)
  WHERE deleted_at IS NULL AND origin = 'program' AND is_passing = :isPassing AND updated_at < :before
    AND ${isFree} AND coalesce(:only, number) = number
    AND NOT EXISTS (SELECT 1 FROM wake WHERE wake.number = conversation.number AND set_at >= :before)
    AND NOT EXISTS (SELECT 1 FROM decision WHERE decision.number = conversation.number)
  ORDER BY updated_at, number LIMIT :limit`;

const lastCharacter = "\u{10ffff}";

function prepareWrites(writer: DatabaseSync) {
  return {
    insert: writer.prepare(`INSERT INTO conversation (owner, id, title, origin, is_passing, agent_id, app_key,
      last_message, turns, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, '', 0, ?, ?) RETURNING *`),
    taken: writer.prepare("SELECT deleted_at FROM conversation WHERE owner = ? AND id = ?"),
    deletedAt: writer.prepare("SELECT id, deleted_at FROM conversation WHERE number = ?"),
    updateRow: writer.prepare(`UPDATE conversation SET title = coalesce(?, title),
      last_message = coalesce(?, last_message), turns = coalesce(?, turns), agent_id = coalesce(agent_id, ?),
      app_key = coalesce(app_key, ?), read_index = coalesce(?, read_index), is_pinned = coalesce(?, is_pinned),
      seen_at = max(coalesce(seen_at, 0), coalesce(?, seen_at)), updated_at = coalesce(?, updated_at) WHERE number = ?`),
    buryRow:
      writer.prepare(`UPDATE conversation SET title = '', last_message = '', turns = 0, agent_id = NULL, app_key = NULL,
      read_index = 0, is_pinned = 0, seen_at = NULL, updated_at = ?, deleted_at = ? WHERE number = ?`),
  };
}

function optionalRow(row: Row | undefined): ConversationRow | undefined {
  return row === undefined ? undefined : conversationRow(row);
}

import { assert } from "../../base/assert.ts";
import { ok } from "../../base/result.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { checkLimit } from "../checks.ts";
import { integer, text } from "../rows.ts";
import { executionRow, listed, sessionRow } from "../shapes.ts";
import type { ExecutionRow, Storage } from "../storage.ts";
import { isOfNobody } from "./moment.ts";
import type { Parts } from "./parts.ts";
import type { Query } from "./query.ts";

type Sessions = "touchSession" | "putSession" | "findSession" | "listSessions" | "forgetSession";

/** The sandbox sessions, one a user. */
export function holdingSessions({ reader, lanes }: Parts): Pick<Storage, Sessions> {
  return {
    putSession: ({ owner, id, usedAt, body }) =>
      lanes.write(owner, async ({ run }) => {
        await run(putSessionSql, owner, id, usedAt, body);
        return ok(undefined);
      }),
    async findSession(owner) {
      const row = await reader.one("SELECT * FROM sandbox_session WHERE owner = $1", owner);
      return row === undefined ? undefined : sessionRow(row);
    },
    touchSession: (owner, usedAt) =>
      lanes.write(owner, async ({ run }) => {
        await run("UPDATE sandbox_session SET used_at = greatest(used_at, $2) WHERE owner = $1", owner, usedAt);
        return ok(undefined);
      }),
    listSessions: async (limit) => (await reader.all(sessionsSql, checkLimit(limit))).map(sessionRow),
    forgetSession: (owner) =>
      lanes.write(owner, async ({ run }) => {
        await run("DELETE FROM execution WHERE owner = $1", owner);
        await run("DELETE FROM sandbox_session WHERE owner = $1", owner);
        return ok(undefined);
      }),
  };
}

type Executions =
  | ("putExecution" | "findExecution" | "ownerOfExecution" | "listExecutions")
  | ("openExecutions" | "dropExecutions" | "trimExecutions");

/** What became of programs that were run. */
export function executing({ reader, lanes, now }: Parts): Pick<Storage, Executions> {
  return {
    putExecution: (row, { isOnDisk = true, server } = {}) =>
      lanes.write(row.owner, async (query) => ok(await put(query, row, server)), { isOnDisk }),
    async findExecution(owner, id) {
      const row = await reader.one("SELECT * FROM execution WHERE id = $1 AND owner = $2", id, owner);
      return row === undefined ? undefined : executionRow(row);
    },
    async ownerOfExecution(id) {
      const row = await reader.one("SELECT owner FROM execution WHERE id = $1", id);
      return row === undefined ? undefined : OwnerId.parse(text(row, "owner"));
    },
    async listExecutions(owner, { limit, offset }) {
      assert(Number.isInteger(offset) && offset >= 0, "an offset is no negative number");
      const rows = await reader.all(listSql, owner, checkLimit(limit), offset);
      const counted = await reader.one("SELECT count(*) AS total FROM execution WHERE owner = $1", owner);
      return { items: rows.map(listed), total: integer(counted ?? {}, "total") };
    },
    openExecutions: async (limit) => (await reader.all(openSql, now(), checkLimit(limit))).map(executionRow),
    dropExecutions: (before) =>
      lanes.write("executions", async ({ run }) => {
        await run("DELETE FROM execution WHERE ended_at < $1", before);
        return ok(undefined);
      }),
    trimExecutions: (owner, { rowsMax, bytesMax }) =>
      lanes.write(owner, async ({ run }) => {
        await run(trimSql, owner, rowsMax, bytesMax);
        return ok(undefined);
      }),
  };
}

/** False: it is over already and stays as it is. */
async function put(query: Query, row: ExecutionRow, server: string | undefined): Promise<boolean> {
  const { id, owner, createdAt, endedAt, body, full } = row;
  const bytes = Buffer.byteLength(body) + Buffer.byteLength(full ?? "");
  if ((await query.run(putSql, id, owner, createdAt, endedAt, bytes, body, full, server)) === 1) return true;
  const found = await query.one("SELECT owner FROM execution WHERE id = $1", id);
  assert(text(found ?? {}, "owner") === owner, "an execution stays with its owner");
  return false;
}

const putSessionSql = `INSERT INTO sandbox_session (owner, id, used_at, body) VALUES ($1, $2, $3, $4)
  ON CONFLICT (owner) DO UPDATE SET id = excluded.id, used_at = excluded.used_at, body = excluded.body`;
const sessionsSql = "SELECT * FROM sandbox_session ORDER BY used_at DESC, owner LIMIT $1";
const putSql = `INSERT INTO execution (id, owner, created_at, ended_at, bytes, body, long_body, server)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, ended_at = excluded.ended_at,
    bytes = excluded.bytes, body = excluded.body, long_body = excluded.long_body
  WHERE execution.ended_at IS NULL AND execution.owner = excluded.owner`;
const listSql = `SELECT id, owner, created_at, ended_at, body FROM execution WHERE owner = $1
  ORDER BY created_at DESC, key DESC LIMIT $2 OFFSET $3`;
const openSql = `SELECT * FROM execution WHERE ended_at IS NULL AND ${isOfNobody("execution.server", 1)}
  ORDER BY created_at, key LIMIT $2`;
const trimSql = `DELETE FROM execution WHERE key IN (
  SELECT key FROM (SELECT key, ended_at, row_number() OVER newest_first AS place, sum(bytes) OVER newest_first AS held
    FROM execution WHERE owner = $1 WINDOW newest_first AS (ORDER BY created_at DESC, key DESC)) AS counted
  WHERE ended_at IS NOT NULL AND (place > $2 OR held > $3))`;

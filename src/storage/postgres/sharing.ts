import { assert } from "../../base/assert.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { text } from "../rows.ts";
import { type Present, type ServerRow, type Sharing, serverGoneMs } from "../sharing.ts";
import { StorageAway, type StorageFailure } from "../storage.ts";
import { failureOf } from "./failures.ts";
import { isGone, moment } from "./moment.ts";
import type { OwnLine } from "./own-line.ts";
import type { Parts } from "./parts.ts";
import type { Query } from "./query.ts";

/** The servers that share a database, who of them has what, and what they tell each other. */
export function sharing({ reader, lanes, now }: Parts, line: OwnLine): Sharing {
  return {
    async beat({ id, address }) {
      const rows = await away(line.ask(({ all }) => all(beatSql, id, now(), address), impatiently));
      const living = rows.filter((row) => row.is_gone !== true).map(serverRow);
      const wasGone = !living.some((server) => server.id === id);
      return { wasGone, living: wasGone ? [...living, { id, address }] : living };
    },
    async homeOf(key, asker) {
      // Another one that asks in the same moment may be the first: then the next look shows it.
      for (let looks = 0; looks < looksMax; looks += 1) {
        const row = await reader.one(homeSql, key, now(), asker);
        if (row !== undefined) return serverRow(row);
      }
      return undefined;
    },
    bury: (server) =>
      lanes.write("servers", async ({ run }) => {
        await run(burySql, server, now());
        return ok(undefined);
      }),
    leave: (server) =>
      lanes.write("servers", async ({ run }) => {
        // In the order in which others lock them who take a home.
        await run("DELETE FROM server WHERE id = $1", server);
        await run("DELETE FROM home WHERE server = $1", server);
        await run("UPDATE log SET holder = NULL WHERE holder = $1", server);
        return ok(undefined);
      }),
    async addressSeen() {
      const row = await away(line.ask(({ one }) => one("SELECT host(inet_client_addr()) AS address")));
      return typeof row?.address === "string" ? row.address : undefined;
    },
    agree: (name, value) =>
      lanes.write("agreements", async ({ run, one }) => {
        await run("INSERT INTO agreement (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", name, value);
        // Whoever is just changing it is waited for.
        return ok(text((await one("SELECT value FROM agreement WHERE name = $1 FOR SHARE", name)) ?? {}, "value"));
      }),
    agreeAnew: (name, value, mayChange) =>
      lanes.write("agreements", async (query) => {
        // Who agreed on it before is known to live before it looks again: it is seen here, or it sees the change there.
        await query.one("SELECT 1 FROM agreement WHERE name = $1 FOR UPDATE", name);
        if (!mayChange(await presentIn(query, now()))) return ok(false);
        await query.run(agreeSql, name, value);
        return ok(true);
      }),
    async tell(topic, key) {
      assert(topic.length + key.length <= toldMax, "what is told is a name, and no text");
      return told(line.tell({ topic, key }));
    },
    onTold: line.onTold,
  };
}

/** PostgreSQL takes 8000 bytes. */
const toldMax = 1_000;
/** The next one follows in a second. */
const impatiently = { awayMsMax: 0 };
const looksMax = 5;

async function told(work: Promise<void>): Promise<Result<void, StorageFailure>> {
  try {
    return ok(await work);
  } catch (error) {
    const failure = failureOf(error);
    if (failure === undefined) throw error;
    return failed(failure);
  }
}

async function away<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const failure = failureOf(error);
    throw failure?.code === "database_away" ? new StorageAway(failure, error) : error;
  }
}

async function presentIn({ all, one }: Pick<Query, "all" | "one">, now: number | null): Promise<Present> {
  const servers = (await all(livingSql, now)).map(serverRow);
  const row = await one(restingSql);
  return { servers, hasSecrets: row?.has_secrets === true, hasFiles: row?.has_files === true };
}

function serverRow(row: Parameters<typeof text>[0]): ServerRow {
  return { id: text(row, "id"), address: text(row, "address") };
}

/** Reads who lived before it notes that this one does. What is gone for a day is forgotten. */
const beatSql = `WITH beaten AS (
    INSERT INTO server (id, address, started_at, seen_at) VALUES ($1, $3, ${moment(2)}, ${moment(2)})
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, address = excluded.address),
  old AS (DELETE FROM server WHERE id <> $1 AND seen_at < ${moment(2)} - 86400000 RETURNING id),
  emptied AS (DELETE FROM home USING old WHERE home.server = old.id)
  SELECT id, address, ${isGone("server", 2)} AS is_gone FROM server ORDER BY started_at, id`;
export const livingSql = `SELECT id, address FROM server WHERE NOT ${isGone("server", 1)} ORDER BY started_at, id`;
const restingSql = `SELECT EXISTS (SELECT 1 FROM secret) AS has_secrets,
  EXISTS (SELECT 1 FROM workspace WHERE made_at IS NOT NULL) AS has_files`;
const burySql = `UPDATE server SET seen_at = least(seen_at, ${moment(2)} - ${serverGoneMs}) WHERE id = $1`;
/**
 * Who takes a home from one that is gone must find it as it was when that was seen; and that one can come back before it is
 * taken, or after, but not in between: its row is locked, and looked at again under the lock.
 */
const homeSql = `WITH held AS (
    SELECT server.id, server.address FROM home JOIN server ON server.id = home.server
    WHERE key = $1 AND NOT ${isGone("server", 2)}),
  before AS (SELECT server AS id FROM home WHERE key = $1),
  gone AS (SELECT 1 FROM server WHERE id = (SELECT id FROM before) AND ${isGone("server", 2)} FOR SHARE),
  taken AS (
    INSERT INTO home (key, server) SELECT $1, id FROM server
    WHERE id = $3 AND NOT ${isGone("server", 2)} AND NOT EXISTS (SELECT 1 FROM held)
      AND (NOT EXISTS (SELECT 1 FROM before JOIN server USING (id)) OR EXISTS (SELECT 1 FROM gone))
    ON CONFLICT (key) DO UPDATE SET server = excluded.server
    WHERE home.server = (SELECT id FROM before)
    RETURNING server)
  SELECT id, address FROM held
  UNION ALL SELECT id, address FROM taken JOIN server ON server.id = taken.server`;
const agreeSql = `INSERT INTO agreement (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

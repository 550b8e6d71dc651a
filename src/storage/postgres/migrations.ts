import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { integer, text } from "../rows.ts";
import type { Connections } from "./connections.ts";
import { keepCopy } from "./keep-copy.ts";
import { tables } from "./migrations/0001-tables.ts";
import { pins } from "./migrations/0002-pins.ts";
import { servers } from "./migrations/0003-servers.ts";
import type { Query, Reader } from "./query.ts";

/** Forward only; the place in the list is the version. A released one is never changed. */
const migrations: readonly string[] = [tables, pins, servers];

export const newestVersion = migrations.length;

export type UnfitFailure = Failure<"storage_newer" | "database_unusable">;

/**
 * Brings the schema to the newest version, all in one transaction: it is there as a whole or not at all. What was there before
 * is kept beside it.
 */
export function migrate(connections: Connections, schema: string): Promise<Result<void, UnfitFailure>> {
  return connections.transact(async (query) => {
    // Of several processes that start at one moment one does it, and the others wait.
    await query.run("SELECT pg_advisory_xact_lock($1, hashtext($2))", lockClass, schema);
    const version = await readVersion(query, schema);
    if (!version.ok) return version;
    if (version.value === 0) await begin(query, schema);
    else if (version.value < newestVersion) await keepCopy(query, schema, newestVersion);
    for (const [index, sql] of migrations.entries()) if (index >= version.value) await query.exec(sql);
    if (version.value < newestVersion) await query.run("UPDATE agentyard SET version = $1", newestVersion);
    return ok(undefined);
  }, patiently);
}

/** Whoever comes second waits for as long as the first one takes. */
const patiently = "BEGIN; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0";

/** Which version the schema has: 0 is an empty one. A server that is too old, or stores no UTF-8, has none that we could use. */
export async function readVersion(query: Reader, schema: string): Promise<Result<number, UnfitFailure>> {
  const server = (await query.one(serverSql)) ?? {};
  if (integer(server, "number") < serverVersionMin)
    return failure("database_unusable", { why: "too_old", said: text(server, "version") });
  if (text(server, "encoding") !== "UTF8")
    return failure("database_unusable", { why: "encoding", said: text(server, "encoding") });
  const found = (await query.one(schemaSql, schema)) ?? {};
  if (integer(found, "tables") === 0) return ok(0);
  if (found.is_ours !== true) return failure("database_unusable", { why: "foreign", said: schema });
  const version = integer((await query.one(`SELECT version FROM "${schema}".agentyard`)) ?? {}, "version");
  if (version > newestVersion) return failure("storage_newer", { found: version, known: newestVersion });
  return ok(version);
}

/** "AYRD", before our locks. */
export const lockClass = 0x41595244;
/** 14.0: older ones get no more corrections from those who make them. */
const serverVersionMin = 140_000;

const serverSql = `SELECT current_setting('server_version_num')::bigint AS number,
  current_setting('server_version') AS version, current_setting('server_encoding') AS encoding`;
const schemaSql = `SELECT count(*) AS tables, bool_or(relname = 'agentyard') AS is_ours
  FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relkind IN ('r', 'p', 'v')`;

/** A schema that somebody made for us need not be made, which would take further rights. */
async function begin(query: Query, schema: string): Promise<void> {
  const isThere = (await query.one("SELECT 1 FROM pg_namespace WHERE nspname = $1", schema)) !== undefined;
  if (!isThere) await query.exec(`CREATE SCHEMA "${schema}"`);
  await query.exec("CREATE TABLE agentyard (version bigint NOT NULL); INSERT INTO agentyard VALUES (0)");
}

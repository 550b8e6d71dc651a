import { assert } from "../../base/assert.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { type ColumnKind, type CopiedRows, copiedTables } from "../copied-tables.ts";
import { openRowSums } from "../row-sums.ts";
import { integer, text } from "../rows.ts";
import type { CopyFacts } from "../storage.ts";
import { type ConnectionOptions, openConnections } from "./connections.ts";
import { readAll } from "./copy.ts";
import { schemaOf } from "./database-place.ts";
import { openFailureOf } from "./failures.ts";
import { migrate, newestVersion, readVersion } from "./migrations.ts";
import type { OpenFailure } from "./postgres.ts";
import type { Query, Value } from "./query.ts";
import { livingSql } from "./sharing.ts";

type Place = Omit<ConnectionOptions, "connectionsMax" | "awayMsMax">;
type NotEmpty = Failure<"database_not_empty">;

/**
 * Puts all rows of another database into an empty one, in one transaction, and reads them back before it counts: all of it
 * is there, to the letter, or nothing is. What has to happen with it, `last`, happens when only the commit is missing; where
 * that fails, nothing is there either.
 */
export async function bringIn(
  place: Place,
  read: () => Iterable<CopiedRows>,
  last: () => Promise<Result<void, Failure>> = async () => ok(undefined),
): Promise<Result<CopyFacts, Failure>> {
  const connections = openConnections({ ...place, connectionsMax: 1, awayMsMax: 0 });
  try {
    const migrated = await migrate(connections, schemaOf(place.url));
    if (!migrated.ok) return migrated;
    return await connections.transact(async (query) => {
      const free = await findFree(query);
      if (!free.ok) return free;
      const facts = await fill(query, read());
      const done = await last();
      if (!done.ok) throw new LastFailed(done.failure);
      return ok(facts);
    });
  } catch (error) {
    if (error instanceof LastFailed) return failed(error.reason);
    const reason = openFailureOf(error);
    if (reason === undefined) throw error;
    return failed(reason);
  } finally {
    await connections.close();
  }
}

/** Whether there is anything in it yet that `bringIn` would refuse to mix with. A schema of an older format has been used. */
export async function lookIntoDatabase(place: Place): Promise<Result<{ readonly isUsed: boolean }, OpenFailure>> {
  const connections = openConnections({ ...place, connectionsMax: 1, awayMsMax: 0 });
  try {
    return await connections.transact(async (query) => {
      const version = await readVersion(query, schemaOf(place.url));
      if (!version.ok) return version;
      if (version.value !== newestVersion) return ok({ isUsed: version.value !== 0 });
      return ok({ isUsed: (await query.one(usedSql))?.is_used === true });
    });
  } catch (error) {
    const reason = openFailureOf(error);
    if (reason === undefined) throw error;
    return failed(reason);
  } finally {
    await connections.close();
  }
}

/** Undoes the transaction it is thrown in. */
class LastFailed extends Error {
  readonly reason: Failure;
  constructor(reason: Failure) {
    super(reason.code);
    this.reason = reason;
  }
}

/** From here on no server can begin to say that it lives. What earlier ones agreed on rested on nothing. */
async function findFree(query: Query): Promise<Result<void, NotEmpty | OpenFailure>> {
  await query.exec("LOCK TABLE server, agreement IN EXCLUSIVE MODE");
  const [server] = await query.all(livingSql, null);
  if (server !== undefined) return failure("database_unusable", { why: "in_use", said: text(server, "address") });
  if ((await query.one(usedSql))?.is_used === true) return failure("database_not_empty", {});
  await query.exec("DELETE FROM agreement; DELETE FROM home");
  return ok(undefined);
}

async function fill(query: Query, batches: Iterable<CopiedRows>): Promise<CopyFacts> {
  const given = openRowSums();
  for (const batch of batches) {
    given.add(batch);
    await insert(query, batch);
  }
  await query.exec(restSql);
  const stored = openRowSums();
  for await (const batch of readAll(query)) stored.add(batch);
  const [before, after] = [given.sums(), stored.sums()].map((sums) => JSON.stringify(sums));
  assert(before === after, `what is stored is what was given: ${before} ${after}`);
  const counted = (await query.one(countSql)) ?? {};
  return { conversations: integer(counted, "conversations"), events: integer(counted, "events") };
}

/** Each column as one list. */
async function insert(query: Query, { table, rows }: CopiedRows): Promise<void> {
  const columns = Object.entries(copiedTables[table] ?? {});
  const lists = columns.map(([, kind], place) => ({ kind, values: rows.map((row) => row[place] as Single) }));
  const names = columns.map(([name]) => name);
  if (table === "conversation") {
    names.push("small_title");
    const titles = rows.map((row) => String(row[names.indexOf("title")]).toLowerCase());
    lists.push({ kind: "text", values: titles });
  }
  const unnested = lists.map(({ kind }, index) => `$${index + 1}::${sqlKinds[kind]}[]`).join(", ");
  await query.run(
    `INSERT INTO ${targetOf(table)} (${names.join(", ")}) SELECT * FROM unnest(${unnested}) ${conflicts[table] ?? ""}`,
    ...lists.map(({ values }): Value => values),
  );
}

type Single = string | number | Uint8Array | null;
const sqlKinds: Readonly<Record<ColumnKind, string>> = { integer: "bigint", text: "text", bytes: "bytea" };
const targetOf = (table: string) => (table === "lease" ? "log" : `"${table}"`);
/** A new database has this row. */
const conflicts: Readonly<Record<string, string>> = {
  counter: "ON CONFLICT (name) DO UPDATE SET last = excluded.last",
};

const usedSql = `SELECT ${Object.keys(copiedTables)
  .filter((table) => !(table in conflicts))
  .map((table) => `EXISTS (SELECT 1 FROM ${targetOf(table)})`)
  .join(" OR ")} AS is_used`;
const countSql = `SELECT (SELECT count(*) FROM conversation WHERE deleted_at IS NULL) AS conversations,
  (SELECT count(*) FROM event) AS events`;

const counters = {
  ...{ conversation: "number", decision: "key", agent: "key", execution: "key", rule: "key", memory: "key" },
  ...{ '"user"': "key", toolbox_tool: "key" },
};
/** What follows from the rows: a log for each living conversation with its head, and where counting goes on. */
const restSql = `
INSERT INTO log SELECT number, 0, 0, NULL, 0, 0 FROM conversation WHERE deleted_at IS NULL ON CONFLICT DO NOTHING;
UPDATE log SET head = coalesce((SELECT max(id) FROM event
  WHERE id BETWEEN number << 24 AND (number << 24) + 16777215), number << 24) - (number << 24);
${Object.entries(counters)
  .map(
    ([table, column]) => `SELECT setval(pg_get_serial_sequence('${table}', '${column}'),
  greatest((SELECT max(${column}) FROM ${table}), 1), (SELECT count(*) > 0 FROM ${table}));`,
  )
  .join("\n")}`;

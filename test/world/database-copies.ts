import assert from "node:assert/strict";
import pg from "pg";
import type { PostgresServer } from "./postgres-server.ts";

/** All that is in a schema in one moment, as SQL: tables like those, and what puts the same into tables like those. */
export type DatabaseCopy = { make(schema: string): string; fill(schema: string): string };

export type DatabaseCopies = AsyncDisposable & {
  /** What is there now. One statement sees one moment, and never half of a transaction. */
  copy(url: string): Promise<DatabaseCopy>;
  /** Does this with a database that has what was copied, and nothing else. */
  withCopy<T>(copied: DatabaseCopy, work: (url: string) => Promise<T>): Promise<T>;
};

/** What a process leaves on a database server that is killed in this moment, as often as somebody wants to go on from it. */
export async function openDatabaseCopies(server: PostgresServer): Promise<DatabaseCopies> {
  const session = await server.session();
  // Lanes share it, and it does one thing after another.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
  const parts = new Map<string, Parts>();
  // Making tables takes as long as all that is done with them here: they serve again.
  const idle: string[] = [];
  return {
    async copy(url) {
      const schema = schemaOf(url);
      return inTurn(async () => {
        const known = parts.get(schema) ?? (await partsOf(session, schema));
        parts.set(schema, known);
        return copyNow(session, schema, known);
      });
    },
    async withCopy(copied, work) {
      const known = idle.pop();
      const url = known ?? server.newPlace();
      const sql = `${known === undefined ? copied.make(schemaOf(url)) : ""}${copied.fill(schemaOf(url))}`;
      await inTurn(() => session.query(sql));
      const answer = await work(url);
      // Where that failed somebody may still be at it.
      idle.push(url);
      return answer;
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

type Parts = { readonly tables: readonly string[]; readonly counters: readonly string[] };

async function partsOf(session: pg.Client, schema: string): Promise<Parts> {
  const names = async (sql: string) => (await session.query(sql, [schema])).rows.map(({ name }) => String(name));
  return {
    tables: await names("SELECT tablename AS name FROM pg_tables WHERE schemaname = $1"),
    counters: await names("SELECT sequencename AS name FROM pg_sequences WHERE schemaname = $1"),
  };
}

async function copyNow(session: pg.Client, schema: string, { tables, counters }: Parts): Promise<DatabaseCopy> {
  const columns = [
    ...tables.map((name) => `(SELECT json_agg(t)::text FROM "${schema}"."${name}" t)`),
    ...counters.map((name) => `(SELECT last_value || ', ' || is_called FROM "${schema}"."${name}")`),
  ];
  const { rows } = await session.query({ text: `SELECT ${columns.join(", ")}`, rowMode: "array" });
  const found: (string | null)[] = rows[0] ?? [];
  return {
    make: (into) => `CREATE SCHEMA "${into}";${tables.map((name) => tableLike(schema, into, name)).join(";")};`,
    fill: (into) =>
      [
        ...tables.map((name) => `DELETE FROM "${into}"."${name}"`),
        ...tables.flatMap((name, index) => putRows(`"${into}"."${name}"`, found[index] ?? null)),
        ...counters.map((name, index) => `SELECT setval('"${into}"."${name}"', ${found[tables.length + index]})`),
      ].join(";"),
  };
}

/** With its keys, indexes and counters, which get the names that they have. */
function tableLike(schema: string, into: string, name: string): string {
  return `CREATE TABLE "${into}"."${name}" (LIKE "${schema}"."${name}" INCLUDING ALL)`;
}

function putRows(table: string, rows: string | null): string[] {
  if (rows === null) return [];
  return [`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, ${pg.escapeLiteral(rows)})`];
}

function schemaOf(url: string): string {
  return new URL(url).searchParams.get("schema") ?? assert.fail(url);
}

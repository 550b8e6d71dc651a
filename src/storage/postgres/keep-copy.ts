import { text } from "../rows.ts";
import type { Query } from "./query.ts";

/**
 * All of a schema once more under another name, which it answers, before its tables are changed: in the same transaction as the
 * change, with keys and counters. Given the old name again, the version before goes on with it.
 */
export async function keepCopy(query: Query, schema: string, newVersion: number): Promise<string> {
  const copy = await freeName(query, schema, newVersion);
  await query.exec(`CREATE SCHEMA "${copy}"`);
  for (const row of await query.all(tablesSql, schema)) {
    const name = `"${text(row, "name")}"`;
    await query.exec(`CREATE TABLE "${copy}".${name} (LIKE "${schema}".${name} INCLUDING ALL);
      INSERT INTO "${copy}".${name} SELECT * FROM "${schema}".${name}`);
  }
  for (const row of await query.all(countersSql, schema)) {
    const [table, column] = [text(row, "name"), text(row, "column")];
    const counter = (of: string) => `pg_get_serial_sequence('"${of}"."${table}"', '${column}')`;
    const { sequence } = (await query.one(`SELECT ${counter(schema)} AS sequence`)) ?? {};
    await query.exec(`SELECT setval(${counter(copy)}, last_value, is_called) FROM ${sequence}`);
  }
  return copy;
}

/** Names are cut by the server at this length, without a word. */
const nameBytesMax = 63;

/** Whoever went back and comes again keeps both. */
async function freeName(query: Query, schema: string, newVersion: number): Promise<string> {
  for (let count = 1; ; count += 1) {
    const ending = `_before_${newVersion}${count === 1 ? "" : `_${count}`}`;
    const name = `${schema.slice(0, nameBytesMax - ending.length)}${ending}`;
    if ((await query.one("SELECT 1 FROM pg_namespace WHERE nspname = $1", name)) === undefined) return name;
  }
}

const tablesSql = "SELECT tablename::text AS name FROM pg_tables WHERE schemaname = $1 ORDER BY tablename";
const countersSql = `SELECT relname::text AS name, attname::text AS column
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname = $1 AND relkind = 'r' AND attidentity <> '' AND NOT attisdropped ORDER BY relname`;

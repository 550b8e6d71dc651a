import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { databaseEnv } from "./database-env.ts";

/** Whether a text stands in what the yard of a data directory has stored: in its file, or in its schema on a server. */
export async function isStored(data: string, text: string): Promise<boolean> {
  const { AGENTYARD_DATABASE_URL: url } = databaseEnv(data);
  if (url === undefined) return readFileSync(join(data, "sessions.db")).includes(text);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const schema = new URL(url).searchParams.get("schema");
    const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = $1", [schema]);
    for (const { tablename } of rows) {
      const found = await client.query(
        `SELECT 1 FROM "${schema}"."${tablename}" AS row WHERE strpos(row::text, $1) > 0 LIMIT 1`,
        [text],
      );
      if (found.rowCount === 1) return true;
    }
    return false;
  } finally {
    await client.end();
  }
}

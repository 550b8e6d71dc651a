import { closeSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { failed, type Result } from "../../base/result.ts";
import { type CopiedRows, copiedTables } from "../copied-tables.ts";
import type { CopyFacts, StorageFailure } from "../storage.ts";
import { readCopy } from "./copy.ts";
import { failureOf } from "./failures.ts";
import { migrate } from "./migrations.ts";

/** Makes a new database of rows that another one has given, and reads it back before it counts as made. */
export async function fillCopy(
  path: string,
  batches: AsyncIterable<CopiedRows>,
): Promise<Result<CopyFacts, StorageFailure>> {
  let isOurs = false;
  let isWhole = false;
  try {
    closeSync(openSync(path, "wx", 0o600));
    isOurs = true;
    await fill(path, batches);
    const facts = await readCopy(path);
    isWhole = facts.ok;
    return facts;
  } catch (error) {
    const reason = failureOf(error);
    if (reason === undefined) throw error;
    return failed(reason);
  } finally {
    // What was there before us is not ours to remove.
    if (isOurs && !isWhole) for (const name of [path, `${path}-journal`]) await rm(name, { force: true });
  }
}

async function fill(path: string, batches: AsyncIterable<CopiedRows>): Promise<void> {
  const database = new DatabaseSync(path);
  try {
    migrate(database, { path, from: 0 });
    database.exec("BEGIN IMMEDIATE");
    for await (const { table, rows } of batches) {
      const columns = Object.keys(copiedTables[table] ?? {});
      const insert = database.prepare(
        `INSERT OR REPLACE INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
      );
      // The kinds of the columns are those of copiedTables, in both databases.
      for (const row of rows) insert.run(...(row as readonly SQLInputValue[]));
    }
    database.exec("COMMIT");
  } finally {
    database.close();
  }
}

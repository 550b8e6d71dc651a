import { failed, type Result } from "../../base/result.ts";
import { type CopiedRows, copiedTables, type FillCopy } from "../copied-tables.ts";
import type { CopyFacts, StorageFailure } from "../storage.ts";
import type { Connections } from "./connections.ts";
import { failureOf } from "./failures.ts";
import type { Query } from "./query.ts";

/** A copy as of one moment: all is read in one transaction that sees nothing of what is written after its start. */
export async function copyDatabase(
  connections: Connections,
  path: string,
  fillCopy: FillCopy,
  tables?: readonly string[],
): Promise<Result<CopyFacts, StorageFailure>> {
  try {
    return await connections.transact(
      (query) => fillCopy(path, readAll(query, tables)),
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    );
  } catch (error) {
    const reason = failureOf(error);
    if (reason === undefined) throw error;
    return failed(reason);
  }
}

export async function* readAll(
  query: Query,
  tables: readonly string[] = Object.keys(copiedTables),
): AsyncGenerator<CopiedRows> {
  for (const table of tables) {
    const names = Object.keys(copiedTables[table] ?? {});
    await query.run(
      `DECLARE copied NO SCROLL CURSOR FOR SELECT ${names.join(", ")} FROM ${sources[table] ?? `"${table}"`}`,
    );
    for (;;) {
      const rows = await query.list(`FETCH ${largeTables.includes(table) ? 10 : 200} FROM copied`);
      if (rows.length === 0) break;
      yield { table, rows: rows.map((row) => names.map((_, place) => row[place])) };
    }
    await query.run("CLOSE copied");
  }
}

const sources: Readonly<Record<string, string>> = { lease: "log WHERE epoch > 0" };
/** A row of these may have megabytes. */
const largeTables = ["blob", "execution"];

import { DatabaseSync } from "node:sqlite";
import { type CopiedRows, copiedTables } from "../copied-tables.ts";

/** All that a database of the newest format holds, table by table, as of one moment. */
export function* readRows(path: string): Generator<CopiedRows> {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.exec("BEGIN");
    for (const [table, columns] of Object.entries(copiedTables)) {
      const statement = database.prepare(`SELECT ${Object.keys(columns).join(", ")} FROM ${table}`);
      statement.setReturnArrays(true);
      let rows: unknown[][] = [];
      let bytes = 0;
      for (const row of statement.iterate()) {
        const values = Object.values(row);
        rows.push(values);
        bytes += sizeOf(values);
        if (rows.length < batchRowsMax && bytes < batchBytesMax) continue;
        yield { table, rows };
        [rows, bytes] = [[], 0];
      }
      if (rows.length > 0) yield { table, rows };
    }
  } finally {
    database.close();
  }
}

const batchRowsMax = 500;
const batchBytesMax = 4 * 1024 * 1024;

function sizeOf(values: readonly unknown[]): number {
  return values.reduce(
    (sum: number, value) => sum + (typeof value === "string" || value instanceof Uint8Array ? value.length : 8),
    0,
  );
}

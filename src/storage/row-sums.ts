import { createHash } from "node:crypto";
import type { CopiedRows } from "./copied-tables.ts";

/** How many rows each table has, and a sum over all that is in them, which does not depend on their order. */
export type RowSums = Readonly<Record<string, string>>;

export function openRowSums(): { add(batch: CopiedRows): void; sums(): RowSums } {
  const counted = new Map<string, { rows: number; sum: bigint }>();
  return {
    add({ table, rows }) {
      const before = counted.get(table) ?? { rows: 0, sum: 0n };
      const sum = rows.reduce((sofar: bigint, row) => sofar + sumOf(row), before.sum);
      counted.set(table, { rows: before.rows + rows.length, sum });
    },
    sums: () => Object.fromEntries([...counted].map(([table, { rows, sum }]) => [table, `${rows} ${sum}`]).sort()),
  };
}

/** Bytes as what they are, and everything else as JSON tells it apart. */
function sumOf(row: readonly unknown[]): bigint {
  const hash = createHash("sha256");
  for (const value of row) {
    if (value instanceof Uint8Array) hash.update("bytes").update(value);
    else hash.update(JSON.stringify(value ?? null));
    hash.update("\0");
  }
  return hash.digest().readBigUInt64BE();
}

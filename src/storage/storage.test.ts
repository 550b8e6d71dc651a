import assert from "node:assert/strict";
import { test } from "node:test";
import type { CopiedRows } from "./copied-tables.ts";
import { openRowSums } from "./row-sums.ts";
import { placeOf } from "./shapes.ts";

function sumsOf(...batches: CopiedRows[]): unknown {
  const sums = openRowSums();
  for (const batch of batches) sums.add(batch);
  return sums.sums();
}

test("two databases with the same rows have the same sums, in whatever order and pieces they come [Q3]", () => {
  const rows = [
    [1, "a", null],
    [2, "b", Uint8Array.of(1)],
  ];
  const [one = [], two = []] = rows;
  const expected = sumsOf({ table: "t", rows }, { table: "u", rows: [one] });
  const pieces = [two, one].map((row) => ({ table: "t", rows: [row] }));
  assert.deepEqual(sumsOf({ table: "u", rows: [one] }, ...pieces), expected);
  assert.deepEqual(sumsOf({ table: "u", rows: [[1, "a", undefined]] }, ...pieces), expected);
});

test("a row that is missing, doubled, in another table or other by one letter or kind makes another sum [Q3]", () => {
  const rows: (readonly unknown[])[] = [["ab", "c"]];
  const others: CopiedRows[] = [
    { table: "t", rows: [] },
    { table: "t", rows: [...rows, ...rows] },
    { table: "u", rows },
    { table: "t", rows: [["d"], ["d"]] },
    ...[["a", "bc"], ["ab", "c", null], ["abc"], ["ab", Buffer.from("c")], ["ab", null], ["ab", "null"]].map(alone),
    ...[[1], ["1"], [1, 23], [12, 3]].map(alone),
  ];
  const sums = [{ table: "t", rows }, ...others].map((batch) => JSON.stringify(sumsOf(batch)));
  assert.equal(new Set(sums).size, sums.length);
});

function alone(row: readonly unknown[]): CopiedRows {
  return { table: "t", rows: [row] };
}

test("a page begins where its cursor says; what is no cursor of ours is no place at all [L9]", () => {
  assert.deepEqual(placeOf("1767254400000.12"), { updatedAt: 1_767_254_400_000, number: 12 });
  const most = { updatedAt: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER };
  assert.deepEqual(placeOf(undefined), most, "without one it is the newest");
  const foreign = ["", "1", ".", "1.", ".1", "1.2.3", "-1.2", "1.-2", "1e3.1", " 1.2", "1.2 ", "1.2\n", "a.1", "1.a"];
  for (const cursor of [...foreign, `${"9".repeat(16)}.1`, `1.${"9".repeat(10)}`])
    assert.equal(placeOf(cursor), undefined, JSON.stringify(cursor));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, integer, optionalInteger, optionalText, text } from "./rows.ts";
import { placeOf } from "./shapes.ts";

test("a page begins where its cursor says; what is no cursor of ours is no place at all [L9]", () => {
  assert.deepEqual(placeOf("1767254400000.12"), { updatedAt: 1_767_254_400_000, number: 12 });
  const most = { updatedAt: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER };
  assert.deepEqual(placeOf(undefined), most, "without one it is the newest");
  const foreign = ["", "1", ".", "1.", ".1", "1.2.3", "-1.2", "1.-2", "1e3.1", " 1.2", "1.2 ", "1.2\n", "a.1", "1.a"];
  for (const cursor of [...foreign, `${"9".repeat(16)}.1`, `1.${"9".repeat(10)}`])
    assert.equal(placeOf(cursor), undefined, JSON.stringify(cursor));
});

test("a value of another kind than its column has is our own mistake, and only nothing is nothing [L2]", () => {
  const row = { word: "a", count: 1, data: Uint8Array.of(1), none: null, large: 1n };
  assert.deepEqual(
    [text(row, "word"), integer(row, "count"), bytes(row, "data"), optionalText(row, "none")],
    ["a", 1, Uint8Array.of(1), undefined],
  );
  assert.deepEqual([optionalInteger(row, "none"), optionalInteger(row, "count")], [undefined, 1]);
  for (const column of ["count", "none", "data", "missing"]) assert.throws(() => text(row, column), /is not text/);
  for (const column of ["word", "none", "large", "missing"]) assert.throws(() => integer(row, column), /an integer/);
  for (const column of ["word", "none", "missing"]) assert.throws(() => bytes(row, column), /is not bytes/);
  for (const read of [optionalText, optionalInteger]) assert.throws(() => read(row, "missing"));
});

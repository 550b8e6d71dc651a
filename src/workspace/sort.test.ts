import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sortedByName } from "./sort.ts";

test("a list of any length is sorted by name and loses nothing [F2]", async () => {
  const sorted = async (names: readonly string[]) =>
    (await sortedByName(names.map((name) => ({ name })))).map(({ name }) => name);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string()), async (names) => {
      assert.deepEqual(await sorted(names), [...names].sort());
    }),
  );
  const many = Array.from({ length: 9_001 }, (_, index) => `${(index * 7_919) % 9_001}`);
  assert.deepEqual(await sorted(many), [...many].sort());
});

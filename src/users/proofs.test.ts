import assert from "node:assert/strict";
import { test } from "node:test";
import { createOnce, rememberedMax } from "./proofs.ts";

test("what counts once is refused for as long as it is good, and no more is remembered than a server has room for [Q1]", () => {
  const isFirst = createOnce();
  assert.deepEqual(
    [isFirst("a", 100, 0), isFirst("a", 100, 50), isFirst("a", 100, 100), isFirst("a", 300, 101)],
    [true, false, false, true],
  );
  for (let count = 1; count < rememberedMax; count += 1) isFirst(`${count}`, 300, 101);
  assert.equal(isFirst("a", 300, 101), true);
  assert.equal(isFirst(`${rememberedMax - 1}`, 300, 101), false);
});

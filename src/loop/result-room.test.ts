import assert from "node:assert/strict";
import { test } from "node:test";
import { isShort } from "./result-room.ts";

test("a result of up to 2,000 bytes is never cut, as its characters are counted for models [M5]", () => {
  const lengths = ["a", "é", "界", "😀"].map((character) => {
    let count = 0;
    while (isShort(character.repeat(count + 1))) count += 1;
    return count;
  });
  assert.deepEqual(lengths, [2_000, 1_000, 500, 500]);
});

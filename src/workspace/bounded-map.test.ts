import assert from "node:assert/strict";
import { test } from "node:test";
import { boundedMap } from "./bounded-map.ts";

test("a memory that is full forgets what was not asked for the longest [W3]", () => {
  const map = boundedMap<number>(100);
  map.set("kept", 1);
  map.set("forgotten", 2);
  for (let index = 0; index < 1_000; index += 1) {
    map.set(`other ${index}`, index);
    if (index % 40 === 0) assert.equal(map.get("kept"), 1);
  }
  assert.equal(map.get("forgotten"), undefined);
  const remembered = Array.from({ length: 1_000 }, (_, index) => map.get(`other ${index}`)).filter(Number.isInteger);
  assert.ok(remembered.length <= 100 && remembered.at(-1) === 999);
  map.set("kept", 3);
  assert.equal(map.get("kept"), 3, "the newest value counts");
});

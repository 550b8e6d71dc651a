import assert from "node:assert/strict";
import { test } from "node:test";
import { systemIds } from "../base/ids.ts";
import { idFor, uuidFrom } from "./once.ts";

test("what is made under a key has the same id each time, one for each thing, in the form of a random one [C6]", () => {
  const ids = { ...systemIds, uuid: () => "random" };
  const once = (seed: string) => ({ once: { seed, isRetry: false } });
  assert.equal(idFor(once("s"), ids, "message"), idFor(once("s"), ids, "message"));
  const all = [idFor(once("s"), ids, "message"), idFor(once("s"), ids, "reply"), idFor(once("t"), ids, "message")];
  assert.equal(new Set(all).size, 3);
  for (const id of all) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(idFor({ once: undefined }, ids, "message"), "random");
  assert.equal(uuidFrom("0123456789abcdef".repeat(2)), "01234567-89ab-4def-8123-456789abcdef");
  assert.equal(uuidFrom(`${"0".repeat(16)}f${"0".repeat(15)}`), "00000000-0000-4000-b000-000000000000");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { costOf, priceOf } from "./models.ts";

const table = {
  "gpt-5": { input: 1.25, output: 10, cachedInput: 0.125 },
  "gpt-5*": { input: 2, output: 20 },
  "gpt-5-mini*": { input: 0.25, output: 2 },
  toString: { input: 1, output: 1 },
};
const named = (id: string) => priceOf({ id, isDemo: false }, table);

test("a model's price is that of its own id, then of the longest beginning that fits; others have none [A4]", () => {
  assert.deepEqual(
    ["gpt-5", "gpt-5-nano", "gpt-5-mini-2026", "gpt-4", "constructor", "__proto__", ""].map((id) => named(id)?.input),
    [1.25, 2, 0.25, undefined, undefined, undefined, undefined],
  );
  assert.deepEqual(priceOf({ id: "demo", isDemo: true }, {}), { input: 0, output: 0 });
});

test("tokens out of the cache cost their own price, or as much as others where none is named [A4]", () => {
  const usage = { input: 1_000_000, output: 100_000, cachedInput: 400_000 };
  assert.equal(costOf(usage, table["gpt-5"]), 0.75 + 0.05 + 1);
  assert.equal(costOf(usage, table["gpt-5*"]), 4);
  assert.equal(costOf({ input: 10, output: 0, cachedInput: 50 }, table["gpt-5"]), 0.00000125, "no more than was sent");
});

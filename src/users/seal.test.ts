import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sealWith } from "./seal.ts";

const nonce = Buffer.alloc(12, 7);
const place = "ann\ntoken";

test("what is sealed opens to the same text under the same key, and holds none of it [Q1][C6]", () => {
  const seal = sealWith("a key that is long enough for this test");
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 4 }), (text) => {
      const sealed = Buffer.from(seal.seal(text, { place, nonce }));
      assert.equal(sealed.includes(Buffer.from(text)), false);
      assert.deepEqual(seal.open(sealed, place), { ok: true, value: text.toWellFormed() });
    }),
  );
});

test("another key, another place, a changed bit or a missing end open nothing, and a wrong key is told as one [Q1]", () => {
  const seal = sealWith("a key that is long enough for this test");
  const sealed = Buffer.from(seal.seal("a token", { place, nonce }));
  const why = (result: ReturnType<typeof seal.open>) => (result.ok ? result.value : result.failure);
  assert.equal(why(sealWith("another key that is long enough too").open(sealed, place)), "other_key");
  assert.equal(why(seal.open(sealed, "bob\ntoken")), "damaged");
  for (const length of [0, 1, 36, 37, sealed.length - 1])
    assert.equal(why(seal.open(sealed.subarray(0, length), place)), "damaged");
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.equal(why(seal.open(changed, place)), at >= 1 && at <= 8 ? "other_key" : "damaged", `byte ${at}`);
  }
});

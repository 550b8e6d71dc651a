import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { types } from "./query.ts";
import { fromStored, toStored } from "./stored-text.ts";

test("whatever somebody wrote comes back from a database that takes no NUL, and no two texts are stored as one [N1][L9]", () => {
  const text = fc.string({ unit: fc.constantFrom("\0", "\u0001", "\u0002", "\u0003", "a", "你") });
  fc.assert(
    fc.property(text, text, (one, other) => {
      assert.ok(!toStored(one).includes("\0"));
      assert.equal(fromStored(toStored(one)), one);
      assert.equal(toStored(one) === toStored(other), one === other);
    }),
    { examples: [["\u0001\u0002", "\0"]] },
  );
  assert.equal(toStored("plain 你\u0002"), "plain 你\u0002");
});

test("a number that JavaScript would round is told as our mistake, and not handed out [N1]", () => {
  const read = types.getTypeParser(20, "text");
  assert.deepEqual([read("9007199254740991"), read("-5")], [Number.MAX_SAFE_INTEGER, -5]);
  assert.throws(() => read("9007199254740993"));
  assert.equal(types.getTypeParser(25, "text")("a\u0001\u0002"), "a\0");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { partly } from "../../../test/world/partly.ts";
import { seqMax } from "../checks.ts";
import type { EncodedEvent } from "../storage.ts";
import { appendEvents } from "./event-rows.ts";
import type { Transaction } from "./lanes.ts";
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

test("a log takes events up to the last place that it has, and of a batch that is too long none [N1][L2]", async () => {
  const told: unknown[] = [];
  const transaction = partly<Transaction>({
    run: async (_sql: string, ...[number, lastSeq, base, kinds]: unknown[]) => {
      told.push([number, lastSeq, base]);
      return Array.isArray(kinds) ? kinds.length : 0;
    },
    appended: (number: number, lastSeq: number) => told.push(`${number} ${lastSeq}`),
  });
  const fact: EncodedEvent = { type: "message.user", version: 1, at: 1, body: "{}" };
  assert.equal(await appendEvents(transaction, 2, 5, []), 5);
  await assert.rejects(appendEvents(transaction, 2, seqMax - 1, [fact, fact]), /fewer than 2\^24/);
  assert.deepEqual(told, []);
  assert.equal(await appendEvents(transaction, 2, seqMax - 2, [fact, fact]), seqMax);
  assert.deepEqual(told, [[2, seqMax, 2 * 2 ** 24 + seqMax - 2], `2 ${seqMax}`]);
});

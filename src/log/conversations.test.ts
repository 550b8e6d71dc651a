import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../test/world/database.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { systemIds } from "../base/ids.ts";
import { makeFailure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import type { Storage } from "../storage/storage.ts";
import { openLog } from "./log.ts";

const logOver = (storage: Storage) =>
  openLog({ ...{ storage, clock: manualClock(), ids: systemIds, checksReads: true }, onBrokenRecord: () => {} });

test("a title, a mark and how far was read that could not be stored are told as not stored, and nothing has changed [C1][Q2]", async (t) => {
  const storage = openDatabase(t, manualClock());
  const made = await logOver(storage).createConversation(localOwner, { id: "c", title: "before" });
  assert.ok(made.ok);
  const full = { ok: false, failure: makeFailure("storage_full", {}) } as const;
  const log = logOver({ ...storage, append: async () => full });
  assert.deepEqual(
    [
      await log.rename(made.value, "after"),
      await log.mark(made.value, { isPinned: true }),
      await log.markRead(made.value, 5),
    ],
    [full, full, full],
  );
  assert.deepEqual(await log.find(localOwner, "c"), made);
});

test("the beginning of an id names up to ten conversations that begin so; none at all names nothing, also where there is only one [C1]", async (t) => {
  const log = logOver(openDatabase(t, manualClock()));
  const found = async (prefix: string) => {
    const answer = await log.findByPrefix(localOwner, prefix);
    return answer.ok ? answer.value.id : [answer.failure.code, answer.failure.params];
  };
  const unknown = ["conversation_not_found", { id: "" }];
  const ids = Array.from({ length: 11 }, (_, index) => `a${100 + index}`);
  for (const [index, id] of ids.entries()) {
    assert.ok((await log.createConversation(localOwner, { id })).ok);
    if (index === 0) assert.deepEqual([await found("a"), await found("")], ["a100", unknown]);
  }
  assert.deepEqual(
    [await found("a110"), await found(""), await found("b")],
    [...["a110", unknown], ["conversation_not_found", { id: "b" }]],
  );
  const [code, params] = await found("a1");
  assert.equal(code, "conversation_ambiguous");
  assert.equal(new Set(/(a\d+(, )?)+/.exec(Object(params).candidates)?.[0].split(", ")).size, 10);
});

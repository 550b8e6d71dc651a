import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../test/world/database.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { systemIds } from "../base/ids.ts";
import { makeFailure } from "../protocol/failure.ts";
import { localOwner, OwnerId } from "../protocol/ids.ts";
import type { Storage } from "../storage/storage.ts";
import { openLog } from "./log.ts";

const logOver = (storage: Storage, clock = manualClock()) =>
  openLog({ ...{ storage, clock, ids: systemIds, checksReads: true }, onBrokenRecord: () => {} });

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

test("a conversation is made as it was asked for, a new title stands in its row and in its log, and how far was read changes nothing else [C1][L2]", async (t) => {
  const clock = manualClock();
  clock.move(5);
  const log = logOver(openDatabase(t, clock), clock);
  const wanted = { title: "t", origin: "program", isPassing: true, agentId: "one", appKey: "app" } as const;
  const made = await log.createConversation(localOwner, { id: "c", ...wanted });
  assert.ok(made.ok);
  const { title, origin, isPassing, agentId, appKey, createdAt } = made.value;
  assert.deepEqual({ title, origin, isPassing, agentId, appKey, createdAt }, { ...wanted, createdAt: 5 });
  const { number } = made.value;
  const head = await log.headOf(number);
  clock.move(4);
  const renamed = await log.rename(made.value, "anew");
  const found = await log.find(localOwner, "c");
  assert.ok(renamed.ok && found.ok);
  assert.deepEqual(renamed.value, { ...made.value, title: "anew", updatedAt: 9 });
  assert.deepEqual([found.value.title, found.value.updatedAt], ["anew", 9]);
  assert.deepEqual(await log.read(number, { after: head, limit: 9 }), [
    { type: "conversation.renamed", seq: head + 1, at: 9, title: "anew" },
  ]);
  clock.move(1);
  assert.deepEqual(await log.markRead(found.value, 3), { ok: true, value: undefined });
  const marked = await log.mark(found.value, { isPinned: true, seenAt: 4 });
  assert.ok(marked.ok);
  const { readIndex, isPinned, seenAt, updatedAt } = marked.value;
  assert.deepEqual([readIndex, isPinned, seenAt, updatedAt], [3, true, 4, 9]);
  assert.equal(await log.headOf(number), head + 1, "the log says nothing of it");
});

test("a conversation of somebody else does not exist, by its id and by how that begins [C1][S1]", async (t) => {
  const log = logOver(openDatabase(t, manualClock()));
  assert.ok((await log.createConversation(OwnerId.parse("eve"), { id: "hers" })).ok);
  const unknown = async (id: string) => {
    const answers = [await log.find(localOwner, id), await log.findByPrefix(localOwner, id)];
    return answers.map((answer) => (answer.ok ? answer.value.id : [answer.failure.code, answer.failure.params]));
  };
  for (const id of ["hers", "he", "no/way"]) {
    const gone = ["conversation_not_found", { id }];
    assert.deepEqual(await unknown(id), [gone, gone]);
  }
  assert.deepEqual(await log.list(localOwner, { limit: 5 }), []);
});

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openDatabase } from "../../test/world/database.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { systemIds } from "../base/ids.ts";
import type { EventType, NewEvent } from "../protocol/events.ts";
import { makeFailure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import type { Storage } from "../storage/storage.ts";
import { openLog } from "./log.ts";

/** A log with one conversation, and all that it tells others. */
async function oneConversation(t: TestContext) {
  const clock = manualClock();
  clock.move(1);
  const storage = openDatabase(t, clock);
  const told: unknown[] = [];
  const log = openLog({
    ...{ storage, clock, ids: systemIds, checksReads: true },
    onBrokenRecord: (record) => told.push(record),
    onAppended: (...appended) => told.push(appended),
  });
  const made = await log.createConversation(localOwner, { id: "c" });
  assert.ok(made.ok);
  const { number } = made.value;
  return { log, storage, clock, told, number, head: await log.headOf(number) };
}

test("a log that is longer than what is read at once is read to its end, or to where it is asked for [L2]", async (t) => {
  const { log, number, head } = await oneConversation(t);
  const count = 4_000 - head;
  const message = (index: number): NewEvent => ({ type: "message.user", id: `m${index}`, text: "x", mode: "queue" });
  assert.ok(
    (
      await log.append(
        number,
        Array.from({ length: count }, (_, index) => message(index)),
      )
    ).ok,
  );
  const seen = async (upTo?: number) => {
    const [history, tree] = [await log.history(number, upTo), await log.tree(number, upTo)];
    const { length } = await log.effective(number, upTo ?? 9_999);
    return [history.head, history.queue.length, tree.root.head, tree.root.queue.length, length];
  };
  assert.deepEqual(await seen(), [4_000, count, 4_000, count, 4_000]);
  assert.deepEqual(await seen(2_001), [2_001, 2_001 - head, 2_001, 2_001 - head, 2_001]);
  assert.ok((await log.append(number, [message(count)])).ok);
  assert.deepEqual(await seen(), [4_001, count + 1, 4_001, count + 1, 4_001]);
});

test("a record that cannot be read is named and left out, the rest counts, and the log is as long as it is [L2]", async (t) => {
  const { log, storage, told, number, head } = await oneConversation(t);
  const broken = { type: "conversation.renamed", at: 0 } as const;
  const stored = await storage.append({
    number,
    events: [
      { ...broken, version: 1, body: '{"title":"a"}' },
      { ...broken, version: 1, body: "{" },
      { ...broken, version: 99, body: '{"title":"b"}' },
    ],
  });
  assert.ok(stored.ok);
  const events = await log.read(number, { after: head, limit: 10 });
  assert.deepEqual(
    events.map(({ seq, type }) => [seq, type]),
    [[head + 1, "conversation.renamed"]],
  );
  assert.deepEqual(
    told.map((record) => ({ ...Object(record), why: undefined })),
    [2, 3].map((more) => ({ number, seq: head + more, why: undefined })),
  );
  assert.match(JSON.stringify(told[1]), /unknown type conversation\.renamed, version 99/);
  assert.deepEqual([(await log.history(number)).head, (await log.tree(number)).root.head], [head + 3, head + 3]);
});

test("an event of a kind that this version does not know is named and left out, and what comes after it counts [L2][Q2]", async (t) => {
  const { log, storage, told, number, head } = await oneConversation(t);
  const at = { version: 1, at: 0 };
  const stored = await storage.append({
    number,
    events: [
      { type: "conversation.sung" as EventType, ...at, body: '{"title":"a"}' },
      { type: "constructor" as EventType, ...at, body: "{}" },
      { type: "conversation.renamed", ...at, body: '{"title":"b"}' },
    ],
  });
  assert.ok(stored.ok);
  assert.deepEqual(await log.read(number, { after: head, limit: 10 }), [
    { type: "conversation.renamed", seq: head + 3, at: 0, title: "b" },
  ]);
  assert.deepEqual(told, [
    { number, seq: head + 1, why: "unknown type conversation.sung, version 1" },
    { number, seq: head + 2, why: "unknown type constructor, version 1" },
  ]);
});

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

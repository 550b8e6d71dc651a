import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { testLimits } from "../../test/world/workspace.ts";
import { failed } from "../base/result.ts";
import { ConversationId } from "../protocol/ids.ts";
import type { Storage } from "../storage/storage.ts";
import { openIncoming } from "./incoming.ts";
import { openSweep } from "./sweep.ts";
import { alice, trashParts } from "./trash-parts.testing.ts";

type Parts = Parameters<typeof openSweep>[0];
type Given = {
  readonly files?: Readonly<Record<string, string>>;
  readonly changed?: (real: Storage) => Partial<Storage>;
  /** Of the other parts, what answers otherwise. */
  readonly more?: (real: Parts) => Partial<Parts>;
};

async function sweepOf(t: TestContext, { files, changed, more }: Given = {}) {
  const place = await trashParts(t, files, changed);
  const { parts, base, real } = place;
  const all: Parts = { ...parts, incoming: openIncoming({ ...parts, dataDir: base }) };
  /** Conversations that a caller made and left. */
  const callers = async (count: number, isPassing: boolean) => {
    const numbers: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const id = ConversationId.parse(`${isPassing ? "passing" : "program"}-${index}`);
      const made = await real.createConversation({ owner: alice, id, at: 0, events: [], origin: "program", isPassing });
      assert.ok(made.ok);
      numbers.push(made.value.number);
    }
    return numbers;
  };
  return { ...place, callers, sweep: () => openSweep({ ...all, ...more?.(all) })() };
}

const hourMs = 3_600_000;

test("conversations of callers that cannot end now are left to the next sweep, however many they are [S6][Q3]", async (t) => {
  const asked: unknown[] = [];
  const { sweep, logged, clock, callers, real } = await sweepOf(t, {
    more: () => ({ isHere: async () => false }),
    changed: (storage) => ({
      unusedByCallers(wanted) {
        asked.push(wanted);
        return storage.unusedByCallers(wanted);
      },
    }),
  });
  const numbers = [...(await callers(20, true)), ...(await callers(20, false))];
  const now = 2 * testLimits.callerMs;
  clock.move(now);
  assert.deepEqual(await sweep(), { left: 0 });
  assert.deepEqual(asked, [
    { before: now - hourMs, isPassing: true, limit: 20 },
    { before: now - testLimits.callerMs, isPassing: false, limit: 20 },
  ]);
  for (const number of numbers) assert.equal((await real.conversationByNumber(number))?.deletedAt, undefined);
  assert.deepEqual(logged, []);
});

test("a caller's conversation ends only where it is still unused, and only as it was looked at [S6]", async (t) => {
  let [spokenTo, movedOn] = [0, 0];
  const { sweep, clock, callers, real } = await sweepOf(t, {
    more: () => ({ limits: { ...testLimits, callerMs: 0 } }),
    changed: (storage) => ({
      /** Somebody comes back to one of them in this moment. */
      async headOf(number) {
        const head = await storage.headOf(number);
        if (number === spokenTo) await used(storage, number);
        return head;
      },
      async unusedByCallers(wanted) {
        const rows = await storage.unusedByCallers(wanted);
        if (wanted.only === movedOn) await said(storage, movedOn);
        return rows;
      },
    }),
  });
  const numbers = [...(await callers(3, true)), ...(await callers(1, false))];
  [movedOn = 0, spokenTo = 0] = numbers;
  clock.move(2 * hourMs);
  await sweep();
  const ended = await Promise.all(numbers.map((number) => real.conversationByNumber(number)));
  assert.deepEqual(
    ended.map((row) => row?.deletedAt),
    [undefined, undefined, 2 * hourMs, undefined],
    "what a caller may want again is never ended where nothing is to be",
  );
});

const used = (storage: Storage, number: number) =>
  storage.append({ number, events: [], with: { row: { updatedAt: 2 * hourMs } } });
const said = (storage: Storage, number: number) =>
  storage.append({ number, events: [{ type: "message.user", version: 1, at: 0, body: "{}" }] });

test("a sweep is over when uploads that never became whole are swept, too [S3]", async (t) => {
  const told: string[] = [];
  const swept = async () => {
    await nextLoop();
    told.push("uploads");
  };
  const { sweep } = await sweepOf(t, { more: () => ({ incoming: { sweep: swept } }) });
  await sweep();
  assert.deepEqual([...told, "over"], ["uploads", "over"]);
});

test("what programs of a task wrote and cannot be put in its place stays, and the log says why [W2][Q2]", async (t) => {
  const files = { "staging/wait-task/a": "of a program", "staging/wait-vain/": "", workspaces: "in the way" };
  const { sweep, logged, base, told } = await sweepOf(t, { files });
  assert.deepEqual(await sweep(), { left: 0 });
  assert.deepEqual(told, [["workspaces/task", { madeAt: 0, usedAt: 0, cleanedAt: null }]]);
  assert.deepEqual(logged, [
    'what programs of {agent} wrote is not in its place yet: {why} {"agent":"task","why":"io"}',
  ]);
  const there = ["wait-task/a", "wait-vain"].map((name) => existsSync(join(base, "staging", name)));
  assert.deepEqual(there, [true, false]);
});

test("what a removal left and nobody can remove is counted as left, and the log says why [S6][Q2]", async (t) => {
  const { sweep, logged, real, clock, told } = await sweepOf(t, {
    files: { "trash/0123abcd/a": "old", "trash/0123abce/a": "old" },
    more: ({ plots }) => ({
      plots: {
        ...plots,
        remove: async (name, isOver) => (name === "trash/0123abce" ? failed("read_only") : plots.remove(name, isOver)),
      },
    }),
  });
  const common = { owner: alice, number: 1, workspace: "c", movedAt: 1, bytes: 1, files: 1 };
  for (const id of ["0123abcd", "0123abce"])
    assert.ok((await real.putTrash({ ...common, id, folder: `workspace/${id}` })).ok);
  clock.move(2 * testLimits.trashMs);
  assert.deepEqual(await sweep(), { left: 1 });
  const dropped = told.filter((each) => Object(each)[0] === "dropped");
  assert.deepEqual(dropped, [["dropped", "0123abcd"]], "the other is found again by the next sweep");
  assert.equal(logged[0], '{folder} was not removed: {why} {"folder":"trash/0123abce","why":"read_only"}');
});

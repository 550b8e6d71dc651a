import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { answer, step } from "../../test/world/any-log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { makeFailure } from "../protocol/failure.ts";
import { type ConversationRow, type Storage, StorageAway } from "../storage/storage.ts";
import { leftOver, messageOf, running, waiting } from "./left-over.testing.ts";
import { findInterrupted, recoverTurns } from "./recover.ts";

const ageMsMax = 1_000;
const away = () => new StorageAway(makeFailure("database_away", { why: "away", said: "planted" }), undefined);

const asked: NewEvent = {
  ...{ type: "decision.asked", turn: 1, id: "d1", call: "c", tool: "look", kind: "approval", arguments: "{}" },
};

type Left = Awaited<ReturnType<typeof leftOver>>;
type Options = Parameters<typeof findInterrupted>[1];

async function found({ parts }: Left, lookedAt?: Map<number, number>, options: Options = { ageMsMax }) {
  const all: [string, boolean][] = [];
  for await (const { conversation, isOld } of findInterrupted(parts, options, lookedAt))
    all.push([conversation.id, isOld]);
  return all;
}

test("a turn that lies longer back than it may is old, one that is just as long back is not, and a message that waits never is [L2]", async (t) => {
  const left = await leftOver(t);
  await left.start("a", ...running);
  await left.start("b", waiting);
  left.clock.move(1);
  await left.start("c", ...running);
  left.clock.move(ageMsMax);
  assert.deepEqual(await found(left), [
    ["a", true],
    ["b", false],
    ["c", false],
  ]);
});

test("a turn in which a person is asked is left to that person, unless somebody has something to do in it; without a turn nobody is asked [L2][H4][A1]", async (t) => {
  const left = await leftOver(t);
  const asking = [...running, step(1), answer(1, ["c"]), asked];
  const helper: NewEvent = { type: "agent.spawned", id: "a", mode: "task", role: "writer", brief: "write" };
  await left.start("a", ...asking);
  await left.start("b", ...asking, helper);
  await left.start("c", ...asking, { type: "turn.finished", turn: 1, outcome: "done" });
  assert.deepEqual(await found(left), [
    ["b", false],
    ["c", false],
  ]);
});

test("what was looked at is looked at again when its log has grown, or when it was done with in between; what lives elsewhere is left alone until it lives here [N1][L2]", async (t) => {
  const left = await leftOver(t);
  const a = await left.start("a", waiting);
  const b = await left.start("b", waiting);
  const lookedAt = new Map<number, number>();
  const elsewhere = new Set([b.number]);
  left.homes.holds = async (key) => !elsewhere.has(Number(key.slice(2)));
  const look = async () => (await found(left, lookedAt)).map(([id]) => id);
  assert.deepEqual([await look(), await look()], [["a"], []]);
  elsewhere.clear();
  assert.deepEqual([await look(), await look()], [["b"], []]);
  await left.leave(a, messageOf("m2"));
  assert.deepEqual([await look(), await look()], [["a"], []]);
  const head = lookedAt.get(a.number) ?? 0;
  const { parts } = left;
  await parts.log.append(a.number, [{ type: "conversation.renamed", title: "x" }], {
    with: { wake: { doneAtHead: head } },
  });
  assert.deepEqual([await look(), [...lookedAt.keys()]], [[], [b.number]]);
});

test("who wants to know no more takes no home from others [N1]", async (t) => {
  const left = await leftOver(t);
  await left.start("a", waiting);
  await left.start("b", waiting);
  const homes: string[] = [];
  left.homes.holds = async (key) => homes.push(key) > 0;
  let looks = 0;
  const isOver = () => looks++ > 0;
  assert.deepEqual([await found(left, undefined, { ageMsMax, isOver }), homes.length], [[["a", false]], 1]);
});

/** Storage that fails at the second conversation that is looked at. */
async function failingAt(t: TestContext, error: Error) {
  let isWell = false;
  const wrap = (real: Storage): Storage => ({
    ...real,
    async conversationByNumber(number) {
      const row = await real.conversationByNumber(number);
      if (row?.id === "b" && !isWell) throw error;
      return row;
    },
  });
  const left = await leftOver(t, { wrap });
  for (const id of ["a", "b", "c"]) await left.start(id, waiting);
  const mend = () => {
    isWell = true;
  };
  return { ...left, mend };
}

test("what could not be looked at because the storage was away is looked at again; another fault does not come again with each look [N1][Q2]", async (t) => {
  for (const [error, again] of [
    [away(), ["b", "c"]],
    [new Error("a mistake"), ["c"]],
  ] as const) {
    const left = await failingAt(t, error);
    const lookedAt = new Map<number, number>();
    await assert.rejects(found(left, lookedAt), error);
    left.mend();
    assert.deepEqual(
      (await found(left, lookedAt)).map(([id]) => id),
      [...again],
    );
  }
});

/** Whom it has woken; each ends when the test says so. */
function drivenBy() {
  const woken: string[] = [];
  const ends = new Map<number, PromiseWithResolvers<void>>();
  const driver = {
    wake(conversation: ConversationRow) {
      woken.push(conversation.id);
      ends.set(conversation.number, Promise.withResolvers<void>());
    },
    ended: async (number: number) => ends.get(number)?.promise,
  };
  return { driver, woken, end: ({ number }: ConversationRow) => ends.get(number)?.resolve() };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

test("after a start so many turns go on at once as may, the next when one of them has ended; older ones are named and left as they are [L2][L8]", async (t) => {
  const left = await leftOver(t);
  const old = await left.start("old", ...running);
  left.clock.move(ageMsMax + 1);
  const rows: ConversationRow[] = [];
  for (const id of ["a", "b", "c", "d"]) rows.push(await left.start(id, ...running));
  const { driver, woken, end } = drivenBy();
  const parts = { ...left.parts, limits: { ...left.parts.limits, recoveriesMax: 2 } };
  const { resumed, older } = await recoverTurns(parts, driver, { ageMsMax });
  assert.deepEqual([resumed, older.map(({ id }) => id), woken], [4, [old.id], ["a", "b"]]);
  const [, second, third] = rows;
  assert.ok(second !== undefined && third !== undefined);
  end(second);
  await soon();
  assert.deepEqual(woken, ["a", "b", "c"]);
  end(third);
  await soon();
  assert.deepEqual(woken, ["a", "b", "c", "d"]);
});

test("a start does not break by a storage that goes away while it looks: what was found goes on, and the log says so; a mistake of ours is no such thing [Q2][L2]", async (t) => {
  const { driver, woken } = drivenBy();
  const left = await failingAt(t, away());
  const recovered = await recoverTurns(left.parts, driver, { ageMsMax });
  assert.deepEqual([recovered, woken], [{ resumed: 1, older: [] }, ["a"]]);
  assert.deepEqual(
    left.warned.map(([message]) => message),
    ["what was interrupted could not be looked for"],
  );
  const broken = await failingAt(t, new Error("a mistake"));
  await assert.rejects(recoverTurns(broken.parts, driver, { ageMsMax }), /a mistake/);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { writtenTurn } from "../../../test/world/written-turn.ts";
import type { NewEvent } from "../../protocol/events.ts";
import { openNewestMessages } from "./newest-messages.ts";

const said = (id: string): NewEvent => ({ type: "message.user", id, text: id, mode: "queue" });
const started: NewEvent = { type: "turn.started", turn: 1, message: "a", epoch: 1 };

test("the newest message of a conversation is read again when its log has grown, and not before [C4]", async () => {
  await using yard = await writtenTurn();
  const { conversation, log } = yard.view;
  let reads = 0;
  const newestOf = openNewestMessages({
    headOf: log.headOf,
    effective(...asked) {
      reads += 1;
      return log.effective(...asked);
    },
  });
  assert.deepEqual([await newestOf(conversation), await newestOf(conversation), reads], [undefined, undefined, 1]);
  await yard.append(said("a"));
  const queued = { index: 2, status: "processing", run_state: "queued" };
  assert.deepEqual([await newestOf(conversation), await newestOf(conversation), reads], [queued, queued, 2]);
  await yard.append(started);
  assert.deepEqual([await newestOf(conversation), reads], [{ ...queued, run_state: "running" }, 3]);
});

test("others are served between two conversations whose logs are read [C4][Q2]", async () => {
  await using yard = await writtenTurn();
  const newestOf = openNewestMessages({ headOf: async () => 1, effective: async () => [] });
  let served = 0;
  for (const number of [1, 2]) {
    setImmediate(() => {
      served += 1;
    });
    await newestOf({ ...yard.view.conversation, number });
    assert.equal(served, number);
  }
});

test("of ten thousand conversations it is remembered, and the one that was asked for longest ago is forgotten first [C4][Q2]", async () => {
  await using yard = await writtenTurn();
  const { conversation } = yard.view;
  const read: number[] = [];
  const newestOf = openNewestMessages({
    headOf: async () => 1,
    async effective(number) {
      read.push(number);
      return [];
    },
  });
  const ask = (number: number) => newestOf({ ...conversation, number });
  for (let number = 1; number <= 10_000; number += 1) await ask(number);
  await ask(1);
  await ask(10_001);
  assert.deepEqual([read.splice(0).length, await ask(1), await ask(3)], [10_001, undefined, undefined]);
  assert.deepEqual(read, [], "of one too many the others are remembered");
  await ask(2);
  assert.deepEqual(read, [2]);
});

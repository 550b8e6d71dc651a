import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import type { NewEvent } from "../../src/protocol/events.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { ConversationRow, Storage } from "../../src/storage/storage.ts";
import { all } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const said = (id: string): NewEvent => ({ type: "message.user", id, text: `the words of ${id}`, mode: "queue" });
const whole = (turn: number): NewEvent[] => [
  said(`m${turn}`),
  { type: "turn.started", turn, message: `m${turn}`, epoch: 1 },
  { type: "turn.finished", turn, outcome: "done" },
];

/** A conversation of two turns, over a storage that others use in the moment in which it is taken for something. */
async function met(deed: (yard: TestYard, row: ConversationRow) => Promise<unknown>, at: "claim" | "rewound") {
  const meeting: { deed?: (() => Promise<unknown>) | undefined } = {};
  const meet = async () => {
    const now = meeting.deed;
    meeting.deed = undefined;
    await now?.();
  };
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async claimLease(...given) {
      if (at === "claim") await meet();
      return storage.claimLease(...given);
    },
    async append(batch) {
      if (at === "rewound" && batch.events.some(({ type }) => type === "rewound")) await meet();
      return storage.append(batch);
    },
  });
  const model = await modelServer(() => says("fine"));
  const yard = await startYard({ model, wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  await must(yard.log.append(row.number, [...whole(1), ...whole(2)]));
  const [first] = await yard.engine.checkpoints(row);
  const before = await yard.log.headOf(row.number);
  meeting.deed = () => deed(yard, row);
  return {
    ...{ yard, row, place: first?.checkpoint ?? 0 },
    since: async () => (await yard.events("c")).filter(({ seq }) => seq > before),
    async [Symbol.asyncDispose]() {
      await yard[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

test("whoever goes back to a place that somebody deletes in that moment hears that it is not there, and nothing is left behind [L9]", async () => {
  await using here = await met((yard, row) => yard.engine.deleteCheckpoint(row, 3), "claim");
  const { yard, row, place, since } = here;
  assert.equal(place, 3);
  const gone = await yard.engine.restoreCheckpoint(row, place);
  assert.deepEqual(gone.ok || [gone.failure.code, gone.failure.params], ["checkpoint_not_found", { checkpoint: 3 }]);
  assert.deepEqual(
    (await since()).map(({ type }) => type),
    ["checkpoint.deleted"],
  );
});

test("whoever goes back while somebody says something is told that it is busy, and what was said is not lost [L9][L7]", async () => {
  await using here = await met((yard, row) => must(yard.log.append(row.number, [said("m3")])), "claim");
  const { yard, row, place, since } = here;
  const refused = await yard.engine.restoreCheckpoint(row, place);
  assert.equal(refused.ok || refused.failure.code, "conversation_busy");
  assert.deepEqual(
    (await since()).map(({ type }) => type),
    ["message.user"],
  );
});

test("a turn that another server begins in the moment in which one goes back keeps its ground, and one is told so [L9][N1]", async () => {
  const begun = whole(3).slice(0, 2);
  await using here = await met((yard, row) => must(yard.log.append(row.number, begun)), "rewound");
  const { yard, row, place, since } = here;
  const refused = await yard.engine.restoreCheckpoint(row, place);
  assert.equal(refused.ok || refused.failure.code, "conversation_busy");
  assert.deepEqual(all(await since(), "rewound"), []);
});

test("what is said in the moment in which one goes back is said once more after it, whole; what was said before that place and answered since is not said again [L9][L7]", async () => {
  const later: NewEvent = { type: "message.user", id: "m9", text: "and this", mode: "steer", hints: ["code"] };
  await using here = await met((yard, row) => must(yard.log.append(row.number, [later])), "rewound");
  const { yard, row } = here;
  // A place at which a message waited that was answered since.
  await must(yard.log.append(row.number, [said("m3"), { type: "checkpoint.saved", name: "waiting" }]));
  const [, , place] = await yard.engine.checkpoints(row);
  await must(yard.log.append(row.number, whole(3).slice(1)));
  const before = await yard.log.headOf(row.number);
  const back = await must(yard.engine.restoreCheckpoint(row, place?.checkpoint ?? 0));
  assert.deepEqual([back, back.name], [place, "waiting"]);
  const events = (await yard.events("c")).filter(({ seq }) => seq > before);
  assert.deepEqual(
    events.slice(0, 4).map(({ seq: _, at: __, ...event }) => event),
    [
      later,
      { type: "rewound", to: place?.checkpoint, cause: "checkpoint" },
      { type: "message.withdrawn", id: "m3" },
      later,
    ],
  );
});

test("a place is saved once under its id, told as the list has it, and not while something waits to be answered; saving one counts as use [L9][L7]", async () => {
  let now = 1_000_000;
  const clock: Clock = { ...systemClock, now: () => now };
  await using yard = await startYard({ clock, isOneProcess: true });
  const row = await yard.start("c");
  await must(yard.log.append(row.number, whole(1)));
  now += 5_000;
  const saved = await must(yard.engine.saveCheckpoint(row, "here", "once"));
  assert.deepEqual(saved, { checkpoint: 4, parent: 3, name: "here", at: now });
  assert.equal((await must(yard.log.find(localOwner, "c"))).updatedAt, now);
  now += 5_000;
  assert.deepEqual(await must(yard.engine.saveCheckpoint(row, "here", "once")), saved);
  const first = { checkpoint: 3, parent: null, name: "", at: 1_000_000 };
  assert.deepEqual(await yard.engine.checkpoints(row), [first, saved]);
  await must(yard.log.append(row.number, [said("m2")]));
  const refused = await yard.engine.saveCheckpoint(row, "there");
  assert.equal(refused.ok || refused.failure.code, "conversation_busy");
  const unknown = await yard.engine.deleteCheckpoint(row, 2);
  assert.equal(unknown.ok || unknown.failure.code, "checkpoint_not_found");
  assert.equal(await yard.log.headOf(row.number), 5);
});

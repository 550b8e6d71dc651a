import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import { type Storage, StorageAway } from "../../src/storage/storage.ts";
import { firstOf, lastOf } from "../world/company.ts";
import { all } from "../world/events.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { startYard } from "../world/yard.ts";

type Append = Storage["append"];

/** Storage that answers in this way to the append with the n-th result of the main agent, and to those that follow it. */
function atResult(storage: Storage, nth: number, ...answers: readonly (() => ReturnType<Append>)[]): Storage {
  let results = 0;
  let given = 0;
  return {
    ...storage,
    append(batch) {
      const isResult = ({ type, body }: (typeof batch.events)[number]) =>
        type === "call.finished" && JSON.parse(body).agent === undefined;
      if (batch.epoch !== undefined && batch.events.some(isResult)) results += 1;
      const answer = results >= nth && batch.epoch !== undefined ? answers[given] : undefined;
      if (answer !== undefined) given += 1;
      return answer?.() ?? storage.append(batch);
    },
  };
}

test("when the disk is full while agents work, they end with the turn, those below first, and the next turn works [Q2][A1][A2]", async () => {
  const worksBelow = Promise.withResolvers<void>();
  const never = new Promise<void>(() => {});
  await using model = await modelServer((request) => {
    const first = firstOf(request);
    if (first.startsWith("part")) {
      worksBelow.resolve();
      return { ...says("never"), heldUntil: never };
    }
    if (lastOf(request).text === "again") return says("fine");
    if (first.startsWith("paint")) return calls(["delegate_task", { task: "part 1" }]);
    if (stepOf(request) === 0) return calls(["spawn_agent", { role: "painter", task: "paint it" }]);
    return { ...calls(["now", {}]), heldUntil: worksBelow.promise };
  });
  const full = async () => ({ ok: false, failure: makeFailure("storage_full", {}) }) as const;
  await using yard = await startYard({ model, wrapStorage: (storage) => atResult(storage, 2, full) });
  const { conversation, events } = await yard.ask("go");
  const end = all(events, "turn.finished").find(({ agent }) => agent === undefined);
  assert.deepEqual([end?.outcome, end?.failure?.code], ["failed", "storage_full"]);
  const ends = all(events, "agent.ended").map(({ id, outcome }) => [id.split("-")[0], outcome]);
  assert.deepEqual(ends, [
    ["worker", "terminated"],
    ["task", "terminated"],
  ]);
  const agents = all(events, "agent.ended").map(({ id, agent }) => ({ id, by: agent }));
  assert.deepEqual(
    agents.map(({ by }) => by),
    [agents[1]?.id, undefined],
    "each to whoever made it",
  );
  const turns = all(events, "turn.finished").map(({ agent, outcome }) => [agent, outcome]);
  assert.deepEqual(turns, [
    [agents[0]?.id, "failed"],
    [agents[1]?.id, "failed"],
    [undefined, "failed"],
  ]);
  assert.equal((await yard.ask("again", { conversation })).answer, "fine");
});

test("a turn that broke down, and whose end could not be stored because the database had gone away, goes on a little later [Q2][L2][O1]", async () => {
  const soon: Clock = { ...systemClock, after: (ms, action) => systemClock.after(ms === 2_000 ? 0 : ms, action) };
  const broken = () => Promise.reject(new Error("planted"));
  const away = () =>
    Promise.reject(new StorageAway(makeFailure("database_away", { why: "away", said: "planted" }), undefined));
  await using model = await modelServer((request) => (stepOf(request) === 0 ? calls(["now", {}]) : says("done")));
  await using yard = await startYard({ model, clock: soon, wrapStorage: (s) => atResult(s, 1, broken, away) });
  const { answer, outcome, events, conversation } = await yard.ask("go");
  assert.deepEqual([answer, outcome, all(events, "call.finished").length], ["done", "done", 1]);
  const [failed = "", ...others] = await yard.faults();
  assert.match(failed, /^turn failed \([0-9a-f]{8}\)$/);
  assert.deepEqual(others, [`conversation ${conversation} was left open`]);
});

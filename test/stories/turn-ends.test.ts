import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { failure } from "../../src/protocol/failure.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { firstOf, lastOf } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { deafTool, effectTool } from "../world/tools.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

test("a turn that is stopped while it waits for a person asks nobody any more, and each of its calls has one result [L6][L5][H4]", async (t) => {
  const tools = [effectTool("pay", "unsafe", `${folderWith(t, {})}/marks`, { asks: true })];
  await using model = await modelServer([calls(["now", {}], ["pay", { mark: "a" }])]);
  await using yard = await startYard({ model, tools, isOneProcess: true });
  const row = await yard.start("c");
  const { status } = await yard.ask("go", { conversation: row.id });
  const asked = async () => (await yard.engine.openDecisions(localOwner)).map(({ tool }) => tool);
  assert.deepEqual([status, await asked()], ["waiting", ["pay"]]);
  await must(yard.engine.cancel(row));
  const { events, outcome } = await yard.whenAtRest(row.id);
  assert.deepEqual([outcome, await asked()], ["cancelled", []]);
  const ids = all(events, "message.assistant").flatMap((event) => event.calls?.map(({ id }) => id) ?? []);
  assert.deepEqual(
    all(events, "call.finished").map(({ call, outcome: how }) => [call, how]),
    [
      [ids[0], "ok"],
      [ids[1], "not_run"],
    ],
  );
});

test("a turn whose end cannot be stored either is taken up again by itself, and counts as saved once it is [Q2][L2]", async () => {
  let refusals = 0;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const isResult = batch.epoch !== undefined && batch.events.some(({ type }) => type === "message.assistant");
      if (isResult && refusals === 0) refusals = 2;
      if (batch.epoch === undefined || refusals === 0 || refusals === 9) return storage.append(batch);
      refusals = refusals === 2 ? 1 : 9;
      return failure("storage_full", {});
    },
  });
  const clock: Clock = {
    ...systemClock,
    after: (ms, action) => systemClock.after(ms === 2_000 ? 0 : ms, action),
  };
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, wrapStorage, clock, isOneProcess: true });
  await yard.start("c");
  const { events } = await yard.ask("go", { conversation: "c" });
  assert.equal(refusals, 9, "the answer was refused, and the end of its turn");
  assert.deepEqual(
    all(events, "turn.finished").map(({ outcome }) => outcome),
    ["done"],
  );
  const saved = (await yard.logged()).filter(({ message }) => message.startsWith("Session c saved"));
  assert.equal(saved.length, 1);
});

test("a server that is told to end while a stopped turn waits for those who worked for it leaves the turn to the next start [L6][L2][A1]", async (t) => {
  const data = folderWith(t, {});
  await using model = await modelServer((request) => {
    if (firstOf(request).startsWith("paint")) return calls(["deaf", {}]);
    return lastOf(request).role === "tool"
      ? says("I wait.")
      : calls(["spawn_agent", { role: "painter", task: "paint" }]);
  });
  const isStopped = Promise.withResolvers<void>();
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const stored = await storage.append(batch);
      if (batch.events.some(({ type, body }) => type === "cancel.asked" && JSON.parse(body).agent !== undefined))
        isStopped.resolve();
      return stored;
    },
  });
  const ends = async (yard: TestYard) =>
    (await yard.events("c")).flatMap((event) => {
      if (event.type === "agent.ended") return [`the painter: ${event.outcome}`];
      return event.type === "turn.finished" && event.agent === undefined ? [`the turn: ${event.outcome}`] : [];
    });
  const one = await startYard({ model, data, tools: [deafTool], wrapStorage, isOneProcess: true });
  const row = await one.start("c");
  await must(one.engine.send(row, { text: "go", mode: "queue" }));
  await until("the painter is at work", async () =>
    all(await one.events("c"), "call.started").some(({ agent }) => agent !== undefined),
  );
  await must(one.engine.cancel(row, { turn: 1 }));
  await isStopped.promise;
  await one.engine.close();
  const before = await ends(one);
  await one[Symbol.asyncDispose]();
  await using two = await startYard({ model, data, tools: [deafTool], isOneProcess: true });
  await until("the turn is over", async () => (await ends(two)).length === 2);
  assert.deepEqual([before, await ends(two)], [[], ["the painter: terminated", "the turn: cancelled"]]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { all } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

test("whoever goes back finds the conversation listed with what was said last there and as used just now, and a place that was deleted stays deleted [L9]", async () => {
  let now = 1_000_000;
  const clock: Clock = { ...systemClock, now: () => now };
  await using model = await modelServer(["one", "two", "three"].map((text) => says(text)));
  await using yard = await startYard({ model, clock, isOneProcess: true });
  const row = await yard.start("c");
  for (const text of ["first", "second", "third"]) await yard.ask(text, { conversation: row.id });
  const listed = async () => {
    const { lastMessage, updatedAt } = await must(yard.log.find(localOwner, row.id));
    const points = (await yard.engine.checkpoints(row)).map(({ checkpoint }) => checkpoint);
    return { lastMessage, updatedAt, points };
  };
  const [first = 0, second = 0, third] = (await listed()).points;
  await must(yard.engine.deleteCheckpoint(row, first));
  assert.deepEqual((await listed()).points, [second, third]);
  now += 5_000;
  await must(yard.engine.restoreCheckpoint(row, second));
  assert.deepEqual(await listed(), { lastMessage: "two", updatedAt: now, points: [second] });
  now += 5_000;
  await must(yard.engine.undo(row));
  assert.deepEqual(await listed(), { lastMessage: "one", updatedAt: now, points: [] });
});

test("a server that has lost a conversation to another one in the moment in which it goes back leaves its history alone, and says so [L9][N1]", async () => {
  let isTaken = false;
  const wrapStorage = (storage: Storage): Storage => {
    let release: (() => Promise<void>) | undefined;
    return {
      ...storage,
      async claimLease(number, holder, ttlMs) {
        const claimed = await storage.claimLease(number, holder, ttlMs);
        if (claimed.ok) release = () => storage.releaseLease(number, { holder, epoch: claimed.value.epoch });
        return claimed;
      },
      async append(batch) {
        if (!isTaken && batch.events.some(({ type }) => type === "rewound")) {
          isTaken = true;
          await release?.();
          await must(storage.claimLease(batch.number, "another", 60_000));
        }
        return storage.append(batch);
      },
    };
  };
  await using model = await modelServer([says("one")]);
  await using yard = await startYard({ model, wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  await yard.ask("first", { conversation: row.id });
  const undone = await yard.engine.undo(row);
  assert.deepEqual([isTaken, undone.ok || undone.failure.code], [true, "fenced"]);
  const events = await yard.events(row.id);
  assert.deepEqual([all(events, "rewound").length, events.at(-1)?.type], [0, "turn.finished"]);
});

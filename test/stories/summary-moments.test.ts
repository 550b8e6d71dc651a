import assert from "node:assert/strict";
import { test } from "node:test";
import type { Storage } from "../../src/storage/storage.ts";
import { all } from "../world/events.ts";
import { type AskedRequest, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

const isSummaryRequest = ({ body }: AskedRequest) => String(body.messages[0]?.content).startsWith("You sum up");

test("a turn that is stopped in the moment in which room is to be made is over, and no model is asked for a summary [Z2][L6]", async () => {
  let stop: (() => Promise<unknown>) | undefined;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const stored = await storage.append(batch);
      if (batch.events.some(({ type }) => type === "compaction.started")) await stop?.();
      return stored;
    },
  });
  await using model = await modelServer(() => ({ ...says("I see."), usage: null }));
  const env = { MODEL_BASIC_CONTEXT_WINDOW: "8192" };
  await using yard = await startYard({ model, env, wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  stop = () => must(yard.engine.cancel(row, { turn: turns }));
  let turns = 0;
  for (let isStopped = false; !isStopped; ) {
    turns += 1;
    assert.ok(turns < 30, "room is made at last");
    const { outcome } = await yard.ask(`part ${turns}: ${"tell me more about it ".repeat(200)}`, { conversation: "c" });
    isStopped = outcome === "cancelled";
  }
  const events = await yard.events("c");
  assert.deepEqual([all(events, "compaction.started").length, all(events, "compacted").length], [1, 0]);
  assert.deepEqual(model.asked.filter(isSummaryRequest), []);
});

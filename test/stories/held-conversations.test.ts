import assert from "node:assert/strict";
import { test } from "node:test";
import { failure } from "../../src/protocol/failure.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { startYard } from "../world/yard.ts";

test("why nothing can be done between turns is told: another server has the conversation, storage is full, or this one ends [L9][N1][Q2]", async () => {
  let isFull = false;
  let stored: Storage | undefined;
  const wrapStorage = (storage: Storage): Storage => {
    stored = storage;
    const claimLease: Storage["claimLease"] = async (...given) =>
      isFull ? failure("storage_full", {}) : storage.claimLease(...given);
    return { ...storage, claimLease };
  };
  await using yard = await startYard({ wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  const reset = async () => {
    const done = await yard.engine.reset(row);
    return done.ok ? "done" : done.failure.code;
  };
  const lease = await stored?.claimLease(row.number, "another server", 60_000);
  const elsewhere = await reset();
  await stored?.releaseLease(row.number, { holder: "another server", epoch: lease?.ok ? lease.value.epoch : 0 });
  isFull = true;
  const full = await reset();
  isFull = false;
  const free = await reset();
  await yard.engine.close();
  assert.deepEqual(
    [elsewhere, full, free, await reset()],
    ["conversation_busy", "storage_full", "done", "conversation_busy"],
  );
});

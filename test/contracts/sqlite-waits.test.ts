import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import { folderWith } from "../world/folder.ts";
import { codeOf, facts, makeConversation, unwrap } from "./storage-place.ts";

/** A storage whose time passes only while it waits, and what another program does to its file. */
async function lockable(t: TestContext) {
  const path = join(folderWith(t, {}), "sessions.db");
  let [now, left] = [0, 0];
  const told: number[] = [];
  const clock = {
    ...systemClock,
    monotonic: () => now,
    async wait(ms: number) {
      now += ms;
      left -= 1;
      if (left === 0) other.exec("ROLLBACK");
      return "elapsed" as const;
    },
  };
  const onCommitted = (ms: number) => told.push(ms);
  const storage = unwrap(openSqlite({ path, clock, busyTimeoutMs: 100, onCommitted }));
  const other = new DatabaseSync(path, { timeout: 0 });
  t.after(async () => {
    other.close();
    await storage.close();
  });
  return {
    ...{ storage, told },
    /** Until it was waited for so often. */
    lockFor(waits: number) {
      left = waits;
      other.exec("BEGIN IMMEDIATE");
    },
  };
}

test("a lease that could not be renewed, released or let run out at once is tried once more [Q2][L2]", async (t) => {
  const { storage, lockFor } = await lockable(t);
  const number = await makeConversation(storage);
  const { epoch } = unwrap(await storage.claimLease(number, "me", 60_000));
  const lease = { holder: "me", epoch };
  lockFor(10);
  assert.equal(
    codeOf(await storage.append({ number, events: facts("a") })),
    "storage_busy",
    "four waits are all it has",
  );
  assert.equal(unwrap(await storage.renewLease(number, { ...lease, ttlMs: 60_000 })), true);
  lockFor(6);
  await storage.releaseLease(number, lease);
  const again = unwrap(await storage.claimLease(number, "you", 60_000));
  assert.deepEqual(again, { epoch: epoch + 1, wasAbandoned: false });
  lockFor(6);
  await storage.expireLeases();
  assert.deepEqual(unwrap(await storage.claimLease(number, "next", 60_000)), { epoch: epoch + 2, wasAbandoned: true });
});

test("how long a commit took is told for each that was made, and for none that failed [O1]", async (t) => {
  const { storage, told, lockFor } = await lockable(t);
  const number = await makeConversation(storage);
  assert.deepEqual(told, [0]);
  lockFor(5);
  assert.equal(codeOf(await storage.append({ number, events: facts("a") })), "storage_busy");
  assert.deepEqual(told, [0]);
  unwrap(await storage.append({ number, events: facts("a") }));
  assert.deepEqual(told, [0, 0]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../base/result.ts";
import { homesHere } from "../homes/homes.ts";
import { failure } from "../protocol/failure.ts";
import type { Storage } from "../storage/storage.ts";
import { openDriver } from "./driver.ts";
import { keepOne, mailed, said, soon, spawned, started } from "./loop.testing.ts";
import { openMessages } from "./messages.ts";
import { defaultLimits } from "./parts.ts";

test("what cannot be stored stops all agents, counts as never done, and leaves what was stored before [L2]", async (t) => {
  let isFull = false;
  const wrap = (real: Storage): Storage => ({
    ...real,
    append: async (batch) => (isFull ? failure("storage_full", {}) : real.append(batch)),
  });
  const { tenure, log, number, agent } = await keepOne(t, { wrap, before: [said("m1"), started, spawned("w1")] });
  isFull = true;
  agent("w1").stage(mailed("mail-1", "root"));
  const stored = await agent("w1").commit();
  assert.equal(stored.ok ? "stored" : stored.failure.code, "storage_full");
  assert.deepEqual(
    [tenure.failure?.code, tenure.root.signal.reason, agent("w1").signal.reason],
    ["storage_full", "storage_full", "storage_full"],
  );
  agent("w1").stage(mailed("mail-2", "root"));
  await agent("w1").startOver();
  isFull = false;
  assert.deepEqual(await agent("w1").commit(), { ok: true, value: { foreign: 0 } });
  assert.deepEqual(agent("w1").history, (await log.tree(number)).agents.get("w1"));
  await tenure.release();
});

test("who withdraws what waits withdraws their own words, and never what one agent wrote to another [L7][A1]", async (t) => {
  const before = [said("m1"), started, spawned("w1"), said("m2"), said("m3"), mailed("mail", "root", "w1")];
  const { parts, conversation, log, number, tenure } = await keepOne(t, { before });
  const driver = openDriver(parts);
  t.after(() => driver.close());
  const { withdraw, cancel } = openMessages(parts, driver);
  const left = async () => (await log.history(number)).queue.map(({ id }) => id);
  const refused = await withdraw(conversation, "mail");
  assert.deepEqual([refused, await left()], [failure("message_not_found", { id: "mail" }), ["m2", "m3", "mail"]]);
  const stopped = await cancel(conversation, { message: "mail" });
  assert.deepEqual([stopped.ok || stopped.failure.code, await left()], ["turn_not_running", ["m2", "m3", "mail"]]);
  assert.deepEqual(await withdraw(conversation, "m2"), ok(undefined));
  assert.deepEqual(await cancel(conversation, { message: "m3" }), ok({ turn: null }));
  assert.deepEqual(await left(), ["mail"]);
  await tenure.release();
});

const { leaseMs } = defaultLimits;

test("a lease is renewed in each third of it, and when it is let go of nobody renews it, nobody listens, and others can have it [L2][N1]", async (t) => {
  const renewed: unknown[] = [];
  let reads = 0;
  const wrap = (real: Storage): Storage => ({
    ...real,
    async renewLease(number, lease) {
      renewed.push(lease);
      return real.renewLease(number, lease);
    },
    read(...given) {
      reads += 1;
      return real.read(...given);
    },
  });
  const { clock, tenure, real, number, others } = await keepOne(t, { wrap });
  const lease = { holder: "here", epoch: tenure.epoch, ttlMs: leaseMs };
  assert.deepEqual([clock.timers(), renewed], [1, []]);
  for (let third = 0; third < 2; third += 1) {
    clock.move(leaseMs / 3);
    await soon();
  }
  assert.deepEqual([clock.timers(), renewed], [1, [lease, lease]]);
  const elsewhere = async () => (await real.claimLease(number, "other", leaseMs)).ok;
  assert.equal(await elsewhere(), false);
  await tenure.release();
  reads = 0;
  await others(said("m1"));
  await soon();
  assert.deepEqual([clock.timers(), reads, await elsewhere()], [0, 0, true]);
});

test("a lease is fresh for four fifths of its time since it was renewed last, to the millisecond, while others take this server for a living one [L2][N1]", async (t) => {
  const wrap = (real: Storage): Storage => ({ ...real, renewLease: async () => failure("storage_busy", {}) });
  const { clock, tenure } = await keepOne(t, { wrap });
  clock.move(0.8 * leaseMs - 1);
  assert.equal(tenure.isLeaseFresh(), true);
  clock.move(1);
  assert.equal(tenure.isLeaseFresh(), false);
  const homes = { ...homesHere, isFresh: () => false };
  const kept = await keepOne(t);
  Object.assign(kept.parts, { homes });
  assert.equal(kept.tenure.isLeaseFresh(), false);
});

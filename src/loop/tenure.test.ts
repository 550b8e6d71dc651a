import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../base/result.ts";
import { homesHere } from "../homes/homes.ts";
import type { NewEvent } from "../protocol/events.ts";
import { failure, makeFailure } from "../protocol/failure.ts";
import type { Storage } from "../storage/storage.ts";
import { defaultLimits } from "./parts.ts";
import { keepOne, mailed, said, soon, spawned, started } from "./tenure.testing.ts";
import { openTenure } from "./tenure.ts";

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

test("who cannot ask whether its lease holds goes on, and says so; who hears that another has it stops with all its agents [L2][N1]", async (t) => {
  let answer: Awaited<ReturnType<Storage["renewLease"]>> = ok(true);
  const wrap = (real: Storage): Storage => ({ ...real, renewLease: async () => answer });
  const { clock, tenure, agent, warned } = await keepOne(t, { wrap, before: [said("m1"), started, spawned("w1")] });
  const third = async (next: typeof answer) => {
    answer = next;
    clock.move(leaseMs / 3);
    await soon();
    return [tenure.isLeaseFresh(), tenure.root.signal.reason, agent("w1").signal.reason];
  };
  assert.deepEqual(await third(failure("storage_busy", {})), [true, undefined, undefined]);
  assert.deepEqual(await third(ok(true)), [true, undefined, undefined]);
  assert.deepEqual(await third(failure("storage_busy", {})), [true, undefined, undefined]);
  assert.deepEqual(await third(failure("storage_busy", {})), [true, undefined, undefined]);
  assert.deepEqual(await third(failure("storage_busy", {})), [false, undefined, undefined]);
  assert.deepEqual(await third(ok(false)), [false, "fenced", "fenced"]);
  const refused = ["the lease of c could not be renewed", { code: "storage_busy" }];
  assert.deepEqual(warned, [refused, refused, refused, refused]);
  await tenure.release();
});

test("who takes up a conversation has a run for each agent that works in it, and none for one that has ended; all know that the process before died [L2][A1]", async (t) => {
  const before = [said("m1"), started, spawned("w1"), spawned("w2"), spawned("w3", "w2")];
  const unrenewed = (real: Storage): Storage => ({ ...real, renewLease: async () => ok(true) });
  const ended: NewEvent = { type: "agent.ended", id: "w1", outcome: "done" };
  const { parts, conversation, tenure, clock } = await keepOne(t, { wrap: unrenewed, before: [...before, ended] });
  const abandoned = (runs: typeof tenure.runs) => [...runs].map(([id, { wasAbandoned }]) => [id, wasAbandoned]);
  assert.deepEqual(abandoned(tenure.runs), [
    ["root", false],
    ["w2", false],
    ["w3", false],
  ]);
  clock.move(leaseMs + 1);
  const next = await openTenure(parts, conversation, "other");
  assert.ok(next.ok);
  assert.deepEqual(abandoned(next.value.runs), [
    ["root", true],
    ["w2", true],
    ["w3", true],
  ]);
  await tenure.release();
  await next.value.release();
});

test("agents that go on many times in a second share one look at the settings, and wait for its end [N1][A1]", async (t) => {
  const { tenure, parts, clock } = await keepOne(t);
  const looks: PromiseWithResolvers<void>[] = [];
  Object.assign(parts, {
    beforeTurn() {
      const look = Promise.withResolvers<void>();
      looks.push(look);
      return look.promise;
    },
  });
  let over = 0;
  const look = () => tenure.lookAround().then(() => (over += 1));
  const first = [look(), look()];
  clock.move(999);
  first.push(look());
  await soon();
  assert.deepEqual([looks.length, over], [1, 0]);
  looks[0]?.resolve();
  await Promise.all(first);
  clock.move(1);
  const second = look();
  await soon();
  assert.deepEqual([looks.length, over], [2, 3]);
  looks[1]?.resolve();
  await second;
  await tenure.release();
});

test("the first thing that could not be stored is why all agents stop, and one that was just being made stops with them [L2][A1]", async (t) => {
  const storing = Promise.withResolvers<void>();
  const wrap = (real: Storage): Storage => ({
    ...real,
    async append(batch) {
      if (batch.events.some(({ type }) => type === "agent.spawned") && batch.epoch !== undefined) await storing.promise;
      return real.append(batch);
    },
  });
  const { tenure, agent } = await keepOne(t, { wrap, before: [said("m1"), started] });
  tenure.root.stage(spawned("w1"));
  const made = tenure.root.commit();
  tenure.fail(makeFailure("storage_full", {}));
  tenure.fail(makeFailure("storage_busy", {}));
  tenure.close();
  storing.resolve();
  assert.ok((await made).ok);
  assert.deepEqual(
    [tenure.failure?.code, tenure.root.failure?.code, tenure.root.signal.reason, agent("w1").signal.reason],
    ["storage_full", "storage_full", "storage_full", "storage_full"],
  );
  await tenure.release();
});

test("whoever waits for news hears of a new agent, of what others wrote to one, and of the end of all [A2][L2]", async (t) => {
  const { tenure, others } = await keepOne(t, { before: [said("m1"), started, spawned("w1")] });
  const rings: string[] = [];
  const hear = (what: string) => tenure.nextNews().then(() => rings.push(what));
  const waits = [hear("a new agent")];
  tenure.root.stage(spawned("w2"));
  await tenure.root.commit();
  await Promise.all(waits);
  const mail = hear("mail");
  await others(mailed("mail-1", "w1"));
  await mail;
  const end = hear("the end");
  tenure.close();
  await end;
  assert.deepEqual(rings, ["a new agent", "mail", "the end"]);
  await tenure.release();
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

test("a server that sleeps until it reads that it has a lease, or has renewed it, counts its time from when it asked [L2][N1]", async (t) => {
  const met = { slept: () => {}, isBusy: false };
  const wrap = (real: Storage): Storage => ({
    ...real,
    async claimLease(...given) {
      const claimed = await real.claimLease(...given);
      met.slept();
      return claimed;
    },
    async renewLease() {
      if (met.isBusy) return failure("storage_busy", {});
      met.slept();
      return ok(true);
    },
  });
  const { clock, tenure, parts, conversation } = await keepOne(t, { wrap });
  const asleep = 0.8 * leaseMs;
  clock.move(leaseMs / 3);
  await soon();
  clock.move(leaseMs / 3 - 1);
  assert.equal(tenure.isLeaseFresh(), true);
  met.slept = () => {
    met.isBusy = true;
    clock.move(asleep);
  };
  clock.move(1);
  await soon();
  assert.equal(tenure.isLeaseFresh(), false, "renewed long ago");
  met.isBusy = false;
  met.slept = () => {};
  clock.move(leaseMs / 3);
  await soon();
  assert.equal(tenure.isLeaseFresh(), true);
  await tenure.release();
  met.slept = () => clock.move(asleep);
  const again = await openTenure(parts, conversation, "here");
  assert.equal(again.ok && again.value.isLeaseFresh(), false, "claimed long ago");
  if (again.ok) await again.value.release();
});

test("a conversation that another server has is not taken up, and whoever has it keeps it [L2][N1]", async (t) => {
  const { parts, conversation, tenure, real, number } = await keepOne(t, { before: [said("m1")] });
  const other = await openTenure(parts, conversation, "there");
  assert.equal(other.ok || other.failure.code, "fenced");
  tenure.root.stage(started);
  assert.ok((await tenure.root.commit()).ok);
  await tenure.release();
  const next = await real.claimLease(number, "there", leaseMs);
  assert.deepEqual(next.ok && next.value, { epoch: tenure.epoch + 1, wasAbandoned: false });
});

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ok } from "../base/result.ts";
import { type Failure, failure, makeFailure } from "../protocol/failure.ts";
import { type Storage, StorageAway } from "../storage/storage.ts";
import { openDriver } from "./driver.ts";
import { leftOver } from "./left-over.testing.ts";
import type { Parts } from "./parts.ts";

const soon = () => new Promise((resolve) => setImmediate(resolve));

/** A conversation at rest, and what the driver asks of storage about it. `claim`: what a lease is answered with. */
async function driving(t: TestContext) {
  const asked: unknown[] = [];
  const met: { claim: (() => Promise<unknown>) | undefined; renew: () => Promise<unknown> } = {
    ...{ claim: undefined, renew: async () => {} },
  };
  const wrap = (real: Storage): Storage => ({
    ...real,
    async claimLease(...given) {
      asked.push("claim");
      const answer = await met.claim?.();
      return answer === undefined ? real.claimLease(...given) : (answer as Awaited<ReturnType<Storage["claimLease"]>>);
    },
    async renewLease(number, lease) {
      asked.push(["renew", lease.holder, lease.ttlMs]);
      await met.renew();
      return real.renewLease(number, lease);
    },
    async releaseLease(...given) {
      asked.push("release");
      return real.releaseLease(...given);
    },
    async tell(...given) {
      asked.push(["tell", ...given]);
      return ok(undefined);
    },
  });
  const left = await leftOver(t, { wrap });
  const waits: number[] = [];
  const parts: Parts = {
    ...left.parts,
    clock: {
      ...left.clock,
      wait(ms, signal) {
        waits.push(ms);
        return left.clock.wait(ms, signal);
      },
    },
  };
  const driver = openDriver(parts);
  t.after(() => driver.close());
  const row = await left.start("c");
  return { ...left, driver, row, asked, met, waits };
}

const codeOf = (answer: { ok: true } | { ok: false; failure: Failure }) => (answer.ok ? "done" : answer.failure.code);
/** Work that goes on until it is told to end. */
function held() {
  const begun = Promise.withResolvers<AbortSignal>();
  const over = Promise.withResolvers<void>();
  const work = async ({ signal }: { readonly signal: AbortSignal }) => {
    begun.resolve(signal);
    await over.promise;
    return ok("worked");
  };
  return { work, begun: begun.promise, end: over.resolve };
}

test("who does something between turns has the conversation alone, and whoever comes meanwhile waits ten short moments and is told that it is busy [L7][L9]", async (t) => {
  const { driver, row, asked, waits } = await driving(t);
  const { work, end } = held();
  const first = driver.hold(row, work);
  const second = await driver.hold(row, () => assert.fail("it is held"));
  assert.deepEqual([codeOf(second), waits], ["conversation_busy", Array(10).fill(100)]);
  assert.deepEqual(second.ok || second.failure.params, { id: "c" });
  end();
  assert.deepEqual([await first, asked], [ok("worked"), ["claim", "release"]]);
  assert.deepEqual(await driver.hold(row, async () => ok("next")), ok("next"));
});

test("who wakes a conversation that is held is served when it is let go of [L7]", async (t) => {
  const { driver, row, asked } = await driving(t);
  const { work, begun, end } = held();
  const first = driver.hold(row, work);
  driver.wake(row);
  await begun;
  assert.deepEqual([asked, driver.running(row.number)], [["claim"], undefined]);
  end();
  await first;
  await soon();
  await driver.ended(row.number);
  assert.deepEqual(asked, ["claim", "release", "claim", "release"]);
});

test("while a model is asked between turns the lease is renewed in time, a renewal that fails hinders nothing, and afterwards no more [L2][N1]", async (t) => {
  const { driver, row, asked, clock, met, parts, warned } = await driving(t);
  const { work, begun, end } = held();
  t.after(() => end());
  const first = driver.hold(row, work);
  await begun;
  const third = parts.limits.leaseMs / 3;
  clock.move(third - 1);
  assert.deepEqual(asked, ["claim"]);
  clock.move(1);
  met.renew = () => Promise.reject(new Error("no way"));
  clock.move(third);
  await soon();
  const renewal = ["renew", "here", parts.limits.leaseMs];
  assert.deepEqual(asked, ["claim", renewal, renewal]);
  assert.deepEqual(
    warned.map(([message]) => message),
    ["the lease of c was not renewed"],
  );
  end();
  assert.ok((await first).ok);
  assert.equal(clock.timers(), 0);
});

test("a conversation is let go of also when what was done there broke down, and one that another server has is busy [L2][N1]", async (t) => {
  const { driver, row, asked, met, clock } = await driving(t);
  const broken = driver.hold(row, () => Promise.reject(new Error("our mistake")));
  await assert.rejects(broken, /our mistake/);
  assert.deepEqual([asked, clock.timers()], [["claim", "release"], 0]);
  met.claim = async () => failure("fenced", {});
  assert.equal(codeOf(await driver.hold(row, () => assert.fail("not ours"))), "conversation_busy");
  met.claim = async () => failure("storage_full", {});
  assert.equal(codeOf(await driver.hold(row, () => assert.fail("not ours"))), "storage_full");
  met.claim = undefined;
  assert.ok((await driver.hold(row, async () => ok("again"))).ok);
});

test("who stops a conversation waits until it is let go of, and who had woken it meanwhile is not served any more [S6][L7]", async (t) => {
  const { driver, row, asked } = await driving(t);
  const { work, begun, end } = held();
  const first = driver.hold(row, work);
  const signal = await begun;
  driver.wake(row);
  let isStopped = false;
  const stopped = driver.stop(row.number).then(() => {
    isStopped = true;
  });
  await soon();
  assert.deepEqual([signal.aborted, isStopped], [true, false]);
  end();
  await Promise.all([first, stopped]);
  await soon();
  assert.deepEqual(asked, ["claim", "release"]);
  await driver.stop(row.number);
});

test("a driver that closes ends what is held, and from then on begins nothing [P2][L2]", async (t) => {
  const { driver, row, asked } = await driving(t);
  const { work, begun, end } = held();
  const first = driver.hold(row, work);
  const signal = await begun;
  let isClosed = false;
  const closed = driver.close().then(() => {
    isClosed = true;
  });
  await soon();
  assert.deepEqual([signal.aborted, isClosed], [true, false]);
  end();
  await Promise.all([first, closed]);
  driver.wake(row);
  assert.equal(codeOf(await driver.hold(row, () => assert.fail("it is closed"))), "conversation_busy");
  await soon();
  assert.deepEqual(asked, ["claim", "release"]);
});

test("a conversation that lives with another server is not taken up: that one is told [N1]", async (t) => {
  const { driver, row, asked, homes } = await driving(t);
  const keys: string[] = [];
  Object.assign(homes, { holds: async (key: string) => keys.push(key) > 9 });
  driver.wake(row);
  await driver.ended(row.number);
  assert.deepEqual([keys, asked], [[`c:${row.number}`], [["tell", "wake", String(row.number)]]]);
});

test("what storage refuses for now is tried again after two seconds, a conversation that is gone is not [L2][Q2]", async (t) => {
  const away = new StorageAway(makeFailure("storage_busy", {}), undefined);
  const cases: readonly (readonly [() => Promise<unknown>, boolean])[] = [
    [async () => failure("fenced", {}), true],
    [async () => failure("storage_full", {}), true],
    [async () => failure("conversation_not_found", { id: "c" }), false],
    [() => Promise.reject(away), true],
    [() => Promise.reject(new Error("our mistake")), false],
  ];
  for (const [claim, isAgain] of cases) {
    const { driver, row, asked, met, clock } = await driving(t);
    met.claim = claim;
    driver.wake(row);
    driver.wake(row);
    await driver.ended(row.number);
    const tries = isAgain ? 1 : 2;
    await soon();
    await driver.ended(row.number);
    assert.equal(asked.length, tries, `${claim}: who wakes it twice has it looked at again, unless that is planned`);
    met.claim = undefined;
    clock.move(1_999);
    await soon();
    assert.equal(asked.length, tries);
    clock.move(1);
    await soon();
    await driver.ended(row.number);
    assert.deepEqual(asked.slice(tries), isAgain ? ["claim", "release"] : []);
  }
});

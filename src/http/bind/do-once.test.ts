import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { openDatabase } from "../../../test/world/database.ts";
import { endlessClock, manualClock } from "../../../test/world/manual-clock.ts";
import { localOwner } from "../../protocol/ids.ts";
import type { Storage } from "../../storage/storage.ts";
import { openDoOnce } from "./do-once.ts";

const kept = { status: 201, headers: {}, body: "made" };

/** Calls under one key: each is begun when it is let go on, and says how it was answered. */
function openCalls(t: TestContext) {
  const storage = openDatabase(t);
  const waits: number[] = [];
  let [now, waiting] = [0, 0];
  const clock: typeof endlessClock = {
    ...{ ...endlessClock, now: () => now, monotonic: () => now },
    async wait(ms, signal) {
      waits.push(ms);
      waiting += 1;
      const ended = await endlessClock.wait(ms, signal);
      waiting -= 1;
      return ended;
    },
  };
  const doOnce = openDoOnce({ storage, clock });
  const begun: { readonly end: (is: typeof kept | undefined) => void; readonly fail: (error: Error) => void }[] = [];
  return {
    ...{ waits, begun },
    waiting: () => waiting,
    move: (ms: number) => (now += ms),
    async ask(fingerprint = "f", signal = new AbortController().signal): Promise<string> {
      const answer = await doOnce({ owner: localOwner, key: "k", fingerprint, signal }, async () => {
        const { promise, resolve, reject } = Promise.withResolvers<typeof kept | undefined>();
        begun.push({ end: resolve, fail: reject });
        return { kept: await promise };
      });
      if (!answer.ok) return answer.failure.code;
      return "done" in answer.value ? "done" : `before: ${answer.value.before.body}`;
    },
  };
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await settle();
}

test("calls that come while one runs wait for it and are told its answer, and nothing goes on waiting for them [C6]", async (t) => {
  const calls = openCalls(t);
  const first = calls.ask();
  await settled();
  const others = [calls.ask(), calls.ask()];
  await settled();
  assert.deepEqual([calls.begun.length, calls.waiting(), calls.waits], [1, 2, [10_000, 10_000]]);
  assert.equal(await calls.ask("another call"), "key_used_otherwise");
  calls.begun[0]?.end(kept);
  assert.deepEqual(await Promise.all([first, ...others]), ["done", "before: made", "before: made"]);
  await settled();
  assert.equal(calls.waiting(), 0);
  assert.equal(await calls.ask("another call"), "key_used_otherwise", "also when nothing runs any more");
});

test("of calls that waited one goes on where nothing was kept, and the rest wait no longer than they would have [C6]", async (t) => {
  const calls = openCalls(t);
  const all = [calls.ask(), calls.ask(), calls.ask()];
  await settled();
  calls.move(4_000);
  calls.begun[0]?.end(undefined);
  await settled();
  assert.deepEqual([calls.begun.length, calls.waits], [2, [10_000, 10_000, 6_000]]);
  calls.begun[1]?.end(kept);
  assert.deepEqual((await Promise.all(all)).toSorted(), ["before: made", "done", "done"]);
});

test("whoever leaves while they wait waits no longer, and a call that breaks down makes room for the next [C6][Q2]", async (t) => {
  const calls = openCalls(t);
  const first = calls.ask();
  await settled();
  const gone = new AbortController();
  const left = calls.ask("f", gone.signal);
  await settled();
  gone.abort();
  assert.equal(await left, "key_in_use");
  const broken = new Error("broken down");
  calls.begun[0]?.fail(broken);
  await assert.rejects(first, broken);
  const again = calls.ask();
  await settled();
  calls.begun[1]?.end(kept);
  assert.equal(await again, "done");
});

test("old answers are looked for once an hour, and where that fails the log file says so [C6][O1]", async (t) => {
  const clock = manualClock();
  clock.move(100 * 3_600_000);
  const looked: number[] = [];
  const told: string[] = [];
  const storage: Storage = {
    ...openDatabase(t, clock),
    async dropOnceBefore(at) {
      looked.push(clock.now() - at);
      throw new Error("no room");
    },
  };
  const doOnce = openDoOnce({ storage, clock, logger: (line) => told.push(line) });
  const ask = async (key: string) => {
    const call = { owner: localOwner, key, fingerprint: "f", signal: new AbortController().signal };
    assert.ok((await doOnce(call, async () => ({ kept }))).ok);
  };
  const day = 24 * 3_600_000;
  for (const [key, movedMs] of Object.entries({ a: 0, b: 0, c: 3_599_999 })) {
    clock.move(movedMs);
    await ask(key);
  }
  assert.deepEqual(looked, [day]);
  clock.move(1);
  await ask("d");
  await settled();
  assert.deepEqual(looked, [day, day]);
  assert.equal(told.length, 2);
  assert.match(told[0] ?? "", /^old answers were not dropped: .*no room/);
});

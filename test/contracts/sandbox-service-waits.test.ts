import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { homesHere } from "../../src/homes/homes.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import type { ExecutionEvent } from "../../src/sandbox/provider.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { changedGuests, echo, isOver, openPlayed } from "./sandbox-service-played.ts";
import { alice, unwrap } from "./storage-place.ts";

// Who waits for whom when sessions and programs end, and in which order that is written down.

const ttlMs = 7_200_000;
const long = { ...echo, code: "long" } as const;
const bare = { owner: alice, conversation: undefined, workspace: undefined, agent: "root" };
const { signal: never } = new AbortController();

/** Sandboxes that go only when the test lets them. */
function slowGuests() {
  const gone = Promise.withResolvers<void>();
  const provider = changedGuests(({ close }) => ({ close: (why) => gone.promise.then(() => close(why)) }));
  return { provider, letGo: gone.resolve };
}

test("a session that is made anew is there when the sandboxes of the one before are gone [S1][X1]", async (t) => {
  const { provider, letGo } = slowGuests();
  const ground = await openPlayed(t, { provider });
  await unwrap(await ground.sandbox.run(await ground.place("c1"), echo)).report;
  ground.played.fault = { why: "wrong_workspace", said: "" };
  assert.equal((await ground.sandbox.run(await ground.place("c2"), echo)).ok, false);
  const made = ground.sandbox.sessions.create(alice, { dialect: "seed" });
  assert.equal(await isOver(made), false);
  letGo();
  assert.equal(unwrap(await made).generation, 2);
  assert.deepEqual([ground.played.guests[0]?.told, ground.played.living()], [["close session_created"], []]);
});

test("a session that is used at the very end of its time is revived when its sandboxes are gone, whatever its timer does [S1][X1]", async (t) => {
  const { provider, letGo } = slowGuests();
  const ground = await openPlayed(t, { provider });
  await unwrap(await ground.sandbox.run(bare, echo)).report;
  await nextLoop();
  // Its time is over, and no timer has had its turn yet.
  const over = ground.clock.now() + ttlMs;
  ground.clock.now = () => over;
  const used = ground.sandbox.sessions.use(alice);
  assert.equal(await isOver(used), false);
  letGo();
  const { generation, usedAt } = unwrap(await used);
  assert.deepEqual([generation, usedAt, ground.played.guests[0]?.told], [2, over, ["close session_expired"]]);
});

test("who uses a session that was made anew at another server goes on when what was left of the old one here is gone [N1][S1]", async (t) => {
  const { provider, letGo } = slowGuests();
  const ground = await openPlayed(t, { provider, homes: { ...homesHere, isShared: true } });
  await unwrap(await ground.sandbox.run(bare, echo)).report;
  // As another server would: what runs here is not its own.
  const row = (await ground.storage.findSession(alice)) ?? assert.fail("it has a row");
  const write = async (changes: object) => {
    const body = JSON.stringify({ ...JSON.parse(row.body), ...changes });
    unwrap(await ground.storage.putSession({ ...row, body }));
  };
  await write({ status: "stopped", endedAt: row.usedAt });
  assert.equal((await ground.sandbox.sessions.find(alice))?.status, "stopped");
  await write({ generation: 2 });
  const used = ground.sandbox.sessions.use(alice);
  assert.equal(await isOver(used), false);
  letGo();
  assert.deepEqual([unwrap(await used).generation, ground.played.guests[0]?.told], [2, ["close stopped"]]);
});

test("the end of a session whose time is over is written down when its sandboxes are gone [S1]", async (t) => {
  const { provider, letGo } = slowGuests();
  const ground = await openPlayed(t, { provider, settings: { guestIdleMs: 10 ** 9, kernelIdleMs: 10 ** 9 } });
  const written = async () => JSON.parse((await ground.storage.findSession(alice))?.body ?? "{}").status;
  await unwrap(await ground.sandbox.run(bare, echo)).report;
  await nextLoop();
  ground.clock.move(ttlMs);
  for (let loop = 0; loop < 20; loop += 1) await nextLoop();
  assert.deepEqual([await written(), ground.played.living().length], ["running", 1]);
  letGo();
  await until("it is written", async () => (await written()) === "stopped");
  assert.deepEqual(ground.played.guests[0]?.told, ["close session_expired"]);
});

test("a session was not used earlier than it was, though the clock is set back [S1]", async (t) => {
  const ground = await openPlayed(t);
  const { usedAt } = unwrap(await ground.sandbox.sessions.use(alice));
  await nextLoop();
  ground.clock.now = () => usedAt - 50_000;
  assert.equal(unwrap(await ground.sandbox.sessions.use(alice)).usedAt, usedAt);
});

test("the use of a session is written once a minute, and at the end only where it was used since [S1]", async (t) => {
  const written: number[] = [];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    touchSession(owner, usedAt) {
      written.push(usedAt);
      return storage.touchSession(owner, usedAt);
    },
  });
  const ground = await openPlayed(t, { wrapStorage });
  const { usedAt } = unwrap(await ground.sandbox.sessions.use(alice));
  await nextLoop();
  for (const ms of [60_000, 1, 59_998]) {
    ground.clock.move(ms);
    unwrap(await ground.sandbox.sessions.use(alice));
  }
  assert.deepEqual(written, [usedAt + 60_000]);
  ground.clock.move(1);
  unwrap(await ground.sandbox.sessions.use(alice));
  await ground.sandbox.close();
  assert.deepEqual(written, [usedAt + 60_000, usedAt + 120_000]);
});

test("who waits until nothing runs goes on with the end of the last program, though nobody listened to it [X2][Q2]", async (t) => {
  const ground = await openPlayed(t);
  const { executions } = ground.sandbox;
  const ids = [];
  for (const code of ["one", "two"]) ids.push(unwrap(await executions.submit(bare, { ...echo, code })).id);
  await until("both run", () => ground.running().length === 2);
  const quiet = Promise.all([executions.quiet(), executions.quiet()]);
  ground.finish("one");
  await executions.wait(alice, ids[0] ?? "", never);
  assert.equal(await isOver(quiet), false);
  ground.finish("two");
  await quiet;
  assert.equal((await executions.find(alice, ids[1] ?? ""))?.status, "completed");
});

test("who waits for a program leaves nothing at their signal, and who does not want to wait is not kept [X2]", async (t) => {
  const ground = await openPlayed(t);
  const { executions } = ground.sandbox;
  const { id } = unwrap(await executions.submit(bare, long));
  await until("it runs", () => ground.running().length === 1);
  assert.equal(await executions.wait(alice, id, AbortSignal.abort()), undefined);
  const { signal } = new AbortController();
  const waited = executions.wait(alice, id, signal);
  assert.equal(getEventListeners(signal, "abort").length, 1);
  ground.finish("long");
  assert.equal((await waited)?.status, "completed");
  assert.deepEqual(getEventListeners(signal, "abort"), []);
});

test("that a program is over is written after that it runs, however long that takes [X2]", async (t) => {
  const held = Promise.withResolvers<void>();
  const written: string[] = [];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async putExecution(row, options) {
      const { status } = JSON.parse(row.body);
      if (status === "running") await held.promise;
      written.push(status);
      return storage.putExecution(row, options);
    },
  });
  const ground = await openPlayed(t, { wrapStorage });
  const { executions } = ground.sandbox;
  const { id } = unwrap(await executions.submit(bare, long));
  await until("it runs", () => ground.running().length === 1);
  // It is known as running a moment after it does.
  await nextLoop();
  ground.clock.move(500);
  ground.finish("long");
  const over = executions.wait(alice, id, never);
  assert.deepEqual([await isOver(over), written], [false, ["pending"]]);
  held.resolve();
  assert.equal((await over)?.status, "completed");
  assert.deepEqual(written, ["pending", "running", "completed"]);
});

test("a program that comes to its own end while the server does was not cut off [X2]", async (t) => {
  const provider = changedGuests(({ run, close }) => ({
    run: (execution) => run({ ...execution, signal: undefined }),
    async close(why) {
      ground.finish("long");
      for (let loop = 0; loop < 20; loop += 1) await nextLoop();
      return close(why);
    },
  }));
  const ground = await openPlayed(t, { provider });
  const { id } = unwrap(await ground.sandbox.executions.submit(bare, long));
  await until("it runs", () => ground.running().length === 1);
  const next = await ground.restart("closed");
  const record = await next.sandbox.executions.find(alice, id);
  assert.deepEqual([record?.status, record?.wasCutOff, record?.report?.how], ["completed", false, "done"]);
});

const metrics = { durationMs: 1, cpuMs: 1, memoryPeakBytes: 1, readBytes: 0, writtenBytes: 0 };

test("a program that somebody stopped just before the server ends was stopped, and not cut off [X2]", async (t) => {
  const [called, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const provider = changedGuests(() => ({
    async *run({ signal = assert.fail() }): AsyncGenerator<ExecutionEvent, void, undefined> {
      yield { kind: "started" };
      signal.addEventListener("abort", () => called.resolve());
      await over.promise;
      yield { kind: "exited", how: "cancelled", code: undefined, signal: undefined, metrics };
    },
  }));
  const ground = await openPlayed(t, { provider });
  const { executions } = ground.sandbox;
  const { id } = unwrap(await executions.submit(bare, long));
  await until("it runs", async () => (await executions.find(alice, id))?.status === "running");
  const cancelled = executions.cancel(alice, id);
  await called.promise;
  const closed = ground.sandbox.close();
  over.resolve();
  await closed;
  const record = await executions.find(alice, id);
  assert.deepEqual(
    [await cancelled, record?.status, record?.wasCutOff, record?.report?.how],
    [true, "cancelled", false, "cancelled"],
  );
});

test("old records that are being dropped while the sandbox ends are the last ones: nobody comes back to them [X2][Q2]", async (t) => {
  const held = Promise.withResolvers<void>();
  let looks = 0;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async dropExecutions(before) {
      looks += 1;
      await held.promise;
      return storage.dropExecutions(before);
    },
  });
  const ground = await openPlayed(t, { wrapStorage });
  ground.clock.move(60_000);
  assert.equal(looks, 1);
  await ground.sandbox.close();
  held.resolve();
  for (let loop = 0; loop < 20; loop += 1) await nextLoop();
  assert.equal(ground.clock.timers(), 0);
});

test("a sandbox that lives is made ready for Python also where there is no room for another [X1]", async (t) => {
  const ground = await openPlayed(t, { settings: { guestsMax: 1, guestsPerOwnerMax: 1, modules: ["numpy"] } });
  await unwrap(await ground.sandbox.run(bare, echo)).report;
  ground.sandbox.prewarm(bare, "python");
  await until("it is warm", () => ground.played.guests[0]?.told.length === 1);
  assert.deepEqual([ground.played.guests[0]?.told, ground.provider.opened()], [["warm root numpy"], 1]);
});

test("who looks after a machine is told what was left on it of earlier processes [X3][P4]", async (t) => {
  const left = { processes: 3, groups: 2, mounts: 1 };
  const ground = await openPlayed(t, { provider: () => ({ reap: async () => left }) });
  assert.deepEqual(await ground.sandbox.sweep(), left);
});

test("a session that cannot be written down is none, and nothing waits for its end [S1][Q2]", async (t) => {
  let isFull = true;
  const full = { ok: false, failure: makeFailure("storage_full", {}) } as const;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    putSession: async (row) => (isFull ? full : storage.putSession(row)),
  });
  const ground = await openPlayed(t, { wrapStorage });
  const { sessions } = ground.sandbox;
  const timers = ground.clock.timers();
  const refused = await ground.sandbox.run(bare, echo);
  assert.deepEqual([await sessions.use(alice), await sessions.create(alice, { dialect: "seed" })], [full, full]);
  assert.deepEqual([refused, await sessions.find(alice), ground.clock.timers()], [full, undefined, timers]);
  isFull = false;
  const { generation, status } = unwrap(await sessions.use(alice));
  assert.deepEqual([generation, status, ground.provider.opened()], [1, "running", 0]);
});

test("that a program is over is known as soon as it is, and waited for until it is written down [X2]", async (t) => {
  const held = Promise.withResolvers<void>();
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async putExecution(row, options) {
      if (row.endedAt !== undefined) await held.promise;
      return storage.putExecution(row, options);
    },
  });
  const ground = await openPlayed(t, { wrapStorage });
  const { executions, sessions } = ground.sandbox;
  const { id } = unwrap(await executions.submit(bare, echo));
  const waited = executions.wait(alice, id, never);
  await until("it is known", async () => (await executions.find(alice, id))?.status === "completed");
  const listed = (await executions.list(alice, { limit: 1, offset: 0 })).items.map(({ status }) => status);
  const stopped = sessions.stop(alice);
  assert.deepEqual([listed, await isOver(Promise.race([waited, stopped]))], [["completed"], false]);
  held.resolve();
  await Promise.all([waited, stopped]);
  assert.notEqual((await ground.storage.findExecution(alice, id))?.endedAt, undefined);
});

test("of what a program has said so far as much is shown as of one that is over, where nobody says otherwise [X2][X4]", async (t) => {
  const bytes = Buffer.alloc(64 * 1024 + 1, "x");
  const provider = changedGuests((guest) => ({
    async *run(execution) {
      yield { kind: "output", stream: "stderr", bytes };
      yield* guest.run(execution);
    },
  }));
  const ground = await openPlayed(t, { provider });
  const { executions } = ground.sandbox;
  const { id } = unwrap(await executions.submit(bare, long));
  await until("it runs", () => ground.running().length === 1);
  const soFar = (await executions.find(alice, id))?.soFar;
  ground.finish("long");
  const record = await executions.wait(alice, id, never);
  assert.deepEqual([soFar?.stderr.cutBytes, soFar?.stdout.cutBytes], [1, 0]);
  assert.deepEqual([record?.soFar, record?.report?.stderr], [undefined, soFar?.stderr]);
});

test("who resets the Python of an agent goes on when it is gone [X1]", async (t) => {
  const gone = Promise.withResolvers<void>();
  const ground = await openPlayed(t, { provider: changedGuests(() => ({ reset: () => gone.promise })) });
  await unwrap(await ground.sandbox.run(bare, { ...echo, language: "python" })).report;
  const reset = ground.sandbox.reset(bare);
  assert.equal(await isOver(reset), false);
  gone.resolve();
  await reset;
});

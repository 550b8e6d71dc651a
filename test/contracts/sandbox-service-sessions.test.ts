import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { makeFailure } from "../../src/protocol/failure.ts";
import type { Lack, Session } from "../../src/sandbox/sandbox.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { changedGuests, echo, isOver, openPlayed } from "./sandbox-service-played.ts";
import { alice, bob, unwrap } from "./storage-place.ts";

// What becomes of sessions, and of all that runs in them, when they are stopped, made anew, or left alone.

const ttlMs = 7_200_000;
const long = { ...echo, code: "long" } as const;
const full = { ok: false, failure: makeFailure("storage_full", {}) } as const;

test("a session that is made anew after an error runs, with new variables in all of its conversations [S1]", async (t) => {
  const ground = await openPlayed(t);
  const { sessions } = ground.sandbox;
  const [well, ill] = [await ground.place("c1"), await ground.place("c2")];
  const breakDown = async () => {
    ground.played.fault = { why: "wrong_workspace", said: "" };
    const run = await ground.sandbox.run(ill, echo);
    const { code, params } = Object(!run.ok && run.failure);
    assert.deepEqual([code, params], ["sandbox_start_failed", { why: "wrong_workspace" }]);
    return (await sessions.find(alice))?.status;
  };
  unwrap(await sessions.create(alice, { dialect: "seed", env: { COLOUR: "red" } }));
  await unwrap(await ground.sandbox.run(well, echo)).report;
  assert.equal(await breakDown(), "error");
  const made = unwrap(await sessions.create(alice, { dialect: "seed", env: { COLOUR: "blue" } }));
  assert.deepEqual([made.status, made.generation, ground.played.living()], ["running", 2, []]);
  await unwrap(await ground.sandbox.run(well, echo)).report;
  assert.deepEqual(
    ground.played.guests.map(({ wanted }) => wanted.env),
    [{ COLOUR: "red" }, { COLOUR: "blue" }],
  );
  assert.equal(await breakDown(), "error");
  unwrap(await sessions.stop(alice));
  assert.equal(unwrap(await sessions.create(alice, { dialect: "seed" })).status, "running");
});

test("who asks for a session under another id than it has is told both [S1]", async (t) => {
  const { sessions } = (await openPlayed(t)).sandbox;
  unwrap(await sessions.use(alice));
  const asked = async (id: string) => {
    const made = await sessions.create(alice, { dialect: "public", id });
    return made.ok || made.failure.params;
  };
  const id = "sb-session-alice";
  assert.deepEqual([await asked("mine"), await asked(id)], [{ id, asked: "mine" }, { id }]);
});

test("who comes while a session is being stopped gets one that runs, not the one that ends [S1]", async (t) => {
  const gone = Promise.withResolvers<void>();
  const ground = await openPlayed(t, { provider: changedGuests(() => ({ close: () => gone.promise })) });
  const { sessions } = ground.sandbox;
  await unwrap(await ground.sandbox.run(await ground.place("c1"), echo)).report;
  const refused = sessions.create(alice, { dialect: "seed" });
  const stopped = sessions.stop(alice);
  // Its turn was before the end: it is over, and the end is not.
  assert.equal((await refused).ok, false);
  await nextLoop();
  const used = sessions.use(alice);
  assert.deepEqual([await isOver(stopped), await isOver(used)], [false, false]);
  gone.resolve();
  assert.deepEqual([unwrap(await stopped)?.status, unwrap(await used).generation], ["stopped", 2]);
});

test("a session made anew at the moment when the time of the one before is over lives on, as it was made, with its programs [S1]", async (t) => {
  const ground = await openPlayed(t);
  const { sessions } = ground.sandbox;
  const place = await ground.place("c1");
  unwrap(await sessions.create(alice, { dialect: "seed", env: { COLOUR: "red" } }));
  const making = sessions.create(alice, { dialect: "seed", env: { COLOUR: "blue" } });
  // The end of the one before now waits in line behind the new one.
  ground.clock.move(ttlMs);
  const made = unwrap(await making);
  const run = unwrap(await ground.sandbox.run(place, long));
  assert.deepEqual([await isOver(run.report), await sessions.find(alice)], [false, made]);
  assert.deepEqual([made.status, made.generation, made.env], ["running", 2, { COLOUR: "blue" }]);
  ground.finish("long");
  assert.equal((await run.report).how, "done");
});

test("a session that is stopped twice ended when it was stopped first, and has no end when it is used again [S1]", async (t) => {
  const { sandbox, clock } = await openPlayed(t);
  const timesOf = ({ createdAt, updatedAt, usedAt, endedAt }: Session) => [createdAt, updatedAt, usedAt, endedAt];
  const start = clock.now();
  unwrap(await sandbox.sessions.use(alice));
  clock.move(1000);
  const first = unwrap(await sandbox.sessions.stop(alice)) ?? assert.fail("there is one");
  assert.deepEqual(timesOf(first), [start, start + 1000, start, start + 1000]);
  clock.move(1000);
  assert.deepEqual(unwrap(await sandbox.sessions.stop(alice)), first);
  const again = unwrap(await sandbox.sessions.use(alice));
  assert.deepEqual(timesOf(again), [start, start + 2000, start + 2000, undefined]);
});

test("a session whose end cannot be written is told as that, and is there as before [S1][Q2]", async (t) => {
  let isFull = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    putSession: async (row) => (isFull ? full : storage.putSession(row)),
    forgetSession: async (owner) => (isFull ? full : storage.forgetSession(owner)),
  });
  const { sandbox } = await openPlayed(t, { wrapStorage });
  const before = unwrap(await sandbox.sessions.use(alice));
  isFull = true;
  assert.deepEqual(
    [await sandbox.sessions.stop(alice), await sandbox.sessions.stop(alice, { forget: true })],
    [full, full],
  );
  assert.deepEqual(await sandbox.sessions.find(alice), before);
});

test("when a session was used is known to the next process, a minute late at most, also after a crash [S1]", async (t) => {
  const ground = await openPlayed(t);
  const storedAt = async () => (await ground.storage.findSession(alice))?.usedAt;
  const { usedAt } = unwrap(await ground.sandbox.sessions.use(alice));
  // Whoever comes while it is being made has it written anew.
  await nextLoop();
  ground.clock.move(59_999);
  unwrap(await ground.sandbox.sessions.use(alice));
  assert.equal(await storedAt(), usedAt);
  ground.clock.move(1);
  unwrap(await ground.sandbox.sessions.use(alice));
  await until("it is written", async () => (await storedAt()) === usedAt + 60_000);
});

test("a session is used until the end of its last program [S1]", async (t) => {
  const ground = await openPlayed(t);
  const run = unwrap(await ground.sandbox.run(await ground.place("c1"), long));
  const { usedAt } = (await ground.sandbox.sessions.find(alice)) ?? assert.fail();
  ground.clock.move(5_000_000);
  ground.finish("long");
  await run.report;
  assert.equal((await ground.sandbox.sessions.find(alice))?.usedAt, usedAt + 5_000_000);
});

test("the first chat that says for which agent and domain a session is has the word [S2]", async (t) => {
  const { sandbox } = await openPlayed(t);
  const { sessions } = sandbox;
  const about = async (owner = alice) => {
    const session = await sessions.find(owner);
    return [session?.agentId, session?.businessDomain];
  };
  unwrap(await sessions.use(alice));
  assert.deepEqual(await about(), [undefined, undefined]);
  unwrap(await sessions.ensure(alice, { agentId: "writer", businessDomain: "bd-1" }));
  unwrap(await sessions.ensure(alice, { agentId: "painter", businessDomain: "bd-2" }));
  assert.deepEqual(await about(), ["writer", "bd-1"]);
  unwrap(await sessions.ensure(bob, {}));
  assert.deepEqual(await about(bob), [undefined, "bd_public"]);
  unwrap(await sessions.ensure(bob, { agentId: "writer", businessDomain: "bd-1" }));
  assert.deepEqual(await about(bob), ["writer", "bd_public"]);
});

test("after its end the sandbox waits for nothing any more, whatever was under way [X4][Q2]", async (t) => {
  const ground = await openPlayed(t);
  const { sessions } = ground.sandbox;
  const place = await ground.place("c1");
  // Both make it: the time of the first is not counted any more.
  await Promise.all([sessions.use(alice), sessions.use(alice)]);
  unwrap(await sessions.use(bob));
  unwrap(await sessions.stop(bob));
  await unwrap(await ground.sandbox.run(place, echo)).report;
  unwrap(await ground.sandbox.executions.submit(place, long));
  await until("it runs", () => ground.running().length === 1);
  assert.ok(ground.clock.timers() > 2);
  const waits: [ms: number, signal: AbortSignal | undefined][] = [];
  ground.clock.wait = (...wait) => {
    waits.push([wait[0], wait[1]]);
    return new Promise(() => {});
  };
  await ground.sandbox.close();
  assert.deepEqual([ground.clock.timers(), waits.map(([ms, signal]) => [ms, signal?.aborted])], [0, [[5000, true]]]);
});

test("the end of the sandbox comes in time, also where a sandbox does not end [Q2]", async (t) => {
  const endless = changedGuests(() => ({ close: () => new Promise(() => {}) }));
  const ground = await openPlayed(t, { provider: endless });
  await unwrap(await ground.sandbox.run(await ground.place("c1"), echo)).report;
  await ground.sandbox.close();
});

test("a session in error is well again when a sandbox sees the files of its place, and not by one that sees none [S1][X3]", async (t) => {
  const ground = await openPlayed(t);
  const place = await ground.place("c1");
  const status = async () => {
    const session = await ground.sandbox.sessions.find(alice);
    return [session?.status, session?.error];
  };
  const lost = ["error", "sandbox_start_failed"];
  ground.played.fault = { why: "wrong_workspace", said: "" };
  assert.equal((await ground.sandbox.run(place, echo)).ok, false);
  const bare = { owner: alice, conversation: undefined, workspace: undefined, agent: "root" };
  await unwrap(await ground.sandbox.run(bare, echo)).report;
  assert.deepEqual(
    [await status(), await ground.sandbox.sessions.count()],
    [lost, { running: 0, stopped: 0, error: 1 }],
  );
  // What keeps everybody from running code is said before what kept this one.
  ground.played.missing = [{ name: "no_engine", reason: "The engine is away.", fix: "Start it." }];
  assert.deepEqual(await status(), ["error", "sandbox_unavailable"]);
  ground.played.missing = [];
  await unwrap(await ground.sandbox.run(place, echo)).report;
  assert.deepEqual(await status(), ["running", undefined]);
});

test("sessions are counted as they are now, also where their last use is not written down yet [S1][O1]", async (t) => {
  const { sandbox, clock } = await openPlayed(t);
  unwrap(await sandbox.sessions.use(alice));
  unwrap(await sandbox.sessions.use(bob));
  clock.move(30_000);
  unwrap(await sandbox.sessions.use(alice));
  clock.move(ttlMs - 30_000);
  assert.deepEqual(await sandbox.sessions.count(), { running: 1, stopped: 1, error: 0 });
});

test("a session ended with its last use, whatever was written down of that before, and though others are at work [S1]", async (t) => {
  const ground = await openPlayed(t);
  const { sessions } = ground.sandbox;
  const start = ground.clock.now();
  const run = unwrap(await ground.sandbox.run(await ground.place("c1", bob), long));
  unwrap(await sessions.use(alice));
  // Whoever comes while it is being made has it written anew.
  await nextLoop();
  ground.clock.move(30_000);
  unwrap(await sessions.use(alice));
  ground.clock.move(ttlMs);
  // Comes after what the timers began.
  await ground.sandbox.sweep();
  const ended = (await sessions.find(alice)) ?? assert.fail("there is one");
  assert.deepEqual(
    [ended.status, ended.usedAt, ended.endedAt, ended.updatedAt],
    ["stopped", start + 30_000, start + 30_000 + ttlMs, start + 30_000 + ttlMs],
  );
  assert.equal((await sessions.find(bob))?.status, "running");
  ground.finish("long");
  await run.report;
});

test("the sessions that an earlier process left are ended once, when their time is over [S1]", async (t) => {
  const ground = await openPlayed(t);
  const { createdAt } = unwrap(await ground.sandbox.sessions.use(alice));
  const { sandbox } = await ground.restart("killed");
  const times = async (ms: number) => {
    ground.clock.move(ms);
    await sandbox.sweep();
    const session = await sandbox.sessions.find(alice);
    return [session?.status, session?.updatedAt, session?.endedAt];
  };
  const over = createdAt + ttlMs;
  assert.deepEqual(await times(ttlMs - 1), ["running", createdAt, undefined]);
  assert.deepEqual(
    [await times(1), await times(1000)],
    [
      ["stopped", over, over],
      ["stopped", over, over],
    ],
  );
});

test("a session of an earlier process lives on from its next use, and says which limits cannot be had [S1][X3]", async (t) => {
  const lack: Lack = { name: "no_cgroup_cpu", reason: "There is no limit.", fix: "Have one." };
  const probe = async () => ({ missing: [], degraded: [lack] });
  const ground = await openPlayed(t, { provider: () => ({ probe }) });
  const { usedAt, status, degraded } = unwrap(await ground.sandbox.sessions.use(alice));
  assert.deepEqual([status, degraded], ["running", [lack]]);
  const { sandbox } = await ground.restart("killed");
  ground.clock.move(ttlMs - 1);
  const again = unwrap(await sandbox.sessions.use(alice));
  assert.deepEqual([again.usedAt, again.generation], [usedAt + ttlMs - 1, 1]);
});

test("a session is over after its time also where that cannot be written, and what ended is not in error [S1][Q2]", async (t) => {
  let isFull = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    putSession: async (row) => (isFull ? full : storage.putSession(row)),
  });
  const ground = await openPlayed(t, { wrapStorage });
  const { sessions } = ground.sandbox;
  unwrap(await sessions.use(bob));
  unwrap(await sessions.stop(bob));
  const { usedAt } = unwrap(await sessions.use(alice));
  isFull = true;
  ground.clock.move(ttlMs);
  await ground.sandbox.sweep();
  assert.ok(ground.logged.includes('the end of a session could not be written down {"code":"storage_full"}'));
  const lack: Lack = { name: "no_engine", reason: "The engine is away.", fix: "Start it." };
  ground.played.missing = [lack];
  const told = async (owner = alice) => {
    const session = await sessions.find(owner);
    return [session?.status, session?.error, session?.endedAt];
  };
  assert.deepEqual(
    [await told(), await told(bob)],
    [
      ["stopped", undefined, usedAt + ttlMs],
      ["stopped", undefined, usedAt],
    ],
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { type HomeKey, homesHere } from "../../src/homes/homes.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import { type Storage, type Told, toldTopics } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { bare, changedGuests, echo, isOver, openPlayed } from "./sandbox-service-place.ts";
import { alice, bob, unwrap } from "./storage-place.ts";

// What becomes of sessions, and of all that runs in them, when they are stopped, made anew, left alone, or used at several servers.

const ttlMs = 7_200_000;
const long = { ...echo, code: "long" } as const;
const full = { ok: false, failure: makeFailure("storage_full", {}) } as const;

test("a session gives its programs its variables and its limits [S1][X4]", async (t) => {
  const ground = await openPlayed(t);
  const place = await ground.place("c1");
  const limits = { outputBytesMax: 5, memoryBytes: 2 ** 50 };
  const wanted = { dialect: "public", id: "mine", env: { COLOUR: "red" }, executionTimeoutMs: 3_000, limits } as const;
  const session = unwrap(await ground.sandbox.sessions.create(alice, wanted));
  assert.deepEqual([session.limits.memoryBytes, session.limits.outputBytesMax], [400 * 2 ** 20, 5]);
  const run = unwrap(await ground.sandbox.run(place, { ...long, timeoutMs: 60_000 }));
  await until("it runs", () => ground.running().length === 1);
  const [guest] = ground.played.guests;
  assert.deepEqual(
    [guest?.wanted.env, guest?.wanted.limits, ground.running()[0]?.timeoutMs],
    [{ COLOUR: "red" }, session.limits, 3_000],
  );
  ground.finish("long");
  await run.report;
});

test("a session ends when nobody used it for its time: guests go, files stay, the next use revives it [S1]", async (t) => {
  const ground = await openPlayed(t, { settings: { ttlMs: 7_200_000, guestIdleMs: 10 ** 9, kernelIdleMs: 10 ** 9 } });
  const place = await ground.place("c1");
  await (await ground.run(place, "at once")).report;
  unwrap((await place.workspace?.write("outputs/a", "a")) ?? assert.fail());
  ground.clock.move(7_000_000);
  await (await ground.run(place, "at once")).report;
  ground.clock.move(7_199_999);
  assert.equal((await ground.sandbox.sessions.find(alice))?.status, "running");
  const usedAt = (await ground.sandbox.sessions.find(alice))?.usedAt ?? 0;
  ground.clock.move(1);
  await until("its guest is gone", () => ground.played.living().length === 0);
  const ended = await ground.sandbox.sessions.find(alice);
  assert.deepEqual([ended?.status, ended?.endedAt, ended?.generation], ["stopped", usedAt + 7_200_000, 1]);
  assert.ok((await place.workspace?.stat("outputs/a"))?.ok);
  await (await ground.run(place, "at once")).report;
  const revived = await ground.sandbox.sessions.find(alice);
  assert.deepEqual([revived?.id, revived?.status, revived?.generation], ["sb-session-alice", "running", 2]);
});

test("a session that another process left is alive for its time from its last use, and over after it [S1]", async (t) => {
  const ground = await openPlayed(t);
  const wanted = { dialect: "public", id: "mine", templateId: "python-basic" } as const;
  unwrap(await ground.sandbox.sessions.create(alice, wanted));
  const { sandbox } = await ground.restart("killed");
  const { sessions } = sandbox;
  const found = await sessions.find(alice);
  assert.deepEqual(
    [found?.id, found?.status, found?.dialect, found?.templateId],
    ["mine", "running", "public", "python-basic"],
  );
  ground.clock.move(ttlMs - 1);
  const { usedAt, generation } = unwrap(await sessions.use(alice));
  assert.deepEqual([usedAt, generation], [ground.clock.now(), 1]);
  const times = async (ms: number) => {
    ground.clock.move(ms);
    await sandbox.sweep();
    const session = await sessions.find(alice);
    return [session?.status, session?.endedAt];
  };
  assert.deepEqual(await times(ttlMs - 1), ["running", undefined]);
  const over = ["stopped", usedAt + ttlMs];
  assert.deepEqual([await times(1), await times(1000)], [over, over], "it ends once");
  const revived = unwrap(await sessions.create(alice, { dialect: "public" }));
  assert.deepEqual([revived.id, revived.status, revived.generation], ["mine", "running", 2]);
});

test("what cannot be written of a session is told as that: none is made, none is stopped or forgotten, and its time is over all the same [S1][Q2]", async (t) => {
  let isFull = true;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    putSession: async (row) => (isFull ? full : storage.putSession(row)),
    forgetSession: async (owner) => (isFull ? full : storage.forgetSession(owner)),
  });
  const ground = await openPlayed(t, { wrapStorage });
  const { sessions } = ground.sandbox;
  const [use, create] = [() => sessions.use(alice), () => sessions.create(alice, { dialect: "seed" })];
  const refused = [await ground.sandbox.run(bare, echo), await use(), await create()];
  assert.deepEqual([refused, await sessions.find(alice)], [[full, full, full], undefined]);
  isFull = false;
  const before = unwrap(await use());
  isFull = true;
  assert.deepEqual([await sessions.stop(alice), await sessions.stop(alice, { forget: true })], [full, full]);
  assert.deepEqual(await sessions.find(alice), before);
  ground.clock.move(ttlMs);
  await ground.sandbox.sweep();
  ground.played.missing = [{ name: "no_engine", reason: "The engine is away.", fix: "Start it." }];
  const over = await sessions.find(alice);
  assert.deepEqual([over?.status, over?.error, over?.endedAt], ["stopped", undefined, before.usedAt + ttlMs]);
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

test("the end of the sandbox comes in time, also where a sandbox does not end [Q2]", async (t) => {
  const endless = changedGuests(() => ({ close: () => new Promise(() => {}) }));
  const ground = await openPlayed(t, { provider: endless });
  await unwrap(await ground.sandbox.run(await ground.place("c1"), echo)).report;
  await ground.sandbox.close();
});

// Several servers.

const gap: Told = { topic: toldTopics.gap, key: "" };

/** Servers on one database, which hear from each other when the test lets them. */
function sharing() {
  const listeners = new Set<(told: Told) => void>();
  const held: Told[] = [];
  const lost = new Set<(key: HomeKey) => void>();
  return {
    homes: {
      ...homesHere,
      isShared: true,
      onLost(listener: (key: HomeKey) => void) {
        lost.add(listener);
        return () => void lost.delete(listener);
      },
    },
    wrapStorage: (storage: Storage): Storage => ({
      ...storage,
      async tell(topic, key) {
        held.push({ topic, key });
        return { ok: true, value: undefined };
      },
      onTold(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    }),
    pass: (told: readonly Told[] = held.splice(0)) =>
      told.forEach((one) => void listeners.forEach((listener) => void listener(one))),
    /** Nobody hears what was told so far. */
    forget: () => void held.splice(0),
    lose: (key: HomeKey) => lost.forEach((listener) => void listener(key)),
    heardBy: () => [listeners.size, lost.size],
  };
}

test("what runs of a session that is stopped at another server ends, also where the word of it was lost [N1][S1]", async (t) => {
  const { homes, wrapStorage, pass, heardBy } = sharing();
  const ground = await openPlayed(t, { homes, wrapStorage });
  const there = ground.beside();
  const place = await ground.place("c1");
  const words: (readonly Told[] | undefined)[] = [undefined, [gap]];
  for (const told of words) {
    const run = unwrap(await ground.sandbox.run(place, long));
    assert.equal((await there.sessions.find(alice))?.status, "running");
    pass([gap]);
    assert.equal(await isOver(run.report), false, "nothing has ended");
    assert.equal(unwrap(await there.sessions.stop(alice))?.status, "stopped");
    assert.equal(await isOver(run.report), false);
    pass(told);
    assert.equal((await run.report).how, "cancelled");
  }
  await ground.sandbox.close();
  await there.close();
  assert.deepEqual([heardBy(), ground.clock.timers()], [[0, 0], 0]);
});

test("a session lives as long for all servers as it is used at any of them [N1][S1]", async (t) => {
  const { homes, wrapStorage } = sharing();
  const ground = await openPlayed(t, { homes, wrapStorage, settings: { guestIdleMs: 10 ** 9 } });
  const [here, there] = [ground.sandbox, ground.beside()];
  const status = async (sandbox = there) => (await sandbox.sessions.find(alice))?.status;
  unwrap(await here.sessions.use(alice));
  await nextLoop();
  ground.clock.move(30_000);
  unwrap(await here.sessions.use(alice));
  ground.clock.move(ttlMs - 30_000);
  assert.equal(await status(here), "running", "it was used since it was last written down");
  const run = unwrap(await here.run(await ground.place("c1"), long));
  ground.clock.move(ttlMs);
  await until("the other server knows that a program runs", async () => (await status()) === "running");
  ground.finish("long");
  await run.report;
});

test("what another server goes on with ends here, a conversation or all of a user, and nothing else [N1][X4]", async (t) => {
  const { homes, wrapStorage, lose } = sharing();
  const ground = await openPlayed(t, { homes, wrapStorage });
  const places = [await ground.place("c1"), await ground.place("c2"), await ground.place("c3", bob)];
  const runs = [];
  for (const place of places) runs.push(unwrap(await ground.sandbox.run(place, long)));
  const [first, second, third] = runs;
  lose(`c:${places[0]?.conversation ?? 0}`);
  assert.equal((await first?.report)?.how, "cancelled");
  assert.deepEqual(ground.sandbox.load(), { guests: 2, running: 2, waiting: 0 });
  lose("u:alice");
  assert.equal((await second?.report)?.how, "cancelled");
  assert.deepEqual([ground.sandbox.load().running, ground.played.living()], [1, ["/workspace/c3"]]);
  ground.finish("long");
  assert.equal((await third?.report)?.how, "done");
});

test("who uses a session here that was stopped or made anew elsewhere has it without what was left of the old one, though no word came [N1][S1]", async (t) => {
  const { homes, wrapStorage } = sharing();
  const ground = await openPlayed(t, { homes, wrapStorage });
  const [here, there] = [ground.sandbox, ground.beside()];
  const place = await ground.place("c1");
  const seen = async () => (await here.sessions.find(alice))?.status;
  await unwrap(await here.run(place, echo)).report;
  unwrap(await there.sessions.stop(alice));
  assert.deepEqual([await seen(), ground.played.living()], ["stopped", ["/workspace/c1"]]);
  const revived = unwrap(await here.sessions.use(alice));
  assert.deepEqual([revived.status, revived.generation, ground.played.living()], ["running", 2, []]);
  const run = unwrap(await here.run(place, long));
  unwrap(await there.sessions.stop(alice));
  assert.equal(await seen(), "stopped");
  unwrap(await there.sessions.create(alice, { dialect: "seed", env: { COLOUR: "blue" } }));
  const made = unwrap(await here.sessions.use(alice));
  assert.deepEqual([made.generation, made.env, (await run.report).how], [3, { COLOUR: "blue" }, "cancelled"]);
});

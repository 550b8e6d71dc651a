import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { type HomeKey, homesHere } from "../../src/homes/homes.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import { type Storage, type Told, toldTopics } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { changedGuests, echo, isOver, openPlayed } from "./sandbox-service-played.ts";
import { alice, bob, unwrap } from "./storage-place.ts";

// What becomes of sessions, and of all that runs in them, when they are stopped, made anew, or used somewhere else.

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
    assert.deepEqual(run.ok || run.failure.params, { why: "wrong_workspace" });
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
  const stopped = sessions.stop(alice);
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

test("a session that is stopped twice ended when it was stopped first [S1]", async (t) => {
  const { sandbox, clock } = await openPlayed(t);
  unwrap(await sandbox.sessions.use(alice));
  const first = unwrap(await sandbox.sessions.stop(alice));
  clock.move(1000);
  assert.deepEqual(unwrap(await sandbox.sessions.stop(alice)), first);
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
  const about = async () => {
    const session = await sessions.find(alice);
    return [session?.agentId, session?.businessDomain];
  };
  unwrap(await sessions.use(alice));
  assert.deepEqual(await about(), [undefined, undefined]);
  unwrap(await sessions.ensure(alice, { agentId: "writer", businessDomain: "bd-1" }));
  unwrap(await sessions.ensure(alice, { agentId: "painter", businessDomain: "bd-2" }));
  assert.deepEqual(await about(), ["writer", "bd-1"]);
  unwrap(await sessions.ensure(bob, {}));
  assert.equal((await sessions.find(bob))?.businessDomain, "bd_public");
});

test("after its end the sandbox waits for nothing any more, whatever was under way [X4][Q2]", async (t) => {
  const ground = await openPlayed(t);
  const place = await ground.place("c1");
  await unwrap(await ground.sandbox.run(place, echo)).report;
  unwrap(await ground.sandbox.executions.submit(place, long));
  await until("it runs", () => ground.running().length === 1);
  assert.ok(ground.clock.timers() > 2);
  await ground.sandbox.close();
  assert.equal(ground.clock.timers(), 0);
});

test("the end of the sandbox comes in time, also where a sandbox does not end [Q2]", async (t) => {
  const endless = changedGuests(() => ({ close: () => new Promise(() => {}) }));
  const ground = await openPlayed(t, { provider: endless });
  await unwrap(await ground.sandbox.run(await ground.place("c1"), echo)).report;
  await ground.sandbox.close();
});

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
    lose: (key: HomeKey) => lost.forEach((listener) => void listener(key)),
    heardBy: () => [listeners.size, lost.size],
  };
}

test("what runs of a session that is stopped at another server ends, also where the word of it was lost [N1][S1]", async (t) => {
  const { homes, wrapStorage, pass, heardBy } = sharing();
  const ground = await openPlayed(t, { homes, wrapStorage });
  const there = ground.beside();
  const place = await ground.place("c1");
  const words: (readonly Told[] | undefined)[] = [undefined, [{ topic: toldTopics.gap, key: "" }]];
  for (const told of words) {
    const run = unwrap(await ground.sandbox.run(place, long));
    assert.equal(unwrap(await there.sessions.stop(alice))?.status, "stopped");
    assert.equal(await isOver(run.report), false);
    pass(told);
    assert.equal((await run.report).how, "cancelled");
  }
  await ground.sandbox.close();
  await there.close();
  assert.deepEqual(heardBy(), [0, 0]);
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

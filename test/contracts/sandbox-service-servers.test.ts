import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { type HomeKey, homesHere } from "../../src/homes/homes.ts";
import { failure } from "../../src/protocol/failure.ts";
import { type Storage, type Told, toldTopics } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { echo, isOver, openPlayed } from "./sandbox-service-played.ts";
import { alice, bob, unwrap } from "./storage-place.ts";

// What becomes of a session, and of what runs in it, where several servers have it.

const ttlMs = 7_200_000;
const long = { ...echo, code: "long" } as const;
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

test("what runs of a session in whose place another server puts a new one ends, also where the old one was deleted [N1][S1]", async (t) => {
  const { homes, wrapStorage, pass, forget } = sharing();
  const ground = await openPlayed(t, { homes, wrapStorage });
  const there = ground.beside();
  const place = await ground.place("c1");
  for (const isDeleted of [true, false]) {
    const run = unwrap(await ground.sandbox.run(place, long));
    unwrap(await there.sessions.stop(alice, { forget: isDeleted }));
    // Of a deleted one the word comes late; of the other, only that of the new one.
    if (!isDeleted) forget();
    ground.clock.move(1000);
    unwrap(await there.sessions.create(alice, { dialect: "seed" }));
    assert.equal(await isOver(run.report), false);
    pass();
    assert.equal((await run.report).how, "cancelled");
  }
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

test("an end that other servers cannot be told of is an end, and stands in the log [N1][S1]", async (t) => {
  const tell = async () => failure("storage_busy", {});
  const ground = await openPlayed(t, { wrapStorage: (storage) => ({ ...storage, tell }) });
  unwrap(await ground.sandbox.sessions.use(alice));
  assert.equal(unwrap(await ground.sandbox.sessions.stop(alice))?.status, "stopped");
  assert.ok(ground.logged.includes('the end of a session was not told to other servers {"code":"storage_busy"}'));
});

test("a session that was used elsewhere in the meantime ends here in its time, too, with what is left of it [N1][S1]", async (t) => {
  const { homes, wrapStorage } = sharing();
  const settings = { guestIdleMs: 10 ** 9, kernelIdleMs: 10 ** 9 };
  const ground = await openPlayed(t, { homes, wrapStorage, settings });
  const there = ground.beside();
  await unwrap(await ground.sandbox.run(await ground.place("c1"), echo)).report;
  await nextLoop();
  ground.clock.move(ttlMs - 1);
  unwrap(await there.sessions.use(alice));
  ground.clock.move(1);
  for (let loop = 0; loop < 20; loop += 1) await nextLoop();
  assert.deepEqual(ground.played.living(), ["/workspace/c1"]);
  ground.clock.move(ttlMs);
  await until("its sandbox is gone", () => ground.played.living().length === 0);
  assert.deepEqual(ground.played.guests[0]?.told, ["close session_expired"]);
});

test("other servers are told of the end of a session when it is written down, so that whoever looks sees it [N1][S1]", async (t) => {
  const seen: unknown[] = [];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async tell(topic, key) {
      const row = await storage.findSession(alice);
      const { status, generation } = row === undefined ? {} : JSON.parse(row.body);
      seen.push([key, status, generation]);
      return storage.tell(topic, key);
    },
  });
  const { sandbox } = await openPlayed(t, { wrapStorage });
  const { sessions } = sandbox;
  unwrap(await sessions.create(alice, { dialect: "seed" }));
  assert.deepEqual(seen, [], "there was none before");
  unwrap(await sessions.stop(alice));
  unwrap(await sessions.create(alice, { dialect: "seed" }));
  unwrap(await sessions.stop(alice, { forget: true }));
  assert.deepEqual(seen, [
    [alice, "stopped", 1],
    [alice, "running", 2],
    [alice, undefined, undefined],
  ]);
});

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { homesHere } from "../../src/homes/homes.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { changedGuests, echo, isOver, openPlayed } from "./sandbox-service-played.ts";
import { alice, bob, unwrap } from "./storage-place.ts";

// What is known of executions while they run and when they end, and who is kept waiting by them.

const all = { limit: 100, offset: 0 };
const long = { ...echo, code: "long" } as const;
const bare = { owner: alice, conversation: undefined, workspace: undefined, agent: "root" };
const { signal: never } = new AbortController();

test("what a server that is gone left open is closed by one that lives, and nobody is told before that it is over [X2][N1]", async (t) => {
  const listeners = new Set<(server: string) => void>();
  const onGone = (listener: (server: string) => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const ground = await openPlayed(t, { homes: { ...homesHere, onGone } });
  const { executions } = ground.sandbox;
  const { id } = unwrap(await executions.submit(bare, echo));
  const row = (await ground.storage.findExecution(alice, id)) ?? assert.fail("it has a row");
  await executions.wait(alice, id, never);
  const left = "0".repeat(32);
  unwrap(await ground.storage.putExecution({ ...row, id: left, endedAt: undefined }));
  assert.equal(await executions.wait(alice, left, never), undefined);
  ground.clock.move(1000);
  for (const tell of listeners) tell("other");
  await until("it is closed", async () => (await executions.find(alice, left))?.endedAt !== undefined);
  const { status, wasCutOff, endedAt } = (await executions.wait(alice, left, never)) ?? assert.fail("it is over");
  assert.deepEqual([status, wasCutOff, endedAt], ["crashed", true, ground.clock.now()]);
  await ground.sandbox.close();
  assert.equal(listeners.size, 0);
});

test("a database that takes no end of what an earlier process left is not asked again and again [X2][Q2]", async (t) => {
  let looks = 0;
  const row = { id: "e", owner: alice, createdAt: 1, endedAt: undefined, body: "{}", full: undefined };
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async openExecutions(limit) {
      looks += 1;
      return looks > 1 ? [] : Array<typeof row>(limit).fill(row);
    },
    putExecution: async () => ({ ok: false, failure: makeFailure("storage_full", {}) }),
  });
  const ground = await openPlayed(t, { wrapStorage });
  await ground.sandbox.executions.list(alice, all);
  assert.equal(looks, 1);
  assert.deepEqual(ground.logged, ['a record of an execution could not be closed {"code":"storage_full"}']);
});

test("a program that runs is listed as running, and what it said so far is shown as short as its caller wants it [X2]", async (t) => {
  const talking = changedGuests((guest) => ({
    async *run(execution) {
      await nextLoop();
      ground.clock.move(5);
      yield { kind: "output", stream: "stdout", bytes: Buffer.from("0123456789") };
      yield* guest.run(execution);
    },
  }));
  const ground = await openPlayed(t, { provider: talking });
  const { executions } = ground.sandbox;
  const wanted = { ...long, shownBytesMax: 4, timeoutMs: 10 ** 9 };
  const { id, timeoutMs } = unwrap(await executions.submit(bare, wanted));
  await until("it runs", () => ground.running().length === 1);
  assert.deepEqual([timeoutMs, ground.running()[0]?.timeoutMs], [60_000, 60_000], "as long as the setting says");
  const nothing = { text: "", cutBytes: 0, path: undefined };
  assert.deepEqual((await executions.find(alice, id))?.soFar, {
    stdout: { text: "01\n[…]\n89", cutBytes: 6, path: undefined },
    stderr: nothing,
  });
  const { items } = await executions.list(alice, all);
  assert.deepEqual(
    items.map(({ status, createdAt, startedAt = 0, endedAt }) => [status, startedAt - createdAt, endedAt]),
    [["running", 0, undefined]],
  );
  ground.clock.move(7);
  ground.finish("long");
  const record = (await executions.wait(alice, id, never)) ?? assert.fail("it is over");
  const at = (time = 0) => time - record.createdAt;
  assert.deepEqual([at(record.startedAt), at(record.endedAt)], [5, 12]);
});

test("a program that is cancelled while its sandbox starts has never begun [X2]", async (t) => {
  const begun = Promise.withResolvers<void>();
  const ground = await openPlayed(t, {
    provider: (played) => ({
      async open(wanted) {
        await begun.promise;
        return played.open(wanted);
      },
    }),
  });
  const { executions } = ground.sandbox;
  const { id } = unwrap(await executions.submit(bare, long));
  await until("it starts", () => ground.provider.opened() === 1);
  const cancelled = executions.cancel(alice, id);
  begun.resolve();
  assert.equal(await cancelled, true);
  const record = await executions.find(alice, id);
  assert.deepEqual([record?.status, record?.startedAt, record?.report], ["cancelled", undefined, undefined]);
});

test("a program that there was no room for keeps nobody waiting who stops the session [S1][X4]", async (t) => {
  const ground = await openPlayed(t, { settings: { executionsMax: 1, waitingMax: 0 } });
  const first = unwrap(await ground.sandbox.run(bare, long));
  const refused = await ground.sandbox.run(bare, echo);
  assert.equal(refused.ok || refused.failure.code, "sandbox_full");
  ground.finish("long");
  await first.report;
  assert.equal(unwrap(await ground.sandbox.sessions.stop(alice))?.status, "stopped");
});

test("a program that is asked for just before its session is stopped is cancelled, and neither waits for the other [S1][X1]", async (t) => {
  const ground = await openPlayed(t);
  unwrap(await ground.sandbox.sessions.use(alice));
  await nextLoop();
  const [run, stopped] = [ground.sandbox.run(bare, long), ground.sandbox.sessions.stop(alice)];
  assert.equal(unwrap(await stopped)?.status, "stopped");
  assert.equal((await unwrap(await run).report).how, "cancelled");
});

test("a program that does not listen ends with its sandbox when its session is stopped [S1][X4]", async (t) => {
  const deaf = changedGuests(({ run }) => ({ run: (execution) => run({ ...execution, signal: undefined }) }));
  const ground = await openPlayed(t, { provider: deaf });
  const run = unwrap(await ground.sandbox.run(bare, long));
  assert.equal(unwrap(await ground.sandbox.sessions.stop(alice))?.status, "stopped");
  assert.equal((await run.report).how, "lost");
});

test("old uses and old records that a database cannot take are named in the log [X2][S1][Q2]", async (t) => {
  const busy = async () => ({ ok: false, failure: makeFailure("storage_busy", {}) }) as const;
  const wrapStorage = (storage: Storage): Storage => ({
    ...{ ...storage, touchSession: busy, dropExecutions: busy, trimExecutions: busy },
  });
  const ground = await openPlayed(t, { wrapStorage });
  for (let count = 0; count < 20; count += 1) {
    const { id } = unwrap(await ground.sandbox.executions.submit(bare, echo));
    await ground.sandbox.executions.wait(alice, id, never);
  }
  ground.clock.move(60_000);
  await ground.sandbox.sessions.use(alice);
  const [used, dropped] = [
    "the use of a session could not be written down",
    "old records of executions could not be dropped",
  ];
  const code = ' {"code":"storage_busy"}';
  await until("all are named", () => ground.logged.length === 3);
  assert.deepEqual(ground.logged.toSorted(), [dropped + code, dropped + code, used + code].toSorted());
});

test("who cancels a program that has just come to its end is told that it was over [X2]", async (t) => {
  const ground = await openPlayed(t);
  const { executions } = ground.sandbox;
  const { id } = unwrap(await executions.submit(bare, long));
  await until("it runs", () => ground.running().length === 1);
  ground.finish("long");
  assert.equal(await executions.cancel(alice, id), false);
  assert.equal((await executions.find(alice, id))?.status, "completed");
});

test("who deletes a session waits for its programs alone, and takes nothing from another user [S1][X2]", async (t) => {
  const ground = await openPlayed(t);
  const { executions, sessions } = ground.sandbox;
  unwrap(await executions.submit(bare, long));
  const { id } = unwrap(await executions.submit({ ...bare, owner: bob }, { ...long, code: "his" }));
  await until("both run", () => ground.running().length === 2);
  unwrap(await sessions.stop(alice, { forget: true }));
  assert.equal((await executions.find(bob, id))?.status, "running");
  assert.ok(executions.follow(bob, id) !== undefined);
  ground.finish("his");
  assert.equal((await executions.wait(bob, id, never))?.status, "completed");
});

test("a program whose record broke down because of a mistake keeps no Python from the next one [X2]", async (t) => {
  let isBroken = true;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async putExecution(row, options) {
      if (isBroken) throw new Error("a mistake");
      return storage.putExecution(row, options);
    },
  });
  const ground = await openPlayed(t, { wrapStorage });
  const { executions } = ground.sandbox;
  const cell = { ...echo, language: "python" } as const;
  await assert.rejects(executions.submit(bare, cell));
  isBroken = false;
  const { id } = unwrap(await executions.submit(bare, cell));
  assert.equal((await executions.wait(alice, id, never))?.status, "completed");
  assert.deepEqual(ground.sandbox.load(), { guests: 1, running: 0, waiting: 0 });
});

test("a record says which server has the program, and that it runs once it has for half a second [X2][N1]", async (t) => {
  const written: unknown[] = [];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    putExecution(row, options) {
      written.push([JSON.parse(row.body).status, options?.server]);
      return storage.putExecution(row, options);
    },
  });
  const ground = await openPlayed(t, { wrapStorage, homes: { ...homesHere, server: "s7" } });
  const { executions } = ground.sandbox;
  const run = async (ms: readonly number[]) => {
    const { id } = unwrap(await executions.submit(bare, long));
    await until("it runs", () => ground.running().length === 1);
    // It is known as running a moment after it does.
    await nextLoop();
    for (const each of ms) {
      ground.clock.move(each);
      await nextLoop();
    }
    ground.finish("long");
    await executions.wait(alice, id, never);
    ground.clock.move(500);
    await nextLoop();
    return written.splice(0);
  };
  const [begun, runs, ended] = [
    ["pending", "s7"],
    ["running", undefined],
    ["completed", undefined],
  ];
  assert.deepEqual(
    [await run([499]), await run([499, 1])],
    [
      [begun, ended],
      [begun, runs, ended],
    ],
  );
});

test("the end of a program is known when the ledger has heard what it did to files, also where that fails [X2][W12]", async (t) => {
  const ground = await openPlayed(t);
  const { executions } = ground.sandbox;
  const heard = Promise.withResolvers<void>();
  const submit = async (onChanges: () => Promise<void>) => {
    const { id } = unwrap(await executions.submit(bare, { ...echo, onChanges }));
    return id;
  };
  const slow = executions.wait(alice, await submit(() => heard.promise), never);
  assert.equal(await isOver(slow), false);
  heard.resolve();
  assert.equal((await slow)?.status, "completed");
  const id = await submit(() => Promise.reject(new Error("a mistake")));
  const { status, endedAt } = (await executions.wait(alice, id, never)) ?? assert.fail("it is over");
  assert.deepEqual([status, endedAt], ["crashed", ground.clock.now()]);
});

test("a program that came to its end is known as that, also where its record broke down [X2][Q2]", async (t) => {
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async putExecution(row, options) {
      if (row.endedAt !== undefined) throw new Error("a mistake");
      return storage.putExecution(row, options);
    },
  });
  const ground = await openPlayed(t, { wrapStorage });
  const { executions } = ground.sandbox;
  const { id } = unwrap(await executions.submit(bare, echo));
  assert.equal((await executions.wait(alice, id, never))?.status, "completed");
  assert.ok(ground.logged.some((line) => line.startsWith("an execution could not be recorded")));
});

test("a program that is over does not hold on to the signal of its caller [X1][X4]", async (t) => {
  const ground = await openPlayed(t);
  const { signal } = new AbortController();
  await unwrap(await ground.sandbox.run(bare, { ...echo, signal })).report;
  assert.deepEqual(getEventListeners(signal, "abort"), []);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { ok } from "../../src/base/result.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import type { ExecutionRecord } from "../../src/sandbox/sandbox.ts";
import type { ExecutionRow, Storage } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { playedProvider } from "../world/played-provider.ts";
import { echo, isOver, openPlayed } from "./sandbox-service-played.ts";
import { alice, bob, unwrap } from "./storage-place.ts";

// What is written down of executions, when, and for how long.

const all = { limit: 100, offset: 0 };
const busy = { ok: false, failure: makeFailure("storage_busy", {}) } as const;
const { signal: never } = new AbortController();

test("records of executions are kept for as long as the setting says, and no longer [X2]", async (t) => {
  let looks = 0;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async dropExecutions(before) {
      const dropped = await storage.dropExecutions(before);
      looks += 1;
      return dropped;
    },
  });
  const ground = await openPlayed(t, { settings: { recordsMs: 5_000_000 }, wrapStorage });
  const { executions } = ground.sandbox;
  const { id } = unwrap(await executions.submit(await ground.place("c1"), echo));
  await executions.wait(alice, id, never);
  const left: number[] = [];
  for (const ms of [60_000, 3_600_000, 3_600_000]) {
    ground.clock.move(ms);
    await until("they were looked through", () => looks === left.length + 1);
    // What comes next is asked for when this look is over.
    for (let loop = 0; loop < 3; loop += 1) await nextLoop();
    left.push((await executions.list(alice, all)).total);
  }
  assert.deepEqual(left, [1, 1, 0]);
});

test("the end of an execution that cannot be written at once is written when it can be, and is known meanwhile [X2][Q2]", async (t) => {
  let [refusals, tries] = [4, 0];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async putExecution(row, options) {
      if (row.endedAt === undefined) return storage.putExecution(row, options);
      tries += 1;
      return tries <= refusals ? busy : storage.putExecution(row, options);
    },
  });
  const ground = await openPlayed(t, { wrapStorage });
  const { wait } = ground.clock;
  const waits: number[] = [];
  ground.clock.wait = (ms, ended) => {
    waits.push(ms);
    return wait(ms, ended);
  };
  const place = await ground.place("c1");
  const { executions } = ground.sandbox;
  const run = async () => {
    const { id } = unwrap(await executions.submit(place, echo));
    const known = await executions.wait(alice, id, never);
    const row = await ground.storage.findExecution(alice, id);
    return [known?.status, row?.endedAt !== undefined, tries];
  };
  assert.deepEqual(await run(), ["completed", true, 5]);
  assert.deepEqual(ground.logged.filter(unrecorded), []);
  [refusals, tries] = [9, 0];
  assert.deepEqual(await run(), ["completed", false, 5]);
  assert.equal(ground.logged.filter(unrecorded).length, 1);
  assert.deepEqual(waits, Array(8).fill(1000), "the database has a second each time");
});

test("of what a program did to files a record tells the first five hundred, and the ledger all [X2][W12]", async (t) => {
  const ground = await openPlayed(t);
  const { workspace = assert.fail(), ...place } = await ground.place("c1");
  const before = { bytes: 1, hash: "h", mode: 0o644 };
  const removed = (index: number) => ({ path: `f${index}`, before, after: undefined, lost: undefined });
  const changes = Array.from({ length: 501 }, (_, index) => removed(index));
  const observe: typeof workspace.observe = async (options) =>
    ok({ ...unwrap(await workspace.observe(options)), changes: async () => ok(changes) });
  const told: number[] = [];
  const onChanges = async (all: readonly unknown[]) => void told.push(all.length);
  const { executions } = ground.sandbox;
  const { id } = unwrap(
    await executions.submit({ ...place, workspace: { ...workspace, observe } }, { ...echo, onChanges }),
  );
  const record = await executions.wait(alice, id, never);
  assert.deepEqual([record?.report?.changes, told], [changes.slice(0, 500), [501]]);
});

const unrecorded = (line: string) => line.startsWith("an execution could not be recorded");

test("all that a killed server left open is closed by the next one, however much it is, also what nobody can read [X2]", async (t) => {
  const ground = await openPlayed(t);
  const row = (id: string): ExecutionRow => ({
    ...{ id, owner: alice, createdAt: 1, endedAt: undefined, body: "{}", full: undefined },
  });
  for (let count = 0; count < 51; count += 1) unwrap(await ground.storage.putExecution(row(`e${count}`)));
  const next = await ground.restart("killed");
  assert.deepEqual(await next.sandbox.executions.list(alice, all), { items: [], total: 51 });
  assert.deepEqual(await next.storage.openExecutions(100), []);
});

test("a program that is asked for while those of an earlier process are still being closed is none of them [X2]", async (t) => {
  const goOn = Promise.withResolvers<void>();
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async openExecutions(limit) {
      await goOn.promise;
      return storage.openExecutions(limit);
    },
  });
  const ground = await openPlayed(t, { wrapStorage });
  const { executions } = ground.sandbox;
  const submitted = executions.submit(await ground.place("c1"), { ...echo, code: "long" });
  assert.equal(await isOver(submitted), false);
  goOn.resolve();
  const { id } = unwrap(await submitted);
  await until("it runs", () => ground.running().length === 1);
  ground.finish("long");
  assert.equal((await executions.wait(alice, id, never))?.status, "completed");
});

test("after each twenty executions of a user the oldest of their records make room [X2][X4]", async (t) => {
  const trimmed: unknown[] = [];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    trimExecutions(owner, limits) {
      trimmed.push([owner, limits]);
      return storage.trimExecutions(owner, limits);
    },
  });
  const ground = await openPlayed(t, { wrapStorage });
  const { executions } = ground.sandbox;
  const place = { owner: alice, conversation: undefined, workspace: undefined, agent: "root" };
  const run = async (owner = alice) => {
    const { id } = unwrap(await executions.submit({ ...place, owner }, echo));
    await executions.wait(owner, id, never);
  };
  // Those of another user do not count.
  for (const owner of [alice, bob]) for (let count = 0; count < 19; count += 1) await run(owner);
  assert.deepEqual(trimmed, []);
  for (let count = 0; count < 21; count += 1) await run();
  const limits = { rowsMax: 2000, bytesMax: 64 * 2 ** 20 };
  assert.deepEqual(trimmed, [
    [alice, limits],
    [alice, limits],
  ]);
});

test("the last executions that are over can still be listened to, and what is known of older ones is the same as before [X2]", async (t) => {
  const ground = await openPlayed(t);
  const { executions } = ground.sandbox;
  const place = { owner: alice, conversation: undefined, workspace: undefined, agent: "root" };
  const over: (ExecutionRecord | undefined)[] = [];
  for (let count = 0; count < 65; count += 1) {
    const { id } = unwrap(await executions.submit(place, echo));
    over.push(await executions.wait(alice, id, never));
  }
  const [first, second] = over;
  const [oldest, next] = [first, second].map((record) => executions.follow(alice, record?.id ?? ""));
  assert.deepEqual([oldest === undefined, next === undefined], [true, false]);
  assert.deepEqual(await executions.find(alice, first?.id ?? ""), first);
});

test("what runs and what waits when the server ends was cut off, and what somebody stopped before was not [X2]", async (t) => {
  const ground = await openPlayed(t, { settings: { executionsMax: 1 } });
  const place = await ground.place("c1");
  const submit = async (code: string) => {
    const { id } = unwrap(await ground.sandbox.executions.submit(place, { ...echo, code }));
    return id;
  };
  const ids = [await submit("runs"), await submit("waits"), await submit("is stopped")];
  await until("the first one runs", () => ground.running().length === 1);
  assert.equal(await ground.sandbox.executions.cancel(alice, ids[2] ?? ""), true);
  const next = await ground.restart("closed");
  const records = await Promise.all(ids.map((id) => next.sandbox.executions.find(alice, id)));
  assert.deepEqual(
    records.map((record) => [record?.status, record?.wasCutOff, record?.report?.how]),
    [
      ["crashed", true, "lost"],
      ["crashed", true, undefined],
      ["cancelled", false, undefined],
    ],
  );
});

test("an execution is on the disk when anybody knows its id, and not waited for there as long as nobody does [X2][Q2]", async (t) => {
  const written: unknown[] = [];
  const onDisk = Promise.withResolvers<void>();
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async putExecution(row, options) {
      written.push(options?.isOnDisk ?? true);
      if (written.length === 2) await onDisk.promise;
      return storage.putExecution(row, options);
    },
  });
  const ground = await openPlayed(t, { wrapStorage });
  const place = await ground.place("c1");
  const { executions } = ground.sandbox;
  const submit = async (more: object) => unwrap(await executions.submit(place, { ...echo, code: "long", ...more })).id;
  const asked = await submit({ isWaitedFor: true });
  const waited = executions.wait(alice, asked, AbortSignal.abort());
  assert.equal(await isOver(waited), false);
  onDisk.resolve();
  assert.equal(await waited, undefined);
  assert.deepEqual(written, [false, true]);
  await submit({});
  await submit({ isWaitedFor: true, id: "0".repeat(32) });
  assert.deepEqual(written, [false, true, true, true]);
});

test("each way in which a program ends is a word in its record [X2]", async (t) => {
  const played = playedProvider(({ code }) => plays[code] ?? assert.fail());
  const ground = await openPlayed(t, { played });
  const { executions } = ground.sandbox;
  const place = await ground.place("c1");
  const told: Record<string, unknown> = {};
  for (const code of Object.keys(plays)) {
    const { id } = unwrap(await executions.submit(place, { ...echo, code }));
    told[code] = (await executions.wait(alice, id, never))?.status;
  }
  assert.deepEqual(told, {
    ...{ well: "completed", badly: "failed", killed: "failed", hungry: "failed" },
    ...{ late: "timeout", lost: "crashed" },
  });
});

const plays: Readonly<Record<string, ReturnType<NonNullable<Parameters<typeof playedProvider>[0]>>>> = {
  well: { code: 0 },
  badly: { code: 1 },
  killed: { code: 0, how: "killed" },
  hungry: { code: 0, how: "out_of_memory" },
  late: { code: 0, how: "timeout" },
  lost: { code: 0, how: "lost" },
};

test("who waits until nothing runs waits for programs, and for those who still listen to one [X2]", async (t) => {
  const end = Promise.withResolvers<void>();
  const played = playedProvider(async () => {
    await end.promise;
    return { code: 0, says: "said" };
  });
  const ground = await openPlayed(t, { played });
  const { executions } = ground.sandbox;
  await executions.quiet();
  const { id } = unwrap(await executions.submit(await ground.place("c1"), echo));
  const quiet = executions.quiet();
  const listener = executions.follow(alice, id)?.[Symbol.asyncIterator]() ?? assert.fail();
  const heard = listener.next();
  assert.equal(await isOver(quiet), false, "a program runs");
  end.resolve();
  await executions.wait(alice, id, never);
  assert.equal((await heard).value?.text, "said");
  assert.equal(await isOver(quiet), false, "somebody listens");
  await listener.return?.();
  await quiet;
});

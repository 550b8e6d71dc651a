import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { homesHere } from "../../src/homes/homes.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import type { OwnerId } from "../../src/protocol/ids.ts";
import type { ProgramOutput } from "../../src/sandbox/sandbox.ts";
import type { ExecutionRow, Storage } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { bare, changedGuests, echo, isOver, openPlayed } from "./sandbox-service-place.ts";
import { alice, bob, unwrap } from "./storage-place.ts";

// Executions over sandboxes whose part the test plays: what is known of them, what is written down, and when they end.

const all = { limit: 100, offset: 0 };
const long = { ...echo, code: "long" } as const;
const { signal: never } = new AbortController();
const busy = { ok: false, failure: makeFailure("storage_busy", {}) } as const;

test("what a killed server left open is over at the next start, however much it is, also what cannot be read; the session goes on [X2][S1]", async (t) => {
  const ground = await openPlayed(t);
  const place = await ground.place("c1");
  const { id } = unwrap(await ground.sandbox.executions.submit(place, long));
  await until("it runs", () => ground.running().length === 1);
  await nextLoop();
  ground.clock.move(500);
  await until("it is written that it runs", async () =>
    ((await ground.storage.findExecution(alice, id))?.body ?? "").includes('"running"'),
  );
  const row = (name: string): ExecutionRow => ({
    ...{ id: name, owner: alice, createdAt: 1, endedAt: undefined, body: "{}", full: undefined },
  });
  for (let count = 0; count < 51; count += 1) unwrap(await ground.storage.putExecution(row(`e${count}`)));
  const next = await ground.restart("killed");
  const { items, total } = await next.sandbox.executions.list(alice, all);
  assert.deepEqual(
    [items.map((record) => [record.status, record.wasCutOff, record.endedAt === undefined]), total],
    [[["crashed", true, false]], 52],
  );
  assert.deepEqual(await next.storage.openExecutions(100), []);
  const again = unwrap(await next.sandbox.run(await next.place("c1"), echo));
  assert.deepEqual([(await again.report).how, (await next.sandbox.sessions.find(alice))?.generation], ["done", 1]);
});

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

const unrecorded = (line: string) => line.startsWith("an execution could not be recorded");

test("records of executions are kept for as long as the setting says, and no longer, also where they could not be dropped at first [X2]", async (t) => {
  let looks = 0;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async dropExecutions(before) {
      looks += 1;
      if (looks === 1) throw new Error("a mistake");
      return storage.dropExecutions(before);
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

test("after each twenty executions of a user the oldest of their records make room [X2][X4]", async (t) => {
  const trimmed: unknown[] = [];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    trimExecutions(owner, limits) {
      trimmed.push([owner, limits]);
      return storage.trimExecutions(owner, limits);
    },
  });
  const { executions } = (await openPlayed(t, { wrapStorage })).sandbox;
  const run = async (owner: OwnerId, times: number) => {
    for (let count = 0; count < times; count += 1) {
      const { id } = unwrap(await executions.submit({ ...bare, owner }, echo));
      await executions.wait(owner, id, never);
    }
  };
  for (const owner of [alice, bob]) await run(owner, 19);
  assert.deepEqual(trimmed, []);
  await run(alice, 1);
  assert.deepEqual(trimmed, [[alice, { rowsMax: 2000, bytesMax: 64 * 2 ** 20 }]]);
});

test("of outputs that are over, the newest are kept whole; a slow reader of an older one is told what it missed [X1][X4]", async (t) => {
  const saidBytes = 30 * 2 ** 20;
  const bytes = Buffer.alloc(saidBytes, "x");
  const provider = changedGuests((guest) => ({
    async *run(execution) {
      yield { kind: "output", stream: "stdout", bytes };
      yield* guest.run(execution);
    },
  }));
  const { executions } = (await openPlayed(t, { provider })).sandbox;
  const submit = async () => {
    const { id } = unwrap(await executions.submit(bare, echo));
    await executions.wait(alice, id, never);
    return executions.follow(alice, id) ?? assert.fail("it is not known");
  };
  const readAll = async (outputs: AsyncIterable<ProgramOutput>, told = { bytes: 0, cutBytes: 0 }) => {
    for await (const { text, cutBytes } of outputs) {
      told.bytes += text.length;
      told.cutBytes += cutBytes;
    }
    return told;
  };
  const slow = (await submit())[Symbol.asyncIterator]();
  const { value: beginning } = await slow.next();
  const others = [await submit(), await submit()];
  const heard = await readAll({ [Symbol.asyncIterator]: () => slow });
  assert.ok(heard.cutBytes > 0);
  assert.equal(beginning.text.length + heard.bytes + heard.cutBytes, saidBytes);
  for (const other of others) assert.deepEqual(await readAll(other), { bytes: saidBytes, cutBytes: 0 });
});

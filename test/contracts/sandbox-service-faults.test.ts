import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Clock } from "../../src/base/clock.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import type { SandboxProvider } from "../../src/sandbox/provider.ts";
import type { ProgramPlace, RunningProgram, SandboxSettings } from "../../src/sandbox/sandbox.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { WorkspaceLimits } from "../../src/workspace/workspace.ts";
import { until } from "../world/events.ts";
import { manualClock } from "../world/manual-clock.ts";
import { type PlayedProvider, playedProvider } from "../world/played-provider.ts";
import { openGround as openRealGround } from "./sandbox-service-place.ts";
import { alice, bob, unwrap } from "./storage-place.ts";

type Options = {
  readonly settings?: Partial<SandboxSettings>;
  readonly limits?: Partial<WorkspaceLimits>;
  readonly provider?: (played: PlayedProvider) => Partial<SandboxProvider>;
  readonly wrapStorage?: (storage: Storage) => Storage;
  readonly onTimer?: (ms: number) => void;
};

const nothing = { guests: 0, running: 0, waiting: 0 };
const echo = { language: "bash", code: "at once", timeoutMs: 1000, conversationId: "c1" } as const;

async function openGround(
  t: TestContext,
  { settings = {}, limits = {}, provider, onTimer, wrapStorage }: Options = {},
) {
  const played = playedProvider();
  const manual = manualClock();
  manual.move(1_000_000);
  const clock: Clock = {
    ...manual,
    after(ms, action) {
      onTimer?.(ms);
      return manual.after(ms, action);
    },
  };
  const first: SandboxProvider[] = [{ ...played, ...provider?.(played) }];
  // A process that is started again has one of its own.
  const own = () => first.pop() ?? playedProvider();
  const parts = wrapStorage === undefined ? {} : { wrapStorage };
  const ground = await openRealGround(t, { settings, limits, clock, provider: own, ...parts });
  const run = async (
    place: ProgramPlace,
    code: string,
    language: "bash" | "python" = "python",
  ): Promise<RunningProgram> => unwrap(await ground.sandbox.run(place, { language, code, timeoutMs: 1000 }));
  const finish = (code: string) =>
    played.guests
      .flatMap((guest) => [...guest.running.values()])
      .find((execution) => execution.code === code)
      ?.finish();
  return { ...ground, provider: played, move: manual.move, run, finish };
}

/** As a program would that nobody looks at. */
async function writeInside(place: ProgramPlace, path: string, bytes: number): Promise<void> {
  const folder = unwrap((await place.workspace?.guestFolder()) ?? assert.fail("the place has a workspace")).folder;
  writeFileSync(join(folder, path), "x".repeat(bytes));
}

test("a mistake of ours while a sandbox starts fails its programs, and nobody waits for ever [X2][X3]", async (t) => {
  const ground = await openGround(t, {
    provider: () => ({ open: () => Promise.reject(new Error("too many open files")) }),
  });
  const place = await ground.place("c1");
  ground.sandbox.prewarm(place, "python");
  const ran = await ground.sandbox.run(place, echo);
  assert.deepEqual(ran.ok ? "it ran" : [ran.failure.code, ran.failure.params], [
    "sandbox_start_failed",
    { why: "broke_down" },
  ]);
  const { id } = unwrap(await ground.sandbox.executions.submit(place, echo));
  const record = await ground.sandbox.executions.wait(alice, id, new AbortController().signal);
  assert.deepEqual([record?.status, record?.failure?.code], ["failed", "sandbox_start_failed"]);
  assert.equal(unwrap(await ground.sandbox.sessions.stop(alice))?.status, "stopped");
  assert.deepEqual(ground.sandbox.load(), nothing);
});

test("a sandbox that died is not given to the next program, however long its last process takes to go [X1][X2]", async (t) => {
  let isDying = false;
  const ground = await openGround(t, {
    provider: (played) => ({
      async open(wanted) {
        const opened = await played.open(wanted);
        if (!opened.ok || played.guests.length > 1) return opened;
        // Never quite gone.
        const isOpen = () => !isDying;
        return { ok: true, value: { ...opened.value, isOpen, ended: new Promise(() => {}), close: async () => {} } };
      },
    }),
  });
  const place = await ground.place("c1");
  await (await ground.run(place, "at once")).report;
  await (await ground.run(place, "at once")).report;
  assert.equal(ground.provider.guests.length, 1);
  isDying = true;
  assert.equal((await (await ground.run(place, "at once")).report).how, "done");
  assert.deepEqual([ground.provider.guests.length, ground.sandbox.load().guests], [2, 1]);
});

test("a mistake of ours while a program begins is told as a crash, and takes no room away [X2][X4]", async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  const broken: ProgramPlace = {
    ...place,
    workspace: place.workspace && { ...place.workspace, observe: () => Promise.reject(new Error("a mistake")) },
  };
  await assert.rejects(ground.sandbox.run(broken, echo));
  const { id } = unwrap(await ground.sandbox.executions.submit(broken, echo));
  const record = await ground.sandbox.executions.wait(alice, id, new AbortController().signal);
  assert.deepEqual([record?.status, record?.startedAt], ["crashed", undefined]);
  assert.equal(unwrap(await ground.sandbox.sessions.stop(alice))?.status, "stopped");
  assert.deepEqual(ground.sandbox.load(), nothing);
  assert.equal((await (await ground.run(place, "at once")).report).how, "done");
});

test("a program that there is no room to record is refused, and keeps no Python from the next one [X2][Q2]", async (t) => {
  let isFull = true;
  const ground = await openGround(t, {
    wrapStorage: (storage) => ({
      ...storage,
      putExecution: async (...row) =>
        isFull ? { ok: false, failure: makeFailure("storage_full", {}) } : storage.putExecution(...row),
    }),
  });
  const place = await ground.place("c1");
  const cell = { ...echo, language: "python" } as const;
  const refused = await ground.sandbox.executions.submit(place, cell);
  assert.equal(refused.ok ? "taken" : refused.failure.code, "storage_full");
  isFull = false;
  const { id } = unwrap(await ground.sandbox.executions.submit(place, cell));
  const status = async () => (await ground.sandbox.executions.find(alice, id))?.status;
  await until("the next one is done", async () => (await status()) === "completed");
});

test("a report that breaks down still tells what the program did to files [W12][X1]", async (t) => {
  const place: { value?: ProgramPlace } = {};
  const ground = await openGround(t, {
    provider: (played) => ({
      async open(wanted) {
        const opened = await played.open(wanted);
        assert.ok(opened.ok);
        const run: typeof opened.value.run = async function* () {
          yield { kind: "started" };
          await writeInside(place.value ?? assert.fail(), "outputs/half.txt", 3);
          throw new Error("a mistake");
        };
        return { ok: true, value: { ...opened.value, run } };
      },
    }),
  });
  place.value = await ground.place("c1");
  const { how, changes } = await (await ground.run(place.value, "1")).report;
  assert.deepEqual([how, changes.map(({ path }) => path)], ["lost", ["outputs/half.txt"]]);
});

test("what a thread of an agent's Python writes after the turn still ends the sandbox when it is too much [X4]", async (t) => {
  const ground = await openGround(t, { limits: { bytesMax: 100_000 } });
  const place = await ground.place("c1");
  await (await ground.run(place, "at once")).report;
  await ground.sandbox.endTurn(place);
  await writeInside(place, "outputs/much", 200_000);
  await until("it is ended", () => {
    ground.move(1000);
    return ground.provider.guests[0]?.told.includes("close disk_full") === true;
  });
});

test("cells that wait for the Python of their agent take no room from others, and run in their order [X1][X4]", async (t) => {
  const ground = await openGround(t, { settings: { executionsMax: 3, executionsPerOwnerMax: 3, waitMsMax: 5000 } });
  const [hers, his] = [await ground.place("c1", alice), await ground.place("c2", bob)];
  const other = await ground.place("c1", alice, "helper");
  const cells = [ground.run(hers, "first")];
  await cells[0];
  for (const [index, code] of ["second", "third"].entries()) {
    cells.push(ground.run(hers, code));
    await until("it waits", () => ground.sandbox.load().waiting === index + 1);
  }
  const rest = [ground.run(other, "of another agent"), ground.run(his, "of another user")];
  await Promise.all(rest);
  assert.deepEqual(ground.sandbox.load(), { guests: 2, running: 3, waiting: 2 });
  ground.move(60_000);
  for (const [index, code] of ["first", "second", "third"].entries()) {
    const run = await cells[index];
    ground.finish(code);
    assert.equal((await run?.report)?.how, "done");
  }
  assert.deepEqual(ground.sandbox.load(), { guests: 2, running: 2, waiting: 0 });
});

test("what was done in the background is told at the end of the turn, also when the sandbox ended before it [W12]", async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  const late: string[] = [];
  const ends: (() => unknown)[] = [
    () => ground.sandbox.sessions.stop(alice),
    () => ground.provider.guests.at(-1)?.crash(),
    () => ground.move(10 ** 9),
  ];
  for (const [index, end] of ends.entries()) {
    assert.deepEqual((await (await ground.run(place, "at once")).report).changes, []);
    await writeInside(place, `outputs/late-${index}`, 1);
    await end();
    await until("it is gone", () => ground.sandbox.load().guests === 0);
    late.push(...(await ground.sandbox.endTurn(place)).map(({ path }) => path));
  }
  assert.deepEqual(
    [late, await ground.sandbox.endTurn(place)],
    [["outputs/late-0", "outputs/late-1", "outputs/late-2"], []],
  );
});

test("a program that outlives its session's time is looked at now and then, not all the time [S1]", async (t) => {
  const timers: number[] = [];
  const ground = await openGround(t, { settings: { ttlMs: 5000 }, onTimer: (ms) => timers.push(ms) });
  const run = await ground.run(await ground.place("c1"), "long");
  timers.length = 0;
  for (let step = 0; step < 10; step += 1) ground.move(1000);
  assert.deepEqual([Math.min(...timers), timers.length < 40], [1000, true]);
  ground.finish("long");
  assert.equal((await run.report).how, "done");
});

test("old records are dropped every hour, also after it failed once [X2]", async (t) => {
  const ground = await openGround(t);
  const drop = ground.storage.dropExecutions.bind(ground.storage);
  let count = 0;
  ground.storage.dropExecutions = (...wanted) => {
    count += 1;
    return count === 1 ? Promise.reject(new Error("a mistake")) : drop(...wanted);
  };
  await until("it was tried three times", () => {
    ground.move(3_600_000);
    return count >= 3;
  });
});

test("an execution that is cancelled before its turn came has never begun [X2]", async (t) => {
  const ground = await openGround(t, { settings: { executionsMax: 1 } });
  const place = await ground.place("c1");
  const first = await ground.run(place, "long", "bash");
  const { id } = unwrap(await ground.sandbox.executions.submit(place, { ...echo, code: "late" }));
  assert.equal(await ground.sandbox.executions.cancel(alice, id), true);
  const record = await ground.sandbox.executions.find(alice, id);
  assert.deepEqual([record?.status, record?.startedAt, record?.report], ["cancelled", undefined, undefined]);
  ground.finish("long");
  await first.report;
});

test("a session whose stored variables no program can have is replaced by a new one [S1]", async (t) => {
  const ground = await openGround(t);
  const made = unwrap(await ground.sandbox.sessions.create(alice, { dialect: "public", id: "mine", env: { A: "a" } }));
  const row = (await ground.storage.findSession(alice)) ?? assert.fail("it has a row");
  const body = JSON.stringify({ ...JSON.parse(row.body), env: { A: "\u0001".repeat(20_000) } });
  unwrap(await ground.storage.putSession({ ...row, body }));
  const next = await ground.restart("killed");
  const found = unwrap(await next.sandbox.sessions.use(alice));
  assert.deepEqual([made.env, found.id, found.env], [{ A: "a" }, "sb-session-alice", {}]);
  assert.equal((await next.sandbox.run(await next.place("c1"), echo)).ok, true);
});

test("at the end the uses of all sessions are written down side by side, and one that cannot be is named in the log [S1][Q2]", {
  timeout: 300_000,
}, async (t) => {
  const held = Promise.withResolvers<void>();
  const touched: string[] = [];
  const ground = await openGround(t, {
    wrapStorage: (storage) => ({
      ...storage,
      async touchSession(owner, usedAt) {
        touched.push(owner);
        await held.promise;
        if (owner === alice) throw new Error("planted");
        return storage.touchSession(owner, usedAt);
      },
    }),
  });
  const { sessions } = ground.sandbox;
  for (const owner of [alice, bob]) unwrap(await sessions.use(owner));
  ground.move(1000);
  for (const owner of [alice, bob]) unwrap(await sessions.use(owner));
  const next = ground.restart("closed");
  await until("both are on their way", () => touched.length === 2).finally(held.resolve);
  const { storage } = await next;
  assert.equal((await storage.findSession(bob))?.usedAt, 1_001_000);
  assert.ok(ground.logged.some((line) => line.includes("the use of a session could not be written down")));
});

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { homesHere } from "../../src/homes/homes.ts";
import { OwnerId } from "../../src/protocol/ids.ts";
import type { ProgramPlace, RunningProgram, SandboxSettings } from "../../src/sandbox/sandbox.ts";
import { until } from "../world/events.ts";
import { manualClock } from "../world/manual-clock.ts";
import { playedProvider } from "../world/played-provider.ts";
import { openGround as openRealGround } from "./sandbox-service-place.ts";
import { alice, bob, unwrap } from "./storage-place.ts";

async function openGround(t: TestContext, settings: Partial<SandboxSettings> = {}, homes = homesHere) {
  const provider = playedProvider();
  const clock = manualClock();
  // Nothing was used in the year of the first clock.
  clock.move(1_000_000);
  const ground = await openRealGround(t, { settings, clock, homes, provider: () => provider });
  const run = async (place: ProgramPlace, code = "", language: "bash" | "python" = "bash"): Promise<RunningProgram> =>
    unwrap(await ground.sandbox.run(place, { language, code, timeoutMs: 1000 }));
  const running = () => provider.guests.flatMap((guest) => [...guest.running.values()]);
  const finish = (code: string) =>
    running()
      .find((execution) => execution.code === code)
      ?.finish();
  return { ...ground, provider, clock, run, running, finish };
}

test("users take turns: who asks for ten at once does not keep the next one waiting for all of them [X4]", async (t) => {
  const ground = await openGround(t, { executionsMax: 1, executionsPerOwnerMax: 1 });
  const [hers, his] = [await ground.place("c1", alice), await ground.place("c2", bob)];
  const all = ["a1", "a2", "a3"].map((code) => ground.run(hers, code));
  await until("two of hers wait", () => ground.sandbox.load().waiting === 2);
  all.push(...["b1", "b2"].map((code) => ground.run(his, code)));
  await until("his wait, too", () => ground.sandbox.load().waiting === 4);
  const order: string[] = [];
  while (order.length < all.length) {
    await until("the next one runs", () => ground.running().some(({ code }) => !order.includes(code)));
    const running = ground.running().map(({ code }) => code);
    order.push(...running);
    for (const code of running) ground.finish(code);
  }
  // Those that one user asks for at the same moment have no order among them.
  assert.deepEqual(
    order.map((code) => code.slice(0, 1)),
    ["a", "a", "b", "a", "b"],
  );
  for (const run of await Promise.all(all)) assert.equal((await run.report).how, "done");
});

test("at their own limit a user is told so, at the machine's that it is full, both with when to come again [X4]", async (t) => {
  const ground = await openGround(t, { executionsMax: 3, executionsPerOwnerMax: 2, waitingMax: 0 });
  const [hers, his] = [await ground.place("c1", alice), await ground.place("c2", bob)];
  const wanted = { language: "bash", code: "", timeoutMs: 1000 } as const;
  await ground.run(hers);
  await ground.run(hers);
  const busy = { kind: "running", limit: 2, setting: "sandbox.executions_per_user_max", retryAfterSeconds: 1 };
  assert.deepEqual(await ground.sandbox.run(hers, wanted), {
    ok: false,
    failure: { code: "sandbox_busy", params: busy, retryable: true },
  });
  await ground.run(his);
  assert.deepEqual(await ground.sandbox.run(his, wanted), {
    ok: false,
    failure: { code: "sandbox_full", params: { retryAfterSeconds: 1 }, retryable: true },
  });
});

test("a user who is refused is told the limit that stopped them, and its setting [X4][P5]", async (t) => {
  const narrow = { executionsMax: 9, executionsPerOwnerMax: 2, guestsPerOwnerMax: 1, waitingMax: 2, waitMsMax: 5000 };
  const ground = await openGround(t, narrow);
  const [here, there] = [await ground.place("c1", alice), await ground.place("c2", alice)];
  const told = async (run: ReturnType<typeof ground.sandbox.run>) => {
    const refused = await run;
    return refused.ok ? "it ran" : "setting" in refused.failure.params && refused.failure.params;
  };
  const wanted = { language: "bash", code: "", timeoutMs: 1000 } as const;
  await ground.run(here);
  const elsewhere = told(ground.sandbox.run(there, wanted));
  await until("it waits", () => ground.sandbox.load().waiting === 1);
  assert.deepEqual(await told(ground.sandbox.run(there, wanted)), {
    ...{ kind: "waiting", limit: 2, setting: "sandbox.waiting_max", retryAfterSeconds: 2 },
  });
  ground.clock.move(5000);
  assert.deepEqual(await elsewhere, {
    ...{ kind: "sandboxes", limit: 1, setting: "sandbox.guests_per_user_max", retryAfterSeconds: 1 },
  });
  await ground.run(here);
  const third = told(ground.sandbox.run(here, wanted));
  await until("it waits", () => ground.sandbox.load().waiting === 1);
  ground.clock.move(5000);
  assert.deepEqual(await third, {
    ...{ kind: "running", limit: 2, setting: "sandbox.executions_per_user_max", retryAfterSeconds: 1 },
  });
});

test("who waited for too long is told when to come again, and does not start later [X4]", async (t) => {
  const ground = await openGround(t, { executionsMax: 1, executionsPerOwnerMax: 1, waitMsMax: 5000 });
  const [hers, his] = [await ground.place("c1", alice), await ground.place("c2", bob)];
  await ground.run(hers, "first");
  const waiting = ground.sandbox.run(his, { language: "bash", code: "late", timeoutMs: 1000 });
  await until("it waits", () => ground.sandbox.load().waiting === 1);
  ground.clock.move(5000);
  const refused = await waiting;
  assert.equal(refused.ok ? "it ran" : refused.failure.code, "sandbox_full");
  ground.finish("first");
  await until("nothing runs", () => ground.sandbox.load().running === 0);
  assert.deepEqual(ground.running(), []);
});

test("where no guest has room the one that was idle the longest goes, never a busy one [X4][X1]", async (t) => {
  const ground = await openGround(t, { guestsMax: 2, guestsPerOwnerMax: 2 });
  const places = await Promise.all(["c1", "c2", "c3", "c4"].map((id) => ground.place(id)));
  const [busy, idle, third, fourth] = places;
  assert.ok(busy && idle && third && fourth);
  await ground.run(busy, "stays");
  await (await ground.run(idle, "at once")).report;
  await (await ground.run(third, "at once")).report;
  assert.deepEqual(ground.provider.living(), ["/workspace/c1", "/workspace/c3"]);
  const last = await ground.run(third, "also stays");
  const waiting = ground.run(fourth, "at once");
  await until("it waits for a guest to be idle", () => ground.sandbox.load().waiting === 1);
  assert.deepEqual(ground.provider.living(), ["/workspace/c1", "/workspace/c3"]);
  ground.finish("also stays");
  assert.equal((await last.report).how, "done");
  assert.equal((await (await waiting).report).how, "done");
  assert.deepEqual(ground.provider.living(), ["/workspace/c1", "/workspace/c4"]);
});

test("on a full machine the sandbox that was idle the longest makes room for another user, whosever it is [X4]", async (t) => {
  const ground = await openGround(t, { guestsMax: 2, guestsPerOwnerMax: 2, waitingMax: 0 });
  for (const id of ["c1", "c2"]) {
    await (await ground.run(await ground.place(id, alice), "at once")).report;
    ground.clock.move(1000);
  }
  await ground.run(await ground.place("c3", bob), "stays");
  assert.deepEqual(ground.provider.living(), ["/workspace/c2", "/workspace/c3"]);
  await ground.run(await ground.place("c4", bob), "stays");
  assert.deepEqual(ground.provider.living(), ["/workspace/c3", "/workspace/c4"]);
});

test("a user at their limit of guests makes room with one of their own, never with somebody else's [X4][X1]", async (t) => {
  const ground = await openGround(t, { guestsPerOwnerMax: 1 });
  const his = await ground.place("his", bob);
  const [first, second] = [await ground.place("first", alice), await ground.place("second", alice)];
  await (await ground.run(his, "at once")).report;
  ground.clock.move(1000);
  await (await ground.run(first, "at once")).report;
  ground.clock.move(1000);
  const busy = await ground.run(second, "stays");
  assert.deepEqual(ground.provider.living(), ["/workspace/his", "/workspace/second"]);
  const waiting = ground.run(first, "at once");
  await until("it waits for a guest of hers to be idle", () => ground.sandbox.load().waiting === 1);
  ground.finish("stays");
  assert.equal((await busy.report).how, "done");
  assert.equal((await (await waiting).report).how, "done");
  assert.deepEqual(ground.provider.living(), ["/workspace/his", "/workspace/first"]);
});

test("an idle Python goes first, then the guest; who comes again gets a new one [X1]", async (t) => {
  const ground = await openGround(t, { kernelIdleMs: 100_000, guestIdleMs: 200_000 });
  const place = await ground.place("c1");
  await (await ground.run(place, "at once", "python")).report;
  const [guest] = ground.provider.guests;
  ground.clock.move(99_999);
  assert.deepEqual(guest?.told, []);
  ground.clock.move(1);
  await until("its Python is dropped", () => guest?.told.includes("reset root") === true);
  assert.equal(ground.sandbox.load().guests, 1);
  ground.clock.move(100_000);
  await until("it is gone", () => ground.provider.living().length === 0);
  assert.deepEqual(guest?.told, ["reset root", "close idle"]);
  await (await ground.run(place, "at once")).report;
  assert.equal(ground.provider.guests.length, 2);
});

test("a guest in use is never idle, however long its program runs [X1]", async (t) => {
  const ground = await openGround(t, { kernelIdleMs: 1000, guestIdleMs: 2000, ttlMs: 5000 });
  const place = await ground.place("c1");
  const run = await ground.run(place, "long", "python");
  for (let step = 0; step < 10; step += 1) ground.clock.move(1000);
  assert.deepEqual(
    [ground.provider.living(), (await ground.sandbox.sessions.find(alice))?.status],
    [["/workspace/c1"], "running"],
  );
  ground.finish("long");
  assert.equal((await run.report).how, "done");
});

test("a session ends when nobody used it for its time: guests go, files stay, the next use revives it [S1]", async (t) => {
  const ground = await openGround(t, { ttlMs: 7_200_000, guestIdleMs: 10 ** 9, kernelIdleMs: 10 ** 9 });
  const place = await ground.place("c1");
  await (await ground.run(place, "at once")).report;
  unwrap((await place.workspace?.write("outputs/a", "a")) ?? stop());
  ground.clock.move(7_000_000);
  await (await ground.run(place, "at once")).report;
  ground.clock.move(7_199_999);
  assert.equal((await ground.sandbox.sessions.find(alice))?.status, "running");
  const usedAt = (await ground.sandbox.sessions.find(alice))?.usedAt ?? 0;
  ground.clock.move(1);
  await until("its guest is gone", () => ground.provider.living().length === 0);
  const ended = await ground.sandbox.sessions.find(alice);
  assert.deepEqual([ended?.status, ended?.endedAt, ended?.generation], ["stopped", usedAt + 7_200_000, 1]);
  assert.ok((await place.workspace?.stat("outputs/a"))?.ok);
  await (await ground.run(place, "at once")).report;
  const revived = await ground.sandbox.sessions.find(alice);
  assert.deepEqual([revived?.id, revived?.status, revived?.generation], ["sb-session-alice", "running", 2]);
});

test("a session that another process left is alive for its time, and over after it [S1]", async (t) => {
  const ground = await openGround(t, { ttlMs: 7_200_000 });
  unwrap(await ground.sandbox.sessions.create(alice, { dialect: "public", id: "mine", templateId: "python-basic" }));
  const next = await ground.restart("killed");
  const found = await next.sandbox.sessions.find(alice);
  assert.deepEqual(
    [found?.id, found?.status, found?.dialect, found?.templateId],
    ["mine", "running", "public", "python-basic"],
  );
  const again = await next.sandbox.sessions.create(alice, { dialect: "seed" });
  assert.equal(again.ok ? "made" : again.failure.code, "session_exists");
  ground.clock.move(7_200_000);
  await next.sandbox.sweep();
  assert.equal((await next.sandbox.sessions.find(alice))?.status, "stopped");
  const revived = unwrap(await next.sandbox.sessions.create(alice, { dialect: "public" }));
  assert.deepEqual([revived.id, revived.status, revived.generation], ["mine", "running", 2]);
});

test("a session that is in use at another server is not ended by one that it was left at earlier [S1][N1]", async (t) => {
  const ground = await openGround(t, { ttlMs: 7_200_000 }, { ...homesHere, isShared: true });
  const [here, there] = [ground.sandbox, ground.beside()];
  const told = async () => {
    // Comes after what the timers began.
    await here.sweep();
    const { status, generation, endedAt } = (await there.sessions.find(alice)) ?? assert.fail("it has a session");
    return { status, generation, endedAt };
  };
  unwrap(await here.sessions.use(alice));
  ground.clock.move(7_000_000);
  const { usedAt } = unwrap(await there.sessions.use(alice));
  ground.clock.move(7_199_999);
  assert.deepEqual(await told(), { status: "running", generation: 1, endedAt: undefined });
  ground.clock.move(1);
  assert.deepEqual(await told(), { status: "stopped", generation: 1, endedAt: usedAt + 7_200_000 });
});

test("a forgotten session takes its records along, also those of what was running [S1][X2]", async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  const wanted = { language: "bash", code: "", timeoutMs: 1000, conversationId: "c1" } as const;
  const { id } = unwrap(await ground.sandbox.executions.submit(place, wanted));
  await until("it runs", () => ground.running().length === 1);
  assert.equal(unwrap(await ground.sandbox.sessions.stop(alice, { forget: true }))?.status, "stopped");
  assert.equal((await ground.sandbox.executions.find(alice, id)) ?? "none", "none");
  assert.deepEqual(await ground.sandbox.sessions.list(alice), []);
  assert.deepEqual(await ground.sandbox.sessions.stop(alice), { ok: true, value: undefined });
});

test("where isolation is missing nothing runs, files can be used, and it goes on when it was mended [X3][S1]", async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  const about = { detail: "", sudo: "sudo ", install: "apt-get install bubblewrap" };
  const lack = { name: "no_bwrap", reason: "There is no bubblewrap.", fix: "Install it.", about } as const;
  ground.provider.missing = [lack];
  const refused = {
    ok: false,
    failure: {
      code: "sandbox_unavailable",
      params: { lack: lack.name, reason: lack.reason, fix: lack.fix, ...about },
      retryable: false,
    },
  } as const;
  const wanted = { language: "bash", code: "at once", timeoutMs: 1000 } as const;
  assert.deepEqual(await ground.sandbox.run(place, wanted), refused);
  assert.deepEqual(await ground.sandbox.executions.submit(place, { ...wanted, conversationId: "c1" }), refused);
  assert.deepEqual(await ground.sandbox.sessions.create(alice, { dialect: "seed" }), refused);
  const session = unwrap(await ground.sandbox.sessions.use(alice));
  assert.deepEqual([session.status, session.error, session.degraded], ["error", "sandbox_unavailable", [lack]]);
  ground.provider.missing = [];
  assert.equal((await (await ground.run(place, "at once")).report).how, "done");
});

test("a guest that does not start is told as what it is, its words stay in the log, and the next try is a new one [X3]", async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  const wanted = { language: "bash", code: "at once", timeoutMs: 1000 } as const;
  for (const [why, code] of [
    ["start_timeout", "sandbox_start_failed"],
    ["full", "sandbox_full"],
    ["unavailable", "sandbox_start_failed"],
  ] as const) {
    ground.provider.fault = { why, said: "bwrap: no such folder on this host" };
    const run = await ground.sandbox.run(place, wanted);
    assert.equal(run.ok ? "it ran" : run.failure.code, code);
    assert.ok(!JSON.stringify(run).includes("bwrap"));
  }
  assert.ok(ground.logged.some((line) => line.includes("no such folder")));
  assert.deepEqual(ground.sandbox.load(), { guests: 0, running: 0, waiting: 0 });
  assert.equal((await (await ground.run(place, "at once")).report).how, "done");
});

test("a pending execution whose guest does not start is failed with the reason, never pending for ever [X2]", async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  ground.provider.fault = { why: "start_failed", said: "no" };
  const wanted = { language: "bash", code: "", timeoutMs: 1000, conversationId: "c1" } as const;
  const { id } = unwrap(await ground.sandbox.executions.submit(place, wanted));
  const record = await ground.sandbox.executions.wait(alice, id, new AbortController().signal);
  assert.deepEqual(
    [record?.status, record?.failure, record?.report],
    ["failed", { code: "sandbox_start_failed", params: { why: "start_failed" }, retryable: true }, undefined],
  );
});

test("a guest that breaks down takes its programs along; its conversation has a new one at the next use [X1][X2]", async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  const wanted = { language: "bash", code: "", timeoutMs: 1000, conversationId: "c1" } as const;
  const { id } = unwrap(await ground.sandbox.executions.submit(place, wanted));
  await until("it runs", () => ground.running().length === 1);
  ground.provider.guests[0]?.crash();
  const record = await ground.sandbox.executions.wait(alice, id, new AbortController().signal);
  assert.deepEqual([record?.status, record?.wasCutOff, record?.report?.how], ["crashed", false, "lost"]);
  await (await ground.run(place, "at once")).report;
  assert.equal(ground.provider.guests.length, 2);
});

test("prewarming takes room that is free or long idle, never waits, and fails in silence [X1]", async (t) => {
  const ground = await openGround(t, { guestsMax: 1, guestsPerOwnerMax: 1, modules: ["numpy"] });
  const [first, second] = [await ground.place("c1"), await ground.place("c2")];
  const run = await ground.run(first, "stays");
  ground.sandbox.prewarm(second);
  ground.sandbox.prewarm(second, "python");
  await ground.sandbox.sessions.use(alice);
  assert.deepEqual([ground.provider.living(), ground.sandbox.load().waiting], [["/workspace/c1"], 0]);
  ground.finish("stays");
  await run.report;
  ground.clock.move(60_000);
  ground.sandbox.prewarm(second);
  for (let looks = 0; looks < 5; looks += 1) await ground.sandbox.sessions.use(alice);
  assert.deepEqual(ground.provider.living(), ["/workspace/c1"], "it may still be needed");
  ground.clock.move(1);
  ground.sandbox.prewarm(second, "python");
  await until("it is warm", () => ground.provider.guests[1]?.told.length === 1);
  assert.deepEqual(
    [ground.provider.living(), ground.provider.guests[1]?.told],
    [["/workspace/c2"], ["warm root numpy"]],
  );
});

test("conversations that begin at once do not take each other's prewarmed sandboxes [X1][X4]", async (t) => {
  const ground = await openGround(t, { guestsMax: 2, guestsPerOwnerMax: 2 });
  for (const id of ["c1", "c2", "c3", "c4", "c5"]) {
    ground.sandbox.prewarm(await ground.place(id));
    await ground.sandbox.sessions.use(alice);
  }
  await until("the first are there", () => ground.provider.living().length === 2);
  assert.deepEqual([ground.provider.living(), ground.provider.guests.length], [["/workspace/c1", "/workspace/c2"], 2]);
});

test("what waits goes with its session, and with its conversation [S1][S6]", async (t) => {
  const ground = await openGround(t, { executionsMax: 1, executionsPerOwnerMax: 1 });
  const owner = OwnerId.parse("carol");
  const [hers, his] = [await ground.place("c1", owner), await ground.place("c2", bob)];
  const first = await ground.run(hers);
  const waiting = [ground.run(hers), ground.run(his)];
  await until("both wait", () => ground.sandbox.load().waiting === 2);
  await ground.sandbox.leave(his.row.number);
  assert.equal((await (await waiting[1])?.report)?.how, "cancelled");
  await ground.sandbox.sessions.stop(owner);
  assert.deepEqual([(await first.report).how, (await (await waiting[0])?.report)?.how], ["cancelled", "cancelled"]);
  assert.deepEqual(ground.sandbox.load(), { guests: 0, running: 0, waiting: 0 });
});

test("a program that had to wait for its turn gives it back when it is cancelled: the next one runs [X4][X2]", async (t) => {
  const ground = await openGround(t, { executionsMax: 1, executionsPerOwnerMax: 1 });
  const place = await ground.place("c1");
  const first = await ground.run(place, "first");
  const wanted = { language: "bash", code: "waited", timeoutMs: 1000, conversationId: "c1" } as const;
  const { id } = unwrap(await ground.sandbox.executions.submit(place, wanted));
  assert.equal(ground.sandbox.load().waiting, 1);
  ground.finish("first");
  await first.report;
  await until("its turn has come", () => ground.running().some(({ code }) => code === "waited"));
  assert.equal(await ground.sandbox.executions.cancel(alice, id), true);
  assert.deepEqual(ground.sandbox.load(), { guests: 1, running: 0, waiting: 0 });
  assert.equal((await (await ground.run(place, "at once")).report).how, "done");
});

test("after its end the sandbox starts nothing more: what is asked for is cancelled [X4]", async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  await ground.sandbox.close();
  assert.equal((await (await ground.run(place, "at once")).report).how, "cancelled");
  ground.sandbox.prewarm(place);
  await ground.sandbox.sessions.find(alice);
  assert.deepEqual(ground.provider.guests, []);
});

function stop(): never {
  throw new Error("the place has a workspace");
}

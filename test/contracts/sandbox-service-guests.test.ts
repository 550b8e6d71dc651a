import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { OwnerId } from "../../src/protocol/ids.ts";
import type { Lack } from "../../src/sandbox/sandbox.ts";
import { until } from "../world/events.ts";
import { playedProvider } from "../world/played-provider.ts";
import { cannotStart } from "./sandbox-guests.ts";
import { echo, isOver, openGround, openPlayed, writeInside } from "./sandbox-service-place.ts";
import { alice, bob, unwrap } from "./storage-place.ts";

test("twenty programs at once in a new conversation start one sandbox and all have their say [X1][X4]", async (t) => {
  const ground = await openPlayed(t, { played: playedProvider(({ code }) => ({ code: 0, says: code })) });
  const place = await ground.place("c1");
  const codes = Array.from({ length: 20 }, (_, index) => `${index}`);
  const runs = await Promise.all(codes.map((code) => ground.run(place, code)));
  const reports = await Promise.all(runs.map(({ report }) => report));
  assert.deepEqual(
    reports.map(({ stdout }) => stdout.text),
    codes,
  );
  assert.deepEqual([ground.provider.opened(), ground.sandbox.load()], [1, { guests: 1, running: 0, waiting: 0 }]);
});

test("users take turns: who asks for ten at once does not keep the next one waiting for all of them [X4]", async (t) => {
  const ground = await openPlayed(t, { settings: { executionsMax: 1, executionsPerOwnerMax: 1 } });
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

test("where no guest has room the one that was idle the longest goes, never a busy one [X4][X1]", async (t) => {
  const ground = await openPlayed(t, { settings: { guestsMax: 2, guestsPerOwnerMax: 2 } });
  const places = await Promise.all(["c1", "c2", "c3", "c4"].map((id) => ground.place(id)));
  const [busy, idle, third, fourth] = places;
  assert.ok(busy && idle && third && fourth);
  await ground.run(busy, "stays");
  await (await ground.run(idle, "at once")).report;
  await (await ground.run(third, "at once")).report;
  assert.deepEqual(ground.played.living(), ["/workspace/c1", "/workspace/c3"]);
  const last = await ground.run(third, "also stays");
  const waiting = ground.run(fourth, "at once");
  await until("it waits for a guest to be idle", () => ground.sandbox.load().waiting === 1);
  assert.deepEqual(ground.played.living(), ["/workspace/c1", "/workspace/c3"]);
  ground.finish("also stays");
  assert.equal((await last.report).how, "done");
  assert.equal((await (await waiting).report).how, "done");
  assert.deepEqual(ground.played.living(), ["/workspace/c1", "/workspace/c4"]);
});

test("on a full machine the sandbox that was idle the longest makes room for another user, whosever it is [X4]", async (t) => {
  const ground = await openPlayed(t, { settings: { guestsMax: 2, guestsPerOwnerMax: 2, waitingMax: 0 } });
  for (const id of ["c1", "c2"]) {
    await (await ground.run(await ground.place(id, alice), "at once")).report;
    ground.clock.move(1000);
  }
  await ground.run(await ground.place("c3", bob), "stays");
  assert.deepEqual(ground.played.living(), ["/workspace/c2", "/workspace/c3"]);
  await ground.run(await ground.place("c4", bob), "stays");
  assert.deepEqual(ground.played.living(), ["/workspace/c3", "/workspace/c4"]);
});

test("a user at their limit of guests makes room with one of their own, never with somebody else's [X4][X1]", async (t) => {
  const ground = await openPlayed(t, { settings: { guestsPerOwnerMax: 1 } });
  const his = await ground.place("his", bob);
  const [first, second] = [await ground.place("first", alice), await ground.place("second", alice)];
  await (await ground.run(his, "at once")).report;
  ground.clock.move(1000);
  await (await ground.run(first, "at once")).report;
  ground.clock.move(1000);
  const busy = await ground.run(second, "stays");
  assert.deepEqual(ground.played.living(), ["/workspace/his", "/workspace/second"]);
  const waiting = ground.run(first, "at once");
  await until("it waits for a guest of hers to be idle", () => ground.sandbox.load().waiting === 1);
  ground.finish("stays");
  assert.equal((await busy.report).how, "done");
  assert.equal((await (await waiting).report).how, "done");
  assert.deepEqual(ground.played.living(), ["/workspace/his", "/workspace/first"]);
});

test("what waits goes with its session, and with its conversation [S1][S6]", async (t) => {
  const ground = await openPlayed(t, { settings: { executionsMax: 1, executionsPerOwnerMax: 1 } });
  const owner = OwnerId.parse("carol");
  const [hers, his] = [await ground.place("c1", owner), await ground.place("c2", bob)];
  const first = await ground.run(hers);
  const waiting = [ground.run(hers), ground.run(his)];
  await until("both wait", () => ground.sandbox.load().waiting === 2);
  await ground.sandbox.leave(his.row.number);
  assert.equal(ground.sandbox.load().running, 1, "hers goes on");
  assert.equal((await (await waiting[1])?.report)?.how, "cancelled");
  await ground.sandbox.sessions.stop(owner);
  assert.deepEqual([(await first.report).how, (await (await waiting[0])?.report)?.how], ["cancelled", "cancelled"]);
  assert.deepEqual(ground.sandbox.load(), { guests: 0, running: 0, waiting: 0 });
});

test("an idle Python goes first, then the guest; who comes again gets a new one [X1]", async (t) => {
  const ground = await openPlayed(t, { settings: { kernelIdleMs: 100_000, guestIdleMs: 200_000 } });
  const place = await ground.place("c1");
  await (await ground.run(place, "at once", "python")).report;
  const [guest] = ground.played.guests;
  ground.clock.move(99_999);
  assert.deepEqual(guest?.told, []);
  ground.clock.move(1);
  await until("its Python is dropped", () => guest?.told.includes("reset root") === true);
  assert.equal(ground.sandbox.load().guests, 1);
  ground.clock.move(100_000);
  await until("it is gone", () => ground.played.living().length === 0);
  assert.deepEqual(guest?.told, ["reset root", "close idle"]);
  await (await ground.run(place, "at once")).report;
  assert.equal(ground.played.guests.length, 2);
});

test("prewarming takes room that is free or long idle, never waits, and fails in silence [X1]", async (t) => {
  const ground = await openPlayed(t, { settings: { guestsMax: 1, guestsPerOwnerMax: 1, modules: ["numpy"] } });
  const [first, second] = [await ground.place("c1"), await ground.place("c2")];
  const run = await ground.run(first, "stays");
  ground.sandbox.prewarm(second);
  ground.sandbox.prewarm(second, "python");
  await ground.sandbox.sessions.use(alice);
  assert.deepEqual([ground.played.living(), ground.sandbox.load().waiting], [["/workspace/c1"], 0]);
  ground.finish("stays");
  await run.report;
  ground.clock.move(60_000);
  ground.sandbox.prewarm(second);
  for (let looks = 0; looks < 5; looks += 1) await ground.sandbox.sessions.use(alice);
  assert.deepEqual(ground.played.living(), ["/workspace/c1"], "it may still be needed");
  ground.clock.move(1);
  ground.sandbox.prewarm(second, "python");
  await until("it is warm", () => ground.played.guests[1]?.told.length === 1);
  assert.deepEqual([ground.played.living(), ground.played.guests[1]?.told], [["/workspace/c2"], ["warm root numpy"]]);
  ground.sandbox.prewarm(second, "python");
  await (await ground.run(second, "at once", "python")).report;
  assert.equal(ground.provider.opened(), 2, "the first program gets the one that was made ready");
});

test("no sandbox is started before all that an earlier process left is gone [X3][X4]", async (t) => {
  const left = Promise.withResolvers<void>();
  const reap = async () => {
    await left.promise;
    return { processes: 2, groups: 1, mounts: 0 };
  };
  const ground = await openPlayed(t, { provider: () => ({ reap }) });
  const run = ground.sandbox.run(await ground.place("c1"), echo);
  assert.equal(await isOver(run), false);
  assert.deepEqual(ground.played.guests, []);
  left.resolve();
  assert.equal((await unwrap(await run).report).how, "done");
  const said = 'sandboxes of an earlier run were ended {"processes":2,"groups":1,"mounts":0}';
  assert.ok(ground.logged.includes(said), ground.logged.join("\n"));
});

test("a guest that does not start is told as what it is, its words stay in the log, and the next try is a new one [X3]", async (t) => {
  const ground = await openPlayed(t);
  const place = await ground.place("c1");
  const wanted = { language: "bash", code: "at once", timeoutMs: 1000 } as const;
  for (const [why, code] of [
    ["start_timeout", "sandbox_start_failed"],
    ["full", "sandbox_full"],
    ["unavailable", "sandbox_start_failed"],
  ] as const) {
    ground.played.fault = { why, said: "bwrap: no such folder on this host" };
    const run = await ground.sandbox.run(place, wanted);
    assert.equal(run.ok ? "it ran" : run.failure.code, code);
    assert.ok(!JSON.stringify(run).includes("bwrap"));
  }
  ground.played.fault = { why: "start_failed", said: "no" };
  const { id } = unwrap(await ground.sandbox.executions.submit(place, echo));
  const record = await ground.sandbox.executions.wait(alice, id, new AbortController().signal);
  const failure = { code: "sandbox_start_failed", params: { why: "start_failed" }, retryable: true };
  assert.deepEqual([record?.status, record?.failure, record?.report], ["failed", failure, undefined]);
  const lack: Lack = { name: "no_engine", reason: "The engine is away.", fix: "Start it." };
  const { open } = ground.provider;
  ground.provider.open = (order) => {
    ground.played.missing = [lack];
    ground.played.fault = { why: "unavailable", said: "" };
    return open(order);
  };
  const away = await ground.sandbox.run(place, wanted);
  assert.deepEqual(away.ok || [away.failure.code, away.failure.params], [
    "sandbox_unavailable",
    { lack: "no_engine", reason: "The engine is away.", fix: "Start it." },
  ]);
  ground.provider.open = open;
  ground.played.missing = [];
  assert.ok(ground.logged.some((line) => line.includes("no such folder")));
  assert.deepEqual(ground.sandbox.load(), { guests: 0, running: 0, waiting: 0 });
  assert.equal((await (await ground.run(place, "at once")).report).how, "done");
});

test("what happens to files between two programs of a turn is told with the next one, each change once; between two turns of none [X1][W12]", async (t) => {
  const ground = await openPlayed(t);
  const place = await ground.place("c1");
  const run = async () => {
    const { changes, hadCompany } = await (await ground.run(place, "at once")).report;
    return { paths: changes.map(({ path }) => path), hadCompany };
  };
  const nothing = { paths: [], hadCompany: undefined };
  assert.deepEqual(await run(), nothing);
  await writeInside(place, "outputs/late.txt", 1);
  assert.deepEqual((await run()).paths, ["outputs/late.txt"]);
  assert.deepEqual(await ground.sandbox.endTurn(place), []);
  await writeInside(place, "outputs/edited.txt", 1);
  assert.deepEqual(await run(), nothing);
});

test("what was done in the background is told at the end of the turn, also when the sandbox ended before it [W12]", async (t) => {
  const ground = await openPlayed(t);
  const place = await ground.place("c1");
  const late: string[] = [];
  const ends: (() => unknown)[] = [
    () => ground.sandbox.sessions.stop(alice),
    () => ground.played.guests.at(-1)?.crash(),
    () => ground.clock.move(10 ** 9),
  ];
  for (const [index, end] of ends.entries()) {
    assert.deepEqual((await (await ground.run(place, "at once", "python")).report).changes, []);
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

test("after its end the sandbox starts nothing more: what is asked for is cancelled [X4]", async (t) => {
  const ground = await openPlayed(t);
  const place = await ground.place("c1");
  await ground.sandbox.close();
  assert.equal((await (await ground.run(place, "at once")).report).how, "cancelled");
  ground.sandbox.prewarm(place);
  await ground.sandbox.sessions.find(alice);
  assert.deepEqual(ground.played.guests, []);
});

test("nothing of the host is left when the service is closed, whatever was running [X3][X4]", {
  skip: cannotStart,
}, async (t) => {
  const ground = await openGround(t);
  const owner = OwnerId.parse("carol");
  const place = await ground.place("c1", owner);
  const code = "echo on; trap '' TERM INT; while true; do sleep 1; done";
  const run = unwrap(await ground.sandbox.run(place, { language: "bash", code, timeoutMs: 60_000 }));
  for await (const _ of run.output) break;
  const before = readdirSync("/proc/self/fd").length;
  await ground.sandbox.close();
  assert.deepEqual(
    [(await run.report).how, ground.sandbox.load()],
    ["cancelled", { guests: 0, running: 0, waiting: 0 }],
  );
  // Others in this process may open something meanwhile.
  await until("descriptors are given back", () => readdirSync("/proc/self/fd").length < before);
});

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import type { Execution, ExecutionEvent, SandboxProvider } from "../../src/sandbox/provider.ts";
import { askHost } from "../../src/sandbox/remote/ask-host.ts";
import type { SandboxHostOptions } from "../../src/sandbox/remote/sandbox-host.ts";
import { paths } from "../../src/sandbox/remote/wire.ts";
import { allOf } from "../world/bare-supervisor.ts";
import { until } from "../world/events.ts";
import { manualClock } from "../world/manual-clock.ts";
import { playedProvider } from "../world/played-provider.ts";
import { wantedGuest } from "./sandbox-place.ts";
import {
  askHostileHost,
  doorOf,
  onHostileHost,
  opened,
  openRaw,
  openRawHost,
  orderOf,
  provide,
  startCutter,
} from "./sandbox-remote-raw.ts";

// Who waits for whom, and for how long, when a server, a host or the line between them falls silent. No clock runs here.

const program: Execution = { id: "e", language: "bash", code: "", agent: "a", timeoutMs: 1000 };

/** Time stands still for who waits; signatures are of today. */
function clockByHand() {
  return { ...manualClock(), now: systemClock.now };
}

async function raw(t: TestContext, options: Partial<SandboxHostOptions> = {}) {
  const played = playedProvider();
  return { played, ...(await openRawHost(t, played, options)) };
}

test("a server says every five seconds that it is there, and takes a host that is silent for twenty for gone [X1][X3]", async () => {
  const clock = manualClock();
  const { near, say, heard, guest } = await onHostileHost({ clock });
  const events = guest.run(program)[Symbol.asyncIterator]();
  const next = async (): Promise<ExecutionEvent | undefined> => (await events.next()).value;
  const pings = () => heard.filter((message) => JSON.stringify(message) === '{"type":"ping"}').length;
  for (const count of [1, 2, 3]) {
    clock.move(4999);
    clock.move(1);
    await until("it says that it is there", () => pings() === count);
  }
  say({ type: "started", id: "e" });
  assert.deepEqual(await next(), { kind: "started" });
  clock.move(19_999);
  say({ type: "output", id: "e", stream: "stdout" }, Buffer.from("x"));
  assert.partialDeepStrictEqual(await next(), { kind: "output" });
  clock.move(19_999);
  assert.deepEqual([near.destroyed, guest.isOpen()], [false, true]);
  clock.move(1);
  assert.deepEqual([near.destroyed, guest.isOpen()], [true, false]);
  assert.partialDeepStrictEqual(await next(), { kind: "exited", how: "lost", isPythonLost: true });
  assert.deepEqual([await guest.ended, clock.timers()], [{ why: "ended" }, 0]);
});

test("a host answers a server that says it is there, and ends the guest of one that is silent for twenty seconds [X1][X3]", async (t) => {
  const clock = clockByHand();
  const { address, host, played } = await raw(t, { clock });
  const caller = await openRaw(t, address);
  caller.say(orderOf());
  await caller.next("opened");
  for (const count of [1, 2]) {
    clock.move(19_999);
    caller.say({ type: "ping" });
    await until("it answers", () => caller.heard.filter(({ type }) => type === "pong").length === count);
  }
  clock.move(20_000);
  await caller.closed;
  await until("it has no guest", () => host.load().guests === 0);
  assert.deepEqual(played.guests[0]?.told, ["close caller_gone"]);
});

test("a server that goes while its guest is started leaves none behind on the host [X1][X3]", async (t) => {
  const played = playedProvider();
  const start = Promise.withResolvers<void>();
  const open: SandboxProvider["open"] = (wanted) => start.promise.then(() => played.open(wanted));
  const { address, host } = await openRawHost(t, { ...played, open });
  const caller = await openRaw(t, address);
  caller.say(orderOf({ id: "late" }));
  await until("it is started", () => host.load().guests === 1);
  caller.socket.destroy();
  // Whoever asks after that is answered when the host has seen it go.
  const told = await askHost(doorOf(address), paths.end, { id: "late" }, { timeoutMs: 30_000 });
  assert.deepEqual(told, { ok: true, value: { isGone: false } });
  start.resolve();
  await until("no guest is left", () => played.guests.length === 1 && host.load().guests === 0);
  assert.deepEqual(played.guests[0]?.told, ["close caller_gone"]);
});

test("a host that is closed ends its guests, lets go of whoever only called, and takes none any more [X1][X3]", async (t) => {
  const { address, host, played } = await raw(t);
  const [caller, idle, silent] = [await openRaw(t, address), await openRaw(t, address), await openRaw(t, address)];
  caller.say(orderOf());
  await caller.next("opened");
  const gone = Promise.all([caller.closed, idle.closed, silent.closed]);
  const closed = host.close();
  idle.say(orderOf());
  await closed;
  await gone;
  assert.deepEqual([played.guests.map(({ told }) => told[0]), host.load().guests], [["close closed"], 0]);
  const told = await askHost(doorOf(address), paths.end, { id: "a" }, { timeoutMs: 30_000 });
  assert.deepEqual(told, { ok: false, failure: { why: "refused", said: "ECONNREFUSED" } });
});

test("a host that was away is looked for again after five seconds, and one that is well after thirty [X3]", async (t) => {
  const clock = clockByHand();
  const [one, two] = [await raw(t), await raw(t)];
  const line = await startCutter(t, one.address);
  line.cut({ stays: true });
  const [alone, both] = [provide(t, [line.address], { clock }), provide(t, [line.address, two.address], { clock })];
  const lacks = async (provider: SandboxProvider) => {
    const { missing, degraded } = await provider.probe();
    return [missing, degraded].map((told) => told.map(({ name }) => name));
  };
  const seen = async () => [await lacks(alone), await lacks(both)];
  const away = [
    [["host_away"], []],
    [[], ["host_away"]],
  ];
  const well = [
    [[], []],
    [[], []],
  ];
  assert.deepEqual(await seen(), away);
  line.cut({ stays: false });
  clock.move(5000);
  assert.deepEqual(await seen(), away);
  clock.move(1);
  // Who has no host waits for the look; who has one is told what was known.
  assert.deepEqual(await seen(), [well[0], away[1]]);
  await until("both know", async () => JSON.stringify(await seen()) === JSON.stringify(well));
  line.cut({ stays: true });
  clock.move(30_000);
  assert.deepEqual(await seen(), well);
  clock.move(1);
  await until("both know", async () => JSON.stringify(await seen()) === JSON.stringify(away));
});

test("who found no host is not turned away again when one is back: the next guest waits for a look around [X1][X3]", async (t) => {
  const clock = clockByHand();
  const { address } = await raw(t);
  const line = await startCutter(t, address);
  const provider = provide(t, [line.address], { clock });
  await (await opened(provider)).close("idle");
  line.cut({ stays: true });
  const refused = await provider.open(wantedGuest({}));
  assert.equal(!refused.ok && refused.failure.why, "unavailable");
  line.cut({ stays: false });
  await (await opened(provider)).close("idle");
});

test("a guest whose line broke off is over when its host says so, is switched off, must have noticed, or nobody wants to know any more [X1][X3]", async (t) => {
  const clock = clockByHand();
  const { address } = await raw(t);
  const lose = async () => {
    const line = await startCutter(t, address);
    const provider = provide(t, [line.address], { clock });
    const guest = await opened(provider);
    line.cut({ stays: true });
    const asked = async () => {
      const before = line.turnedAway();
      await until("its host is asked", () => line.turnedAway() > before + 2);
    };
    let isOver = false;
    const over = guest.ended.then(() => {
      isOver = true;
    });
    await asked();
    assert.equal(isOver, false);
    return { line, provider, asked, over, isOver: () => isOver };
  };
  const back = await lose();
  back.line.cut({ stays: false });
  await back.over;
  const off = await lose();
  off.line.vanish();
  await off.over;
  const closed = await lose();
  await closed.provider.close();
  await closed.over;
  const silent = await lose();
  clock.move(24_999);
  await silent.asked();
  assert.equal(silent.isOver(), false);
  clock.move(1);
  await silent.over;
});

test("a host that takes too long to start a guest, or to end one, is not waited for [X1][X3]", async () => {
  const clock = manualClock();
  const { near, opening } = askHostileHost({ clock, openTimeoutMs: 10_000 });
  clock.move(9999);
  assert.equal(near.destroyed, false);
  clock.move(1);
  assert.deepEqual([await opening, near.destroyed], [{ ok: false, failure: { why: "start_timeout", said: "" } }, true]);
  const { guest, heard, near: line } = await onHostileHost({ clock });
  const closed = guest.close("idle");
  await until("it is told", () => heard.some((message) => JSON.stringify(message) === '{"type":"close","why":"idle"}'));
  clock.move(14_999);
  assert.equal(line.destroyed, false);
  clock.move(1);
  await closed;
  assert.deepEqual([await guest.ended, line.destroyed, clock.timers()], [{ why: "idle" }, true, 0]);
});

test("what is asked of a guest whose host goes is answered with nothing, and its programs end as they were told to [X1]", async () => {
  const { near, say, heard, guest } = await onHostileHost();
  const stop = new AbortController();
  const endOf = async (execution: Execution) => (await allOf(guest.run(execution))).at(-1);
  const ends = Promise.all([
    endOf({ ...program, id: "cancelled", signal: stop.signal }),
    endOf({ ...program, id: "killed" }),
    endOf({ ...program, id: "begun" }),
    endOf({ ...program, id: "waiting" }),
  ]);
  say({ type: "started", id: "begun" });
  say({ type: "started", id: "killed" });
  stop.abort();
  guest.kill("killed");
  const answers = Promise.all([
    ...[guest.usage(), guest.reset("a"), guest.endTurn({ all: true }), guest.unnamedBytes(), guest.sharedFiles()],
  ]);
  await until("all was asked", () => JSON.stringify(heard.at(-1)) === '{"type":"shared_files","question":5}');
  near.destroy();
  assert.deepEqual(await answers, [{ memoryBytes: 0, processes: 0, cpuMs: 0 }, undefined, 0, 0, undefined]);
  assert.deepEqual(
    (await ends).map((event) => event?.kind === "exited" && [event.how, event.isPythonLost]),
    [
      ["cancelled", undefined],
      ["killed", true],
      ["lost", true],
      ["lost", undefined],
    ],
  );
  assert.partialDeepStrictEqual(heard.slice(5), [
    { type: "cancel", id: "cancelled" },
    { type: "kill", id: "killed" },
    ...[{ type: "usage" }, { type: "reset", agent: "a" }, { type: "end_turn", all: true }, { type: "unnamed_bytes" }],
  ]);
});

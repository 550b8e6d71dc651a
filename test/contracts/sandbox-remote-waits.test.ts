import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import type { SandboxProvider } from "../../src/sandbox/provider.ts";
import { until } from "../world/events.ts";
import { manualClock, notingClock } from "../world/manual-clock.ts";
import { playedProvider } from "../world/played-provider.ts";
import { hostFolder, wantedGuest } from "./sandbox-place.ts";
import { opened, openRawHost, provide, startCutter } from "./sandbox-remote-raw.ts";

// How long a server waits for a host that takes its questions and says nothing, and what it counts meanwhile.

/** A server, a host of it, and between them somebody who can keep back what the server says. */
async function muting(t: TestContext, changes: Partial<SandboxProvider> = {}) {
  const played = playedProvider();
  const files = hostFolder(t);
  const { address, host } = await openRawHost(t, { ...played, ...changes }, { files });
  const { clock: still, waits } = notingClock();
  const clock = { ...still, now: systemClock.now };
  const line = { isMute: false, asked: [] as string[] };
  const cutter = await startCutter(t, address, {
    toHost(bytes) {
      const [, path] = /^POST (\S+)/.exec(bytes.toString("latin1")) ?? [];
      if (path !== undefined) line.asked.push(path);
      return line.isMute ? Buffer.alloc(0) : bytes;
    },
  });
  const server = provide(t, [cutter.address], { clock, files, startTimeoutMs: 4000 });
  /** Whether it is over after so long, and not before. */
  const takes = async <T>(ms: number, work: Promise<T>): Promise<T> => {
    let isOver = false;
    void work.then(() => (isOver = true));
    clock.move(ms - 1);
    await someTurns();
    assert.equal(isOver, false);
    clock.move(1);
    return await work;
  };
  return { played, host, files, clock, waits, line, cutter, server, takes };
}

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test("a host that says nothing is waited for thirty seconds at a look, five for a stream, and five more than a guest may take to start [X1][X3]", async (t) => {
  const { server, host, line, takes, cutter } = await muting(t, { open: () => new Promise(() => {}) });
  line.isMute = true;
  const looking = server.probe();
  await until("it is asked", () => line.asked.length === 1);
  const { missing } = await takes(30_000, looking);
  assert.deepEqual(
    missing.map(({ name, about }) => [name, about?.detail]),
    [["host_away", `${cutter.address}: no answer in time`]],
  );
  line.isMute = false;
  assert.deepEqual((await server.probe({ fresh: true })).missing, []);
  const starting = server.open(wantedGuest({}));
  await until("it is started", () => host.load().guests === 1);
  assert.deepEqual(await takes(4000 + 5000, starting), {
    ...{ ok: false, failure: { why: "start_timeout", said: ` (${cutter.address})` } },
  });
  line.isMute = true;
  const connecting = server.open(wantedGuest({}));
  await until("it is asked", () => line.asked.filter((path) => path === "/sandbox-host/guest").length === 2);
  assert.deepEqual(await takes(5000, connecting), {
    ...{ ok: false, failure: { why: "unavailable", said: `${cutter.address} no answer in time` } },
  });
});

test("a host that does not say whether a lost guest is gone is asked again after five seconds and a half, and not by a server that is closed [X1][X3]", async (t) => {
  const { server, line, takes, cutter, waits } = await muting(t);
  const guest = await opened(server);
  const asked = () => line.asked.filter((path) => path === "/sandbox-host/end").length;
  line.isMute = true;
  cutter.cut({ stays: false });
  await until("its host is asked", () => asked() === 1);
  await takes(
    5000,
    until("it is asked again", () => asked() === 2),
  );
  assert.deepEqual(waits, [500]);
  await server.close();
  assert.deepEqual([await guest.ended, asked()], [{ why: "closed" }, 2]);
});

test("a server that is closed while it looks around opens no guest after that, and leaves no token behind [X1][X3]", async (t) => {
  const [look, fresh] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const probe: SandboxProvider["probe"] = async (wanted) => {
    await (wanted?.fresh ? fresh : look).promise;
    return { missing: [], degraded: [] };
  };
  const { server, files, played, line } = await muting(t, { probe });
  const opening = server.open(wantedGuest({}));
  await until("it is asked", () => line.asked.length === 1);
  let isClosed = false;
  const looking = server.probe({ fresh: true });
  const closed = server.close().then(() => (isClosed = true));
  look.resolve();
  assert.deepEqual(await opening, { ok: false, failure: { why: "unavailable", said: "closed" } });
  await someTurns();
  assert.equal(isClosed, false);
  fresh.resolve();
  await closed;
  assert.deepEqual([readdirSync(join(files, ".sandbox-hosts")), played.guests, (await looking).missing], [[], [], []]);
});

test("who asks at the same time shares one look around, also one that nobody waits for [X3]", async (t) => {
  const { server, line, clock } = await muting(t);
  const [one, two] = await Promise.all([server.probe(), server.probe()]);
  assert.ok(one === two);
  assert.equal(line.asked.length, 1);
  line.isMute = true;
  clock.move(30_001);
  for (let count = 0; count < 3; count += 1) assert.ok((await server.probe()) === one);
  await until("it is asked", () => line.asked.length === 2);
  await someTurns();
  assert.equal(line.asked.length, 2);
  clock.move(30_000);
});

test("a guest that is being started counts for its host, and one that was given up does not [X3][X4]", async (t) => {
  const [well, slow] = [playedProvider(), playedProvider()];
  const gate = Promise.withResolvers<void>();
  const open: SandboxProvider["open"] = (wanted) => gate.promise.then(() => slow.open(wanted));
  const [first, second] = [await openRawHost(t, well), await openRawHost(t, { ...slow, open })];
  const clock = { ...manualClock(), now: systemClock.now };
  const server = provide(t, [first.address, second.address], { clock, startTimeoutMs: 4000 });
  await opened(server);
  const late = server.open(wantedGuest({}));
  await until("it is started", () => second.host.load().guests === 1);
  const third = await opened(server);
  assert.equal(first.host.load().guests, 2);
  clock.move(4000 + 5000);
  assert.equal((await late).ok, false);
  await third.close("idle");
  gate.resolve();
  const { id } = await opened(server);
  assert.equal(slow.guests.at(-1)?.id, id);
});

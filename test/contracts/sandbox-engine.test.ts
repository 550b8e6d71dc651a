import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { userOf } from "../../src/sandbox/guest/contained.ts";
import { type EngineFaults, playEngine } from "../world/docker-engine.ts";
import { until } from "../world/events.ts";
import { guestTest as test } from "./sandbox-guests.ts";
import { openDocker } from "./sandbox-on-docker.ts";
import { done, hostFolder, triedGuest, wantedGuest } from "./sandbox-place.ts";

/** Whoever waits for an engine waits a tenth of the time; programs have all of theirs. */
const hurried: Clock = { ...systemClock, wait: (ms, signal) => systemClock.wait(ms / 10, signal) };
/** By that clock a minute for guests that start, on a busy machine, too. */
const startTimeoutMs = 600_000;
const installation = "yard";

async function openPlayed(t: TestContext, wanted: Clock = hurried) {
  let isPatient = true;
  // A guest that says nothing is waited for as long as one may take to start: that wait ends at once for who gives up.
  const clock: Clock = {
    ...wanted,
    wait: (ms, signal) => wanted.wait(!isPatient && ms === startTimeoutMs ? 1 : ms, signal),
  };
  const place = hostFolder(t);
  const engine = await playEngine(t, { folder: place, user: userOf(undefined) });
  const folder = join(place, "containers");
  const provider = openDocker({
    ...{ address: { socketPath: engine.socketPath }, folder, startTimeoutMs, clock, runtime: undefined, installation },
  });
  t.after(() => provider.close());
  const giveUp = () => {
    isPatient = false;
  };
  return { engine, provider, giveUp, left: () => [engine.containers(), readdirSync(folder)] };
}

const nothing = [[], []];

test("a guest is made, attached to, started, used and removed over the API of an engine [X3][N1]", async (t) => {
  const { engine, provider, left } = await openPlayed(t);
  assert.deepEqual((await provider.probe()).missing, []);
  const opened = await provider.open(wantedGuest({}));
  assert.ok(opened.ok, JSON.stringify(opened));
  const { run, guest } = triedGuest(opened.value);
  assert.equal(engine.containers().length, 1);
  assert.deepEqual(await run("bash", "echo out; echo err >&2"), done({ stdout: "out\n", stderr: "err\n" }));
  assert.deepEqual(await run("python", "x = 20"), done({}));
  assert.deepEqual(await run("python", "x + 1"), done({ results: ["text 21"] }));
  assert.deepEqual(
    (await run("javascript", "1")).stderr,
    "sandbox: JavaScript cannot be run here: there is no node in this sandbox\n",
  );
  // The processes of an engine elsewhere cannot be looked at: it is asked, and what it cannot tell nobody can.
  assert.deepEqual(
    [await guest.usage(), await guest.sharedFiles(), await guest.unnamedBytes()],
    [{ memoryBytes: 4096, processes: 3, cpuMs: 5 }, undefined, 0],
  );
  await guest.close("idle");
  assert.deepEqual([await guest.ended, left()], [{ why: "idle" }, nothing]);
  assert.deepEqual(await guest.usage(), { memoryBytes: 0, processes: 0, cpuMs: 0 });
});

test("a container without a node is told as such, and is no reason to run nothing [X3]", async (t) => {
  const { engine, provider } = await openPlayed(t);
  const lacks = async () => {
    const { degraded } = await provider.probe({ fresh: true });
    return degraded.map(({ name }) => name).filter((name) => name !== "shared_uid");
  };
  assert.deepEqual(await lacks(), ["no_node"]);
  // So is one that the engine does not limit.
  const limits = { MemoryLimit: "no_cgroup_memory", PidsLimit: "no_cgroup_pids", CpuCfsQuota: "no_cgroup_cpu" };
  for (const [limit, name] of Object.entries(limits)) {
    engine.breaks({ info: { [limit]: false } });
    assert.deepEqual((await lacks()).toSorted(), [name, "no_node"]);
  }
});

test("an engine that goes away in the middle loses its programs, and the guest ends [X1][X3]", async (t) => {
  const { engine, provider } = await openPlayed(t);
  const opened = await provider.open(wantedGuest({}));
  assert.ok(opened.ok, JSON.stringify(opened));
  const ends: unknown[] = [];
  for await (const event of opened.value.run({
    ...{ id: "1", language: "bash", code: "echo on; sleep 1000", agent: "a", timeoutMs: 60_000 },
  })) {
    if (event.kind === "output") engine.vanish();
    if (event.kind === "exited") ends.push(event.how);
  }
  assert.deepEqual([ends, await opened.value.ended, opened.value.isOpen()], [["lost"], { why: "ended" }, false]);
  const again = await provider.open(wantedGuest({}));
  assert.equal(!again.ok && again.failure.why, "unavailable");
  assert.deepEqual(
    (await provider.probe({ fresh: true })).missing.map(({ name }) => name),
    ["no_engine"],
  );
});

const startFaults: readonly (readonly [what: string, faults: EngineFaults, fault: object])[] = [
  ["is not let in to", { attach: "cannot attach" }, { why: "start_failed", said: "cannot attach" }],
  ["the engine does not start", { start: "no such device" }, { why: "start_failed", said: "no such device" }],
  ["has no image any more", { start: "No such image: img" }, { why: "unavailable", said: "No such image: img" }],
  ["ends at once", { command: ["/bin/sh", "-c", "echo broken >&2; exit 3"] }, { why: "start_failed", said: "broken" }],
  ["is somebody else", { command: ["/bin/echo", "hello there, this is no supervisor"] }, { why: "start_failed" }],
  ["says nothing", { command: ["/bin/sleep", "1000"] }, { why: "start_timeout", said: "" }],
];

test("a container that does not start is a fault that tells why, and leaves nothing behind [X3]", async (t) => {
  const { engine, provider, giveUp, left } = await openPlayed(t);
  assert.deepEqual((await provider.probe()).missing, []);
  for (const [what, faults, fault] of startFaults) {
    engine.breaks(faults);
    if (what === "says nothing") giveUp();
    const opened = await provider.open(wantedGuest({}));
    assert.partialDeepStrictEqual([what, !opened.ok && opened.failure], [what, fault]);
    assert.deepEqual(left(), nothing);
  }
});

test("a server that starts sweeps what one before it left, and nothing that is in use or of another installation [X3]", async (t) => {
  const { engine, provider } = await openPlayed(t);
  const opened = await provider.open(wantedGuest({ id: "used" }));
  assert.ok(opened.ok, JSON.stringify(opened));
  const reapAs = async (installation: string) => {
    const folder = join(hostFolder(t), "containers");
    const address = { socketPath: engine.socketPath };
    const other = openDocker({ address, folder, installation, runtime: undefined });
    t.after(() => other.close());
    return other.reap();
  };
  assert.deepEqual(await provider.reap(), { processes: 0, groups: 0, mounts: 0 });
  assert.deepEqual(await reapAs("another"), { processes: 0, groups: 0, mounts: 0 });
  assert.deepEqual(await triedGuest(opened.value).run("bash", "echo on"), done({ stdout: "on\n" }));
  assert.deepEqual(await reapAs(installation), { processes: 1, groups: 0, mounts: 0 });
  assert.deepEqual([await opened.value.ended, engine.containers()], [{ why: "ended" }, []]);
});

test("a container ends with the server that was killed, also where nobody removes it [X3]", async (t) => {
  const { engine, provider } = await openPlayed(t);
  const opened = await provider.open(wantedGuest({}));
  assert.ok(opened.ok, JSON.stringify(opened));
  const removal = gate();
  engine.breaks({ before: (asked) => (asked.startsWith("DELETE ") ? removal.pass() : undefined) });
  engine.breakStreams();
  await until("it is gone", () => engine.containers().length === 0);
  removal.open();
  assert.deepEqual(await opened.value.ended, { why: "ended" });
});

test("without groups processes are counted by user, where a guest has one of its own [X3][X4]", async (t) => {
  const { engine, provider } = await openPlayed(t);
  engine.breaks({ info: { PidsLimit: false } });
  const limitFor = async (uid: number | undefined) => {
    const wanted = wantedGuest({ id: `of-${uid}`, uid });
    const opened = await provider.open(wanted);
    assert.ok(opened.ok, JSON.stringify(opened));
    const { stdout } = await triedGuest(opened.value).run("bash", "ulimit -u");
    await opened.value.close("idle");
    return stdout.trim() === `${wanted.limits.processesMax}`;
  };
  assert.deepEqual([await limitFor(undefined), await limitFor(64_123)], [false, process.geteuid?.() === 0]);
});

/** `reached` when somebody stands before it; they pass when it is open. */
function gate() {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const pass = () => {
    reach();
    return opened;
  };
  return { reached, open, pass };
}

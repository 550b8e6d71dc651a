import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { duplexPair } from "node:stream";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { ok } from "../../src/base/result.ts";
import { encodeFrame } from "../../src/sandbox/guest/frames.ts";
import { linksOver } from "../../src/sandbox/guest/stdio.ts";
import { type ExecutionEvent, executionLimits, type Guest, type SandboxProvider } from "../../src/sandbox/provider.ts";
import { askHost, openStream } from "../../src/sandbox/remote/ask-host.ts";
import { openSandboxHost } from "../../src/sandbox/remote/sandbox-host.ts";
import { signRequest } from "../../src/sandbox/remote/signed.ts";
import { signedOver } from "../../src/sandbox/remote/signed-stream.ts";
import { paths } from "../../src/sandbox/remote/wire.ts";
import { until } from "../world/events.ts";
import { manualClock } from "../world/manual-clock.ts";
import { playedProvider } from "../world/played-provider.ts";
import { quietLogger } from "../world/workspace.ts";
import { secret } from "./sandbox-on-remote.ts";
import { doorOf, openRaw, openRawHost, orderOf, type Raw } from "./sandbox-remote-raw.ts";

// What a host does for the guests of its callers, and how it lets go of both.

/** Somebody with a guest, which does this otherwise than played ones do. */
async function withGuest(t: TestContext, order: object = {}, changes: (guest: Guest) => Partial<Guest> = () => ({})) {
  const played = playedProvider();
  const open: SandboxProvider["open"] = async (wanted) => {
    const guest = await played.open(wanted);
    return guest.ok ? ok({ ...guest.value, ...changes(guest.value) }) : guest;
  };
  const raw = await openRawHost(t, { ...played, open });
  const caller = await openRaw(t, raw.address);
  caller.say(orderOf(order));
  await caller.next("opened");
  return { played, caller, ...raw };
}

/** Whether its host still listens to it. */
async function isHeard(caller: Raw): Promise<boolean> {
  const pongs = () => caller.heard.filter(({ type }) => type === "pong").length;
  const before = pongs();
  caller.say({ type: "ping" });
  await Promise.race([caller.closed, until("it answers", () => pongs() > before || caller.socket.destroyed)]);
  return pongs() > before;
}

/** A caller that keeps its half of the connection open for as long as it likes, and asks before it is answered. */
async function callStubbornly(t: TestContext, address: string, order: object) {
  const { hostname, port } = new URL(address);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  t.after(() => socket.destroy());
  socket.on("error", () => {});
  const signed = signRequest(
    secret,
    { method: "POST", path: paths.guest, body: "" },
    { clock: systemClock, ids: systemIds },
  );
  const lines = [`POST ${paths.guest} HTTP/1.1`, "Host: x", "Connection: Upgrade", "Upgrade: agentyard-guest"];
  const [near, far] = duplexPair();
  const { control } = linksOver(signedOver(near, signed.keys, "server"));
  control.write(encodeFrame(order));
  const [first] = await once(far, "data");
  socket.write(
    Buffer.concat([Buffer.from(`${[...lines, `Authorization: ${signed.authorization}`].join("\r\n")}\r\n\r\n`), first]),
  );
  let told = "";
  socket.on("data", (bytes: Buffer) => (told += bytes.toString("latin1")));
  await once(socket, "end");
  return told;
}

test("a host has said its last word when it hangs up, waits two seconds for its caller to do so, and not longer than that [X3][X4]", async (t) => {
  const clock = { ...manualClock(), now: systemClock.now };
  const { address } = await openRawHost(t, playedProvider(), { clock });
  const told = await callStubbornly(t, address, orderOf({ version: 99 }));
  assert.match(told, /^HTTP\/1.1 101 .*"type":"refused","why":"version","said":"1"/s);
  const waiting = clock.timers();
  clock.move(1999);
  assert.ok(waiting > 0 && clock.timers() === waiting);
  clock.move(1);
  await until("it has let go", () => clock.timers() === 0);
  // Who hangs up as well, and who is not let in, is not waited for.
  const caller = await openRaw(t, address);
  caller.say(orderOf({ version: 99 }));
  await caller.closed;
  const other = { ...doorOf(address), secret: "another secret, of nobody we know" };
  assert.equal((await openStream(other, { timeoutMs: 30_000 })).ok, false);
  await until("nothing is waited for", () => clock.timers() === 0);
});

test("a way out of a guest that breaks harms nobody, and why a guest ended is told in as many words as there is room for [X1][X3]", async (t) => {
  const { played, caller, logged } = await withGuest(t, { hasNetwork: true });
  const [, link] = duplexPair();
  played.guests[0]?.wanted.network?.(link);
  link.destroy(new Error("broken"));
  assert.equal(await isHeard(caller), true);
  caller.say({ type: "close", why: "y".repeat(3000) });
  assert.deepEqual([await caller.next("ended"), logged], [{ type: "ended", why: "y".repeat(2000) }, []]);
});

const run = { type: "run", language: "bash", agent: "a", timeoutMs: 1000, has: [] };

test("a guest has one execution after another, also by a name that is free again, and what was sent for those before is not held [X1][X4]", async (t) => {
  const { caller } = await withGuest(t);
  const ends = () => caller.heard.filter(({ type }) => type === "exited").length;
  for (let count = 1; count <= 10; count += 1) {
    const id = `${Math.min(count, 9)}`;
    caller.say({ type: "part", id, name: "stdin" }, Buffer.from("x"));
    caller.say({ ...run, id, has: ["stdin"] }, Buffer.from("at once"));
    await until("it is over", () => ends() === count || caller.socket.destroyed);
  }
  // Eight may be on their way at the same time.
  for (let count = 1; count <= 8; count += 1) caller.say({ type: "part", id: `w${count}`, name: "code" }, Buffer.of(1));
  assert.deepEqual([ends(), await isHeard(caller)], [10, true]);
  caller.say({ type: "part", id: "w9", name: "code" }, Buffer.of(1));
  await caller.closed;
});

test("what a program says arrives however long it is, and its end says whether its guest takes another [X1][X4]", async (t) => {
  const metrics = { durationMs: 1, cpuMs: 1, memoryPeakBytes: 1, readBytes: 0, writtenBytes: 0 };
  async function* tell(): AsyncGenerator<ExecutionEvent, void, undefined> {
    yield { kind: "output", stream: "stdout", bytes: Buffer.alloc(200_000, "x") };
    yield { kind: "exited", how: "done", code: 0, signal: undefined, metrics };
  }
  const { caller, logged } = await withGuest(t, {}, () => ({ run: tell, isOpen: () => false }));
  caller.say({ ...run, id: "1" });
  assert.deepEqual(await caller.next("exited"), {
    ...{ type: "exited", id: "1", how: "done", code: 0, metrics, isOpen: false },
  });
  assert.deepEqual([caller.heard.filter(({ type }) => type === "output").length, logged], [4, []]);
});

const { codeBytesMax, eventBytesMax, stdinBytesMax } = executionLimits;

test("a host takes what an execution may have, and hangs up on who sends more [X3][X4]", async (t) => {
  const takes = async (name: string, length: number, changes: object = {}) => {
    const { caller } = await withGuest(t);
    const bytes = Buffer.alloc(length, "x");
    for (let start = 0; start < length; start += 65_536)
      caller.say({ type: "part", id: "1", name }, bytes.subarray(start, start + 65_536));
    caller.say({ ...run, id: "1", ...changes });
    const isTaken = await isHeard(caller);
    caller.socket.destroy();
    return isTaken;
  };
  assert.deepEqual(
    [
      ...[await takes("code", codeBytesMax), await takes("code", codeBytesMax + 1)],
      ...[await takes("event", eventBytesMax), await takes("event", eventBytesMax + 1)],
      // As much as that is given in the promises that every provider keeps.
      await takes("stdin", stdinBytesMax + 1),
      ...[await takes("code", 1, { env: { A: "x" } }), await takes("code", 1, { env: { A: "x".repeat(40_000) } })],
    ],
    [true, false, true, false, false, true, false],
  );
});

test("a host counts what waits for its execution, not what others before it were sent [X3][X4]", async (t) => {
  const { caller } = await withGuest(t);
  const ends = () => caller.heard.filter(({ type }) => type === "exited").length;
  const piece = Buffer.alloc(65_536);
  // Three times as much as one may have is more than may wait at once.
  for (const count of [1, 2, 3]) {
    const id = `${count}`;
    for (let sent = 0; sent < stdinBytesMax; sent += piece.length)
      caller.say({ type: "part", id, name: "stdin" }, piece);
    caller.say({ ...run, id, has: ["stdin"] }, Buffer.from("at once"));
    await until("it is over", () => ends() === count || caller.socket.destroyed);
  }
  assert.deepEqual([ends(), await isHeard(caller)], [3, true]);
});

test("a guest that does not start is not counted when that is told, nor is one that broke down, and a name is one guest's at a time [X3][X4]", async (t) => {
  const played = playedProvider();
  let isBroken = false;
  const open: SandboxProvider["open"] = (wanted) =>
    isBroken ? Promise.reject(new Error("a mistake")) : played.open(wanted);
  const { address, host, logged } = await openRawHost(t, { ...played, open });
  const refusal = async (order: object) => {
    const caller = await openRaw(t, address);
    caller.say(order);
    return caller.next("refused");
  };
  played.fault = { why: "start_failed", said: "s".repeat(3000) };
  const load = { guests: 0, guestsMax: 4 };
  assert.deepEqual(await refusal(orderOf()), {
    ...{ type: "refused", why: "start_failed", said: "s".repeat(2000), ...load },
  });
  const first = await openRaw(t, address);
  first.say(orderOf({ id: "one" }));
  await first.next("opened");
  assert.deepEqual(await refusal(orderOf({ id: "one" })), {
    ...{ type: "refused", why: "full", said: "", ...load, guests: 1 },
  });
  assert.deepEqual([host.load().guests, played.living().length], [1, 1]);
  isBroken = true;
  const unlucky = await openRaw(t, address);
  unlucky.say(orderOf());
  await until("it is told", () => logged.length === 1);
  assert.match(logged.join(), /^a guest of another machine broke down /);
  assert.equal(host.load().guests, 1);
});

test("a host says that a Python was reset when it is gone [X1][X3]", async (t) => {
  const gone = Promise.withResolvers<void>();
  const { caller } = await withGuest(t, {}, () => ({ reset: () => gone.promise }));
  caller.say({ type: "reset", question: 7, agent: "a" });
  assert.equal(await isHeard(caller), true);
  assert.deepEqual(
    caller.heard.filter(({ type }) => type === "done"),
    [],
  );
  gone.resolve();
  assert.deepEqual(await caller.next("done"), { type: "done", question: 7, count: 0 });
});

/** A guest that goes only when the gate is open. */
async function withSlowGuest(t: TestContext) {
  const gate = Promise.withResolvers<void>();
  const close = ({ close: closeNow }: Guest) => ({ close: (why: string) => gate.promise.then(() => closeNow(why)) });
  return { gate, ...(await withGuest(t, { id: "slow" }, close)) };
}

test("a host that is closed waits for its guests, takes none meanwhile, and for nobody else [X1][X3]", async (t) => {
  const { caller, address, host, gate, played } = await withSlowGuest(t);
  const late = await openRaw(t, address);
  const half = connect(Number(new URL(address).port), "127.0.0.1");
  t.after(() => half.destroy());
  half.on("error", () => {});
  half.write(`POST ${paths.look} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{`);
  assert.equal(await isHeard(caller), true);
  const closed = host.close();
  late.say(orderOf());
  assert.partialDeepStrictEqual(await late.next("refused"), { why: "full", guests: 1 });
  gate.resolve();
  await closed;
  assert.equal(played.guests.length, 1);
});

test("a guest that is ended at the door of its host is gone when that is answered [X1][X3]", async (t) => {
  const { caller, address, gate } = await withSlowGuest(t);
  const told = askHost(doorOf(address), paths.end, { id: "slow" }, { timeoutMs: 30_000 });
  assert.equal(await isHeard(caller), true);
  gate.resolve();
  assert.deepEqual(await told, { ok: true, value: { isGone: true } });
});

const hasSixth = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));

test("a host says by which address it listens, also by one of the sixth version, or why it cannot [X3][P4]", {
  skip: !hasSixth && "this machine has no such address",
}, async (t) => {
  const open = () => {
    const host = openSandboxHost({
      ...{ provider: playedProvider(), files: tmpdir(), secret, guestsMax: 1, release: "0.0.0-test" },
      ...{ clock: systemClock, logger: quietLogger([]) },
    });
    t.after(() => host.close());
    return host;
  };
  const address = await open().listen({ host: "::1", port: 0 });
  assert.match(address.ok ? address.value : "", /^http:\/\/\[::1\]:\d+$/);
  const port = Number(new URL(address.ok ? address.value : "").port);
  assert.deepEqual(await open().listen({ host: "::1", port }), { ok: false, failure: { code: "EADDRINUSE" } });
});

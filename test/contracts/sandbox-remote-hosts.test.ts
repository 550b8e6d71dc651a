import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import type { Execution, ExecutionEvent, Guest, GuestWanted, SandboxProvider } from "../../src/sandbox/provider.ts";
import { askHost } from "../../src/sandbox/remote/ask-host.ts";
import { type Host, lookAtAll } from "../../src/sandbox/remote/hosts.ts";
import type { SandboxHostOptions } from "../../src/sandbox/remote/sandbox-host.ts";
import { createVerifier } from "../../src/sandbox/remote/signed.ts";
import { bodyBytesMax, lookQuestion, paths } from "../../src/sandbox/remote/wire.ts";
import { until } from "../world/events.ts";
import { manualClock } from "../world/manual-clock.ts";
import { openFiles } from "../world/open-files.ts";
import { playedProvider } from "../world/played-provider.ts";
import { type openRemote, secret } from "./sandbox-on-remote.ts";
import { hostFolder, wantedGuest } from "./sandbox-place.ts";
import {
  askHostileHost,
  doorOf,
  onHostileHost,
  openRaw,
  openRawHost,
  orderOf,
  provide,
  startCutter,
} from "./sandbox-remote-raw.ts";

// Which host a server takes, and what it says of those that it cannot take.

/** Hosts that take so many guests, a server of both, and where it puts a guest. */
async function placing(t: TestContext, ...guestsMax: readonly number[]) {
  const played = guestsMax.map(() => playedProvider());
  const hosts = await Promise.all(
    played.map((provider, number) => openRawHost(t, provider, { guestsMax: guestsMax[number] ?? 1 })),
  );
  const server = provide(
    t,
    hosts.map(({ address }) => address),
  );
  const place = async (changes: Partial<GuestWanted> = {}): Promise<{ at: number; guest: Guest }> => {
    const wanted = wantedGuest(changes);
    const opened = await server.open(wanted);
    assert.ok(opened.ok, JSON.stringify(opened));
    return { at: played.findIndex(({ guests }) => guests.some(({ id }) => id === wanted.id)), guest: opened.value };
  };
  return { hosts, server, place, played };
}

test("hosts are filled by their size, and one from which a guest went has room again [X3][X4]", async (t) => {
  const { place } = await placing(t, 2, 10);
  const placed = [];
  for (let count = 0; count < 6; count += 1) placed.push(await place());
  assert.deepEqual(
    placed.map(({ at }) => at),
    [0, 1, 1, 1, 1, 1],
  );
  await placed.at(-1)?.guest.close("idle");
  assert.equal((await place()).at, 1);
});

test("a user's guests stay on one host while one of them lives; after that the least busy one is theirs [X3][N1]", async (t) => {
  const { place } = await placing(t, 10, 10);
  const near = "a user";
  const [first, second] = [await place({ near }), await place({ near })];
  assert.deepEqual([first.at, second.at, (await place()).at], [0, 0, 1]);
  await first.guest.close("idle");
  const third = await place({ near });
  assert.equal(third.at, 0);
  await second.guest.close("idle");
  await third.guest.close("idle");
  // One is on the second host: the first is taken, and then both have one.
  assert.equal((await place()).at, 0);
  assert.equal((await place()).at, 0);
  assert.equal((await place({ near })).at, 1);
});

test("a host tells whether it sees a server's token, which only both can read, and tells of no other file; no token stays [W5][X3][Q1]", async (t) => {
  const files = hostFolder(t);
  const played = playedProvider();
  const modes: string[] = [];
  const tokens = join(files, ".sandbox-hosts");
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  const probe: SandboxProvider["probe"] = async () => {
    const folder = join(tokens, readdirSync(tokens)[0] ?? "");
    modes.push(modeOf(tokens), modeOf(folder), modeOf(join(folder, "token")));
    return { missing: [], degraded: [] };
  };
  const { address } = await openRawHost(t, { ...played, probe }, { files });
  assert.deepEqual((await provide(t, [address], { files }).probe()).missing, []);
  assert.deepEqual([modes, readdirSync(tokens)], [["711", "700", "600"], []]);
  for (const name of [".sandbox-hosts/a/b", "workspace/c1"]) {
    mkdirSync(join(files, name), { recursive: true });
    writeFileSync(join(files, name, "token"), "text");
  }
  writeFileSync(join(tokens, "a/token"), "text");
  writeFileSync(join(tokens, "token"), "text");
  const seen = async (path: readonly string[], text = "text") => {
    const question = { version: 1, isFresh: false, token: { path, text } };
    const told = await askHost(doorOf(address), paths.look, question, { timeoutMs: 30_000 });
    assert.ok(told.ok, JSON.stringify(told));
    return told.value !== null && typeof told.value === "object" && "seen" in told.value && told.value.seen;
  };
  const { dev, ino } = statSync(join(tokens, "a"), { bigint: true });
  assert.deepEqual(await seen([".sandbox-hosts", "a"]), { mark: `${dev}:${ino}` });
  assert.deepEqual(await seen([".sandbox-hosts", "a"], "texts"), { why: "other" });
  assert.deepEqual(await seen([".sandbox-hosts", "none"]), { why: "ENOENT" });
  for (const path of [["workspace", "c1"], [".sandbox-hosts"], [".sandbox-hosts", "a", "b"], [".sandbox-hosts", ".."]])
    assert.deepEqual(await seen(path), { why: "path" });
  const left = openFiles().filter((path) => path.startsWith(files));
  assert.deepEqual(left, []);
});

test("of a folder's numbers a server counts those that its host has as well [W5][X3]", async (t) => {
  const files = hostFolder(t);
  const verify = createVerifier(secret, systemClock);
  let markOf = (dev: bigint, ino: bigint) => `${dev}:${ino}`;
  let more = {};
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = String(Buffer.concat(await request.toArray()));
    const verdict = verify(request.headers.authorization, { method: "POST", path: request.url ?? "", body });
    assert.ok(typeof verdict === "object");
    const { dev, ino } = statSync(join(files, ...lookQuestion.parse(JSON.parse(body)).token.path), { bigint: true });
    const told = { version: 1, release: "x", missing: [], degraded: [], guests: 2, guestsMax: 9 };
    const text = JSON.stringify({ ...told, seen: { mark: markOf(dev, ino) }, ...more });
    response.writeHead(200, { "X-AgentYard-Proof": verdict.prove(text) }).end(text);
  };
  const played = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => played.listen(0, "127.0.0.1", resolve));
  t.after(() => played.close());
  const place = played.address();
  const address = `http://127.0.0.1:${typeof place === "object" ? place?.port : ""}`;
  const look = async () => {
    const host: Host = { door: doorOf(address), address, seen: undefined, guests: 0, guestsMax: 1 };
    const looking = { hosts: [host], files, release: "x", clock: systemClock, ids: systemIds };
    await lookAtAll(looking, { isFresh: false });
    const { seen, guests, guestsMax } = host;
    return [seen?.isUsable ? seen.likeness : `${seen?.lack} ${seen?.detail}`, guests, guestsMax];
  };
  assert.deepEqual(await look(), ["device", 2, 9]);
  markOf = (dev, ino) => `${dev + 1n}:${ino}`;
  assert.deepEqual(await look(), ["inode", 2, 9]);
  markOf = (dev, ino) => `${dev}:${ino + 1n}`;
  assert.deepEqual(await look(), ["none", 2, 9]);
  more = { guestsMax: "many" };
  assert.deepEqual(await look(), ["host_away no sandbox host", 0, 1]);
  more = { version: 2, release: undefined };
  assert.deepEqual(await look(), ["host_version ? (2) ≠ x (1)", 0, 1]);
});

test("the door of a host has two questions, and takes none that is too long [X3][X4]", async (t) => {
  const { address, logged } = await openRawHost(t, playedProvider());
  const asked = (path: string, question: unknown) => askHost(doorOf(address), path, question, { timeoutMs: 30_000 });
  assert.deepEqual(await asked("/sandbox-host/other", {}), { ok: true, value: { code: "no_such_door" } });
  const unclear = { ok: true, value: { code: "not_understood", version: 1 } };
  assert.deepEqual([await asked(paths.end, { id: "../x" }), await asked(paths.look, {})], [unclear, unclear]);
  const quotes = 2;
  assert.deepEqual(await asked(paths.end, "x".repeat(bodyBytesMax - quotes)), unclear);
  const long = await asked(paths.end, "x".repeat(bodyBytesMax - quotes + 1));
  // It hangs up at once, and lets nobody wait.
  assert.ok(!long.ok && long.failure.why === "away" && long.failure.said !== "no answer in time", JSON.stringify(long));
  assert.deepEqual(logged, []);
});

test("a host is reached behind a path of a proxy, and over TLS that its server believes [X3][N1]", async (t) => {
  // A certificate for localhost and 127.0.0.1, its own authority, good until 2126.
  const pem = (name: string) => readFileSync(join(import.meta.dirname, "../data/docker-tls", name));
  const tls = { key: pem("key.pem"), cert: pem("cert.pem") };
  const { address } = await openRawHost(t, playedProvider(), { tls });
  assert.match(address, /^https:\/\/127\.0\.0\.1:\d+$/);
  const opens = async (...given: Parameters<typeof openRemote>) => {
    const server = provide(t, ...given);
    const opened = await server.open(wantedGuest({}));
    return opened.ok || (await server.probe()).missing.map(({ about }) => about?.detail);
  };
  assert.deepEqual(await opens([address]), [`${address}: DEPTH_ZERO_SELF_SIGNED_CERT`]);
  assert.equal(await opens([address], { authorities: tls.cert }), true);
  const plain = await openRawHost(t, playedProvider());
  const proxy = await startCutter(t, plain.address, {
    // It knows of nothing but what lies below its own path.
    toHost: (bytes) =>
      Buffer.from(
        bytes.toString("latin1").replace(/^POST \/(yard\/one\/)?/, (_, own) => (own ? "POST /" : "POST /none/")),
        "latin1",
      ),
  });
  assert.equal(await opens([`${proxy.address}/yard/one/`]), true);
});

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

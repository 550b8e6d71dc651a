import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import type { Execution, ExecutionEvent, Guest, GuestWanted, SandboxProvider } from "../../src/sandbox/provider.ts";
import { askHost, openStream } from "../../src/sandbox/remote/ask-host.ts";
import { type Host, lookAtAll } from "../../src/sandbox/remote/hosts.ts";
import type { SandboxHostOptions } from "../../src/sandbox/remote/sandbox-host.ts";
import { createVerifier, signRequest } from "../../src/sandbox/remote/signed.ts";
import { bodyBytesMax, lookQuestion, networkBytesMax, paths } from "../../src/sandbox/remote/wire.ts";
import { until } from "../world/events.ts";
import { manualClock } from "../world/manual-clock.ts";
import { openFiles } from "../world/open-files.ts";
import { playedProvider } from "../world/played-provider.ts";
import { openRemote, secret } from "./sandbox-on-remote.ts";
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

// The door of a sandbox host, tried by callers who should not get in, or who say what no server says.
test("who has another secret, none, or somebody's old request gets nothing at the door of a host [X3][Q1]", async (t) => {
  const { address, host, played: provider } = await raw(t);
  const other = { ...doorOf(address), secret: "another secret, of nobody we know" };
  assert.deepEqual(await openStream(other, { timeoutMs: 30_000 }), { ok: false, failure: { why: "secret", said: "" } });
  assert.deepEqual(await askHost(other, paths.look, {}, { timeoutMs: 30_000 }), {
    ...{ ok: false, failure: { why: "secret", said: "" } },
  });
  const body = JSON.stringify({ id: "a" });
  const signed = signRequest(secret, { method: "POST", path: paths.end, body }, { clock: systemClock, ids: systemIds });
  const send = async (authorization: string | undefined, path: string = paths.end, sent = body) => {
    const headers = authorization === undefined ? undefined : { authorization };
    const answer = await fetch(`${address}${path}`, { method: "POST", body: sent, ...(headers && { headers }) });
    const text = await answer.text();
    const isProven = signed.isProven(answer.headers.get("x-agentyard-proof"), text);
    return [answer.status, JSON.parse(text), isProven, signed.isProven(answer.headers.get("x-agentyard-proof"), "{}")];
  };
  const old = signRequest(
    secret,
    { method: "POST", path: paths.end, body },
    { clock: { ...systemClock, now: () => Date.now() - 120_000 }, ids: systemIds },
  );
  assert.deepEqual(
    [
      await send(undefined),
      await send("Bearer x"),
      await send(signed.authorization, paths.look),
      await send(signed.authorization, paths.end, '{"id":"b"}'),
      await send(old.authorization),
      await send(signed.authorization),
      await send(signed.authorization),
    ],
    [
      [401, { code: "unsigned" }, false, false],
      [401, { code: "unsigned" }, false, false],
      [401, { code: "wrong_secret" }, false, false],
      [401, { code: "wrong_secret" }, false, false],
      [401, { code: "wrong_clock" }, false, false],
      [200, { isGone: true }, true, false],
      [401, { code: "repeated" }, false, false],
    ],
  );
  assert.deepEqual([host.load(), provider.guests], [{ guests: 0, guestsMax: 4 }, []]);
});

test("an address where somebody without the secret listens is no host, whatever it answers [X3][Q1]", async (t) => {
  const impostor = createServer((_, response) => response.end('{"version":1}'));
  impostor.on("upgrade", (_, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: agentyard-guest\r\nConnection: Upgrade\r\n\r\n");
  });
  await new Promise<void>((resolve) => impostor.listen(0, "127.0.0.1", resolve));
  t.after(() => impostor.closeAllConnections());
  t.after(() => impostor.close());
  const place = impostor.address();
  const address = `http://127.0.0.1:${typeof place === "object" ? place?.port : ""}`;
  assert.deepEqual(await openStream(doorOf(address), { timeoutMs: 30_000 }), {
    ...{ ok: false, failure: { why: "secret", said: "" } },
  });
  const { missing } = await openRemote([address]).probe();
  assert.deepEqual(
    missing.map(({ name, reason }) => [name, reason]),
    [["host_away", `A sandbox host does not answer (${address}: no sandbox host).`]],
  );
});

test("a host whose clock is another one is named by that, and is asked for nothing [X3][P4]", async (t) => {
  const { address } = await raw(t);
  const clock = { ...systemClock, now: () => Date.now() - 120_000 };
  const { missing } = await openRemote([address], { clock }).probe();
  assert.deepEqual(
    missing.map(({ name, reason }) => [name, reason]),
    [["host_clock", `The clock of a sandbox host is more than a minute off (${address}).`]],
  );
});

test("a host of another version is refused in words that name both, and is asked for nothing [X3][N1]", async (t) => {
  const verify = createVerifier(secret, systemClock);
  const asked: string[] = [];
  const newer = createServer((request, response) => {
    let body = "";
    request.on("data", (bytes) => (body += bytes));
    request.once("end", () => {
      asked.push(request.url ?? "");
      const verdict = verify(request.headers.authorization, { method: "POST", path: request.url ?? "", body });
      assert.ok(typeof verdict === "object");
      const text = JSON.stringify({ version: 99, release: "9.9.9", of: "another shape" });
      response.writeHead(200, { "X-AgentYard-Proof": verdict.prove(text) });
      response.end(text);
    });
  });
  await new Promise<void>((resolve) => newer.listen(0, "127.0.0.1", resolve));
  t.after(() => newer.close());
  const place = newer.address();
  const address = `http://127.0.0.1:${typeof place === "object" ? place?.port : ""}`;
  const provider = openRemote([address]);
  assert.equal((await provider.open(wantedGuest({}))).ok, false);
  assert.deepEqual(
    (await provider.probe()).missing.map(({ name, reason }) => `${name}: ${reason}`),
    [`host_version: A sandbox host has another version of AgentYard (${address}: 9.9.9 (99) ≠ 0.0.0-test (1)).`],
  );
  assert.deepEqual(new Set(asked), new Set([paths.look]));
  const { address: own } = await raw(t);
  const caller = await openRaw(t, own);
  caller.say(orderOf({ version: 99 }));
  assert.partialDeepStrictEqual(await caller.next("refused"), { why: "version", said: "1" });
});

const lengths = (header: number, payload: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(header, 0);
  bytes.writeUInt32BE(payload, 4);
  return bytes;
};

const run = { type: "run", id: "1", language: "bash", agent: "a", timeoutMs: 1000, has: [] };
type Caller = Awaited<ReturnType<typeof openRaw>>;

const begin = async (caller: Caller) => {
  caller.say(orderOf());
  await caller.next("opened");
  return caller;
};

const wrong: readonly (readonly [what: string, say: (caller: Caller) => unknown])[] = [
  ["a header of a gigabyte", (caller) => caller.write(lengths(2 ** 30, 0))],
  ["a payload of a gigabyte", (caller) => caller.write(lengths(2, 2 ** 30))],
  ["no JSON", (caller) => caller.write(Buffer.concat([lengths(3, 0), Buffer.from("{{{")]))],
  ["another piece than control and network", (caller) => caller.socket.write(Buffer.from([7, 0, 0, 0, 1, 65]))],
  ["a word of another language", (caller) => caller.say({ type: "please" })],
  ["a run before the guest is there", (caller) => caller.say(run)],
  ["a user of the machine itself", (caller) => caller.say(orderOf({ uid: 999 }))],
  ["a path as one text", (caller) => caller.say(orderOf({ packages: "../../etc" }))],
  ["variables without an end", (caller) => caller.say(orderOf({ env: { A: "x".repeat(40_000) } }))],
  ["a place inside that is none", (caller) => caller.say(orderOf({ workspace: { inside: "/etc" } }))],
  ["two guests on one stream", async (caller) => (await begin(caller)).say(orderOf())],
  [
    "an id for two executions",
    async (caller) => {
      const { say } = await begin(caller);
      say(run);
      say(run);
    },
  ],
  [
    "input without an end",
    async (caller) => {
      const { say } = await begin(caller);
      for (let sent = 0; sent < 800; sent += 1) say({ type: "part", id: "1", name: "stdin" }, Buffer.alloc(65_536));
    },
  ],
  [
    "half a message, and then nothing",
    async (caller) => {
      (await begin(caller)).write(lengths(100, 0));
      caller.socket.end();
    },
  ],
];

test("what a server never says ends the stream, leaves no guest, and does the host no harm [X3][X4]", async (t) => {
  const { address, host, played: provider, logged } = await raw(t);
  for (const [what, say] of wrong) {
    const caller = await openRaw(t, address);
    await say(caller);
    await caller.closed;
    await until(`no guest is left after ${what}`, () => provider.living().length === 0 && host.load().guests === 0);
  }
  const caller = await openRaw(t, address);
  caller.say(orderOf());
  assert.partialDeepStrictEqual(await caller.next("opened"), { guests: 1, guestsMax: 4 });
  assert.deepEqual(logged, []);
});

test("a folder is found below the files of the host, by its names and through no link, or there is no guest [W5][X3]", async (t) => {
  const files = hostFolder(t);
  const outside = hostFolder(t);
  mkdirSync(join(files, "workspace/one/outputs"), { recursive: true });
  mkdirSync(join(outside, "secret"));
  symlinkSync(outside, join(files, "workspace/link"));
  symlinkSync("/etc", join(files, "workspace/one/skills"));
  writeFileSync(join(files, "file"), "");
  const { address, played: provider } = await raw(t, { files });
  const workspace = { inside: "/workspace/c1", writable: ["outputs"], marks: {} };
  const told = async (changes: object) => {
    const caller = await openRaw(t, address);
    caller.say(orderOf(changes));
    await caller.closed;
    const [first] = caller.heard;
    return first === undefined ? "broken off" : `${first.type} ${first.why} ${first.said}`;
  };
  const folders: readonly (readonly string[])[] = [
    ...[["..", "etc"], ["workspace", "..", "..", "etc"], ["."], ["/etc"], ["workspace/one"], ["a\0b"], ["file"]],
    ...[
      ["workspace", "link", "secret"],
      ["workspace", "link"],
      ["workspace", "nowhere"],
    ],
  ];
  const answers = await Promise.all(folders.map((folder) => told({ workspace: { ...workspace, folder } })));
  const cannot = (code: string) => `refused start_failed a folder cannot be opened: ${code}`;
  assert.deepEqual(answers, [
    ...Array.from({ length: 6 }, () => cannot("ENOENT")),
    ...[cannot("ENOTDIR"), cannot("ENOTDIR"), cannot("ENOTDIR"), cannot("ENOENT")],
  ]);
  const folder = ["workspace", "one"];
  const more = [
    { workspace: { ...workspace, folder: [] } },
    { workspace: { ...workspace, folder, skills: ["workspace", "one", "skills"] } },
    { packages: ["..", "etc"] },
    { workspace: { ...workspace, folder, marks: { ".": "1:1" } } },
    { workspace: { ...workspace, folder, marks: { ".": "1:1" } }, likeness: "inode" },
    { workspace: { ...workspace, folder, marks: { "../..": "1:1" } }, likeness: "inode" },
  ];
  assert.deepEqual(await Promise.all(more.map(told)), [
    ...["broken off", cannot("ENOTDIR"), cannot("ENOENT")],
    ...["refused wrong_workspace another folder: .", "refused wrong_workspace another folder: .", "broken off"],
  ]);
  assert.equal(provider.guests.length, 0);
  const caller = await openRaw(t, address);
  caller.say(orderOf({ workspace: { ...workspace, folder, marks: { ".": "1:1" } }, likeness: "none" }));
  await caller.next("opened");
  const mounted = provider.guests.map(({ wanted }) => wanted.workspace?.folder);
  assert.deepEqual(mounted, [join(files, "workspace/one")]);
});

test("a host that was taken over cannot fill the memory of its servers with what nobody reads [X3][X4]", async () => {
  const { near, host, guest } = await onHostileHost();
  const piece = Buffer.alloc(1024 * 1024);
  const gone = once(near, "close");
  for (let sent = 0; sent <= networkBytesMax && !near.destroyed; sent += piece.length)
    await Promise.race([new Promise((resolve) => host.network.write(piece, resolve)), gone]);
  assert.ok(near.destroyed, "what is more than all streams hold is an attack");
  assert.deepEqual(await guest.ended, { why: "ended" });
});

test("what a host says of a program is looked at as what a guest says: figures elsewhere, deep values and floods end it [X3][Q1]", async () => {
  const id = "e";
  const result = (kind: string, text: string) => [{ type: "result", id, kind, hasMore: false }, text] as const;
  const cut = [{ type: "cut", id, stream: "stdout", bytes: 9 }, "tail"] as const;
  const exited = { type: "exited", id, how: "done", code: 0, metrics: nothingUsed, isOpen: true };
  const ends = async (...said: (readonly [object, string])[]) => {
    const { say, guest } = await onHostileHost();
    const events: string[] = [];
    const reading = (async () => {
      const wanted = { id, language: "python", agent: "root", code: "", env: {}, timeoutMs: 1000 } as const;
      for await (const event of guest.run(wanted))
        events.push(event.kind === "exited" ? event.how : event.kind === "result" ? event.type : event.kind);
    })();
    for (const [message, text] of said) say(message, Buffer.from(text));
    say(exited);
    await reading;
    return events;
  };
  assert.deepEqual(await ends(result("png", "outputs/a.png"), cut), ["png", "cut", "done"]);
  assert.deepEqual(await ends(result("png", "outputs/../../of-others/a.png")), ["lost"]);
  assert.deepEqual(await ends(result("png", "/etc/passwd")), ["lost"]);
  assert.deepEqual(await ends(result("json", "[".repeat(1_000) + "]".repeat(1_000))), ["text", "done"]);
  assert.deepEqual(await ends(cut, cut), ["cut", "lost"]);
  const [started, output] = [
    { type: "started", id },
    { type: "output", id, stream: "stdout" },
  ];
  assert.deepEqual(await ends([started, ""], [output, "x"]), ["started", "output", "done"]);
  assert.deepEqual(await ends([started, ""], [started, ""]), ["started", "lost"]);
  assert.deepEqual(await ends([output, ""]), ["lost"]);
});

const nothingUsed = { durationMs: 0, cpuMs: 0, memoryPeakBytes: 0, readBytes: 0, writtenBytes: 0 };

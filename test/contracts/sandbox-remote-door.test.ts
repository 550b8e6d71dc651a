import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { askHost, openStream } from "../../src/sandbox/remote/ask-host.ts";
import { createVerifier, signRequest } from "../../src/sandbox/remote/signed.ts";
import { networkBytesMax, paths } from "../../src/sandbox/remote/wire.ts";
import { until } from "../world/events.ts";
import { playedProvider } from "../world/played-provider.ts";
import { openRemote, secret } from "./sandbox-on-remote.ts";
import { hostFolder, wantedGuest } from "./sandbox-place.ts";
import { doorOf, onHostileHost, openRaw, openRawHost, orderOf } from "./sandbox-remote-raw.ts";

// The door of a sandbox host, tried by callers who should not get in, or who say what no server says.

async function raw(t: TestContext, options: { readonly files?: string; readonly guestsMax?: number } = {}) {
  const provider = playedProvider();
  return { provider, ...(await openRawHost(t, provider, options)) };
}

test("who has another secret, none, or somebody's old request gets nothing at the door of a host [X3][Q1]", async (t) => {
  const { address, host, provider } = await raw(t);
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
  const { address, host, provider, logged } = await raw(t);
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
  const { address, provider } = await raw(t, { files });
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

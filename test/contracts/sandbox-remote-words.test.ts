import assert from "node:assert/strict";
import { once } from "node:events";
import { chownSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { duplexPair } from "node:stream";
import { type TestContext, test } from "node:test";
import { ok } from "../../src/base/result.ts";
import type { Execution, SandboxFault, SandboxProvider } from "../../src/sandbox/provider.ts";
import { askHost } from "../../src/sandbox/remote/ask-host.ts";
import type { SandboxHostOptions } from "../../src/sandbox/remote/sandbox-host.ts";
import { guestOrder, paths } from "../../src/sandbox/remote/wire.ts";
import { allOf } from "../world/bare-supervisor.ts";
import { until } from "../world/events.ts";
import { openFiles } from "../world/open-files.ts";
import { playedProvider } from "../world/played-provider.ts";
import { isRoot } from "./sandbox-guests.ts";
import { hostFolder, wantedGuest } from "./sandbox-place.ts";
import {
  askHostileHost,
  doorOf,
  onHostileHost,
  opened,
  openRaw,
  openRawHost,
  orderOf,
  provide,
} from "./sandbox-remote-raw.ts";

// What a server says to its hosts, and they to it: all of it arrives, and as it was said.

/** A server, and a host of it whose guests the test plays. */
async function pair(
  t: TestContext,
  {
    provider: given = {},
    ...options
  }: Partial<Omit<SandboxHostOptions, "provider">> & { readonly provider?: Partial<SandboxProvider> } = {},
) {
  const played = playedProvider();
  const raw = await openRawHost(t, { ...played, ...given }, options);
  const server = provide(t, [raw.address], options.files === undefined ? {} : { files: options.files });
  return { played, server, ...raw };
}

test("an execution arrives at its host as it was asked for, however long its code, its event and its input are [X1][X3]", async (t) => {
  const { played, server } = await pair(t);
  const guest = await opened(server);
  const long: Execution = {
    ...{ id: "long", language: "javascript", agent: "b", folder: "uploads/x", env: { A: "1" }, timeoutMs: 1234.5 },
    ...{ code: `é${"c".repeat(200_000)}!`, event: `"${"e".repeat(100_000)}é"`, stdin: Buffer.alloc(70_001, "s") },
  };
  const short: Execution = { id: "short", language: "python", agent: "a", code: "", timeoutMs: 1, stdin: Buffer.of() };
  const runs = [allOf(guest.run(long)), allOf(guest.run(short))];
  await until("both run", () => played.guests[0]?.running.size === 2);
  const running = [...(played.guests[0]?.running.values() ?? [])];
  assert.deepEqual(
    running.map(({ finish: _, signal: __, ...execution }) => execution),
    [long, { ...short, env: {}, folder: undefined }],
  );
  for (const execution of running) execution.finish();
  for (const events of await Promise.all(runs))
    assert.deepEqual([events.map(({ kind }) => kind), events.at(-1)], [["started", "exited"], doneEvent]);
});

const metrics = { durationMs: 1, cpuMs: 1, memoryPeakBytes: 1, readBytes: 0, writtenBytes: 0 };
const doneEvent = { kind: "exited", how: "done", code: 0, signal: undefined, metrics };

test("what a program tells arrives at the server as its host heard it: results, figures, what was left out, its end and its lost Python [X1][X6]", async (t) => {
  const said = [
    { kind: "started", isPythonNew: true },
    { kind: "output", stream: "stderr", bytes: Buffer.alloc(10, "o") },
    { kind: "result", type: "json", bytes: Buffer.from(`"${"j".repeat(200_000)}"`) },
    { kind: "result", type: "text", bytes: Buffer.from("") },
    { kind: "result", type: "png", bytes: Buffer.from("outputs/a.png") },
    { kind: "cut", stream: "stderr", bytes: 99, tail: Buffer.from("tail") },
    { kind: "exited", how: "out_of_memory", code: undefined, signal: "SIGKILL", isPythonLost: true, metrics },
  ];
  const { server } = await pair(t, {
    provider: playing({
      async *run() {
        yield* said;
      },
    }),
  });
  const guest = await opened(server);
  const events = await allOf(guest.run({ id: "e", language: "python", agent: "a", code: "", timeoutMs: 1000 }));
  assert.deepEqual(events, said);
});

/** Guests that do this otherwise than the others. */
function playing(changes: object): Pick<SandboxProvider, "open"> {
  const played = playedProvider();
  return {
    async open(wanted) {
      const guest = await played.open(wanted);
      return guest.ok ? ok({ ...guest.value, ...changes }) : guest;
    },
  };
}

test("what a server asks of a guest is done by its host, and answered in full [X1][X4]", async (t) => {
  const inodes = new Set(Array.from({ length: 20_000 }, (_, number) => 2 ** 40 + number));
  const told: unknown[] = [];
  const { server } = await pair(t, {
    provider: playing({
      endTurn: async ({ all }: { all: boolean }) => (all ? 7 : 3),
      unnamedBytes: async () => 12,
      usage: async () => ({ memoryBytes: 1.5, processes: 2, cpuMs: 3.5 }),
      sharedFiles: async () => inodes,
      reset: async (agent: string) => void told.push(["reset", agent]),
      warm: (agent: string, modules: string[]) => void told.push(["warm", agent, modules]),
    }),
  });
  const guest = await opened(server);
  guest.warm("b", ["numpy", "decimal"]);
  await guest.reset("a");
  assert.deepEqual(told, [
    ["warm", "b", ["numpy", "decimal"]],
    ["reset", "a"],
  ]);
  assert.deepEqual([await guest.endTurn(), await guest.endTurn({ all: true }), await guest.unnamedBytes()], [3, 7, 12]);
  assert.deepEqual(await guest.usage(), { memoryBytes: 1.5, processes: 2, cpuMs: 3.5 });
  assert.deepEqual(await guest.sharedFiles(), inodes);
  const unknown = await opened((await pair(t, { provider: playing({ sharedFiles: async () => undefined }) })).server);
  assert.equal(await unknown.sharedFiles(), undefined);
});

test("a guest has on its host all that its server asked for, by the paths of the host [W5][X3]", async (t) => {
  const files = hostFolder(t);
  const at = (...names: string[]) => join(files, ...names);
  for (const name of ["workspace/c1/outputs", "skills/all", "copies", "packages/u"])
    mkdirSync(at(name), { recursive: true });
  const { played, server } = await pair(t, { files });
  const mark = (name: string) => {
    const { dev, ino } = statSync(at(name), { bigint: true });
    return `${dev}:${ino}`;
  };
  const marks = { ".": mark("workspace/c1"), outputs: mark("workspace/c1/outputs") };
  const workspace = {
    ...{ folder: at("workspace/c1"), inside: "/workspace/c1", writable: ["outputs"], marks },
    ...{ skills: at("skills/all"), skillCopies: at("copies") },
  };
  const [near, far] = duplexPair();
  const { near: _, ...wanted } = wantedGuest({
    ...{
      workspace,
      uid: 5000,
      env: { A: "é" },
      packages: at("packages/u"),
      network: (link) => link.pipe(far).pipe(link),
    },
  });
  const guest = await server.open({ ...wanted, near: "somebody" });
  assert.ok(guest.ok, JSON.stringify(guest));
  const { network, ...seen } = played.guests[0]?.wanted ?? {};
  const { network: __, ...rest } = wanted;
  const more = { skills: mark("skills/all"), "../../skills": mark("copies") };
  const packages = { "../../run/agentyard/packages": mark("packages/u") };
  assert.deepEqual(seen, { ...rest, workspace: { ...workspace, marks: { ...marks, ...more, ...packages } } });
  // Its one way out leads to the server, and both ends are gone when one is.
  const [inside, host] = duplexPair();
  network?.(host);
  inside.write("to the server");
  assert.equal(String(await once(near, "data")), "to the server");
  near.write("and back");
  assert.equal(String(await once(inside, "data")), "and back");
  const closed = new Promise((resolve) => host.once("close", resolve));
  await guest.value.close("idle");
  await closed;
  assert.deepEqual(
    openFiles().filter((path) => path.startsWith(files)),
    [],
  );
  const other = { ...workspace, marks: { ...marks, outputs: mark("copies") } };
  const wrong = await server.open(wantedGuest({ workspace: other }));
  assert.deepEqual(wrong.ok || wrong.failure.why, "wrong_workspace");
  assert.match(wrong.ok ? "" : wrong.failure.said, /^another folder: outputs \(http/);
  const outside = await server.open(wantedGuest({ workspace: { ...workspace, folder: "/var/lib" }, packages: "/srv" }));
  assert.deepEqual(outside.ok || outside.failure, {
    ...{ why: "start_failed", said: `not below ${files}: /srv, /var/lib` },
  });
});

test("a server without root names nobody: on a host that is root its programs are who owns the folder, unless that is root [W5][S4]", {
  skip: !isRoot && "only root gives files away",
}, async (t) => {
  const files = hostFolder(t);
  const { played, server } = await pair(t, { files });
  const uidOf = async (name: string, owner: number, uid?: number) => {
    mkdirSync(join(files, name));
    chownSync(join(files, name), owner, owner);
    const workspace = { folder: join(files, name), inside: "/workspace/c1", writable: "all" as const };
    await opened(server, { workspace, uid });
    return played.guests.at(-1)?.wanted.uid;
  };
  assert.deepEqual(
    [await uidOf("own", 54_321), await uidOf("of-root", 0), await uidOf("named", 54_321, 60_000)],
    [54_321, undefined, 60_000],
  );
});

const refusals: readonly SandboxFault["why"][] = [
  ...(["unavailable", "start_failed", "start_timeout", "full", "wrong_workspace"] as const),
];

test("why a host does not start a guest is what its server says, with the address of the host [X3]", async (t) => {
  const { played, server, address, host } = await pair(t);
  for (const why of refusals) {
    played.fault = { why, said: "x".repeat(3000) };
    const failure = { why, said: `${"x".repeat(2000)} (${address})` };
    assert.deepEqual(await server.open(wantedGuest({})), { ok: false, failure });
    assert.equal(host.load().guests, 0);
  }
  await (await opened(server)).close("idle");
});

test("two guests of one name are not on one host, a name that is free again can be had again, and one can be ended by its name [X3]", async (t) => {
  const { address, host, played } = await pair(t);
  const endedWord = { type: "ended", why: "caller_gone" };
  const order = async () => {
    const caller = await openRaw(t, address);
    caller.say(orderOf({ id: "same" }));
    await Promise.race([until("it is told", () => caller.heard.length > 0), caller.closed]);
    return { caller, told: caller.heard[0]?.type, why: caller.heard[0]?.why };
  };
  const first = await order();
  const second = await order();
  assert.deepEqual([first.told, second.told, second.why, host.load().guests], ["opened", "refused", "full", 1]);
  first.caller.socket.destroy();
  await until("it is free again", () => host.load().guests === 0);
  const third = await order();
  assert.equal(third.told, "opened");
  // Who lost its stream ends it at the door, and is told when it is gone.
  const told = await askHost(doorOf(address), paths.end, { id: "same" }, { timeoutMs: 30_000 });
  assert.deepEqual(told, { ok: true, value: { isGone: true } });
  assert.deepEqual([played.guests.at(-1)?.told, await third.caller.next("ended")], [["close caller_gone"], endedWord]);
});

test("a host that sends more than its programs may say, tells less than it left out, or answers what nobody asked is left [X3][X4]", async () => {
  const piece = Buffer.alloc(65_536, "x");
  const [stdout, stderr] = [output("stdout"), output("stderr")];
  const ends = async (...said: (readonly [object, Buffer?])[]) => {
    const { say, guest, near } = await onHostileHost();
    const reading = allOf(guest.run({ id: "e", language: "python", agent: "root", code: "", timeoutMs: 1000 }));
    for (const [message, payload] of said) say(message, payload);
    say({ type: "exited", id: "e", how: "done", code: 0, metrics, isOpen: false });
    const end = (await reading).at(-1);
    return [end?.kind === "exited" && end.how, near.destroyed, guest.isOpen()];
  };
  // 100 000 bytes, and 64 KiB of what the supervisor adds; each stream has its own. One that cannot go on says so.
  const well = ["done", false, false];
  assert.deepEqual(await ends([stdout, piece], [stderr, piece], [stdout, piece], [stderr, piece]), well);
  const lost = ["lost", true, false];
  assert.deepEqual(await ends([stderr, piece], [stderr, piece], [stderr, piece]), lost);
  const cut = { type: "cut", id: "e", stream: "stdout", bytes: 3 };
  assert.deepEqual(await ends([cut, Buffer.from("end")], [{ ...cut, stream: "stderr" }]), well);
  assert.deepEqual(await ends([cut, Buffer.from("tail")]), lost);
  const result = { type: "result", id: "e", kind: "text", hasMore: true };
  assert.deepEqual(await ends(...Array.from({ length: 17 }, () => [result, piece] as const)), lost);
  assert.deepEqual(await ends([{ type: "done", question: 1, count: 0 }]), lost);
  assert.deepEqual(await ends([{ type: "opened", guests: 1, guestsMax: 1 }]), lost);
});

const output = (stream: string) => ({ type: "output", id: "e", stream });

test("files that programs share with their memory are known only where files have the same numbers on both machines [X4]", async () => {
  for (const [likeness, known] of [
    ["device", new Set([1, 2])],
    ["inode", new Set([1, 2])],
    ["none", undefined],
  ] as const) {
    const { guest, heard, say } = await onHostileHost({ order: guestOrder.parse(orderOf({ likeness })) });
    const shared = guest.sharedFiles();
    await until("it is asked", () => heard.length === 2);
    const answer = { type: "shared", question: 1, isKnown: true };
    say({ ...answer, hasMore: true }, Buffer.from(BigUint64Array.of(1n).buffer));
    say({ ...answer, hasMore: false }, Buffer.from(BigUint64Array.of(2n).buffer));
    assert.deepEqual(await shared, known);
  }
});

test("who stops to listen to a program has it killed, one that is over is told nothing more, and how full a host is is heard with each answer [X1][X3]", async () => {
  const loads: object[] = [];
  const onLoad = ({ guests, guestsMax }: { guests: number; guestsMax: number }) =>
    void loads.push({ guests, guestsMax });
  const { guest, heard, say } = await onHostileHost({ onLoad });
  const stop = new AbortController();
  const run = (id: string) =>
    guest.run({ id, language: "bash", agent: "a", code: "", timeoutMs: 1000, signal: stop.signal });
  const left = run("left")[Symbol.asyncIterator]();
  const begun = left.next();
  say({ type: "started", id: "left" });
  await begun;
  await left.return?.();
  const over = allOf(run("over"));
  say({ type: "exited", id: "over", how: "done", code: 0, metrics, isOpen: true });
  assert.equal((await over).length, 1);
  stop.abort();
  guest.interrupt("over");
  guest.interrupt("left");
  await until("all is heard", () => JSON.stringify(heard.at(-1)) === '{"type":"interrupt","id":"left"}');
  const told = heard.slice(1).map((message) => JSON.stringify(message, ["type", "id"]));
  assert.deepEqual(
    told.filter((text) => !text.includes('"run"')),
    ['{"type":"kill","id":"left"}', '{"type":"cancel","id":"left"}', '{"type":"interrupt","id":"left"}'],
  );
  const { say: refuse, opening } = askHostileHost({ onLoad });
  refuse({ type: "refused", why: "full", said: "", guests: 7, guestsMax: 7 });
  assert.equal((await opening).ok, false);
  assert.deepEqual(loads, [
    { guests: 1, guestsMax: 1 },
    { guests: 7, guestsMax: 7 },
  ]);
});

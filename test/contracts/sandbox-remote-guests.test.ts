import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { duplexPair } from "node:stream";
import { after, type TestContext, test } from "node:test";
import { ok } from "../../src/base/result.ts";
import type { Execution, SandboxProvider } from "../../src/sandbox/provider.ts";
import type { SandboxHostOptions } from "../../src/sandbox/remote/sandbox-host.ts";
import { allOf } from "../world/bare-supervisor.ts";
import { until } from "../world/events.ts";
import { openFiles } from "../world/open-files.ts";
import { playedProvider } from "../world/played-provider.ts";
import { cannotStart, isAlive, isRoot } from "./sandbox-guests.ts";
import { type HostProcess, type openRemote, startHost } from "./sandbox-on-remote.ts";
import { done, hostFolder, triedGuest, wantedGuest } from "./sandbox-place.ts";
import { onHostileHost, opened, openRaw, openRawHost, orderOf, provide, startCutter } from "./sandbox-remote-raw.ts";

// What becomes of guests when machines and the lines between them fail. Two hosts serve all tests; who ends one has its own.

const options = { skip: cannotStart };
const hosts: Promise<HostProcess>[] = [];
after(async () => {
  for (const host of hosts) await (await host).end();
});

async function sharedHosts(): Promise<readonly [HostProcess, HostProcess]> {
  if (hosts.length === 0) hosts.push(startHost(), startHost());
  const [one, two] = await Promise.all(hosts);
  assert.ok(one !== undefined && two !== undefined);
  return [one, two];
}

/** The processes of a guest's bwrap on this machine, which stands for all machines here. */
function processesOf(host: HostProcess, guest: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => isAlive(pid) && commandOf(pid).includes(`${host.installation}.${guest}`));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

test(
  "a host that is killed loses its guests and nothing else: the next one is started elsewhere [X1][X3]",
  options,
  async (t) => {
    const [well] = await sharedHosts();
    const doomed = await startHost();
    t.after(() => doomed.end("SIGKILL"));
    const provider = provide(t, [doomed.address, well.address]);
    const guest = await opened(provider, { near: "a user" });
    assert.equal(processesOf(doomed, guest.id).length > 0, true);
    const kinds: string[] = [];
    for await (const event of guest.run({
      id: "1",
      language: "bash",
      code: "sleep 1000",
      agent: "a",
      timeoutMs: 60_000,
    })) {
      kinds.push(event.kind === "exited" ? event.how : event.kind);
      if (event.kind === "started") doomed.child.kill("SIGKILL");
    }
    assert.deepEqual([kinds, guest.isOpen()], [["started", "lost"], false]);
    assert.deepEqual(await guest.ended, { why: "ended" });
    await until("its processes are gone", () => processesOf(doomed, guest.id).length === 0);
    const next = triedGuest(await opened(provider, { near: "a user" }));
    assert.deepEqual(await next.run("bash", "echo on"), done({ stdout: "on\n" }));
    assert.equal(processesOf(well, next.guest.id).length > 0, true);
    const { missing, degraded } = await provider.probe({ fresh: true });
    const away = degraded.filter(({ name }) => name === "host_away").map(({ reason }) => reason);
    assert.deepEqual([missing, away], [[], [`A sandbox host does not answer (${doomed.address}: ECONNREFUSED).`]]);
  },
);

test(
  "a line that is cut ends the guest on its host, and the server waits until it is gone [X1][X3]",
  options,
  async (t) => {
    const [host] = await sharedHosts();
    const line = await startCutter(t, host.address);
    const provider = provide(t, [line.address]);
    const guest = await opened(provider);
    assert.equal(processesOf(host, guest.id).length > 0, true);
    const events = allOf(guest.run({ id: "1", language: "bash", code: "sleep 1000", agent: "a", timeoutMs: 60_000 }));
    await guest.usage();
    line.cut({ stays: false });
    assert.partialDeepStrictEqual((await events).at(-1), { kind: "exited", how: "lost" });
    await guest.ended;
    assert.deepEqual(processesOf(host, guest.id), []);
    // Nobody gets through: it is told as away, and nothing hangs.
    line.cut({ stays: true });
    const refused = await provider.open(wantedGuest({}));
    assert.equal(!refused.ok && refused.failure.why, "unavailable");
    const { missing } = await provider.probe({ fresh: true });
    assert.deepEqual(
      missing.map(({ name }) => name),
      ["host_away"],
    );
  },
);

test(
  "a server that is killed takes its guests on a host along, those of another server go on [X1][X3]",
  options,
  async (t) => {
    const [host] = await sharedHosts();
    const script = join(import.meta.dirname, "sandbox-serving-child.ts");
    const server = spawn(process.execPath, [script, "remote", "served", host.address], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.after(() => server.kill("SIGKILL"));
    await new Promise((resolve) => server.stdout.once("data", resolve));
    const other = triedGuest(await opened(provide(t, [host.address])));
    assert.equal(processesOf(host, "served").length > 0, true);
    server.kill("SIGKILL");
    await until("its guest is gone", () => processesOf(host, "served").length === 0);
    assert.deepEqual(await other.run("bash", "echo on"), done({ stdout: "on\n" }));
  },
);

test(
  "a host that sees other files, or none, or has another secret, is told by what it lacks [X3][P2]",
  options,
  async (t) => {
    const elsewhere = await openRawHost(t, playedProvider(), { files: hostFolder(t) });
    const stranger = await openRawHost(t, playedProvider(), { secret: "another secret, of nobody we know" });
    const provider = provide(t, [elsewhere.address, stranger.address]);
    assert.deepEqual(
      (await provider.probe()).missing.map(({ name, reason }) => [name, reason]),
      [
        ["host_files", `A sandbox host does not see the files of this server (${elsewhere.address}: ENOENT).`],
        ["host_secret", `A sandbox host has another secret (${stranger.address}).`],
      ],
    );
    const refused = await provider.open(wantedGuest({}));
    assert.equal(!refused.ok && refused.failure.why, "unavailable");
    const lacking = async (given: Parameters<typeof openRemote>) =>
      (await provide(t, ...given).probe()).missing.map(({ name, about }) => `${name} ${about?.detail}`);
    assert.deepEqual(
      [
        await lacking([[]]),
        await lacking([[elsewhere.address], { secret: undefined }]),
        await lacking([[elsewhere.address], { isImaged: true }]),
        await lacking([[elsewhere.address], { files: "/proc/nowhere" }]),
      ],
      [
        ["no_hosts sandbox.hosts"],
        ["no_hosts AGENTYARD_SANDBOX_SECRET"],
        ["host_images "],
        [`host_files ${elsewhere.address}: ENOENT`],
      ],
    );
  },
);

test(
  "a guest that asks for connections and never listens is ended before it fills its host's memory [X4][X5]",
  options,
  async (t) => {
    const [host] = await sharedHosts();
    // As the server's end would: it answers every question of a guest that reads no answer.
    const caller = await openRaw(t, host.address);
    caller.say(orderOf({ id: "deaf", hasNetwork: true }));
    await caller.next("opened");
    caller.say(
      { type: "run", id: "1", language: "bash", agent: "a", timeoutMs: 60_000, has: [] },
      Buffer.from("sleep 1000"),
    );
    await caller.next("started");
    const answer = Buffer.alloc(64 * 1024);
    // The supervisor takes frames; a window that was never opened is nothing it knows, so it stops to listen.
    const flood = async () => {
      while (!caller.socket.destroyed) {
        caller.network(answer);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.race([flood(), caller.closed]);
    await until("its guest is gone", () => processesOf(host, "deaf").length === 0);
  },
);

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

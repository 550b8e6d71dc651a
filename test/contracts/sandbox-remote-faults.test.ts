import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { allOf } from "../world/bare-supervisor.ts";
import { until } from "../world/events.ts";
import { cannotStart, isAlive, ownerUid, workspaceFolder } from "./sandbox-guests.ts";
import { type HostProcess, type openRemote, startHost } from "./sandbox-on-remote.ts";
import { conversation, done, hostFolder, triedGuest, wantedGuest } from "./sandbox-place.ts";
import { opened, openRaw, orderOf, provide, startCutter } from "./sandbox-remote-raw.ts";

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
    const script = join(import.meta.dirname, "sandbox-remote-server-child.ts");
    const server = spawn(process.execPath, [script, host.address, "served"], { stdio: ["ignore", "pipe", "inherit"] });
    t.after(() => server.kill("SIGKILL"));
    await new Promise((resolve) => server.stdout.once("data", resolve));
    const other = triedGuest(await opened(provide(t, [host.address])));
    assert.equal(processesOf(host, "served").length > 0, true);
    server.kill("SIGKILL");
    await until("its guest is gone", () => processesOf(host, "served").length === 0);
    assert.deepEqual(await other.run("bash", "echo on"), done({ stdout: "on\n" }));
  },
);

test("a host that has as many guests as it takes says so, and the next host is asked [X3][X4]", options, async (t) => {
  const [well] = await sharedHosts();
  const small = await startHost({ guestsMax: 1 });
  t.after(() => small.end());
  const alone = provide(t, [small.address]);
  // Whoever looked before it was full takes it for the least busy one, and goes there first.
  const both = provide(t, [small.address, well.address]);
  assert.deepEqual((await both.probe()).missing, []);
  const first = await opened(alone);
  const second = await alone.open(wantedGuest({}));
  assert.equal(!second.ok && second.failure.why, "full");
  const elsewhere = await opened(both);
  assert.equal(processesOf(well, elsewhere.id).length > 0, true);
  await first.close("idle");
  await opened(alone);
});

test(
  "guests of one user are kept on one host, those of many users are spread over all [X3][N1]",
  options,
  async (t) => {
    const both = [await startHost(), await startHost()] as const;
    for (const host of both) t.after(() => host.end());
    const provider = provide(
      t,
      both.map(({ address }) => address),
    );
    const placed = async (near: string) => {
      const guest = await opened(provider, { near });
      return both.findIndex((host) => processesOf(host, guest.id).length > 0);
    };
    const [one, two] = [await placed("one"), await placed("two")];
    assert.deepEqual([one, two].sort(), [0, 1]);
    assert.deepEqual([await placed("one"), await placed("one"), await placed("two")], [one, one, two]);
  },
);

test(
  "a host that sees other files, or none, or has another secret, is told by what it lacks [X3][P2]",
  options,
  async (t) => {
    const elsewhere = await startHost({ files: hostFolder(t) });
    t.after(() => elsewhere.end());
    const stranger = await startHost({ secret: "another secret, of nobody we know" });
    t.after(() => stranger.end());
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
  "a guest that sees another folder than its server means is not opened, nor one beside the files [W5][X3]",
  options,
  async (t) => {
    const [host] = await sharedHosts();
    const provider = provide(t, [host.address]);
    const folder = workspaceFolder(t);
    const wrong = await provider.open(
      wantedGuest({ workspace: { ...conversation(folder), marks: { ".": "1:1" } }, uid: ownerUid }),
    );
    assert.deepEqual(wrong.ok || wrong.failure.why, "wrong_workspace");
    const outside = await provider.open(wantedGuest({ workspace: conversation("/var/lib") }));
    assert.deepEqual(outside.ok || outside.failure.why, "start_failed");
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

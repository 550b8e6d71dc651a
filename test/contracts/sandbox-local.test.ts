import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { canReach } from "../../src/sandbox/guest/sources.ts";
import { readBwrap } from "../../src/sandbox/local/bwrap.ts";
import { probeMachine } from "../../src/sandbox/local/probe.ts";
import { reapLeftovers } from "../../src/sandbox/local/reap.ts";
import { wordsFor } from "../../src/words/words.ts";
import { until } from "../world/events.ts";
import {
  askPython,
  bwrapOf,
  bwrapPath,
  cannotStart,
  descendantsOf,
  isAlive,
  isRoot,
  keepGuest,
  openHost,
  openProvider,
  ownerUid,
  serverPath,
  startPython,
  guestTest as test,
  workspaceFolder,
} from "./sandbox-guests.ts";
import { done, hostFolder, triedGuest, wantedGuest } from "./sandbox-place.ts";

test("everything that runs in a guest ends with a killed server, and its groups are swept by the next one [X3]", async (t) => {
  const installation = `test${systemIds.hex(12)}`;
  const server = spawn(process.execPath, [serverPath, "serve", "", installation], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => server.kill("SIGKILL"));
  let said = "";
  server.stdout.on("data", (bytes) => (said += bytes));
  await until("both executions run", () => said.split("on").length === 3);
  const { pid = 0 } = server;
  // bwrap, the supervisor, bash and its three sleeps, a Python and its one.
  await until("all their processes are there", () => descendantsOf(pid).length === 8);
  const processes = descendantsOf(pid);
  server.kill("SIGKILL");
  await until("all are gone", () => !processes.some(isAlive));

  const next = openProvider({ installation });
  const groups = (await openHost(t)).groups.has.pids ? 1 : 0;
  assert.deepEqual(await next.reap(), { processes: 0, groups, mounts: 0 });
  const opened = await next.open(wantedGuest({ id: "served" }));
  assert.ok(opened.ok);
  assert.deepEqual(await triedGuest(opened.value).run("bash", "echo again"), done({ stdout: "again\n" }));
  await next.close();
});

test("without bubblewrap nothing is opened, and as soon as it is there everything is [X3]", async (t) => {
  const bwrap = join(hostFolder(t), "bwrap");
  const provider = openProvider({ bwrap });
  t.after(() => provider.close());
  const refused = await provider.open(wantedGuest({}));
  const { missing } = await provider.probe();
  assert.deepEqual(
    [refused, missing.map(({ name }) => name)],
    [{ ok: false, failure: { why: "unavailable", said: "no_bwrap" } }, ["no_bwrap"]],
  );
  symlinkSync(bwrapPath, bwrap);
  const opened = await provider.open(wantedGuest({}));
  assert.ok(opened.ok);
  assert.deepEqual((await provider.probe()).missing, []);
});

test("a guest that does not answer any more is given up, and gone [X1][X3]", async (t) => {
  const installation = `test${systemIds.hex(12)}`;
  let isHurried = false;
  const hurried: Clock = { ...systemClock, after: (ms, action) => systemClock.after(isHurried ? ms / 10 : ms, action) };
  const provider = openProvider({ installation, clock: hurried });
  t.after(() => provider.close());
  const opened = await provider.open(wantedGuest({ id: "g1" }));
  assert.ok(opened.ok);
  const [first = 0] = descendantsOf(bwrapOf(`${installation}.g1`));
  process.kill(first, "SIGSTOP");
  isHurried = true;
  const { end } = await triedGuest(opened.value).run("bash", "echo on", { timeoutMs: 1000 });
  assert.deepEqual([end, await opened.value.ended], ["timeout undefined", { why: "execution_does_not_end" }]);
  assert.equal(isAlive(first), false);
});

const ownFolders = (folder: string) => ({ folder, inside: "/workspace/c1", writable: ["uploads", "outputs", "temp"] });

test("code of a conversation writes uploads, outputs and temp, and nothing else anywhere [W6][S4][X3]", async (t) => {
  const folder = workspaceFolder(t);
  for (const name of ["skills", "uploads", "outputs"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "skills/SKILL.md"), "read me");
  writeFileSync(join(folder, "uploads/a.csv"), "1,2\n");
  const found = await askPython(
    await openHost(t),
    `
def put(path):
    return error_of(lambda: open(path, "w").write("x"))
places = ["/workspace/c1/outputs", "/workspace/outputs", "/workspace/c1/temp", "/workspace/uploads", "/tmp", "/dev/shm",
  "/workspace/c1", "/workspace/c1/skills", "/workspace", "/", "/usr/lib", "/etc", "/dev", "/run"]
say({
  "written": {place: put(place + "/made.txt") for place in places},
  "read": [open("/workspace/uploads/a.csv").read(), open("skills/SKILL.md").read()],
  "moved": error_of(lambda: os.rename("/workspace/outputs/made.txt", "/workspace/c1/outputs/moved.txt")),
  "removed": error_of(lambda: os.rename("/workspace/c1/outputs", "/workspace/c1/gone")),
  "here": os.getcwd(), "workspaces": sorted(os.listdir("/workspace")),
})
`,
    { workspace: ownFolders(folder) },
  );
  const closed = "Read-only file system";
  assert.deepEqual(found, {
    written: {
      "/workspace/c1/outputs": null,
      "/workspace/outputs": null,
      "/workspace/c1/temp": null,
      "/workspace/uploads": null,
      "/tmp": null,
      "/dev/shm": null,
      "/workspace/c1": closed,
      "/workspace/c1/skills": closed,
      "/workspace": closed,
      "/": closed,
      "/usr/lib": closed,
      "/etc": closed,
      "/dev": closed,
      "/run": closed,
    },
    read: ["1,2\n", "read me"],
    moved: null,
    removed: closed,
    here: "/workspace/c1",
    workspaces: ["c1", "outputs", "temp", "uploads"],
  });
  assert.deepEqual(readdirSync(folder).sort(), ["outputs", "skills", "temp", "uploads"]);
  const { uid } = statSync(join(folder, "outputs/moved.txt"));
  assert.equal(uid, ownerUid ?? process.geteuid?.());
});

test("a workspace below a folder that is closed to everybody else is mounted all the same [P1][X3]", async (t) => {
  const closed = workspaceFolder(t);
  chmodSync(closed, 0o700);
  const folder = join(closed, "it's $(here)");
  mkdirSync(folder);
  const program = join(closed, "program");
  writeFileSync(program, "#!/bin/sh\necho ran\n", { mode: 0o755 });
  const host = await openHost(t);
  const code = `
import subprocess
open("outputs/a.txt", "w").write("x")
ran = subprocess.run(["/opt/program"], capture_output=True, text=True).stdout
say([ran, sorted(os.listdir(".")), [int(name) for name in os.listdir("/proc/1/fd") if name in "0123456789"]])
`;
  const inside = { workspace: ownFolders(folder), programs: [{ path: program, inside: "/opt/program" }] };
  // 4 is the listing itself.
  const expected = ["ran\n", ["outputs", "temp", "uploads"], [0, 1, 2, 3, 4]];
  assert.deepEqual(await askPython(host, code, inside), expected);
  const byName = { ...host, bwrap: { ...host.bwrap, hasBindFd: false } };
  assert.deepEqual(await askPython(byName, code, inside), expected);
  assert.equal(readFileSync("/proc/self/mountinfo", "utf8").includes("/mnt/0"), false);
});

test("a variable cannot smuggle in a mount [X3]", async (t) => {
  const env = { A: "b\0--ro-bind\0/\0/host" };
  await assert.rejects(startPython(await openHost(t), "say(1)", { env }), /no text for a guest holds a NUL/);
});

const ordinaryUid = 54_322;
const isClosed = ![serverPath, process.execPath].every((path) => canReach(path, ordinaryUid));

test("an ordinary user has guests too, with the same walls [X3]", {
  skip: cannotStart || (isRoot && isClosed && "other users cannot get to this folder"),
}, () => {
  const code = `
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
say([os.getuid(), os.getpid(), status["CapEff"], status["NoNewPrivs"], status["Seccomp"], error_of(lambda: open("/x", "w"))])
`;
  const { stdout, stderr } = spawnSync(process.execPath, [serverPath, "ask", code], {
    ...(isRoot ? { uid: ordinaryUid, gid: ordinaryUid } : {}),
    cwd: "/",
    env: {},
    encoding: "utf8",
  });
  const answer = [1000, 1, "0000000000000000", "1", "2", "Read-only file system"];
  assert.deepEqual([stdout, stderr], [`${JSON.stringify(answer)}\n`, ""]);
});

test("a guest that its group does not take never runs [X4]", async (t) => {
  const host = await openHost(t);
  const folder = workspaceFolder(t);
  const make: typeof host.groups.make = (id, wanted) => ({ ...host.groups.make(id, wanted), add: () => false });
  const started = await startPython({ ...host, groups: { ...host.groups, make } }, 'open("ran.txt", "w")', {
    workspace: { folder, inside: "/workspace/a", writable: "all" },
  });
  assert.deepEqual(started, {
    ok: false,
    failure: { why: "start_failed", said: "the control group did not take the guest" },
  });
  assert.deepEqual(readdirSync(folder), []);
});

test("a guest that does not get ready in time, or ends before, is a fault that tells why [X3]", async (t) => {
  const host = await openHost(t);
  const faults = [
    await startPython({ ...host, startTimeoutMs: 300 }, "import time; time.sleep(60)"),
    await startPython(host, 'sys.exit("no libraries here")'),
    await startPython({ ...host, bwrap: { ...host.bwrap, path: "/nowhere/bwrap" } }, "say(1)"),
  ];
  assert.deepEqual(
    faults.map((fault) => !fault.ok && fault.failure),
    [
      { why: "start_timeout", said: "" },
      { why: "start_failed", said: "no libraries here" },
      { why: "start_failed", said: "spawn /nowhere/bwrap ENOENT" },
    ],
  );
});

test("a guest that nobody looks after any more is found and ended, those of others are not [X3]", async (t) => {
  const host = await openHost(t);
  const { child, pid } = await keepGuest(t, host.installation);
  const stranger = await startPython(await openHost(t), "say(1)");
  assert.ok(stranger.ok);

  const { processes, groups, mounts } = await reapLeftovers({
    installation: host.installation,
    groups: host.groups,
    clock: systemClock,
  });
  // bwrap and the guest's first process.
  assert.deepEqual([processes, groups, mounts], [2, host.groups.has.pids ? 1 : 0, 0]);
  assert.equal(isAlive(pid), false);
  await until("its server knows", () => child.exitCode !== null);
  assert.equal(isAlive(stranger.value.pid), true);
  stranger.value.kill();
  await stranger.value.ended;
  assert.deepEqual(await reapLeftovers({ installation: host.installation, groups: host.groups, clock: systemClock }), {
    processes: 0,
    groups: 0,
    mounts: 0,
  });
});

async function machineOf(t: TestContext) {
  return { ...(await openHost(t)), ids: systemIds, words: wordsFor("en").sandbox };
}

test("without bubblewrap, or with one too old, no code runs, and the command that mends it is told [X3][P1]", async (t) => {
  const machine = await machineOf(t);
  const bwrap = await readBwrap("/nowhere/bwrap");
  const probes = [
    await probeMachine({ ...machine, bwrap }),
    await probeMachine({ ...machine, bwrap: { ...machine.bwrap, lacking: ["--size"] } }),
    await probeMachine({ ...machine, python: "/nowhere/python3" }),
  ];
  assert.deepEqual(
    probes.map(({ missing, degraded }) => [
      missing.map(({ name, fix }) => [name, /install|add|-S/i.test(fix)]),
      degraded,
    ]),
    [
      [[["no_bwrap", true]], []],
      [[["old_bwrap", true]], []],
      [[["no_python", true]], []],
    ],
  );
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { notingClock } from "../../../test/world/manual-clock.ts";
import { openGroups } from "./groups.ts";

const limits = {
  ...{ memoryBytes: 2 ** 30, processesMax: 128, cpus: 1.5, fileBytesMax: 1, tmpBytesMax: 1, outputBytesMax: 1 },
};

/** A machine's groups as plain files: what is written stays as written. */
function machine(t: TestContext, mounts: readonly string[], groups: string, files: Readonly<Record<string, string>>) {
  const root = folderWith(t, files);
  const mountinfo = mounts.map((mount, index) => mount.replace("ID", `${30 + index} 24 0:26`).replace("ROOT", root));
  const proc = folderWith(t, { "self/cgroup": groups, "self/mountinfo": `${mountinfo.join("\n")}\n` });
  const { clock, waits } = notingClock();
  return { root, waits, groups: openGroups({ installation: "m1", clock, proc }) };
}

const old = ["memory", "freezer", "cpu", "pids"].map((name) => `ID / ROOT/${name} rw - cgroup cgroup rw,${name}`);
const inOld = "6:freezer:/\n4:cpu:/\n3:memory:/\n2:pids:/\n";
const oldFolders = { "memory/": "", "freezer/": "", "cpu/": "", "pids/": "" };

test("on a machine with the old control groups every limit is set, that of swap beside that of memory [X4]", (t) => {
  const { root, groups } = machine(t, old, inOld, oldFolders);
  const group = groups.make("g1", limits);
  const own = (path: string) => join(root, path.replace("/", "/agentyard-m1/g1/"));
  const files = ["memory/memory.limit_in_bytes", "memory/memory.memsw.limit_in_bytes", "pids/pids.max"];
  const written = [...files, "cpu/cpu.cfs_period_us", "cpu/cpu.cfs_quota_us"].map((file) =>
    readFileSync(own(file), "utf8"),
  );
  assert.deepEqual(written, ["1073741824", "1073741824", "128", "100000", "150000"]);
  assert.deepEqual(groups.has, { memory: true, pids: true, cpu: true, kill: true });
  assert.equal(group.add(4242), true);
  assert.deepEqual(
    ["memory", "freezer", "cpu", "pids"].map((name) => readFileSync(own(`${name}/cgroup.procs`), "utf8")),
    ["4242", "4242", "4242", "4242"],
  );
});

test("the processes of a group are ended, in whichever of its folders they are found, and it is thawed again [X4][X3]", async (t) => {
  const { root, groups } = machine(t, old, inOld, oldFolders);
  const group = groups.make("g1", limits);
  const children = [spawn("sleep", ["60"]), spawn("sleep", ["60"])];
  const ended = children.map((child) => once(child, "exit"));
  const [first, second] = children.map(({ pid }) => `${pid}\n`);
  writeFileSync(join(root, "memory/agentyard-m1/g1/cgroup.procs"), `0\n1\n${first}`);
  writeFileSync(join(root, "freezer/agentyard-m1/g1/cgroup.procs"), `${second}`);
  group.kill();
  assert.deepEqual(await Promise.all(ended), [
    [null, "SIGKILL"],
    [null, "SIGKILL"],
  ]);
  assert.equal(readFileSync(join(root, "freezer/agentyard-m1/g1/freezer.state"), "utf8"), "THAWED");
});

test("a group that is not empty is tried again for two seconds, and one that is goes at once, in all its folders [X4]", async (t) => {
  const { root, groups, waits } = machine(t, old, inOld, oldFolders);
  const group = groups.make("g1", limits);
  // The kernel's own files would go with their folder; these do not.
  await group.remove();
  assert.deepEqual([waits, existsSync(join(root, "memory/agentyard-m1/g1"))], [Array(100).fill(20), true]);
  for (const name of Object.keys(oldFolders)) {
    rmSync(join(root, name, "agentyard-m1/g1"), { recursive: true, force: true });
    mkdirSync(join(root, name, "agentyard-m1/g1"));
  }
  await group.remove();
  assert.equal(waits.length, 100);
  assert.deepEqual(
    Object.keys(oldFolders).filter((name) => existsSync(join(root, name, "agentyard-m1/g1"))),
    [],
  );
});

test("what earlier processes left in groups is ended and counted, and those of guests that live are spared [X3]", async (t) => {
  const { root, groups, waits } = machine(t, old.slice(1, 2), "6:freezer:/\n", {
    ...{ "freezer/agentyard-m1/left/": "", "freezer/agentyard-m1/lives/": "", "freezer/agentyard-m1/file": "" },
  });
  const child = spawn("sleep", ["60"]);
  t.after(() => child.kill("SIGKILL"));
  const lives = join(root, "freezer/agentyard-m1/lives");
  writeFileSync(join(lives, "cgroup.procs"), `${child.pid}\n`);
  assert.deepEqual(await groups.reap(new Set(["lives"])), { processes: [], groups: 1 });
  assert.equal(waits.length, 100); // What holds it is not gone: here the kernel's own files do not go with it.
  assert.deepEqual([child.exitCode, child.signalCode, existsSync(lives)], [null, null, true]);
  const ended = once(child, "exit");
  assert.deepEqual(await groups.reap(), { processes: [child.pid], groups: 2 });
  assert.deepEqual(await ended, [null, "SIGKILL"]);
});

test("a server that cannot step aside for its guests stays where it is, and promises no limit [X4][X3]", async (t) => {
  const { root, groups } = machine(t, ["ID / ROOT/new rw - cgroup2 cgroup2 rw"], "0::/svc\n", {
    "new/svc/cgroup.controllers": "memory pids\n",
    // Nobody can write here, as where others live in the same group.
    "new/svc/cgroup.subtree_control/": "",
  });
  const procs = join(root, "new/svc/cgroup.procs");
  assert.deepEqual(
    [groups.has, readFileSync(procs, "utf8")],
    [{ memory: false, pids: false, cpu: false, kill: false }, `${process.pid}`],
  );
  assert.deepEqual(readdirSync(join(root, "new/svc")).sort(), [
    ...["agentyard-m1", "agentyard-m1-server", "cgroup.controllers", "cgroup.procs", "cgroup.subtree_control"],
  ]);
  // The lock of the kernel is taken where this process is, and nobody else is moved.
  writeFileSync(procs, `7\n${process.pid}\n8\n`);
  await groups.expect();
  assert.equal(readFileSync(procs, "utf8"), `${process.pid}`);
  writeFileSync(procs, `7\n1${process.pid}\n`);
  writeFileSync(join(root, "new/svc/agentyard-m1-server/cgroup.procs"), `1${process.pid}\n${process.pid}\n`);
  await groups.expect();
  assert.deepEqual(
    [procs, join(root, "new/svc/agentyard-m1-server/cgroup.procs")].map((path) => readFileSync(path, "utf8")),
    [`7\n1${process.pid}\n`, `${process.pid}`],
  );
});

test("a limit that the machine does not take is not promised, and one that is not there keeps no guest away [X3][X4]", (t) => {
  const { root, groups } = machine(t, old, inOld, {
    ...{ "memory/agentyard-m1/trial/memory.limit_in_bytes/": "", "freezer/": "", "cpu/": "" },
  });
  assert.deepEqual(groups.has, { memory: false, pids: false, cpu: true, kill: true });
  // Another process of this installation may have taken the folder away.
  rmSync(join(root, "cpu/agentyard-m1"), { recursive: true });
  assert.equal(groups.make("g1", limits).add(4242), true);
  assert.equal(readFileSync(join(root, "cpu/agentyard-m1/g1/cpu.cfs_quota_us"), "utf8"), "150000");
});

test("where a machine has both kinds of control groups each limit is set once, where it is first [X4]", (t) => {
  const mounts = [...old.slice(0, 1), "ID / ROOT/new rw - cgroup2 cgroup2 rw"];
  const { root, groups } = machine(t, mounts, "3:memory:/\n0::/\n", {
    ...{ "memory/": "", "new/cgroup.controllers": "memory pids\n", "new/cgroup.subtree_control": "memory pids\n" },
    "new/agentyard-m1/cgroup.subtree_control": "memory\n",
  });
  groups.make("g1", limits);
  assert.deepEqual(
    [readdirSync(join(root, "memory/agentyard-m1/g1")).sort(), readdirSync(join(root, "new/agentyard-m1/g1"))],
    [["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"], ["pids.max"]],
  );
  assert.equal(readFileSync(join(root, "new/agentyard-m1/cgroup.subtree_control"), "utf8"), "+pids");
});

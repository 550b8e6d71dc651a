import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { notingClock } from "../../../test/world/manual-clock.ts";
import { systemClock } from "../../base/clock.ts";
import { openGroups } from "./groups.ts";

const limits = {
  memoryBytes: 1024 * 1024 * 1024,
  processesMax: 128,
  cpus: 1.5,
  fileBytesMax: 1,
  tmpBytesMax: 1,
  outputBytesMax: 1,
};

/** A machine's groups as plain files: what is written stays as written. */
function machine(t: TestContext, files: (root: string) => Readonly<Record<string, string>>): (path: string) => string {
  const root = mkdtempSync(join(tmpdir(), "agentyard-groups-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files(root))) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return (path) => join(root, path);
}

test("on a machine with the new control groups, limits are set below the service's own group [X4]", (t) => {
  const at = machine(t, (root) => ({
    "proc/self/cgroup": "0::/system.slice/agentyard.service\n",
    "proc/self/mountinfo": `30 24 0:26 / ${root}/sys rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n`,
    "sys/system.slice/agentyard.service/cgroup.controllers": "cpuset cpu io memory pids\n",
    "sys/system.slice/agentyard.service/cgroup.subtree_control": "cpu memory pids\n",
    "sys/system.slice/agentyard.service/agentyard-m1/cgroup.subtree_control": "",
    "sys/system.slice/agentyard.service/agentyard-m1/cgroup.kill": "",
    "sys/system.slice/agentyard.service/agentyard-m1/g1/cgroup.kill": "",
  }));
  const groups = openGroups({ installation: "m1", clock: systemClock, proc: at("proc") });
  const group = groups.make("g1", limits);
  const own = (file: string) => at(`sys/system.slice/agentyard.service/agentyard-m1/g1/${file}`);
  const isIn = group.add(4242);
  const written = ["memory.max", "memory.swap.max", "pids.max", "cpu.max", "cgroup.procs"].map((file) =>
    readFileSync(own(file), "utf8"),
  );
  assert.deepEqual(
    [groups.has, isIn, written],
    [{ memory: true, pids: true, cpu: true, kill: true }, true, ["1073741824", "0", "128", "150000 100000", "4242"]],
  );

  writeFileSync(own("memory.events"), "low 0\nhigh 0\nmax 7\noom 2\noom_kill 2\noom_group_kill 0\n");
  writeFileSync(own("memory.current"), "4096\n");
  writeFileSync(own("pids.current"), "3\n");
  writeFileSync(own("cpu.stat"), "usage_usec 2500000\nuser_usec 1\n");
  assert.deepEqual([group.oomKills(), group.usage()], [2, { memoryBytes: 4096, processes: 3, cpuMs: 2500 }]);
  group.kill();
  assert.equal(readFileSync(own("cgroup.kill"), "utf8"), "1");
});

test("a server that stepped aside for its guests goes back when it ends, and leaves no group behind [X4]", (t) => {
  const own = "sys/system.slice/agentyard.service";
  const at = machine(t, (root) => ({
    "proc/self/cgroup": "0::/system.slice/agentyard.service\n",
    "proc/self/mountinfo": `30 24 0:26 / ${root}/sys rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n`,
    [`${own}/cgroup.controllers`]: "cpu memory pids\n",
    [`${own}/cgroup.subtree_control`]: "cpu memory pids\n",
  }));
  mkdirSync(at(`${own}/agentyard-m1-server`));
  const groups = openGroups({ installation: "m1", clock: systemClock, proc: at("proc") });
  groups.close();
  const hasOthers = readFileSync(at(`${own}/cgroup.subtree_control`), "utf8");
  // The kernel's own files go with their folder.
  for (const file of readdirSync(at(`${own}/agentyard-m1`)))
    rmSync(at(`${own}/agentyard-m1/${file}`), { recursive: true });
  groups.close();
  assert.deepEqual(
    [
      hasOthers,
      readdirSync(at(own)),
      ...["cgroup.procs", "cgroup.subtree_control"].map((file) => readFileSync(at(`${own}/${file}`), "utf8")),
    ],
    [
      "cpu memory pids\n",
      ["cgroup.controllers", "cgroup.procs", "cgroup.subtree_control"],
      ...[`${process.pid}`, "-cpu -memory -pids"],
    ],
  );
});

test("only the limits that the machine has are promised, in a container too [X3][X4]", (t) => {
  const at = machine(t, (root) => ({
    "proc/self/cgroup": "5:pids:/docker/abc\n4:cpu,cpuacct:/docker/abc\n3:memory:/other\n1:name=systemd:/docker/abc\n",
    "proc/self/mountinfo": [
      `31 24 0:27 /docker/abc ${root}/sys/pids rw - cgroup cgroup rw,pids`,
      `32 24 0:28 /docker/abc ${root}/sys/cpu rw - cgroup cgroup rw,cpu,cpuacct`,
      `33 24 0:29 /docker/abc ${root}/sys/memory rw - cgroup cgroup rw,memory`,
      `34 24 0:30 / ${root}/sys/systemd rw - cgroup cgroup rw,name=systemd`,
      "",
    ].join("\n"),
    "sys/pids/cgroup.procs": "",
    "sys/cpu/cgroup.procs": "",
    "sys/memory/cgroup.procs": "",
  }));
  const groups = openGroups({ installation: "m1", clock: systemClock, proc: at("proc") });
  const group = groups.make("g1", limits);
  assert.deepEqual(groups.has, { memory: false, pids: true, cpu: true, kill: false });
  assert.deepEqual(
    ["pids/agentyard-m1/g1/pids.max", "cpu/agentyard-m1/g1/cpu.cfs_quota_us"].map((path) =>
      readFileSync(at(`sys/${path}`), "utf8"),
    ),
    ["128", "150000"],
  );
  assert.deepEqual([group.oomKills(), group.usage()], [0, { memoryBytes: 0, processes: 0, cpuMs: 0 }]);
  // A guest must not run where one of its limits does not hold it.
  const isInAll = group.add(4242);
  rmSync(at("sys/pids/agentyard-m1/g1"), { recursive: true });
  assert.deepEqual([isInAll, group.add(4242)], [true, false]);
});

test("a machine without control groups still has guests, without limits [X3]", async (t) => {
  const at = machine(t, () => ({ "proc/self/cgroup": "", "proc/self/mountinfo": "" }));
  const groups = openGroups({ installation: "m1", clock: systemClock, proc: at("proc") });
  const group = groups.make("g1", limits);
  group.kill();
  await group.remove();
  groups.close();
  assert.deepEqual(
    [groups.has, group.add(4242), await groups.reap()],
    [{ memory: false, pids: false, cpu: false, kill: false }, true, { processes: [], groups: 0 }],
  );
});

const oldLimits = {
  ...{ memoryBytes: 2 ** 30, processesMax: 128, cpus: 1.5, fileBytesMax: 1, tmpBytesMax: 1, outputBytesMax: 1 },
};

/** A machine's groups as plain files: what is written stays as written. */
function oldMachine(
  t: TestContext,
  mounts: readonly string[],
  groups: string,
  files: Readonly<Record<string, string>>,
) {
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
  const { root, groups } = oldMachine(t, old, inOld, oldFolders);
  const group = groups.make("g1", oldLimits);
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
  const { root, groups } = oldMachine(t, old, inOld, oldFolders);
  const group = groups.make("g1", oldLimits);
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

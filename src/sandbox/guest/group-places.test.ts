import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { folderWith } from "../../../test/world/folder.ts";
import { countsOf } from "./group-counts.ts";
import { cgroupMounts, folderOf, placesOf } from "./group-places.ts";
import { sharedFiles, unnamedBytes } from "./held-files.ts";

test("the group of a process is found in old hierarchies and the new one, each controller where it is first [X4]", (t) => {
  const root = folderWith(t, { "sys/new/new/one/cgroup.controllers": "cpuset memory pids\n" });
  const mounts = [
    `31 24 0:27 /box ${root}/sys/cpu rw - cgroup cgroup rw,cpu,cpuacct`,
    `32 24 0:28 /box ${root}/sys/memory rw - cgroup cgroup rw,memory`,
    `33 24 0:29 / ${root}/sys/freezer rw - cgroup cgroup rw,freezer`,
    `34 24 0:30 / ${root}/sys/new rw - cgroup2 cgroup2 rw`,
    `35 24 0:31 / /proc rw - proc proc rw`,
    "",
  ].join("\n");
  const proc = folderWith(t, {
    "42/cgroup": "6:freezer:/f\n4:cpuacct,cpu:/box/a:b\n3:memory:/box/m\n1:name=systemd:/x\n0::/new/one\n",
    "43/cgroup": "0::/../out\n3:memory:/elsewhere\n",
    "45/cgroup": "0::/new/one\n",
    "self/mountinfo": mounts,
  });
  const old = (folder: string) => ({ folder: join(root, "sys", folder), version: 1 });
  assert.deepEqual(Object.fromEntries(placesOf(42, proc)), {
    ...{ cpu: old("cpu/a:b"), cpuacct: old("cpu/a:b"), memory: old("memory/m"), freezer: old("freezer/f") },
    pids: { folder: join(root, "sys/new/new/one"), version: 2 },
  });
  assert.deepEqual([...placesOf(45, proc).keys()], ["memory", "pids"]);
  assert.deepEqual([placesOf(43, proc).size, placesOf(44, proc).size], [0, 0]);
});

test("a group beside the one that is mounted is none of its own [X3]", () => {
  const [mount] = cgroupMounts("31 24 0:27 /box /sys/cpu rw - cgroup cgroup rw,cpu\n");
  assert.ok(mount);
  const folders = ["/box", "/box/a", "/boxes", "/", "/box/../etc", undefined].map((group) => folderOf(mount, group));
  assert.deepEqual(folders, ["/sys/cpu", "/sys/cpu/a", undefined, undefined, undefined, undefined]);
});

test("what a group has used is read as its kernel writes it, and its processes are those that can be seen [X4]", (t) => {
  const folder = folderWith(t, {
    "old/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n",
    "old/memory.usage_in_bytes": "8192\n",
    "old/pids.current": "5\n",
    "old/cpuacct.usage": "2500000000\n",
    "old/cgroup.procs": "0\n1\n77\n78\n",
    "other/cgroup.procs": "99\n",
    "odd/memory.usage_in_bytes": "many\n",
  });
  const place = (name: string) => ({ folder: join(folder, name), version: 1 }) as const;
  const old = (["memory", "pids", "cpuacct"] as const).map((name) => [name, place("old")] as const);
  const counts = countsOf(new Map([...old, ["cpu", place("other")]]));
  assert.deepEqual(
    [counts.oomKills(), counts.usage(), counts.processes()],
    [4, { memoryBytes: 8192, processes: 5, cpuMs: 2500 }, [77, 78]],
  );
  const odd = countsOf(new Map([["memory", place("odd")]]));
  assert.deepEqual([odd.oomKills(), odd.usage(), odd.processes()], [0, { memoryBytes: 0, processes: 0, cpuMs: 0 }, []]);
});

test("a file that lost its name takes up room for as long as somebody has it open, once, and on its own disk only [X4]", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-held-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { dev } = statSync(folder);
  const held = (device = dev) => unnamedBytes([process.pid], device);
  const before = await held();
  const paths = ["named", "lost"].map((name) => join(folder, name));
  for (const path of paths) writeFileSync(path, Buffer.alloc(65_536, "x"));
  const open = [...paths, ...paths].map((path) => openSync(path, "r"));
  assert.equal(await held(), before);
  unlinkSync(join(folder, "lost"));
  const blockBytes = 512;
  assert.equal((await held()) - before, fstatSync(open[1] ?? 0).blocks * blockBytes);
  assert.equal(await held(-1), 0);
  for (const fd of open) closeSync(fd);
  assert.equal(await held(), before);
  assert.equal(await unnamedBytes([2 ** 22 + 1], dev), 0);
});

const run = promisify(execFile);

const program = `
import mmap, sys
held = []
for name, flags in (("shared", mmap.MAP_SHARED), ("private", mmap.MAP_PRIVATE)):
    with open(sys.argv[1] + "/" + name, "r+b") as file:
        held.append(mmap.mmap(file.fileno(), 0, flags))
print("ready", flush=True)
sys.stdin.read()
`;

test("where no file can be opened any more, what programs hold counts as not known, and never as nothing [X4]", async () => {
  const source = `import { openSync } from "node:fs";
import { sharedFiles, unnamedBytes } from ${JSON.stringify(new URL("held-files.ts", import.meta.url).href)};
try { for (;;) openSync("/dev/null"); } catch {}
const unnamed = await unnamedBytes([process.pid], 1).catch(({ code }) => code);
console.log(String(await sharedFiles([process.pid])), unnamed);`;
  const node = `ulimit -n 64; exec "$0" --input-type=module --eval "$1"`;
  const { stdout } = await run("/bin/sh", ["-c", node, process.execPath, source]);
  assert.equal(stdout, "undefined EMFILE\n");
});

test("of the files in a program's memory those are known that what it writes there changes [X4][S4]", async (t) => {
  const folder = folderWith(t, { shared: "x", private: "x" });
  const child = spawn("/usr/bin/python3", ["-I", "-S", "-c", program, folder], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const found = await sharedFiles([child.pid ?? 0, 2 ** 22 + 1]);
  const isFound = (name: string) => found?.has(statSync(join(folder, name)).ino);
  assert.deepEqual([isFound("shared"), isFound("private")], [true, false]);
  // Too much to look through is not looked at any further.
  assert.equal(await sharedFiles(Array(1000).fill(process.pid)), undefined);
  const ended = once(child, "exit");
  child.stdin.end();
  await ended;
  assert.deepEqual(await sharedFiles([child.pid ?? 0]), new Set());
});

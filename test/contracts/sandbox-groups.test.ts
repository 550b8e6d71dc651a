import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { openGroups } from "../../src/sandbox/local/groups.ts";
import { reapLeftovers } from "../../src/sandbox/local/reap.ts";
import { until } from "../world/events.ts";
import {
  cannotStart,
  isAlive,
  isRoot,
  keepGuest,
  limits,
  openHost,
  saysItLacks,
  startPython,
} from "./sandbox-guests.ts";

test("a program that takes more memory than it may is ended by the kernel, and that is known [X4]", {
  skip: cannotStart,
}, async (t) => {
  const host = await openHost(t);
  if (!host.groups.has.memory) return saysItLacks(host, "no_cgroup_memory");
  const started = await startPython(
    host,
    `
child = os.fork()
if child == 0:
    open("/proc/self/oom_score_adj", "w").write("500")
    hoard = [bytearray(10_000_000) for _ in range(1000)]
    os._exit(0)
say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
`,
  );
  assert.ok(started.ok);
  const { answer, group, kill, ended } = started.value;
  assert.deepEqual([answer, group.oomKills()], [-9, 1]);
  kill();
  assert.equal((await ended).oomKills, 1);
});

test("a program that starts process after process comes to its limit, and no other guest notices [X4]", {
  skip: cannotStart,
}, async (t) => {
  const host = await openHost(t);
  if (!host.groups.has.pids) return saysItLacks(host, "no_cgroup_pids");
  const other = await startPython(host, "say(1)");
  const started = await startPython(
    host,
    `
made = 0
try:
    while made < 1000:
        if os.fork() == 0:
            while True: __import__("time").sleep(60)
        made += 1
except OSError as error:
    say([made, error.strerror])
`,
  );
  assert.ok(started.ok && other.ok);
  const { answer, group, kill, ended } = started.value;
  const { processes, memoryBytes, cpuMs } = group.usage();
  assert.deepEqual(
    [answer, processes, memoryBytes > 0, cpuMs > 0, other.value.group.usage().processes],
    [[limits.processesMax - 1, "Resource temporarily unavailable"], limits.processesMax, true, true, 1],
  );
  kill();
  await ended;
  assert.equal(isAlive(other.value.pid), true);
  other.value.kill();
  await other.value.ended;
});

test("a guest that nobody looks after any more is found and ended, those of others are not [X3]", {
  skip: cannotStart,
}, async (t) => {
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

test("groups are gone when their guests and their server are [X3]", { skip: cannotStart }, async (t) => {
  const host = await openHost(t);
  const started = await startPython(host, "say(1)");
  assert.ok(started.ok);
  started.value.kill();
  await started.value.ended;
  assert.deepEqual(await host.groups.reap(), { processes: [], groups: 0 });
  host.groups.close();
  const again = openGroups({ installation: host.installation, clock: systemClock });
  assert.deepEqual(again.has, host.groups.has);
  if (isRoot) assert.deepEqual(again.has, { memory: true, pids: true, cpu: true, kill: true });
  again.close();
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { manualClock } from "../../../test/world/manual-clock.ts";
import type { GuestUsage } from "../provider.ts";
import { type Group, openGroups } from "./groups.ts";
import { processesOf, usageOf } from "./usage.ts";

test("what no control group counts is added up over a guest's processes, the dead left out, and what one counts is believed [X4]", async (t) => {
  const proc = folderWith(t, { "self/cgroup": "", "self/mountinfo": "" });
  const limits = { memoryBytes: 1, processesMax: 1, cpus: 1, fileBytesMax: 1, tmpBytesMax: 1, outputBytesMax: 1 };
  const none = openGroups({ installation: "m1", clock: manualClock(), proc }).make("g1", limits);
  // One that waits, with a thread, a child that lives, and one that has ended and that nobody asks about.
  const program = `
import os, threading
for _ in range(2):
    if (child := os.fork()) == 0:
        os.read(0, 1) if _ == 0 else os._exit(0)
        os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
total = 0
while os.times().user < 0.05: total += 1
threading.Thread(target=os.read, args=(0, 1), daemon=True).start()
print("ready", flush=True)
os.read(0, 1)
`;
  const child = spawn("/usr/bin/python3", ["-I", "-S", "-c", program], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const pid = child.pid ?? 0;
  const usage = usageOf(pid, none);
  assert.deepEqual([usage.processes, processesOf(pid, none).length, processesOf(pid, none)[0]], [3, 3, pid]);
  assert.ok(usage.cpuMs >= 50 && usage.cpuMs < 60_000, `${usage.cpuMs} ms`);
  assert.ok(usage.memoryBytes > 1024 * 1024 && usage.memoryBytes < 2 ** 30, `${usage.memoryBytes} bytes`);

  const counting = (counted: GuestUsage, pids: readonly number[] = []): Group => ({
    ...none,
    usage: () => counted,
    processes: () => pids,
  });
  const all = { memoryBytes: 1, processes: 1, cpuMs: 1 };
  assert.deepEqual([usageOf(pid, counting(all)), processesOf(pid, counting(all, [5]))], [all, [5]]);
  assert.deepEqual(usageOf(pid, counting({ ...all, processes: 0 })), { ...all, processes: 3 });
  assert.equal(usageOf(pid, counting({ ...all, memoryBytes: 0 })).processes, 1);
  assert.equal(usageOf(pid, counting({ ...all, cpuMs: 0 })).memoryBytes, 1);
});

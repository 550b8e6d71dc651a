import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { launchGuest } from "../../src/sandbox/local/launch.ts";
import { until } from "../world/events.ts";
import {
  askPython,
  cannotStart,
  isAlive,
  keepGuest,
  limits,
  openHost,
  ownerUid,
  startPython,
  workspaceFolder,
} from "./sandbox-guests.ts";

test("a guest is ended with the process that started it, however that ended [X3]", { skip: cannotStart }, async (t) => {
  const { installation } = await openHost(t);
  const { child, pid } = await keepGuest(t, installation);
  assert.equal(isAlive(pid), true);
  child.kill("SIGKILL");
  await until("the guest is gone", () => !isAlive(pid));
});

test("the program begins only when its limits hold [X4]", { skip: cannotStart }, async (t) => {
  const host = await openHost(t);
  const log: string[] = [];
  const groups: typeof host.groups = {
    ...host.groups,
    make(id, wanted) {
      const group = host.groups.make(id, wanted);
      return {
        ...group,
        add(pid) {
          // Its program is bwrap until it is released.
          log.push(readFileSync(`/proc/${pid}/comm`, "utf8").trim());
          const isIn = group.add(pid);
          log.push(`${group.usage().processes} inside`);
          return isIn;
        },
      };
    },
  };
  await askPython({ ...host, groups }, "say(1)");
  assert.deepEqual(log, ["bwrap", `${host.groups.has.pids ? 1 : 0} inside`]);
});

test("a guest that its group does not take never runs [X4]", { skip: cannotStart }, async (t) => {
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

test("a guest that does not get ready in time, or ends before, is a fault that tells why [X3]", {
  skip: cannotStart,
}, async (t) => {
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

test("nobody waits any more for a guest that has started, nor for one that did not [X3][X4]", {
  skip: cannotStart,
}, async (t) => {
  const signals: (AbortSignal | undefined)[] = [];
  const wait: Clock["wait"] = (ms, signal) => {
    if (ms === 60_000) signals.push(signal);
    return systemClock.wait(ms, signal);
  };
  const host = await openHost(t, { clock: { ...systemClock, wait } });
  await askPython(host, "say(1)");
  assert.equal((await startPython(host, "sys.exit(1)")).ok, false);
  assert.deepEqual(
    signals.map((signal) => signal?.aborted),
    [true, true],
  );
});

test("a mistake of ours while a guest is greeted is thrown on, and leaves no process and no group behind [X3]", {
  skip: cannotStart,
}, async (t) => {
  const host = await openHost(t);
  const seen: (number | string)[] = [];
  const make: typeof host.groups.make = (id, wanted) => {
    const group = host.groups.make(id, wanted);
    return {
      ...group,
      add(pid) {
        seen.push(pid);
        return group.add(pid);
      },
      async remove() {
        await group.remove();
        seen.push("removed");
      },
    };
  };
  const launching = launchGuest(
    { id: "mistaken", workspace: undefined, limits, uid: ownerUid, env: {} },
    {
      command: ["/usr/bin/python3", "-I", "-S", "-c", "import time; time.sleep(60)"],
      files: {},
      programs: [],
      greet() {
        throw new Error("a frame is too long");
      },
    },
    { ...host, groups: { ...host.groups, make } },
  );
  await assert.rejects(launching, /a frame is too long/);
  assert.deepEqual([isAlive(Number(seen[0])), new Set(seen.slice(1))], [false, new Set(["removed"])]);
});

test("a killed guest is gone with everything it started, and says how it ended [X1]", {
  skip: cannotStart,
}, async (t) => {
  const host = await openHost(t);
  const started = await startPython(
    host,
    `
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        while True: __import__("time").sleep(60)
say(1)
`,
  );
  assert.ok(started.ok);
  const { pid, ended, kill } = started.value;
  kill();
  assert.deepEqual(await ended, { code: null, signal: "SIGKILL", said: "", oomKills: 0 });
  assert.equal(isAlive(pid), false);
});

test("what a guest says for itself is kept up to a limit [X4]", { skip: cannotStart }, async (t) => {
  const launched = await launchGuest(
    { id: "loud", workspace: undefined, limits, uid: ownerUid, env: {} },
    {
      command: ["/usr/bin/python3", "-I", "-S", "-c", 'print("x" * 100_000)'],
      files: {},
      programs: [],
      greet: async () => undefined,
    },
    await openHost(t),
  );
  assert.ok(launched.ok);
  assert.deepEqual(await launched.value.ended, { code: 0, signal: null, said: "x".repeat(8192), oomKills: 0 });
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { usageOf } from "../../src/sandbox/local/usage.ts";
import { until } from "../world/events.ts";
import { writesToDisk } from "./sandbox-executions.ts";
import {
  bwrapOf,
  bwrapPath,
  cannotStart,
  descendantsOf,
  isAlive,
  openHost,
  openProvider,
  ownerUid,
  serverPath,
  startPython,
  workspaceFolder,
} from "./sandbox-guests.ts";
import { conversation, done, hostFolder, triedGuest, wantedGuest } from "./sandbox-place.ts";

test("everything that runs in a guest ends with a killed server, and its groups are swept by the next one [X3]", {
  skip: cannotStart,
}, async (t) => {
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

test("without bubblewrap nothing is opened, and as soon as it is there everything is [X3]", {
  skip: cannotStart,
}, async (t) => {
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

test("what a program writes to a disk is told [X1]", { skip: cannotStart }, async (t) => {
  const provider = openProvider();
  t.after(() => provider.close());
  // Other folders of the tests may lie in memory.
  const workspace = conversation(workspaceFolder(t, "/var/tmp"));
  const opened = await provider.open(wantedGuest({ workspace, uid: ownerUid }));
  assert.ok(opened.ok);
  const end = (await triedGuest(opened.value).events("bash", writesToDisk)).at(-1);
  assert.ok(end?.kind === "exited" && end.metrics.writtenBytes >= 4_000_000, JSON.stringify(end));
});

test("a guest that is not ready in time is a fault, and leaves nothing behind [X3]", {
  skip: cannotStart,
}, async (t) => {
  const provider = openProvider({ startTimeoutMs: 1 });
  t.after(() => provider.close());
  assert.deepEqual(await provider.open(wantedGuest({})), {
    ok: false,
    failure: { why: "start_timeout", said: "" },
  });
  assert.deepEqual(await provider.reap(), { processes: 0, groups: 0, mounts: 0 });
});

test("a guest that does not answer any more is given up, and gone [X1][X3]", { skip: cannotStart }, async (t) => {
  const installation = `test${systemIds.hex(12)}`;
  let isHurried = false;
  const hurried: Clock = {
    ...systemClock,
    after: (ms, action) => systemClock.after(isHurried ? ms / 10 : ms, action),
  };
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

test("the fonts of the machine are listed once, and not anew in every guest [X6]", { skip: cannotStart }, async (t) => {
  const provider = openProvider();
  t.after(() => provider.close());
  const hasList = async () => {
    const opened = await provider.open(wantedGuest({}));
    assert.ok(opened.ok);
    const { stdout } = await triedGuest(opened.value).run("bash", "ls /tmp/.cache/matplotlib 2>/dev/null");
    await opened.value.close("idle");
    return /^fontlist-v\S+\.json\n$/.test(stdout);
  };
  assert.deepEqual([await hasList(), await hasList()], [false, false]);
  const { degraded } = await provider.probe();
  if (degraded.some(({ name }) => name === "no_data_libraries")) return;
  await until("a guest finds the list", hasList);
});

test("where no control group counts, the processes of a guest are added up [X4]", { skip: cannotStart }, async (t) => {
  const started = await startPython(
    await openHost(t),
    `
if os.fork() == 0:
    hoard = bytearray(60_000_000)
    for i in range(3_000_000): pass
    say(1)
os.read(3, 1)
`,
  );
  assert.ok(started.ok);
  const { group, pid, kill, ended } = started.value;
  const uncounted = { ...group, usage: () => ({ memoryBytes: 0, processes: 0, cpuMs: 0 }) };
  const { memoryBytes, processes, cpuMs } = usageOf(pid, uncounted);
  assert.deepEqual(
    [processes, memoryBytes > 60_000_000 && memoryBytes < 100_000_000, cpuMs >= 20 && cpuMs < 60_000],
    [2, true, true],
  );
  kill();
  await ended;
  assert.deepEqual(usageOf(pid, uncounted), { memoryBytes: 0, processes: 0, cpuMs: 0 });
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { bareSupervisor, done } from "../../../test/world/bare-supervisor.ts";
import { systemClock } from "../../base/clock.ts";
import { bareGuest, writesUntilFull } from "./bare-guest.testing.ts";
import type { GuestSettings } from "./connection.ts";

// How much of each kind a guest has, and what programs find of it.

test("a Python that a guest has no place for is not warmed up, and the guest goes on [X1][X4]", async (t) => {
  const { guest, run } = await guestWith(t);
  for (let number = 1; number <= 17; number += 1) guest.warm(`${number}`, []);
  assert.equal(await guest.ping(), 0);
  assert.deepEqual(await run("1", { language: "python", agent: "16" }), done({ results: ["text 1"] }));
});

test("the end of all is told although a busy Python has not asked how its programs ended [X1]", async (t) => {
  const { guest, run, workspace } = await guestWith(t);
  const busy = `
import os, subprocess
child = subprocess.Popen(["sleep", "1000"])
open("begun", "w").close()
while not os.path.exists("go"): pass
child.wait()`;
  const cell = run(busy, { language: "python", timeoutMs: 300_000 });
  while (!readdirSync(workspace).includes("begun")) await guest.ping();
  const [killed] = await Promise.all([guest.endTurn({ all: true }), guest.endTurn({ all: true })]);
  assert.deepEqual([killed, await guest.endTurn({ all: true })], [1, 0]);
  await run("touch go");
  assert.deepEqual(await cell, done({ results: ["text -9"] }));
});

test("of programs that were left running the last thirty-two can go on to speak [X1][X4]", async (t) => {
  const { run, workspace } = await guestWith(t);
  const talk = (number: number) =>
    `(trap "" PIPE; while echo; do sleep 0.02; done 2> /dev/null; : > ended-${number}) &`;
  const ended = () => readdirSync(workspace).filter((name) => name.startsWith("ended-"));
  await run(talk(0));
  await Promise.all(Array.from({ length: 31 }, (_, index) => run(talk(index + 1))));
  await run("sleep 0.1");
  assert.deepEqual(ended(), []);
  await run(talk(32));
  while (ended().length === 0) await run("true");
  await run("sleep 0.1");
  assert.deepEqual(ended(), ["ended-0"]);
});

test("where each process has limits of its own, programs find them, and a shell what node needs besides [X4]", async (t) => {
  const memoryBytes = 1024 * 1024 * 1024;
  const { run } = await guestWith(t, { processLimits: { memoryBytes, processesMax: 4000 } });
  assert.deepEqual(
    await run("ulimit -d; ulimit -u"),
    done({ stdout: `${(memoryBytes + 640 * 1024 * 1024) / 1024}\n4000\n` }),
  );
  const cell =
    "import resource\n[resource.getrlimit(what) for what in (resource.RLIMIT_DATA, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE)]";
  const both = (value: number) => `(${value}, ${value})`;
  assert.deepEqual(
    await run(cell, { language: "python" }),
    done({ results: [`text [${both(memoryBytes)}, ${both(4000)}, ${both(64 * 1024 * 1024)}]`] }),
  );
});

test("a program that ended by a signal without a name is told with its number [X1]", async (t) => {
  const { run } = await guestWith(t);
  assert.deepEqual(await run("kill -40 $$"), { ...done({}), end: "done SIG40" });
});

test("a program has the variables of its guest, and of its call above them, and starts in its folder [X1][T6]", async (t) => {
  const { run, workspace } = await guestWith(t, { env: { GIVEN: "guest", MPLBACKEND: "chosen" } });
  await run("mkdir deep");
  const wanted = { folder: "deep", env: { OWN: "call", HOME: "/own" } };
  const shell = await run('echo "$GIVEN $OWN $HOME $MPLBACKEND"; pwd', wanted);
  assert.deepEqual(shell, done({ stdout: `guest call /own chosen\n${workspace}/deep\n` }));
  const node = await run("console.log(process.env.OWN, process.cwd())", { language: "javascript", ...wanted });
  assert.deepEqual(node, done({ stdout: `call ${workspace}/deep\n` }));
  assert.deepEqual(await run('echo "$OWN $HOME"'), done({ stdout: ` ${workspace}\n` }));
});

test("a program meets a closed pipe as in any shell: it ends, and says nothing [X1]", async (t) => {
  const { run } = await guestWith(t);
  assert.deepEqual(await run('yes | head -n 1; echo "${PIPESTATUS[*]}"'), done({ stdout: "y\n141 0\n" }));
});

test("what a program put out of its own sight is killed with it, also without its parent [X1]", async (t) => {
  const { guest, run, workspace } = await guestWith(t);
  const orphan = "(sleep 1000 > /dev/null 2>&1 & echo $! > left.new); mv left.new left; exec sleep 1000";
  const running = run(orphan, { id: "e", timeoutMs: 300_000 });
  while (!readdirSync(workspace).includes("left")) await guest.ping();
  const left = readFileSync(join(workspace, "left"), "utf8").trim();
  guest.kill("e");
  assert.equal((await running).end, "killed SIGKILL");
  // Asked for until it is so: the kernel may take a moment for it.
  while (existsSync(`/proc/${left}`)) await systemClock.wait(5);
  assert.equal(guest.isOpen(), true);
});

test("what a program said last is heard, also by a host that reads nothing until long after its end [X1]", async (t) => {
  const limits = { outputBytesMax: 1e9, fileBytesMax: 1e9 };
  const { run, workspace, socket } = await guestWith(t, { limits });
  const [said, passed] = [join(workspace, "said"), join(workspace, "passed")];
  execFileSync("mkfifo", [said, passed]);
  await run("1", { language: "python" });
  socket.pause();
  const written = run(writesUntilFull("said"), { language: "python" });
  const count = Number(await readFile(said, "utf8"));
  const later = run("sleep 0.5; echo > passed");
  await readFile(passed);
  socket.resume();
  assert.deepEqual([(await written).stdout.length, (await later).end], [count, "done 0"]);
});

const guestWith = (t: TestContext, settings?: Partial<GuestSettings>) => bareGuest(bareSupervisor(t), settings);

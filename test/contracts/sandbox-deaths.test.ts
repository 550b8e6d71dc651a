import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { type Clock, systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { SandboxExecution, SandboxExecutionPage } from "../../src/protocol/sandbox-resources.ts";
import { until } from "../world/events.ts";
import { descendantsOf, guestTest as test } from "./sandbox-guests.ts";
import { type Door, openDoor, sandboxWith } from "./sandbox-http.ts";

// Programs that run long, and programs whose sandbox dies under them, where the public service whose dialect this is does otherwise.

const place = "/executions/sessions/sess-ann";

test("a program has all the time that was asked for it, also where that is far more than half a minute [X2][X4]", async () => {
  const clock = hastyClock();
  await using door = await openDoor({ openSandbox: sandboxWith({ clock }) });
  const limits = { conversation_id: "c1", timeout: 600 };
  await door.run("1", limits);
  clock.hurry();
  const ran = await Promise.all([
    door.run("import time; time.sleep(0.7); print('done')", limits),
    door.run("sleep 0.7; echo done", { ...limits, language: "shell" }),
  ]);
  assert.deepEqual(
    ran.map(({ status, stdout, timeout }) => [status, stdout, timeout]),
    ran.map(() => ["completed", "done\n", 600]),
  );
  assert.ok(ran.every(({ metrics }) => (metrics?.duration_ms ?? 0) > 31_000));
  const late = await door.run("import time; time.sleep(1000)", { conversation_id: "c1", timeout: 45 });
  assert.ok(late.status === "timeout" && (late.metrics?.duration_ms ?? 0) >= 45_000, JSON.stringify(late));
});

// It takes half a minute: part of `npm run torture`.
if (process.env.AGENTYARD_LONG_PROGRAM !== undefined)
  test("a program of 31 seconds comes to its own end [X2][X4]", async () => {
    await using door = await openDoor();
    const ran = await door.run("import time; time.sleep(31); print('done')", { conversation_id: "c1", timeout: 60 });
    assert.deepEqual([ran.status, ran.stdout], ["completed", "done\n"]);
  });

for (const [what, find] of [
  ["bubblewrap", (installation: string) => guestOf(installation)],
  ["the first process inside", (installation: string) => firstInside(guestOf(installation))],
] as const)
  test(`where ${what} is killed under a program, whoever waits for it is told at once that it crashed, and nothing is said to run [X2]`, async () => {
    const installation = `test${systemIds.hex(12)}`;
    await using door = await openDoor({ openSandbox: sandboxWith({ installation }) });
    const { told, id } = await killUnder(door, () => find(installation));
    assert.deepEqual(
      [told.status, told.stdout, typeof told.completed_at, told.how],
      ["crashed", "on\n", "string", "lost"],
    );
    assert.deepEqual(await statusOf(door, id), told);
    assert.deepEqual(
      (await pageOf(door)).items.map(({ status }) => status),
      ["crashed"],
    );
    assert.equal((await door.run("print('again')", { conversation_id: "c1" }, "sess-ann")).stdout, "again\n");
  });

/** A clock of which, once it is told so, a minute passes in a second: no sooner, for a busy machine starts slowly. */
function hastyClock(): Clock & { hurry(): void } {
  const faster = 60;
  let factor = 1;
  let [begun, before] = [0, 0];
  const monotonic = () => before + (systemClock.monotonic() - begun) * factor;
  return {
    now: systemClock.now,
    monotonic,
    wait: (ms, signal) => systemClock.wait(ms / factor, signal),
    after: (ms, action) => systemClock.after(ms / factor, action),
    hurry() {
      [before, begun, factor] = [monotonic(), systemClock.monotonic(), faster];
    },
  };
}

const pageOf = async ({ get }: Door) => SandboxExecutionPage.parse((await get(`${place}/executions`)).body);
const statusOf = async ({ get }: Door, id: string) =>
  SandboxExecution.parse((await get(`/executions/${id}/status`)).body);

/** Kills a process of the sandbox while a program runs in it and somebody waits for its end; what they are told. */
async function killUnder(door: Door, find: () => number) {
  const code = "import time\nprint('on', flush=True)\ntime.sleep(3000)";
  const wanted = { code, conversation_id: "c1", timeout: 3000 };
  const waiting = door.post(`${place}/execute-sync?sync_timeout=3000`, wanted);
  const isRunning = async () => (await pageOf(door)).items.some(({ status }) => status === "running");
  await until("it runs", isRunning);
  const [{ id } = assert.fail()] = (await pageOf(door)).items;
  await until("it has begun", async () => (await statusOf(door, id)).stdout === "on\n");
  process.kill(find(), "SIGKILL");
  const told = SandboxExecution.parse((await waiting).body);
  return { id, told };
}

/** The bwrap of the only guest of an installation. */
function guestOf(installation: string): number {
  const found = descendantsOf(process.pid).find((pid) => commandOf(pid).includes(`\0${installation}.`));
  assert.ok(found !== undefined, "the guest has a bwrap");
  return found;
}

/** bwrap waits beside the namespace; its child is the first process there. */
function firstInside(bwrap: number): number {
  const [first] = descendantsOf(bwrap);
  assert.ok(first !== undefined, "bwrap has started the guest");
  return first;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

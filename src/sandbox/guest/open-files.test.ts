import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { bareSupervisor, guestSettings, outcomeOf } from "../../../test/world/bare-supervisor.ts";
import type { Execution } from "../provider.ts";
import { connectGuest } from "./connection.ts";

// What executions leave open in those who run them: one file each would end a sandbox after some thousand calls.

async function guestOf(t: TestContext) {
  const supervisor = bareSupervisor(t);
  const connected = await connectGuest(supervisor.socket, guestSettings(supervisor.workspace));
  assert(connected.ok, supervisor.said());
  const guest = connected.value;
  let count = 0;
  const run = (code: string, wanted: Partial<Execution> = {}) => {
    count += 1;
    return outcomeOf(
      guest.run({ id: `e${count}`, language: "python", code, agent: "a", timeoutMs: 30_000, ...wanted }),
    );
  };
  return { supervisor, guest, run };
}

const long = Buffer.alloc(100_000, "x");
const isRoot = process.geteuid?.() === 0;

test("a supervisor has no more files open after many executions than after the first of each kind [X1][X4]", {
  skip: !isRoot,
}, async (t) => {
  const { supervisor, guest, run } = await guestOf(t);
  const ends: string[][] = [];
  const counts: number[] = [];
  for (let round = 1; round <= 4; round += 1) {
    const outcomes = [
      await run("cat > /dev/null; sleep 1000 & disown", { language: "bash", stdin: long }),
      await run("handler = (event) => event.a", {
        language: "javascript",
        event: JSON.stringify({ a: 1, b: `${long}` }),
      }),
      await run("true", { language: "bash", folder: "nowhere" }),
      await run(`1 # ${long}`, { stdin: long, event: JSON.stringify({ conversation_id: `${long}` }) }),
      await run("import os; os._exit(3)"),
      await run("2"),
    ];
    ends.push(outcomes.map(({ end }) => end));
    await guest.endTurn();
    await guest.reset("a");
    await guest.ping();
    counts.push(readdirSync(`/proc/${supervisor.pid}/fd`).length);
  }
  assert.deepEqual(ends, Array(4).fill(["done 0", "done 0", "done 126", "done 0", "lost 3", "done 0"]));
  assert.deepEqual(counts, Array(4).fill(counts[0]));
});

test("an agent's Python has no more files open after many cells than after the first, and none of theirs [X1][X4]", async (t) => {
  const { run } = await guestOf(t);
  const code = `import os, sys\n[len(os.listdir("/proc/self/fd")), len(sys.stdin.read())] # ${long}`;
  const results: string[] = [];
  for (let cell = 1; cell <= 4; cell += 1) {
    const { results: told } = await run(code, { stdin: long, event: JSON.stringify({ conversation_id: `${long}` }) });
    results.push(...told);
  }
  assert.match(results[0] ?? "", /^text \[\d+, 100000\]$/);
  assert.deepEqual(results, Array(4).fill(results[0]));
});

test("when the end of a turn is told, what it ended is gone, also what an agent's Python had started [X1][X4]", async (t) => {
  const { guest, run } = await guestOf(t);
  const cell = await run("import subprocess\nsubprocess.Popen(['sleep', '1000']).pid");
  const shell = await run("sleep 1000 > /dev/null 2>&1 & echo $!", { language: "bash" });
  const pids = [cell.results[0]?.replace("text ", ""), shell.stdout.trim()];
  const isThere = () => pids.map((pid) => existsSync(`/proc/${pid}`));
  assert.deepEqual(isThere(), [true, true]);
  assert.equal(await guest.endTurn(), 2);
  assert.deepEqual(isThere(), [false, false]);
});

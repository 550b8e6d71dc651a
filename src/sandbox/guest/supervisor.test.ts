import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { bareGuest, done } from "../../../test/world/bare-supervisor.ts";
import { systemClock } from "../../base/clock.ts";
import { supervisorProgram } from "./supervisor-program.ts";

test("a host that does not read stops the writer, and nothing else [X1][X4]", async (t) => {
  const { supervisor, run } = await bareGuest(t, {
    settings: () => ({ limits: { outputBytesMax: 1e9, fileBytesMax: 1e9 } }),
  });
  const { socket, workspace } = supervisor;
  execFileSync("mkfifo", [join(workspace, "count"), join(workspace, "other")]);
  await run("1", { language: "python" });
  socket.pause();
  const written = run(writesUntilFull("count"), { language: "python" });
  const count = Number(await readFile(join(workspace, "count"), "utf8"));
  const other = run("echo started > other");
  assert.equal(await readFile(join(workspace, "other"), "utf8"), "started\n");
  socket.resume();
  assert.equal((await written).stdout.length, count);
  assert.deepEqual(await other, done({}));
  t.diagnostic(`${count} bytes were under way`);
  assert(count < 2_000_000);
});

test("what somebody else runs goes on when a turn ends, with all it started; where all must end it does not [X1]", async (t) => {
  const { guest, run, supervisor } = await bareGuest(t);
  await run("sleep 1000 >/dev/null 2>&1 &");
  const wait = "until test -e go; do sleep 0.01; done; echo went on";
  const others = [
    run(`(sleep 1000 &) ; sleep 1000 & ${wait}`),
    run(`import subprocess\nsubprocess.run(["sh", "-c", "touch begun; ${wait}"]) and None`, { language: "python" }),
  ];
  const until = async (path: string) => {
    while (!existsSync(join(supervisor.workspace, path))) await systemClock.wait(5);
  };
  await until("begun");
  assert.equal(await guest.endTurn(), 1);
  await run("touch go");
  assert.deepEqual(await Promise.all(others), [done({ stdout: "went on\n" }), done({ stdout: "went on\n" })]);
  const last = run(": > last; exec sleep 1000"); // No `touch`, which would be a process of its own still.
  await until("last");
  assert.equal(await guest.endTurn({ all: true }), 3);
  assert.deepEqual(await last, { ...done({}), end: "done SIGKILL" });
});

test("more executions than a guest takes are refused with a reason, and it goes on [X1][X4]", async (t) => {
  const { guest, run } = await bareGuest(t);
  const many = Array.from({ length: 33 }, () => run("exec sleep 1000"));
  const refused = await Promise.race(many);
  assert.deepEqual(refused, {
    ...done({ stderr: "sandbox: more than 32 executions at the same time\n" }),
    end: "done 126",
  });
  assert.equal(await guest.endTurn({ all: true }), 32);
  assert.equal((await Promise.all(many)).filter(({ end }) => end === "done SIGKILL").length, 32);
});

/** A program of its own, which is put in place of it. */
const canary = "canary.py";

test("the program of a guest has all its files [X1]", () => {
  const { command, files } = supervisorProgram("/usr/bin/python3", "/run/guest");
  const written = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".py") && name !== canary);
  assert.deepEqual(
    [command, Object.keys(files).sort()],
    [["/usr/bin/python3", "-I", "-S", "/run/guest/supervisor.py"], written.map((name) => `/run/guest/${name}`).sort()],
  );
});

/** Python that writes until nobody has taken anything for a while, then says into a file how much it was. */
export const writesUntilFull = (told: string) => `import os, select
os.set_blocking(1, False)
count = 0
while select.select([], [1], [], 0.5)[1]: count += os.write(1, b'x' * 4096)
open('${told}', 'w').write(str(count))`;

test("where each process has limits of its own, programs find them, and a shell what node needs besides [X4]", async (t) => {
  const memoryBytes = 1024 * 1024 * 1024;
  const { run } = await bareGuest(t, { settings: () => ({ processLimits: { memoryBytes, processesMax: 4000 } }) });
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

test("a program meets a closed pipe as in any shell: it ends, and says nothing [X1]", async (t) => {
  const { run } = await bareGuest(t);
  assert.deepEqual(await run('yes | head -n 1; echo "${PIPESTATUS[*]}"'), done({ stdout: "y\n141 0\n" }));
});

test("what a program put out of its own sight is killed with it, also without its parent [X1]", async (t) => {
  const { guest, run, workspace } = await bareGuest(t);
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

// What executions leave open in those who run them: one file each would end a sandbox after some thousand calls.
const long = Buffer.alloc(100_000, "x");
const isRoot = process.geteuid?.() === 0;

test("a supervisor has no more files open after many executions than after the first of each kind [X1][X4]", {
  skip: !isRoot,
}, async (t) => {
  const { supervisor, guest, run } = await bareGuest(t, { language: "python" });
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

test("code does not stand on a command line of the host, where everybody can read it, and runs as if it did [X3][X1]", async (t) => {
  const { workspace, run } = await bareGuest(t);
  const gate = join(workspace, "gate");
  execFileSync("mkfifo", [gate]);
  const secret = `secret${"x".repeat(9)}`;
  for (const [language, code] of [
    ["bash", `: ${secret}; echo $$ > gate; cat gate`],
    [
      "javascript",
      `fs.writeFileSync("gate", String(process.pid)); console.log(fs.readFileSync("gate", "utf8"), "${secret}".length)`,
    ],
    [
      "javascript",
      `import fs from "node:fs"; fs.writeFileSync("gate", String(process.pid)); fs.readFileSync("gate"); "${secret}"`,
    ],
  ] as const) {
    const running = run(code, { language });
    const lines = cmdlineOf(Number(await readFile(gate, "utf8")));
    await writeFile(gate, "go on");
    assert.equal((await running).end, "done 0");
    assert.deepEqual([lines.length > 1, lines.includes(secret)], [true, false], language);
  }
  const own = `echo "$0 $# $LINENO \${agentyard_code-none} \${REPLY-none}"\nls /proc/self/fd | wc -l\nnope`;
  const { stdout, stderr } = await run(own);
  assert.deepEqual([stdout, stderr], ["bash 0 1 none none\n4\n", "bash: line 3: nope: command not found\n"]);
  await writeFile(join(workspace, "x.mjs"), "export const x = 5;");
  const language = "javascript";
  for (const js of ['import { x } from "./x.mjs"; console.log(x)', 'console.log((await import("./x.mjs")).x)'])
    assert.deepEqual(await run(js, { language }), done({ stdout: "5\n" }));
  assert.deepEqual(
    await run('import("./x.mjs").then(({ x }) => console.log(x, require("./x.mjs").x, typeof code))', { language }),
    done({ stdout: "5 5 undefined\n" }),
  );
  assert.match(
    (await run("\nthrow new Error('boom')", { language })).stderr,
    /^\[eval\]:2\nthrow[\s\S]+\n\nError: boom\n/,
  );
  const long = `/*${"x".repeat(200_000)}*/ console.log("long")`;
  assert.deepEqual(await run(long, { language }), done({ stdout: "long\n" }));
});

function cmdlineOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8");
}

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  allOf,
  type BareSupervisor,
  bareSupervisor,
  done,
  guestSettings,
  type Outcome,
  outcomeOf,
  python,
} from "../../../test/world/bare-supervisor.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Execution, ExecutionEvent } from "../provider.ts";
import { writesUntilFull } from "./bare-guest.testing.ts";
import { connectGuest, type GuestConnection, type GuestSettings } from "./connection.ts";
import { supervisorProgram } from "./supervisor-program.ts";

test("bash runs a script, with both streams and its exit code [X1]", async (t) => {
  const { run } = await guestWith(t);
  assert.deepEqual(await run("echo out; echo err >&2; exit 3"), {
    stdout: "out\n",
    stderr: "err\n",
    results: [],
    end: "done 3",
  });
  assert.deepEqual(await run("kill -TERM $$"), { ...done({}), end: "done SIGTERM" });
  assert.deepEqual(await run("cat"), done({}));
  const long = `: '${"x".repeat(200_000)}'\necho still here`;
  assert.deepEqual(await run(long), done({ stdout: "still here\n" }));
  assert.deepEqual(await run("echo a\0b"), {
    ...done({ stderr: "sandbox: cannot run bash: embedded null byte\n" }),
    end: "done 126",
  });
});

test("JavaScript runs where there is a node, gives values back, and says so where there is none [X1]", async (t) => {
  const language = "javascript";
  const { run } = await guestWith(t);
  assert.deepEqual(await run("console.log([1, 2].map((n) => n + 1).join())", { language }), done({ stdout: "2,3\n" }));
  assert.deepEqual(
    await run('import os from "node:os"; console.log(typeof os)', { language }),
    done({ stdout: "object\n" }),
  );
  const falsy = await run("const handler = async (event) => event.a;", { language, event: '{"a":0}' });
  assert.deepEqual(falsy, done({ results: ["json 0"] }));
  const none = await run("function handler() { return 5; }", { language, event: "{}" });
  assert.deepEqual(none, done({ results: ["json 5"] }));
  for (const code of ["1", "const handler = 1", "import os from 'node:os'; os.handler"])
    assert.deepEqual(await run(code, { language, event: "{}" }), done({}));
  const most = await run("const handler = () => 'x'.repeat(2 ** 20 - 2)", { language, event: "{}" });
  assert.deepEqual([most.stderr, most.results[0]?.length], ["", "json ".length + 2 ** 20]);
  const more = await run("const handler = () => 'x'.repeat(2 ** 20 - 1)", { language, event: "{}" });
  assert.deepEqual(more, done({ stderr: "sandbox: the value is longer than 1048576 bytes\n" }));
  const uncalled = await run("function handler() { return 5; }", { language });
  assert.deepEqual(uncalled, done({}));
  const broken = await run("const x = {", { language, event: "{}" });
  assert.match(broken.stderr, /^\[eval\]:1\nconst x = \{\n/);
  const missing = await run("1", { language, event: '{"a":0}' });
  assert.deepEqual([missing.results, missing.end], [[], "done 1"]);
  assert.match(missing.stderr, /TypeError: handler\(event\) is not defined/);
  const { run: runWithoutNode } = await guestWith(t, { javascript: undefined });
  assert.deepEqual(await runWithoutNode("1", { language }), {
    ...done({ stderr: "sandbox: JavaScript cannot be run here: there is no node in this sandbox\n" }),
    end: "done 126",
  });
});

test("an execution ends with its process, also when a child in the background holds its output [X1]", async (t) => {
  const { guest, run } = await guestWith(t);
  assert.deepEqual(await run("sleep 1000 & echo done"), done({ stdout: "done\n" }));
  const cell = "import subprocess; child = subprocess.Popen(['sleep', '1000']); print('done')";
  assert.deepEqual(await run(cell, { language: "python" }), done({ stdout: "done\n" }));
  assert.equal(await guest.endTurn(), 2);
});

test("what a process said to the end is there, however much it was [X1]", async (t) => {
  const { run } = await guestWith(t);
  assert.deepEqual(await run("head -c 1000000 /dev/zero | tr '\\0' x"), done({ stdout: "x".repeat(1_000_000) }));
  const cell = await run("print('y' * 1_000_000)", { language: "python" });
  assert.deepEqual(cell, done({ stdout: `${"y".repeat(1_000_000)}\n` }));
});

test("endless output is cut at its limit and counted, and is ended like all else [X1][X4]", async (t) => {
  const outputBytesMax = 100_000;
  const { supervisor, events } = await guestWith(t, { limits: { outputBytesMax, fileBytesMax: 1_000_000 } });
  const gate = join(supervisor.workspace, "gate");
  execFileSync("mkfifo", [gate]);
  for (const [language, code] of [
    ["bash", "head -c 300000 /dev/zero | tr '\\0' y; echo > gate; yes | tr -d '\\n'"],
    ["python", "print('y' * 300_000, end='')\nopen('gate', 'w').close()\nwhile True: print('y', end='')"],
  ] as const) {
    const stop = new AbortController();
    const running = events(code, { language, signal: stop.signal });
    await readFile(gate);
    stop.abort();
    const all = await running;
    const output = all.flatMap((event) => (event.kind === "output" && event.stream === "stdout" ? [event.bytes] : []));
    const cut = all.flatMap((event) => (event.kind === "cut" ? [[event.stream, event.bytes >= 200_000]] : []));
    const end = all.flatMap((event) => (event.kind === "exited" ? [event.how] : []));
    assert.deepEqual(
      [Buffer.concat(output).toString(), cut, end],
      ["y".repeat(outputBytesMax), [["stdout", true]], ["cancelled"]],
    );
  }
});

test("of output beyond its limit the end arrives, too [X1][X4]", async (t) => {
  const { events } = await guestWith(t, { limits: { outputBytesMax: 100_000, fileBytesMax: 1_000_000 } });
  const cutOf = async (code: string, wanted: Wanted) =>
    (await events(code, wanted)).flatMap((event) =>
      event.kind === "cut" ? [[event.stream, event.bytes, event.tail.length, event.tail.toString().slice(-9)]] : [],
    );
  assert.deepEqual(
    await Promise.all([
      cutOf("head -c 300000 /dev/zero | tr '\\0' y; echo; echo the end", {}),
      cutOf("import sys\nprint('y' * 100_000 + 'a bit', file=sys.stderr)", { language: "python" }),
    ]),
    [[["stdout", 200_009, 65_536, "\nthe end\n"]], [["stderr", 6, 6, "a bit\n"]]],
  );
});

test("what is left running can say what it likes to the end of the turn, and goes on [X1]", async (t) => {
  const { supervisor, guest, run } = await guestWith(t);
  const visits = join(supervisor.workspace, "visits");
  const server = "(while echo ready && echo to all >&2; do echo >> visits; sleep 0.01; done) &";
  assert.equal((await run(server)).end, "done 0");
  const before = statSync(visits).size;
  // Asked for until it is so: the test's own limit is the only one.
  while (statSync(visits).size < before + 10) await guest.ping();
  assert((await guest.endTurn()) > 0);
});

test("many small writes become few frames [X1][Q1]", async (t) => {
  const { events } = await guestWith(t);
  const code = "import os\nfor _ in range(20_000): os.write(1, b'x')";
  const outputs = (await events(code, { language: "python" })).filter(({ kind }) => kind === "output");
  t.diagnostic(`20000 writes, ${outputs.length} frames`);
  assert(outputs.length < 2000);
});

test("a host that does not read stops the writer, and nothing else [X1][X4]", async (t) => {
  const { supervisor, run } = await guestWith(t, { limits: { outputBytesMax: 1e9, fileBytesMax: 1e9 } });
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

test("an interrupt is like Ctrl+C: Python says where it was and keeps its names, a shell ends [X1]", async (t) => {
  const { guest, run } = await guestWith(t);
  await run("x = 1", { language: "python" });
  const cell = run("import time\ntime.sleep(1000)", { id: "cell", language: "python" });
  guest.interrupt("cell");
  const interrupted = await cell;
  assert.deepEqual([interrupted.end, interrupted.stderr.endsWith("KeyboardInterrupt\n")], ["cancelled 130", true]);
  assert.deepEqual(await run("x", { language: "python" }), done({ results: ["text 1"] }));
  const script = run("sleep 1000", { id: "script" });
  guest.interrupt("script");
  assert.deepEqual(await script, { ...done({}), end: "cancelled SIGINT" });
  guest.interrupt("script");
  guest.interrupt("never was");
});

test("an execution is cancelled by its signal, before it starts and while it runs [X1]", async (t) => {
  const { run } = await guestWith(t);
  assert.deepEqual(await run("sleep 1000", { signal: AbortSignal.abort() }), {
    ...done({}),
    end: "cancelled undefined",
  });
  const stop = new AbortController();
  const running = run("sleep 1000", { signal: stop.signal });
  stop.abort();
  assert.deepEqual(await running, { ...done({}), end: "cancelled SIGINT" });
});

test("what does not listen to an interrupt is killed, with all it started [X1]", async (t) => {
  const hurried: Clock = { ...systemClock, after: (ms, action) => systemClock.after(ms / 10, action) };
  const { supervisor, run } = await guestWith(t, { clock: hurried });
  const gate = join(supervisor.workspace, "gate");
  execFileSync("mkfifo", [gate]);
  for (const [language, code] of [
    ["bash", "trap '' INT; (trap '' INT; sleep 1000) & echo $! > gate; sleep 1000"],
    [
      "python",
      "import os, signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nopen('gate', 'w').write(str(os.getpid()))\nwhile True: pass",
    ],
  ] as const) {
    const stop = new AbortController();
    const running = run(code, { language, signal: stop.signal, timeoutMs: 300_000 });
    const started = Number(await readFile(gate, "utf8"));
    stop.abort();
    assert.deepEqual(await running, { ...done({}), end: "cancelled SIGKILL" });
    // Asked for until it is so: the kernel may take a moment for it.
    while (existsSync(`/proc/${started}`)) await systemClock.wait(5);
  }
});

test("a kill and a reset end at once what runs [X1]", async (t) => {
  const { guest, run } = await guestWith(t);
  const script = run("sleep 1000", { id: "script" });
  guest.kill("script");
  assert.deepEqual(await script, { ...done({}), end: "killed SIGKILL" });
  const cell = run("import time; time.sleep(1000)", { language: "python" });
  const [ended] = await Promise.all([cell, guest.reset("a")]);
  assert.deepEqual(ended, { ...done({}), end: "killed SIGKILL" });
  const left = guest.run({ id: "left", language: "bash", code: "sleep 1000", agent: "a", timeoutMs: 60_000 });
  for await (const event of left) if (event.kind === "started") break;
  // Who stops reading ends it; the processes may take a moment to be gone.
  while ((await guest.endTurn()) > 0);
});

test("the end of a turn ends every process but the agents' Pythons, also those that hid [X1]", async (t) => {
  const { guest, run } = await guestWith(t);
  await run("x = 1", { language: "python" });
  await run("setsid -f sleep 1000; (setsid sleep 1000 & disown) ; nohup sleep 1000 >/dev/null 2>&1 &");
  assert.equal(await guest.endTurn(), 3);
  assert.deepEqual(await run("x", { language: "python" }), done({ results: ["text 1"] }));
});

test("what somebody else runs goes on when a turn ends, with all it started; where all must end it does not [X1]", async (t) => {
  const { guest, run, supervisor } = await guestWith(t);
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

test("a program has nothing of the supervisor's: descriptors, session, signals, limits [X1]", async (t) => {
  const { run } = await guestWith(t);
  // The last descriptor is that of the listing itself.
  assert.deepEqual(await run("echo /proc/self/fd/*; ulimit -f; cat /proc/self/oom_score_adj"), {
    ...done({ stdout: "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n65536\n500\n" }),
  });
  const facts = [
    "import os, resource, signal",
    "(sorted(map(int, os.listdir('/proc/self/fd')))[:-1], os.getsid(0) == os.getpid(),",
    " resource.getrlimit(resource.RLIMIT_CORE), open('/proc/self/oom_score_adj').read(), os.environ['MPLBACKEND'],",
    " signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN, signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)",
  ].join("\n");
  assert.deepEqual(
    await run(facts, { language: "python" }),
    // Its output, its link to the supervisor, and the /dev/null it rests on.
    done({ results: ["text ([0, 1, 2, 3, 4], True, (1, 1), '500\\n', 'Agg', True, True)"] }),
  );
});

test("bytes that are no text pass as they are [X1]", async (t) => {
  const { events } = await guestWith(t);
  const all = await events("printf '\\xff\\xfe\\x00\\x80'");
  const bytes = all.flatMap((event) => (event.kind === "output" ? [...event.bytes] : []));
  assert.deepEqual(bytes, [0xff, 0xfe, 0x00, 0x80]);
});

test("an execution tells what it used [X1]", async (t) => {
  const { events } = await guestWith(t);
  const code = "b = bytearray(60_000_000)\nfor i in range(3_000_000): pass\ndel b";
  for (const [language, text] of [
    ["python", code],
    ["bash", `${python} -c '${code}'`],
    ["python", `import subprocess\n_ = subprocess.run(['${python}', '-c', '''${code}'''])`],
  ] as const) {
    const end = (await events(text, { language })).at(-1);
    assert(end?.kind === "exited" && end.code === 0);
    assert(end.metrics.cpuMs >= 10 && end.metrics.durationMs >= 10 && end.metrics.memoryPeakBytes > 60_000_000);
  }
  const small = (await events("1", { language: "python" })).at(-1);
  assert(small?.kind === "exited" && small.metrics.memoryPeakBytes < 60_000_000);
});

test("more executions than a guest takes are refused with a reason, and it goes on [X1][X4]", async (t) => {
  const { guest, run } = await guestWith(t);
  const many = Array.from({ length: 33 }, () => run("exec sleep 1000"));
  const refused = await Promise.race(many);
  assert.deepEqual(refused, {
    ...done({ stderr: "sandbox: more than 32 executions at the same time\n" }),
    end: "done 126",
  });
  assert.equal(await guest.endTurn({ all: true }), 32);
  assert.equal((await Promise.all(many)).filter(({ end }) => end === "done SIGKILL").length, 32);
});

test("a program that is fed gets its input to the end, however much it is and however late it reads [X1]", async (t) => {
  const { run } = await guestWith(t);
  const stdin = Buffer.from("0123456789".repeat(100_000));
  assert.deepEqual(await run("wc -c", { stdin }), done({ stdout: "1000000\n" }));
  assert.deepEqual(await run("cat", { stdin: Buffer.alloc(0) }), done({}));
  const cell = "first = input()\nimport sys\n(first, sys.stdin.read())";
  assert.deepEqual(
    await run(cell, { language: "python", stdin: Buffer.from("one\n二\n") }),
    done({ results: ["text ('one', '二\\n')"] }),
  );
  const script = "process.stdin.on('data', (bytes) => console.log(String(bytes)))";
  assert.deepEqual(await run(script, { language: "javascript", stdin: Buffer.from("fed") }), done({ stdout: "fed\n" }));
});

test("a file that grows beyond its limit ends the program that writes it, with a remark, and not the agent's Python [X4]", async (t) => {
  const limits = { outputBytesMax: 1_000_000, fileBytesMax: 1_000_000 };
  const { run } = await guestWith(t, { limits });
  const remark = "sandbox: a file can have no more than 1000000 bytes\n";
  const script = await run("exec head -c 2000000 /dev/zero > big");
  assert.deepEqual([script.end, script.stderr.endsWith(remark)], ["done SIGXFSZ", true]);
  const shell = await run("(head -c 2000000 /dev/zero > big); exit $?");
  assert.deepEqual([shell.end, shell.stderr.endsWith(remark)], ["done 153", true]);
  await run("x = 1", { language: "python" });
  const cell = await run("open('big', 'wb').write(bytes(2_000_000))", { language: "python" });
  assert.deepEqual([cell.end, cell.stderr.endsWith(`OSError: [Errno 27] File too large\n${remark}`)], ["done 1", true]);
  assert.deepEqual(await run("x", { language: "python" }), done({ results: ["text 1"] }));
});

test("a guest that is closed is gone with all it runs, and tells those who wait [X1]", async (t) => {
  const { supervisor, guest, run } = await guestWith(t);
  const running = run("sleep 1000 & sleep 1000");
  await guest.close("idle");
  assert.deepEqual(
    [await guest.ended, await running, await supervisor.gone, supervisor.said()],
    [{ why: "idle" }, { ...done({}), end: "lost undefined" }, 0, ""],
  );
  assert.deepEqual(await run("echo too late"), { ...done({}), end: "lost undefined" });
  await Promise.all([guest.reset("a"), guest.endTurn(), guest.ping(), guest.close("again")]);
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

type Wanted = Partial<Execution>;
type Tried = {
  supervisor: BareSupervisor;
  guest: GuestConnection;
  run: (code: string, wanted?: Wanted) => Promise<Outcome>;
  events: (code: string, wanted?: Wanted) => Promise<ExecutionEvent[]>;
};

async function guestWith(t: TestContext, settings: Partial<GuestSettings> = {}): Promise<Tried> {
  const supervisor = bareSupervisor(t);
  const connected = await connectGuest(supervisor.socket, { ...guestSettings(supervisor.workspace), ...settings });
  assert(connected.ok, supervisor.said());
  const guest = connected.value;
  let count = 0;
  const start = (code: string, wanted: Wanted) => {
    count += 1;
    return guest.run({ id: `e${count}`, language: "bash", code, agent: "a", timeoutMs: 30_000, ...wanted });
  };
  return {
    supervisor,
    guest,
    run: (code, wanted = {}) => outcomeOf(start(code, wanted)),
    events: (code, wanted = {}) => allOf(start(code, wanted)),
  };
}

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  allOf,
  bareSupervisor,
  done,
  guestSettings,
  type Outcome,
  outcomeOf,
} from "../../../test/world/bare-supervisor.ts";
import type { Execution } from "../provider.ts";
import { connectGuest, type GuestSettings } from "./connection.ts";

test("a module of the user's is found under whatever name, also one of the supervisor's [X1]", async (t) => {
  const { run, workspace } = await guestWith(t);
  const names = readdirSync(import.meta.dirname).flatMap((name) => (name.endsWith(".py") ? [name.slice(0, -3)] : []));
  assert(names.length > 8);
  for (const name of names) writeFileSync(join(workspace, `${name}.py`), "is_own = True\n");
  const code = [
    "import importlib",
    `modules = [importlib.import_module(name) for name in ${JSON.stringify(names)}]`,
    "[module.__name__ for module in modules if not hasattr(module, 'is_own')]",
  ].join("\n");
  assert.deepEqual(await run(code), done({ results: ["text []"] }));
});

test("packages that a conversation installed are found by a cell, after what lies in its own folder [X5][T6]", async (t) => {
  const { run, workspace, connect } = prepared(t);
  for (const [folder, text] of [
    ["packages", "installed"],
    ["more", "more"],
  ] as const) {
    mkdirSync(join(workspace, folder));
    for (const name of ["both", folder]) writeFileSync(join(workspace, folder, `${name}_.py`), `where = "${text}"\n`);
  }
  writeFileSync(join(workspace, "own_.py"), 'where = "own"\n');
  writeFileSync(join(workspace, "packages/own_.py"), 'where = "installed"\n');
  await connect({ env: { PYTHONPATH: `${workspace}/packages::${workspace}/more` } });
  const code = "import own_, both_, packages_, more_\n[m.where for m in (own_, both_, packages_, more_)]";
  assert.deepEqual(await run(code), done({ results: ["text ['own', 'installed', 'installed', 'more']"] }));
});

test("a cell that does not listen to interrupts leaves one that does to the next [X1]", async (t) => {
  const { run, interrupt, workspace } = await guestWith(t);
  assert.deepEqual(await run("import signal; _ = signal.signal(signal.SIGINT, signal.SIG_IGN)"), done({}));
  const wait = "import time\nopen('begun', 'w').close()\ntime.sleep(1000)";
  const cell = run(wait, { id: "cell", timeoutMs: 300_000 });
  while (!readdirSync(workspace).includes("begun")) await run("true", { language: "bash" });
  interrupt("cell");
  assert.equal((await cell).end, "cancelled 130");
});

test("variables of one cell are as they were before for the next, whatever they were [X1]", async (t) => {
  const { run } = await guestWith(t, { env: { GIVEN: "before" } });
  const code = "import os\n[os.environ.get(name) for name in ('GIVEN', 'OWN')]";
  const changed = "import os\nos.environ['OWN'] += '!'\nprint(os.environ['GIVEN'], os.environ['OWN'])";
  assert.deepEqual(await run(changed, { env: { GIVEN: "now", OWN: "own" } }), done({ stdout: "now own!\n" }));
  assert.deepEqual(await run(code), done({ results: ["text ['before', None]"] }));
});

test("a cell that closes its error output and fails costs nobody the agent's Python, and the next one's errors are told [X1]", async (t) => {
  const { run } = await guestWith(t);
  for (const close of ["sys.stderr.close()", "sys.stderr.detach()", "os.close(2)"]) {
    for (const fail of ["1 / 0", "sys.exit('stop')"])
      assert.deepEqual(await run(`import os, sys\nx = 1\n${close}\n${fail}`), { ...done({}), end: "done 1" });
    const next = await run("x / 0");
    assert.deepEqual([next.end, next.stderr.endsWith("ZeroDivisionError: division by zero\n")], ["done 1", true]);
  }
});

test("a traceback quotes the lines of the last two hundred cells [X1][X4]", async (t) => {
  const { run } = await guestWith(t);
  await run("def f(): raise KeyError(1)");
  for (let cell = 2; cell < 200; cell += 1) await run("");
  const quotes = async () => (await run("f()")).stderr.includes("def f(): raise KeyError(1)");
  assert.deepEqual([await quotes(), await quotes()], [true, false]);
});

test("a value arrives whole at every length of a piece, and up to its limit [X1][X4]", async (t) => {
  const { run } = await guestWith(t);
  const piece = 60 * 1024;
  const event = "{}";
  for (const bytes of [piece - 1, piece, piece + 1, 2 * piece, 1000 * 1024]) {
    const { results, end } = await run(`def handler(event): return "x" * (${bytes} - 2)`, { event });
    assert.deepEqual([results.length, results[0]?.length, end], [1, "json ".length + bytes, "done 0"], `${bytes}`);
  }
  const long = await run(`def handler(event): return "x" * (1000 * 1024 - 1)`, { event });
  assert.deepEqual([long.results, long.end], [[], "done 1"]);
  assert.match(long.stderr, /has 1024001 bytes, more than 1024000\n$/);
  const shown = await run("'x' * (256 * 1024 - 2)");
  assert.deepEqual([shown.results[0]?.length, shown.results[0]?.endsWith("x'")], ["text ".length + 256 * 1024, true]);
  const script = { language: "javascript", event } as const;
  for (const bytes of [65_535, 65_536, 65_537]) {
    const { results } = await run(`const handler = () => "x".repeat(${bytes - 2})`, script);
    assert.deepEqual([results.length, results[0]?.length], [1, "json ".length + bytes], `${bytes}`);
  }
});

test("a value that JSON has no word for is an error, and not something that nobody can read [X1]", async (t) => {
  const { run } = await guestWith(t);
  const { results, end, stderr } = await run("def handler(event): return [float('nan')]", { event: "{}" });
  assert.deepEqual([results, end], [[], "done 1"]);
  assert.match(stderr, /ValueError: Out of range float values are not JSON compliant/);
});

test("a cell ends with the code that it leaves with, as python itself has it [X1]", async (t) => {
  const { run } = await guestWith(t);
  const codes = { "-1": 255, "256": 0, None: 0, True: 1, "": 0, "[]": 1 };
  for (const [given, code] of Object.entries(codes))
    assert.equal((await run(`raise SystemExit(${given})`)).end, `done ${code}`, given);
});

test("an event of any kind asks for a handler, and one that takes too much is told what it lacks [X1]", async (t) => {
  const { run } = await guestWith(t);
  for (const event of ["[1]", "0", "null", '"text"']) {
    const { stderr, end } = await run("1", { event });
    assert.deepEqual([stderr, end], ["NameError: handler(event) is not defined\n", "done 1"], event);
  }
  const { stderr, end } = await run("def handler(a, b): return 1", { event: '{"a":1}' });
  assert.equal(end, "done 1");
  assert.match(stderr, /TypeError: handler\(\) missing 1 required positional argument: 'b'\n$/);
  for (const [event, json] of Object.entries({ "[1]": "1", '{"a":1}': '"a"' }))
    assert.deepEqual(await run("handler = max", { event }), done({ results: [`json ${json}`] }));
});

test("what a Python said before it ended is heard to the end, also when a child of it lives on [X1]", async (t) => {
  const { run, endTurn } = await guestWith(t);
  const many = [
    "import os, struct, time",
    "for n in range(300): os.write(3, b'R' + struct.pack('>IcB', TOKEN, b't', 0) + str(n).encode())",
  ].join("\n");
  const ended = await run(`${many.replace("TOKEN", "1")}\nos._exit(7)`);
  const expected = Array.from({ length: 300 }, (_, number) => `text ${number}`);
  assert.deepEqual(ended, { ...done({ results: expected }), end: "lost 7" });
  const child = "os.fork() or (os.close(1), os.close(2), time.sleep(1000))";
  const left = await run(`${many.replace("TOKEN", "2")}\n${child}\nos._exit(8)`);
  assert.deepEqual(left, { ...done({ results: expected }), end: "lost 8" });
  assert.equal(await endTurn(), 1);
});

test("a cell finds a Python of its own: its name, no arguments, and what it said without an end of line [X1]", async (t) => {
  const { run } = await guestWith(t);
  const code = "import sys\n(sys.argv, __name__, vars(sys.modules['__main__']) is globals())";
  assert.deepEqual(await run(code), done({ results: ["text ([''], '__main__', True)"] }));
  assert.deepEqual(await run("print('a', end=''); sys.stderr.write('b') and None"), done({ stdout: "a", stderr: "b" }));
  assert.deepEqual(await run("sys.stdin.close()"), done({}));
  assert.deepEqual(await run("sys.stdin.read()"), done({ results: ["text ''"] }));
});

test("a cell used what it used, and not what those before it did [X1]", async (t) => {
  const { metricsOf } = await guestWith(t);
  const busy = await metricsOf("import time\nwhile time.process_time() < 1: pass");
  const idle = await metricsOf("1");
  assert.ok(busy.cpuMs >= 500 && idle.cpuMs < busy.cpuMs / 2, `${busy.cpuMs} ${idle.cpuMs}`);
  const inner = "import time\\nwhile time.process_time() < 0.5: pass";
  const outer = await metricsOf(
    `import subprocess, sys\nsubprocess.run([sys.executable, "-c", "${inner}"], check=True)`,
  );
  assert.ok(outer.cpuMs >= 400, `${outer.cpuMs}: a program that it runs is its own`);
});

test("what a cell had in memory counts for it, also where an earlier one took it [X1]", async (t) => {
  const { metricsOf } = await guestWith(t);
  await metricsOf("x = bytearray(60_000_000)");
  const next = await metricsOf("1");
  const freed = await metricsOf("del x");
  const last = await metricsOf("2");
  assert.deepEqual(
    [next, freed, last].map(({ memoryPeakBytes }) => memoryPeakBytes > 60_000_000),
    [true, true, false],
  );
});

test("what is interrupted says where it was, and nothing of ours [X1]", async (t) => {
  const { run, interrupt, workspace } = await guestWith(t);
  const wait = "import time\nopen('begun', 'w').close()\ntime.sleep(1000)";
  const cell = run(wait, { id: "cell", timeoutMs: 300_000 });
  while (!readdirSync(workspace).includes("begun")) await run("true", { language: "bash" });
  interrupt("cell");
  assert.match((await cell).stderr, /^Traceback \(most recent call last\):\n {2}File "<cell 1>", line 3/);
});

test("a cell that is interrupted before its Python comes to it never goes on [X1]", async (t) => {
  const { run, interrupt } = await guestWith(t);
  const pid = (await run("import os\nos.getpid()")).results[0]?.replace("text ", "");
  const tell = (signal: string) => run(`kill -${signal} ${pid}`, { language: "bash" });
  await tell("STOP");
  const cell = run("while True: pass", { id: "cell", timeoutMs: 300_000 });
  interrupt("cell");
  await tell("CONT");
  assert.equal((await cell).end, "cancelled 130");
});

test("a handler in JavaScript that gives nothing gives null, and one that fails is an error [X1]", async (t) => {
  const { run } = await guestWith(t);
  const script = (code: string, event: string) => run(code, { language: "javascript", event });
  assert.deepEqual(await script("const handler = () => undefined", "{}"), done({ results: ["json null"] }));
  assert.deepEqual(await script("console.log(1)", '{"conversation_id":"c"}'), done({ stdout: "1\n" }));
  const failed = await script("const handler = async () => { throw new Error('no') }", '{"a":1}');
  assert.deepEqual([failed.results, failed.end, /Error: no\n/.test(failed.stderr)], [[], "done 1", true]);
});

type Run = (code: string, wanted?: Partial<Execution>) => Promise<Outcome>;

function prepared(t: TestContext) {
  const supervisor = bareSupervisor(t);
  let guest: Awaited<ReturnType<typeof connectGuest>> | undefined;
  const connect = async (settings: Partial<GuestSettings>) => {
    guest = await connectGuest(supervisor.socket, { ...guestSettings(supervisor.workspace), ...settings });
    assert(guest.ok, supervisor.said());
  };
  const connected = () => {
    assert(guest?.ok);
    return guest.value;
  };
  let count = 0;
  const run: Run = (code, wanted) => {
    count += 1;
    const execution = { id: `e${count}`, language: "python", code, agent: "a", timeoutMs: 30_000, ...wanted } as const;
    return outcomeOf(connected().run(execution));
  };
  const metricsOf = async (code: string) => {
    const execution = { id: "m", language: "python", code, agent: "a", timeoutMs: 30_000 } as const;
    const end = (await allOf(connected().run(execution))).at(-1);
    assert(end?.kind === "exited" && end.code === 0);
    return end.metrics;
  };
  const interrupt = (id: string) => connected().interrupt(id);
  const endTurn = () => connected().endTurn();
  return { workspace: supervisor.workspace, connect, run, metricsOf, interrupt, endTurn };
}

async function guestWith(t: TestContext, settings: Partial<GuestSettings> = {}) {
  const guest = prepared(t);
  await guest.connect(settings);
  return guest;
}

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { bareGuest, done } from "../../../test/world/bare-supervisor.ts";
import type { Execution } from "../provider.ts";
import type { GuestSettings } from "./connection.ts";

const pythonGuest = (t: TestContext, settings?: (workspace: string) => Partial<GuestSettings>) =>
  bareGuest(t, { language: "python", ...(settings && { settings }) });

test("a module of the user's is found under whatever name, also one of the supervisor's [X1]", async (t) => {
  const { run, workspace } = await pythonGuest(t);
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
  const env = (workspace: string) => ({ PYTHONPATH: `${workspace}/packages::${workspace}/more` });
  const { run, workspace } = await pythonGuest(t, (folder) => ({ env: env(folder) }));
  for (const [folder, text] of [
    ["packages", "installed"],
    ["more", "more"],
  ] as const) {
    mkdirSync(join(workspace, folder));
    for (const name of ["both", folder]) writeFileSync(join(workspace, folder, `${name}_.py`), `where = "${text}"\n`);
  }
  writeFileSync(join(workspace, "own_.py"), 'where = "own"\n');
  writeFileSync(join(workspace, "packages/own_.py"), 'where = "installed"\n');
  const code = "import own_, both_, packages_, more_\n[m.where for m in (own_, both_, packages_, more_)]";
  assert.deepEqual(await run(code), done({ results: ["text ['own', 'installed', 'installed', 'more']"] }));
});

test("variables of one cell are as they were before for the next, whatever they were [X1]", async (t) => {
  const { run } = await pythonGuest(t, () => ({ env: { GIVEN: "before" } }));
  const code = "import os\n[os.environ.get(name) for name in ('GIVEN', 'OWN')]";
  const changed = "import os\nos.environ['OWN'] += '!'\nprint(os.environ['GIVEN'], os.environ['OWN'])";
  assert.deepEqual(await run(changed, { env: { GIVEN: "now", OWN: "own" } }), done({ stdout: "now own!\n" }));
  assert.deepEqual(await run(code), done({ results: ["text ['before', None]"] }));
});

test("a value arrives whole at every length of a piece, and up to its limit [X1][X4]", async (t) => {
  const { run } = await pythonGuest(t);
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

test("an event of any kind asks for a handler, and one that takes too much is told what it lacks [X1]", async (t) => {
  const { run } = await pythonGuest(t);
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

test("what is interrupted says where it was, and nothing of ours [X1]", async (t) => {
  const { run, guest, workspace } = await pythonGuest(t);
  const wait = "import time\nopen('begun', 'w').close()\ntime.sleep(1000)";
  const cell = run(wait, { id: "cell", timeoutMs: 300_000 });
  while (!readdirSync(workspace).includes("begun")) await run("true", { language: "bash" });
  guest.interrupt("cell");
  assert.match((await cell).stderr, /^Traceback \(most recent call last\):\n {2}File "<cell 1>", line 3/);
});

test("an error is told with the user's own lines, and what was done before stays [X1]", async (t) => {
  const { run } = await pythonGuest(t);
  const error = await run("x = 1\ndef f():\n    raise ValueError('no good')\nf()");
  const quoted = error.stderr.split("\n").filter((line) => !/^[\s^~]*$/.test(line));
  assert.deepEqual(
    { ...error, stderr: quoted },
    {
      ...done({}),
      end: "done 1",
      stderr: [
        "Traceback (most recent call last):",
        '  File "<cell 1>", line 4, in <module>',
        "    f()",
        '  File "<cell 1>", line 3, in f',
        "    raise ValueError('no good')",
        "ValueError: no good",
      ],
    },
  );
  const syntax = await run("1 +* 2");
  assert.match(syntax.stderr, /^ {2}File "<cell 2>", line 1\n {4}1 \+\* 2\n[\s\S]*SyntaxError: /);
  assert.deepEqual(await run("x"), done({ results: ["text 1"] }));
  assert.deepEqual(await run("import sys; sys.exit(3)"), { ...done({}), end: "done 3" });
  assert.deepEqual(await run("sys.exit('stop')"), { ...done({ stderr: "stop\n" }), end: "done 1" });
});

test("a handler of an earlier cell, of somebody else or that nobody asked for is not called [X1]", async (t) => {
  const { run } = await pythonGuest(t);
  const event = "{}";
  assert.deepEqual(await run("def handler(event): return 1", { event }), done({ results: ["json 1"] }));
  assert.deepEqual(await run("handler(None) + 1", { event }), done({ results: ["text 2"] }));
  assert.deepEqual(await run("def handler(signum, frame): 1 / 0", { event }), done({}));
  assert.deepEqual(await run("handler = 5\nhandler", { event }), done({ results: ["text 5"] }));
  assert.deepEqual(await run("def handler(event): 1 / 0\n8"), done({ results: ["text 8"] }));
  assert.deepEqual(await run("9", { event: '{"conversation_id":"c"}' }), done({ results: ["text 9"] }));
});

test("a cell that sends pieces of nothing without end comes to a limit, and goes on [X1][X4]", async (t) => {
  const { guest, run } = await pythonGuest(t);
  const forge = `
import gc, socket, struct
link, token = next((o.link, o.token) for o in gc.get_objects() if type(o).__name__ == "Kernel" and hasattr(o, "figures"))
for _ in range(17_000): link.send(b"R" + struct.pack(">IcB", token, b"t", 1))
`;
  assert.deepEqual(await run(forge), done({}));
  assert.ok((await guest.ping()) >= 17_000 - 16_384);
  assert.deepEqual(await run("1"), done({ results: ["text 1"] }));
});

test("a Python that was started anew and one that ended with its cell are told [X1]", async (t) => {
  const { guest, events } = await pythonGuest(t);
  const facts = async (code: string, wanted?: Partial<Execution>) =>
    (await events(code, wanted)).flatMap((event) => {
      if (event.kind === "started") return event.isPythonNew ? ["new"] : [];
      return event.kind === "exited" ? [event.isPythonLost ? `${event.how}, gone` : event.how] : [];
    });
  guest.warm("a", []);
  assert.deepEqual(await facts("x = 1"), ["new", "done"]);
  assert.deepEqual(await facts("x"), ["done"]);
  assert.deepEqual(await facts("echo", { language: "bash" }), ["done"]);
  assert.deepEqual(await facts("import os; os._exit(0)"), ["lost, gone"]);
  const deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass";
  assert.deepEqual(await facts("1"), ["new", "done"]);
  let ended = ["timeout"];
  // One that was interrupted before it was deaf, on a busy machine, gets more time.
  for (let timeoutMs = 100; timeoutMs < 20_000 && ended.join() === "timeout"; timeoutMs *= 2)
    ended = await facts(deaf, { timeoutMs });
  assert.deepEqual(ended, ["timeout, gone"]);
  await facts("1");
  assert.deepEqual(await facts("import time; time.sleep(1000)", { timeoutMs: 100 }), ["timeout"]);
  await guest.reset("a");
  assert.deepEqual(await facts("1"), ["new", "done"]);
});

test("a cell may close, replace or fill its output with anything; the next one prints as usual [X1]", async (t) => {
  const { run } = await pythonGuest(t);
  assert.deepEqual(await run("import sys; sys.stdout.close()"), done({}));
  assert.deepEqual(await run("import io, sys; sys.stdout = io.StringIO(); print('kept')"), done({}));
  assert.deepEqual(await run("import os; os.close(1); os.close(2)"), done({}));
  assert.deepEqual(await run("for stream in (sys.stdin, sys.stdout): stream.detach()"), done({}));
  assert.deepEqual(await run("print('\\udcff ü 中文')"), done({ stdout: "\\udcff ü 中文\n" }));
  assert.deepEqual(await run("import json; json.dumps = json.loads = None"), done({}));
  assert.equal((await run("1")).end, "lost 126");
  assert.deepEqual(await run("try: input()\nexcept EOFError: print('no input')"), done({ stdout: "no input\n" }));
});

test("code and events of any length arrive as they are, with whatever is in them [X1]", async (t) => {
  const { run } = await pythonGuest(t);
  for (const length of [1, 8191, 8192, 8193, 65_536, 65_537]) {
    const event = JSON.stringify("é".repeat(length));
    const code = `text = """${"\n".repeat(length)}"""\ndef handler(event): return [len(event), len(text)]`;
    assert.deepEqual(await run(code, { event }), done({ results: [`json [${length}, ${length}]`] }));
  }
  assert.match((await run("1\0 + 1")).stderr, /null bytes/);
});

test("more agents than a guest has Pythons for are told so, and one that gives its own back makes room [X1][X4]", async (t) => {
  const { guest, run } = await pythonGuest(t);
  for (let number = 1; number <= 16; number += 1) guest.warm(`${number}`, []);
  assert.deepEqual(await run("1", { agent: "17" }), {
    ...done({ stderr: "sandbox: cannot start a process: more than 16 agents with a Python of their own\n" }),
    end: "done 126",
  });
  assert.deepEqual(await run("1", { agent: "16" }), done({ results: ["text 1"] }));
  await guest.reset("1");
  assert.deepEqual(await run("1", { agent: "17" }), done({ results: ["text 1"] }));
});

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
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
import type { Execution, ExecutionEvent } from "../provider.ts";
import { connectGuest, type GuestConnection } from "./connection.ts";

test("an agent's Python keeps its names from cell to cell, and the last expression is shown [X1]", async (t) => {
  const { run } = await guestWithPython(t);
  assert.deepEqual(
    await run("import math\nx = 41\nprint('hello')\nx + 1"),
    done({ stdout: "hello\n", results: ["text 42"] }),
  );
  assert.deepEqual(await run("x += 1; math.floor(x / 10)"), done({ results: ["text 4"] }));
  assert.deepEqual(await run("x = None\nx"), done({}));
  assert.deepEqual(await run(""), done({}));
});

test("two agents do not see each other's names, and one forgets only its own [X1]", async (t) => {
  const { guest, run } = await guestWithPython(t);
  await Promise.all([run("x = 'of a'", { agent: "a" }), run("x = 'of b'", { agent: "b" })]);
  await guest.reset("a");
  const [a, b] = await Promise.all([run("'x' in globals()", { agent: "a" }), run("x", { agent: "b" })]);
  assert.deepEqual([a, b], [done({ results: ["text False"] }), done({ results: ["text 'of b'"] })]);
  await guest.reset("nobody");
});

test("cells of one agent run in the order they were asked for, also when all are asked for at once [X1]", async (t) => {
  const { run } = await guestWithPython(t);
  const cells = ["seen = []", ...Array.from("abc", (letter) => `seen.append('${letter}'); ''.join(seen)`)];
  const outcomes = await Promise.all(cells.map((code) => run(code)));
  assert.deepEqual(
    outcomes.map(({ results }) => results),
    [[], ["text 'a'"], ["text 'ab'"], ["text 'abc'"]],
  );
});

test("an error is told with the user's own lines, and what was done before stays [X1]", async (t) => {
  const { run } = await guestWithPython(t);
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

test("an error of which nothing can be asked is named by its type, and costs nothing of what was done before [X1]", async (t) => {
  const { run } = await guestWithPython(t);
  const cell = `kept = 1
class Odd(OSError):
    errno = __class__ = property(lambda self: 1 / 0)
raise Odd(1, "odd")`;
  assert.deepEqual(await run(cell), {
    ...done({ stderr: "Odd\n" }),
    end: "done 1",
  });
  assert.deepEqual(await run("kept"), done({ results: ["text 1"] }));
});

test("handler(event) gives its value back, also when it is 0, false, empty or nothing [X1]", async (t) => {
  const { run } = await guestWithPython(t);
  const values = ["0", "False", "''", "[]", "{}", "None", "event", "'中文'"];
  const outcomes = await Promise.all(
    values.map((value) => run(`def handler(event):\n    return ${value}`, { event: '{"a":[1,null]}' })),
  );
  assert.deepEqual(
    outcomes,
    ["0", "false", '""', "[]", "{}", "null", '{"a": [1, null]}', '"中文"'].map((json) =>
      done({ results: [`json ${json}`] }),
    ),
  );
  const missing = await run("pass", { event: '{"a":1}' });
  assert.deepEqual(missing, { ...done({ stderr: "NameError: handler(event) is not defined\n" }), end: "done 1" });
  const unfit = await run("def handler(event): return object()", { event: "{}" });
  assert.match(unfit.stderr, /TypeError: Object of type object is not JSON serializable\n$/);
  const long = await run("def handler(event): return 'x' * 2_000_000", { event: "{}" });
  assert.deepEqual([long.results, long.end], [[], "done 1"]);
  assert.match(long.stderr, /ValueError: the value of handler\(event\) has 2000002 bytes, more than 1024000\n$/);
});

test("whatever a cell calls handler is called, waited for, and given no more than it takes [X1]", async (t) => {
  const { run } = await guestWithPython(t);
  const event = '{"a":2}';
  const cells = {
    "handler = lambda event: event['a']": "2",
    "async def handler(event):\n    import asyncio\n    await asyncio.sleep(0)\n    return event['a'] + 1": "3",
    "def handler():\n    return 4": "4",
    "class C:\n    def __call__(self, event, more=1): return more\nhandler = C()": "1",
    "def handler(*events):\n    return len(events)": "1",
    "if True:\n    def handler(event: dict) -> int: return 6\n7": "6",
  };
  for (const [code, json] of Object.entries(cells))
    assert.deepEqual(await run(code, { event }), done({ results: [`json ${json}`] }), code);
  const imported = "from json import dumps as handler";
  for (const _ of [1, 2]) assert.deepEqual(await run(imported, { event }), done({ results: [`json "{\\"a\\": 2}"`] }));
});

test("a handler of an earlier cell, of somebody else or that nobody asked for is not called [X1]", async (t) => {
  const { run } = await guestWithPython(t);
  const event = "{}";
  assert.deepEqual(await run("def handler(event): return 1", { event }), done({ results: ["json 1"] }));
  assert.deepEqual(await run("handler(None) + 1", { event }), done({ results: ["text 2"] }));
  assert.deepEqual(await run("def handler(signum, frame): 1 / 0", { event }), done({}));
  assert.deepEqual(await run("handler = 5\nhandler", { event }), done({ results: ["text 5"] }));
  assert.deepEqual(await run("def handler(event): 1 / 0\n8"), done({ results: ["text 8"] }));
  assert.deepEqual(await run("9", { event: '{"conversation_id":"c"}' }), done({ results: ["text 9"] }));
});

test("code and values of many frames arrive whole [X1]", async (t) => {
  const { run } = await guestWithPython(t);
  const text = "x".repeat(300_000);
  assert.deepEqual(await run(`t = '${text}'\nlen(t)`), done({ results: ["text 300000"] }));
  const echo = await run("def handler(event): return event", { event: JSON.stringify(text) });
  assert.deepEqual(echo, done({ results: [`json "${text}"`] }));
  const shown = await run("'é' * 300_000");
  assert.equal(shown.results[0]?.length, "text ".length + 131_071 + 1 + "...".length);
});

test("many variables in any script reach a cell, and its names stay [X1]", async (t) => {
  const { run } = await guestWithPython(t);
  await run("x = 41");
  const env = { A: "😀".repeat(4000), B: "中".repeat(5000) };
  const code = "import os\n[len(os.environ['A']), len(os.environ['B']), x]";
  assert.deepEqual(await run(code, { env }), done({ results: ["text [4000, 5000, 41]"] }));
  assert.deepEqual(await run("'A' in os.environ"), done({ results: ["text False"] }));
});

test("a cell that sends pieces of nothing without end comes to a limit, and goes on [X1][X4]", async (t) => {
  const { guest, run } = await guestWithPython(t);
  const forge = `
import gc, socket, struct
link, token = next((o.link, o.token) for o in gc.get_objects() if type(o).__name__ == "Kernel" and hasattr(o, "figures"))
for _ in range(17_000): link.send(b"R" + struct.pack(">IcB", token, b"t", 1))
`;
  assert.deepEqual(await run(forge), done({}));
  assert.ok((await guest.ping()) >= 17_000 - 16_384);
  assert.deepEqual(await run("1"), done({ results: ["text 1"] }));
});

test("a cell that ends its Python is told as lost, and the next one starts afresh [X1]", async (t) => {
  const { run } = await guestWithPython(t);
  assert.deepEqual(await run("x = 1\nprint('last words')\nimport os; os._exit(7)"), {
    ...done({ stdout: "last words\n" }),
    end: "lost 7",
  });
  assert.deepEqual(await run("'x' in globals()"), done({ results: ["text False"] }));
  assert.deepEqual(await run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"), {
    ...done({}),
    end: "lost SIGSEGV",
  });
  // Without its link it ends itself, or the supervisor ends it: whoever is first.
  assert.match((await run("import os; os.closerange(3, 100)")).end, /^lost (126|SIGKILL)$/);
  assert.deepEqual(await run("1"), done({ results: ["text 1"] }));
});

test("a Python that was started anew and one that ended with its cell are told [X1]", async (t) => {
  const { guest, events } = await guestWithPython(t);
  const facts = async (code: string, wanted?: Wanted) =>
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

test("a child that a cell forked does not become a second Python [X1]", async (t) => {
  const { run } = await guestWithPython(t);
  const forked = await run(
    "import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\nprint('parent' if pid else 'child')",
  );
  assert.deepEqual(
    { ...forked, stdout: forked.stdout.split("\n").sort() },
    { ...done({}), stdout: ["", "child", "parent"] },
  );
  assert.deepEqual(await run("pid > 0"), done({ results: ["text True"] }));
});

test("what a cell forges goes no further than its own execution [X1]", async (t) => {
  const { guest, run } = await guestWithPython(t);
  const forged = await run(
    [
      "import os, struct",
      `os.write(3, b'{"type":"exited","id":"another","code":0}')`,
      "os.write(3, b'Rx')",
      "os.write(3, b'R' + struct.pack('>IcB', 4_000_000, b't', 0) + b'of another cell')",
      "os.write(3, b'R' + struct.pack('>IcB', 1, b'z', 0) + b'of no kind')",
      "os.write(3, b'D' + struct.pack('>IBI', 99, 0, 0))",
      "os.write(3, b'R' + struct.pack('>IcB', 1, b't', 0) + b'its own')",
      "os.write(3, b'R' + struct.pack('>IcB', 1, b'p', 0) + b'outputs/../../etc/passwd.png')",
      "os.write(3, b'R' + struct.pack('>IcB', 1, b'j', 0) + b'{no json')",
      "'true'",
    ].join("\n"),
  );
  assert.deepEqual(forged, done({ results: ["text its own", "text {no json", `text 'true'`] }));
  assert.deepEqual({ atSupervisor: await guest.ping(), atHost: guest.dropped() }, { atSupervisor: 5, atHost: 1 });
});

test("a cell that says it is done before it is ends there; its late end does not end the next one [X1]", async (t) => {
  const { run } = await guestWithPython(t);
  const early = await run(
    "import os, struct\nos.write(3, b'D' + struct.pack('>IBI', 1, 0, 0))\nos.read(os.open('gate', os.O_RDONLY), 1)\nlate = 1",
    { before: (workspace) => spawnSync("mkfifo", [join(workspace, "gate")]) },
  );
  assert.deepEqual(early, done({}));
  const [next] = await Promise.all([run("late"), run("echo > gate", { language: "bash" })]);
  assert.deepEqual(next, done({ results: ["text 1"] }));
});

test("a cell may close, replace or fill its output with anything; the next one prints as usual [X1]", async (t) => {
  const { run } = await guestWithPython(t);
  assert.deepEqual(await run("import sys; sys.stdout.close()"), done({}));
  assert.deepEqual(await run("import io, sys; sys.stdout = io.StringIO(); print('kept')"), done({}));
  assert.deepEqual(await run("import os; os.close(1); os.close(2)"), done({}));
  assert.deepEqual(await run("for stream in (sys.stdin, sys.stdout): stream.detach()"), done({}));
  assert.deepEqual(await run("print('\\udcff ü 中文')"), done({ stdout: "\\udcff ü 中文\n" }));
  assert.deepEqual(await run("import json; json.dumps = json.loads = None"), done({}));
  assert.equal((await run("1")).end, "lost 126");
  assert.deepEqual(await run("try: input()\nexcept EOFError: print('no input')"), done({ stdout: "no input\n" }));
});

test("what a cell left unread of its input is not there for the next one [X1]", async (t) => {
  const { run } = await guestWithPython(t);
  const read = "try: print(input())\nexcept EOFError: print('no input')";
  const said: string[] = [];
  for (const stdin of [undefined, "one\ntwo\n", undefined, "three\n", ""]) {
    said.push((await run(read, stdin === undefined ? {} : { stdin: Buffer.from(stdin) })).stdout);
  }
  assert.deepEqual(said, ["no input\n", "one\n", "no input\n", "three\n", "no input\n"]);
});

test("code and events of any length arrive as they are, with whatever is in them [X1]", async (t) => {
  const { run } = await guestWithPython(t);
  for (const length of [1, 8191, 8192, 8193, 65_536, 65_537]) {
    const event = JSON.stringify("é".repeat(length));
    const code = `text = """${"\n".repeat(length)}"""\ndef handler(event): return [len(event), len(text)]`;
    assert.deepEqual(await run(code, { event }), done({ results: [`json [${length}, ${length}]`] }));
  }
  assert.match((await run("1\0 + 1")).stderr, /null bytes/);
});

test("a cell starts in the workspace or below it, with its own environment, and imports from there [X1]", async (t) => {
  const { run } = await guestWithPython(t);
  const before = (workspace: string) => {
    mkdirSync(join(workspace, "deep"));
    for (const name of ["kernel", "channel"]) writeFileSync(join(workspace, "deep", `${name}.py`), `own = '${name}'\n`);
  };
  const code =
    "import os, kernel, channel\n(os.path.basename(os.getcwd()), os.environ.get('WHO'), kernel.own, channel.own)";
  const inside = await run(code, { folder: "deep", env: { WHO: "me", LD_PRELOAD: "/nothing.so" }, before });
  assert.deepEqual(inside, done({ results: ["text ('deep', 'me', 'kernel', 'channel')"] }));
  assert.deepEqual(
    await run("os.path.basename(os.getcwd()) == 'deep', os.environ.get('WHO'), os.environ.get('LD_PRELOAD')"),
    done({ results: ["text (False, None, None)"] }),
  );
  const nowhere = await run("1", { folder: "nowhere" });
  assert.deepEqual([nowhere.end, nowhere.results], ["done 126", []]);
  assert.match(nowhere.stderr, /^sandbox: there is no folder .*nowhere\n$/);
});

test("a Python that was warmed up has its modules imported, and one that is not there does not matter [X1]", async (t) => {
  const { guest, run } = await guestWithPython(t);
  guest.warm("a", ["no_such_module", "fractions"]);
  assert.deepEqual(await run("import sys; 'fractions' in sys.modules"), done({ results: ["text True"] }));
});

test("cells of one agent run in one Python, which is started once [X1][Q1]", async (t) => {
  const { run } = await guestWithPython(t);
  await run("import os; first = os.getpid()");
  for (const code of ["os.getpid() == first", "1 / 0", "os.getpid() == first"]) {
    const { results } = await run(code);
    assert.deepEqual(results, code === "1 / 0" ? [] : ["text True"]);
  }
});

test("more agents than a guest has Pythons for are told so, and one that gives its own back makes room [X1][X4]", async (t) => {
  const { guest, run } = await guestWithPython(t);
  for (let number = 1; number <= 16; number += 1) guest.warm(`${number}`, []);
  assert.deepEqual(await run("1", { agent: "17" }), {
    ...done({ stderr: "sandbox: cannot start a process: more than 16 agents with a Python of their own\n" }),
    end: "done 126",
  });
  assert.deepEqual(await run("1", { agent: "16" }), done({ results: ["text 1"] }));
  await guest.reset("1");
  assert.deepEqual(await run("1", { agent: "17" }), done({ results: ["text 1"] }));
});

type Wanted = Partial<Execution> & { readonly before?: (workspace: string) => unknown };

async function guestWithPython(t: TestContext): Promise<{
  guest: GuestConnection;
  run: (code: string, wanted?: Wanted) => Promise<Outcome>;
  events: (code: string, wanted?: Wanted) => Promise<ExecutionEvent[]>;
}> {
  const supervisor = bareSupervisor(t);
  const connected = await connectGuest(supervisor.socket, guestSettings(supervisor.workspace));
  assert(connected.ok, supervisor.said());
  const guest = connected.value;
  let count = 0;
  const start = (code: string, { before, ...wanted }: Wanted = {}) => {
    before?.(supervisor.workspace);
    count += 1;
    return guest.run({ id: `e${count}`, language: "python", code, agent: "a", timeoutMs: 30_000, ...wanted });
  };
  return {
    guest,
    run: (code, wanted) => outcomeOf(start(code, wanted)),
    events: (code, wanted) => allOf(start(code, wanted)),
  };
}

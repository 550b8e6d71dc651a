// Runs alone: its server is started before all tests and closed after them.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { SandboxExecution, SandboxExecutionPage } from "../../src/protocol/sandbox-resources.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { type Door, openDoor } from "./sandbox-http.ts";

// What is told of an execution over HTTP, where the public service whose dialect this is tells less, or something else.

let door: Door;
const options = { skip: cannotRunCode };
before(async () => {
  if (cannotRunCode === false) door = await openDoor();
});
after(() => door?.[Symbol.asyncDispose]());

const status = async (id: unknown) => SandboxExecution.parse((await door.get(`/executions/${id}/status`)).body);

/** On a busy machine a program would take all of a short time to begin; then it has more of it. */
async function spokenRun(code: string, given: { readonly conversation_id: string; readonly timeout: number }) {
  for (let timeout = given.timeout; ; timeout *= 2) {
    const ran = await door.run(code, { ...given, timeout });
    if (ran.stdout !== "" || timeout > 30) return ran;
  }
}

test("a time-out ends every process of the program [X2][X4]", options, async () => {
  await door.run("import subprocess", { conversation_id: "late" }); // The time is for the program, not for its Python.
  const code = "import subprocess\nprint('began', flush=True)\nsubprocess.Popen(['sleep', '4321'])\nwhile True: pass";
  const late = await spokenRun(code, { conversation_id: "late", timeout: 2 });
  assert.deepEqual([late.status, late.exit_code, late.stdout], ["timeout", -1, "began\n"]);
  const left = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 432[1]'";
  assert.equal((await door.run(left, { conversation_id: "late", language: "shell" })).stdout, "0\n");
});

test("every value of handler(event) comes back, falsy ones too, and no output can forge it [X2]", options, async () => {
  const values = [0, false, "", [], {}, null, 1.5, "界", { a: [1, null] }];
  const python = "print('===RESULT===', 7)\ndef handler(event):\n  return event['v']";
  const javascript = "console.log('===RESULT===', 7);\nfunction handler(event) { return event.v; }";
  for (const [language, code] of Object.entries({ python, javascript })) {
    const ran = await Promise.all(values.map((v) => door.run(code, { language, event: { v } })));
    assert.deepEqual(
      ran.map(({ status: how, return_value, stdout }) => [how, return_value, stdout]),
      values.map((v) => ["completed", v, "===RESULT=== 7\n"]),
    );
  }
  const eventless = await door.run("def handler(event):\n  return event");
  assert.deepEqual(eventless.return_value, {});
  const plain = await door.run("print('just runs')");
  assert.deepEqual([plain.stdout, plain.return_value], ["just runs\n", null]);
  const later = await door.run("const handler = async (event) => event.n + 1", {
    language: "javascript",
    event: { n: 1 },
  });
  assert.equal(later.return_value, 2);
});

test(
  "tracebacks are errors, bytes that are no text do no harm, long output is cut and kept in a file [X2][X1]",
  options,
  async () => {
    const failed = await door.run("print('out')\n1 / 0");
    assert.deepEqual([failed.status, failed.exit_code, failed.stdout], ["failed", 1, "out\n"]);
    assert.match(failed.stderr, /Traceback[\s\S]*ZeroDivisionError: division by zero\n$/);
    const bytes = await door.run("import sys; sys.stdout.buffer.write(b'a\\xff\\xfeb')");
    assert.deepEqual([bytes.status, bytes.stdout], ["completed", "a\ufffd\ufffdb"]);
    const long = await door.run("print('<' + 'x' * 1_000_000 + '>')", { conversation_id: "long" });
    assert.deepEqual([long.status, long.stdout_truncated, long.stderr_truncated], ["completed", true, false]);
    assert.match(long.stdout, /^<x[\s\S]*x>\n$/);
    assert.ok(long.stdout.length < 300_000);
    const kept = await door.run(`print(len(open('${long.stdout_path}').read()))`, { conversation_id: "long" });
    assert.equal(kept.stdout, "1000003\n");
  },
);

test(
  "a program that failed or ran out of time tells everything that one that went well does [X2]",
  options,
  async () => {
    const work = "open('outputs/{}.txt', 'w').write('x'); print('said'); import sys; print('warned', file=sys.stderr)";
    const ends = { failed: "sys.exit(3)", timeout: "sys.stdout.flush(); import time; time.sleep(600)" };
    const inside = { conversation_id: "ends" };
    await door.run("1", inside);
    for (const [how, end] of Object.entries(ends)) {
      const code = `${work.replace("{}", how)}; ${end}`;
      const ran = await spokenRun(code, { ...inside, timeout: how === "timeout" ? 3 : 60 });
      assert.deepEqual(
        [
          ran.status,
          ran.exit_code,
          ran.stdout,
          ran.stderr.slice(0, 7),
          ran.artifacts.map(({ path }) => path),
          ran.retry_count,
        ],
        [how, how === "failed" ? 3 : -1, "said\n", "warned\n", [`outputs/${how}.txt`], 0],
      );
      const missing = [ran.error_message, ran.execution_time, ran.metrics, ran.started_at, ran.completed_at];
      assert.ok(missing.every((value) => value !== null));
    }
  },
);

test(
  "artifacts are the files that this execution made or changed, with size, type and checksum [X2]",
  options,
  async () => {
    const inside = { conversation_id: "artifacts" };
    await door.run("open('outputs/old.csv', 'w').write('a,b'); open('outputs/same.csv', 'w').write('s')", inside);
    const code =
      "import os; open('outputs/old.csv', 'a').write(',c'); open('outputs/新.json', 'w').write('{}'); os.remove('outputs/same.csv')";
    const { artifacts, changed_files: changed, removed_files: removed } = await door.run(code, inside);
    assert.deepEqual([changed, removed], [["outputs/old.csv"], ["outputs/same.csv"]]);
    const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
    assert.deepEqual(
      artifacts.map(({ created_at: _, checksum: __, ...artifact }) => artifact),
      [
        {
          ...{ path: "outputs/old.csv", container_path: "/workspace/artifacts/outputs/old.csv", size: 5 },
          ...{ mime_type: "text/csv", type: "artifact", sha256: sha256("a,b,c") },
        },
        {
          ...{ path: "outputs/新.json", container_path: "/workspace/artifacts/outputs/新.json", size: 2 },
          ...{ mime_type: "application/json", type: "artifact", sha256: sha256("{}") },
        },
      ],
    );
  },
);

test("time, processor time, memory and bytes are those of the program [X2]", options, async () => {
  const spin = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass";
  const { metrics: busy } = await door.run(spin, { conversation_id: "measured" });
  const { metrics: idle } = await door.run("import time; time.sleep(0.3)", { conversation_id: "measured" });
  const { metrics: large } = await door.run("b = bytearray(200 << 20)", { conversation_id: "measured" });
  assert.ok(busy !== null && idle !== null && large !== null);
  // What they took by themselves, at the least: a machine with other work only adds. The time asleep is no processor time.
  assert.ok(busy.cpu_time_ms >= 250, `${busy.cpu_time_ms}`);
  assert.ok(idle.duration_ms >= 300 && idle.cpu_time_ms < idle.duration_ms, JSON.stringify(idle));
  assert.ok(large.peak_memory_mb >= 200 && large.peak_memory_mb < 600, `${large.peak_memory_mb}`);
});

test("a program that dies under our hands is over, in every answer [X2]", options, async () => {
  const died = await door.run("import os; os.kill(os.getpid(), 9)", { conversation_id: "died" });
  assert.deepEqual([["failed", "crashed"].includes(died.status), died.completed_at !== null], [true, true]);
  assert.deepEqual(await status(died.id), died);
  assert.equal((await door.run("print('again')", { conversation_id: "died" })).stdout, "again\n");
});

test("a session need not be there, nor be ready, for a program to run [X2][S1]", options, async () => {
  const ran = await Promise.all(["1", "2", "3"].map((n) => door.run(`print(${n})`, {}, "sess-fresh")));
  assert.deepEqual(
    ran.map(({ stdout }) => stdout),
    ["1\n", "2\n", "3\n"],
  );
  const page = SandboxExecutionPage.parse((await door.get("/executions/sessions/sess-fresh/executions")).body);
  assert.deepEqual([page.total, page.items.every((one) => one.status === "completed")], [3, true]);
});

test("pages of executions follow their offset and count all of them [X2]", options, async () => {
  for (const n of [1, 2, 3]) await door.run(`${n}`, {}, "sess-pages");
  const page = async (query: string) =>
    SandboxExecutionPage.parse((await door.get(`/executions/sessions/sess-pages/executions${query}`)).body);
  const first = await page("?limit=2");
  const second = await page("?limit=2&offset=2");
  const codes = [first, second].map(({ items }) => items.map(({ code }) => code));
  assert.deepEqual(codes, [["3", "2"], ["1"]]);
  const { items: _, ...rest } = second;
  assert.deepEqual([first.total, first.has_more, rest], [3, true, { total: 3, limit: 2, offset: 2, has_more: false }]);
  assert.equal((await page("?limit=9999")).limit, 200);
});

test(
  "programs at once do not overwrite each other, and too many are told when to come back [X2][X4]",
  options,
  async () => {
    const numbers = [1, 2, 3, 4, 5, 6];
    const code = (n: number) => `setTimeout(() => console.log(${n}), 50)`;
    const inside = { language: "javascript", conversation_id: "at-once" };
    const ran = await Promise.all(numbers.map((n) => door.run(code(n), inside)));
    assert.deepEqual(
      ran.map(({ stdout }) => stdout),
      numbers.map((n) => `${n}\n`),
    );
    const narrow = { executions_per_user_max: 1, waiting_max: 1, wait_seconds_max: 1 };
    await using small = await openDoor({ env: environmentOf(narrow) });
    const path = "/executions/sessions/sess-many/execute";
    const sleeper = { code: "import time; time.sleep(600)", timeout: 900 };
    const replies = [];
    for (const _ of numbers) replies.push(await small.post(path, sleeper));
    const refused = replies.filter((reply) => reply.status !== 201);
    assert.ok(refused.length > 0);
    for (const { status: code, headers } of refused) {
      assert.ok(code === 429 || code === 503);
      assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    }
    await small.remove("/sessions/sess-many");
  },
);

test("two users with a conversation of one name share nothing in it [X2][S5]", options, async () => {
  const shared = { conversation_id: "shared" };
  const code = (user: string) => `secret = '${user}'; open('outputs/${user}.txt', 'w').write(secret)`;
  await Promise.all(["una", "vera"].map((user) => door.run(code(user), shared, `sess-${user}`)));
  const look = "import os; print(secret, os.listdir('/workspace'), os.listdir('outputs'))";
  const seen = await Promise.all(["una", "vera"].map((user) => door.run(look, shared, `sess-${user}`)));
  const own = (user: string) => new RegExp(`^${user} \\[[^\\]]*'shared'[^\\]]*\\] \\['${user}.txt'\\]\\n$`);
  assert.match(seen[0]?.stdout ?? "", own("una"));
  assert.match(seen[1]?.stdout ?? "", own("vera"));
});

function environmentOf(settings: Readonly<Record<string, number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [variables[name] ?? "", String(value)]));
}

const variables: Readonly<Record<string, string>> = {
  executions_per_user_max: "AGENTYARD_SANDBOX_EXECUTIONS_PER_USER_MAX",
  waiting_max: "AGENTYARD_SANDBOX_WAITING_MAX",
  wait_seconds_max: "AGENTYARD_SANDBOX_WAIT_SECONDS_MAX",
};

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { SandboxExecution, SandboxExecutionPage } from "../../src/protocol/sandbox-resources.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { type Door, openDoor, until } from "./sandbox-http.ts";

// Executions over HTTP, and the defects of the public service that are about them.

let door: Door;
const options = { skip: cannotRunCode };
before(async () => {
  if (cannotRunCode === false) door = await openDoor();
});
after(() => door?.[Symbol.asyncDispose]());

const status = async (id: unknown) => SandboxExecution.parse((await door.get(`/executions/${id}/status`)).body);
const submit = async (body: object, session = "sess-agent-default") =>
  (await door.post(`/executions/sessions/${session}/execute`, body)).body.execution_id;

test(
  "code keeps its variables from one execution of a conversation to the next, until it is reset [X1][X2]",
  options,
  async () => {
    const state = { conversation_id: "state" };
    await door.run("x = 41", state);
    assert.equal((await door.run("print(x + 1)", state)).stdout, "42\n");
    assert.equal((await door.post("/sessions/sess-agent-default/reset", state)).status, 204);
    const forgotten = await door.run("print(x + 1)", state);
    assert.deepEqual([forgotten.status, forgotten.error_message], ["failed", "NameError: name 'x' is not defined"]);
  },
);

test("an execution is accepted at once, and its status and result say what became of it [X2]", options, async () => {
  const accepted = await door.post("/executions/sessions/sess-ada/execute", { code: "print('hi')" });
  const { execution_id: id, created_at, ...rest } = accepted.body;
  assert.deepEqual([accepted.status, rest], [201, { session_id: "sb-session-ada", status: "pending" }]);
  assert.match(String(created_at), /Z$/);
  await until(async () => (await status(id)).completed_at !== null);
  const result = await door.get(`/executions/${id}/result`);
  assert.deepEqual(result.body, (await door.get(`/executions/${id}/status`)).body);
  assert.deepEqual([result.body.status, result.body.stdout], ["completed", "hi\n"]);
});

test(
  "the conversation is named by any of five fields, and files are where every path of the seed has them [X2][S4]",
  options,
  async () => {
    const run = "/executions/sessions/sess-agent-default/execute-sync";
    const code = "import os; print(os.getcwd())";
    const event = { conversation_id: "c5" };
    const named = await Promise.all([
      door.post(run, { code, conversation_id: "c1" }),
      door.post(`${run}?conversation_id=c2`, { code }),
      door.post(run, { code }, { headers: { conversation_id: "c3" } }),
      door.post(run, { code }, { headers: { "x-conversation-id": "c4" } }),
      door.post(run, { code, event }),
      door.post(run, { code, working_directory: "/workspace/c6/outputs" }),
      door.post(run, { code, working_directory: "c7/temp" }),
    ]);
    assert.deepEqual(
      named.map(({ body }) => [body.conversation_id, body.stdout]),
      [
        ["c1", "/workspace/c1\n"],
        ["c2", "/workspace/c2\n"],
        ["c3", "/workspace/c3\n"],
        ["c4", "/workspace/c4\n"],
        ["c5", "/workspace/c5\n"],
        ["c6", "/workspace/c6/outputs\n"],
        ["c7", "/workspace/c7/temp\n"],
      ],
    );
  },
);

test(
  "a deleted conversation stays gone, and one that nobody named is asked for by its field [X2][C1]",
  options,
  async () => {
    await door.run("1", { conversation_id: "gone" });
    await door.remove("/conversations/gone");
    const refused = await door.post("/executions/sessions/sess-local/execute", { code: "1", conversation_id: "gone" });
    assert.deepEqual([refused.status, refused.body.code], [404, "conversation_not_found"]);
    const blind = await door.run("open('/workspace/conv-9/uploads/temparea/data.csv')");
    assert.match(blind.error_message ?? "", /^FileNotFoundError: .*Send conversation_id: "conv-9" in the body\.$/s);
    const run = "/executions/sessions/sess-agent-default/execute-sync";
    const chinese = { headers: { "accept-language": "zh" } };
    const { body } = await door.post(run, { code: "cat /workspace/conv-9/a", language: "shell" }, chinese);
    assert.match(String(body.error_message), /conversation_id: "conv-9"/);
    assert.match(String(body.error_message), /没有指明对话/);
  },
);

test("a caller who is not named is the one whose conversation it is [S7]", options, async () => {
  await door.run("1", { conversation_id: "only-hers" }, "sess-olga");
  const ran = await door.run("1", { conversation_id: "only-hers" });
  assert.equal(ran.session_id, "sb-session-olga");
});

test("what a program did to files stands in the log of its conversation [W12][X2]", options, async () => {
  await door.run("open('outputs/noted.txt', 'w').write('a')", { conversation_id: "ledger" });
  const noted = async () => (await door.yard.events("ledger")).filter((event) => event.type === "file.changed");
  await until(async () => (await noted()).length > 0);
  assert.deepEqual(
    (await noted()).map(({ path, by }) => ({ path, by })),
    [{ path: "outputs/noted.txt", by: "person" }],
  );
});

test(
  "output is streamed as it comes, and a reader that comes back goes on where it was [X1][X2]",
  options,
  async () => {
    const code =
      "import time\nprint('one', flush=True)\nwhile not __import__('os').path.exists('temp/go'): time.sleep(0.01)\nprint('two')";
    const id = await submit({ code, conversation_id: "stream" });
    const first = await openEvents(`/executions/${id}/stream`);
    const [seen] = await first.take(1);
    assert.deepEqual(seen, {
      event: "output",
      id: "4-0",
      data: { frame: "output", stream: "stdout", text: "one\n", at: { stdout: 4, stderr: 0 } },
    });
    await first.close();
    await door.run("touch temp/go", { conversation_id: "stream", language: "shell" });
    const rest = await (await openEvents(`/executions/${id}/stream`, { "last-event-id": "4-0" })).rest();
    assert.deepEqual(
      rest.map(({ event }) => event),
      ["output", "result"],
    );
    assert.deepEqual(rest[0]?.data, { frame: "output", stream: "stdout", text: "two\n", at: { stdout: 8, stderr: 0 } });
    assert.deepEqual(rest[1]?.data, { frame: "result", execution: await status(id) });
  },
);

test("an execution is cancelled once, and one that is over stays as it is [X2]", options, async () => {
  const id = await submit({ code: "print('on', flush=True); import time; time.sleep(600)", timeout: 900 });
  await until(async () => (await status(id)).status === "running");
  const cancelled = await door.post(`/executions/${id}/cancel`);
  assert.deepEqual([cancelled.status, cancelled.body.status], [200, "cancelled"]);
  assert.deepEqual((await door.post(`/executions/${id}/cancel`)).body, cancelled.body);
});

test("whoever waits too long for an execution is told so, and it goes on [X2]", options, async () => {
  const path = "/executions/sessions/sess-slow/execute-sync?sync_timeout=0.2&poll_interval=0.1";
  const late = await door.post(path, { code: "import time; time.sleep(1); print('done')" });
  assert.deepEqual([late.status, late.body.code], [408, "execution_running"]);
  const page = SandboxExecutionPage.parse((await door.get("/executions/sessions/sess-slow/executions")).body);
  const id = page.items[0]?.id;
  await until(async () => (await status(id)).completed_at !== null);
  assert.equal((await status(id)).stdout, "done\n");
});

test("defect 4: a time-out ends every process of the program [X2][X4]", options, async () => {
  const inside = { conversation_id: "late", timeout: 1 };
  const code = "import subprocess\nprint('began', flush=True)\nsubprocess.Popen(['sleep', '4321'])\nwhile True: pass";
  const late = await door.run(code, inside);
  assert.deepEqual([late.status, late.exit_code, late.stdout], ["timeout", -1, "began\n"]);
  const left = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 432[1]'";
  assert.equal((await door.run(left, { conversation_id: "late", language: "shell" })).stdout, "0\n");
});

test(
  "defect 6: every value of handler(event) comes back, falsy ones too, and no output can forge it [X2]",
  options,
  async () => {
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
  },
);

test(
  "defect 7: tracebacks are errors, bytes that are no text do no harm, long output is cut and kept in a file [X2][X1]",
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
  "defect 8: a program that failed or ran out of time tells everything that one that went well does [X2]",
  options,
  async () => {
    const work = "open('outputs/{}.txt', 'w').write('x'); print('said'); import sys; print('warned', file=sys.stderr)";
    const ends = { failed: "sys.exit(3)", timeout: "sys.stdout.flush(); import time; time.sleep(60)" };
    for (const [how, end] of Object.entries(ends)) {
      const code = `${work.replace("{}", how)}; ${end}`;
      const ran = await door.run(code, { conversation_id: "ends", timeout: 2 });
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
  "defect 9: artifacts are the files that this execution made or changed, with size, type and checksum [X2]",
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

test("defect 10: time, processor time, memory and bytes are those of the program [X2]", options, async () => {
  const spin = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass";
  const { metrics: busy } = await door.run(spin, { conversation_id: "measured" });
  const { metrics: idle } = await door.run("import time; time.sleep(0.3)", { conversation_id: "measured" });
  const { metrics: large } = await door.run("b = bytearray(200 << 20)", { conversation_id: "measured" });
  assert.ok(busy !== null && idle !== null && large !== null);
  assert.ok(busy.cpu_time_ms >= 250 && idle.cpu_time_ms < 200, `${busy.cpu_time_ms} ${idle.cpu_time_ms}`);
  assert.ok(idle.duration_ms >= 300 && idle.duration_ms < 20_000);
  assert.ok(large.peak_memory_mb >= 200 && large.peak_memory_mb < 600, `${large.peak_memory_mb}`);
});

test("defect 11: a program that dies under our hands is over, in every answer [X2]", options, async () => {
  const died = await door.run("import os; os.kill(os.getpid(), 9)", { conversation_id: "died" });
  assert.deepEqual([["failed", "crashed"].includes(died.status), died.completed_at !== null], [true, true]);
  assert.deepEqual(await status(died.id), died);
  assert.equal((await door.run("print('again')", { conversation_id: "died" })).stdout, "again\n");
});

test("defect 12: a session need not be there, nor be ready, for a program to run [X2][S1]", options, async () => {
  const ran = await Promise.all(["1", "2", "3"].map((n) => door.run(`print(${n})`, {}, "sess-fresh")));
  assert.deepEqual(
    ran.map(({ stdout }) => stdout),
    ["1\n", "2\n", "3\n"],
  );
  const page = SandboxExecutionPage.parse((await door.get("/executions/sessions/sess-fresh/executions")).body);
  assert.deepEqual([page.total, page.items.every((one) => one.status === "completed")], [3, true]);
});

test("defect 13: pages of executions follow their offset and count all of them [X2]", options, async () => {
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
  "defect 23: programs at once do not overwrite each other, and too many are told when to come back [X2][X4]",
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

test("defect 26: two users with a conversation of one name share nothing in it [X2][S5]", options, async () => {
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

type Event = { readonly event: string; readonly id?: string; readonly data: unknown };

/** Server-sent events as they come. */
async function openEvents(path: string, headers: Readonly<Record<string, string>> = {}) {
  const { body } = await fetch(`${door.url}/api/v1${path}`, { headers });
  assert.ok(body !== null);
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const read: Event[] = [];
  const more = async () => {
    const { done, value = "" } = await reader.read();
    text += value;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = Object.fromEntries(
        text
          .slice(0, end)
          .split("\n")
          .map((line) => line.split(/: (.*)/s)),
      );
      read.push({ event: lines.event, ...("id" in lines && { id: lines.id }), data: JSON.parse(lines.data) });
      text = text.slice(end + 2);
    }
    return !done;
  };
  return {
    async take(count: number): Promise<Event[]> {
      while (read.length < count && (await more()));
      return read.splice(0, count);
    },
    async rest(): Promise<Event[]> {
      while (await more());
      return read;
    },
    close: () => reader.cancel(),
  };
}

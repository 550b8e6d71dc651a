import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test as testAlways } from "node:test";
import { ExecutionFrame, SandboxExecution, SandboxExecutionPage } from "../../src/protocol/sandbox-resources.ts";
import { all } from "../world/events.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { type Door, openDoor, type Reply, until } from "./sandbox-http.ts";

// Executions over HTTP.

let door: Door;

function test(says: string, shows: () => Promise<void>): void {
  void testAlways(says, { skip: cannotRunCode }, shows);
}

const env = { AGENTYARD_SANDBOX_OUTPUT_BYTES_MAX: "2000000", AGENTYARD_SANDBOX_EXECUTION_SECONDS_MAX: "7200" };

before(async () => {
  if (cannotRunCode === false) door = await openDoor({ env });
});

after(() => door?.[Symbol.asyncDispose]());

const chinese = { headers: { "accept-language": "zh" } };
const status = async (id: unknown) => SandboxExecution.parse((await door.get(`/executions/${id}/status`)).body);

const submit = async (body: object, session = "sess-agent-default") =>
  (await door.post(`/executions/sessions/${session}/execute`, body)).body.execution_id;

test("code keeps its variables from one execution of a conversation to the next, until it is reset, by whichever way the conversation is named [X1][X2][S7]", async () => {
  const state = { conversation_id: "state" };
  const path = "/sessions/sess-agent-default/reset";
  await door.run("x = 41", state);
  assert.equal((await door.run("print(x + 1)", state)).stdout, "42\n");
  const ways: (() => Promise<Reply>)[] = [
    () => door.post(path, state),
    () => door.post(`${path}?conversation_id=state`, {}),
    () => door.post(path, {}, { headers: { conversation_id: "state" } }),
    () => door.post(path, {}, { headers: { "x-conversation-id": "state" } }),
    () => door.post(`${path}?conversation_id=none`, state),
  ];
  for (const reset of ways) {
    assert.equal((await reset()).status, 204);
    assert.equal((await door.run("print('x' in globals()); x = 41", state)).stdout, "False\n");
  }
  assert.equal(
    (await door.post("/sessions/sess-eve/reset", state, { headers: { "x-account-id": "eve" } })).status,
    404,
  );
  assert.equal((await door.run("print(x)", state)).stdout, "41\n");
});

test("an execution is accepted at once, and its status and result say what became of it [X2]", async () => {
  const accepted = await door.post("/executions/sessions/sess-ada/execute", { code: "print('hi')" });
  const { execution_id: id, created_at, ...rest } = accepted.body;
  assert.deepEqual([accepted.status, rest], [201, { session_id: "sb-session-ada", status: "pending" }]);
  assert.match(String(created_at), /Z$/);
  await until(async () => (await status(id)).completed_at !== null);
  const result = await door.get(`/executions/${id}/result`);
  assert.deepEqual(result.body, (await door.get(`/executions/${id}/status`)).body);
  assert.deepEqual([result.body.status, result.body.stdout], ["completed", "hi\n"]);
});

test("the conversation is named by any of five fields, and files are where every path of the chat platform has them [X2][S4]", async () => {
  const run = "/executions/sessions/sess-agent-default/execute-sync";
  const [code, language] = ["pwd", "shell"];
  const event = { conversation_id: "c5" };
  const named = await Promise.all([
    door.post(run, { code, language, conversation_id: "c1" }),
    door.post(`${run}?conversation_id=c2`, { code, language }),
    door.post(run, { code, language }, { headers: { conversation_id: "c3" } }),
    door.post(run, { code, language }, { headers: { "x-conversation-id": "c4" } }),
    door.post(run, { code, language, event }),
    door.post(run, { code, language, working_directory: "/workspace/c6/outputs" }),
    door.post(run, { code, language, working_directory: "c7/temp" }),
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
});

test("a deleted conversation stays gone, and one that nobody named is asked for by its field [X2][C1]", async () => {
  await door.run("1", { conversation_id: "gone" });
  await door.remove("/conversations/gone");
  const refused = await door.post("/executions/sessions/sess-local/execute", { code: "1", conversation_id: "gone" });
  assert.deepEqual([refused.status, refused.body.code], [404, "conversation_not_found"]);
  const blind = await door.run("open('/workspace/conv-9/uploads/temparea/data.csv')");
  assert.match(blind.error_message ?? "", /^FileNotFoundError: .*Send conversation_id: "conv-9" in the body\.$/s);
  const run = "/executions/sessions/sess-agent-default/execute-sync";
  const { body } = await door.post(run, { code: "cat /workspace/conv-9/a", language: "shell" }, chinese);
  assert.match(String(body.error_message), /conversation_id: "conv-9"/);
  assert.match(String(body.error_message), /没有指明对话/);
});

test("a caller who is not named is the one whose conversation it is [S7]", async () => {
  await door.run("1", { conversation_id: "only-hers" }, "sess-olga");
  const ran = await door.run("1", { conversation_id: "only-hers" });
  assert.equal(ran.session_id, "sb-session-olga");
});

test("a session need not be there, nor be ready, for programs to run at once; pages of them follow their offset [X2][S1]", async () => {
  const ran = await Promise.all(["1", "2", "3"].map((n) => door.run(`print(${n})`, {}, "sess-fresh")));
  assert.deepEqual(
    ran.map(({ stdout }) => stdout),
    ["1\n", "2\n", "3\n"],
  );
  const page = async (query: string) =>
    SandboxExecutionPage.parse((await door.get(`/executions/sessions/sess-fresh/executions${query}`)).body);
  const [first, second] = [await page("?limit=2"), await page("?limit=2&offset=2")];
  const ids = [first, second].map(({ items }) => items.map(({ id }) => id));
  assert.deepEqual([ids.map(({ length }) => length), new Set(ids.flat())], [[2, 1], new Set(ran.map(({ id }) => id))]);
  const { items: _, ...rest } = second;
  assert.deepEqual([first.total, first.has_more, rest], [3, true, { total: 3, limit: 2, offset: 2, has_more: false }]);
  assert.deepEqual([(await page("?limit=9999")).limit, (await page("?limit=0")).limit], [200, 1]);
});

test("every value of handler(event) comes back, falsy ones too, whatever is called handler, and no output can forge it [X2]", async () => {
  const values = [0, false, "", null, { a: [1, "界", null] }];
  const python = "print('===RESULT===', 7)\ndef handler(event):\n  return event['v']";
  const javascript = "console.log('===RESULT===', 7);\nfunction handler(event) { return event.v; }";
  for (const [language, code] of Object.entries({ python, javascript })) {
    const ran = await Promise.all(values.map((v) => door.run(code, { language, event: { v } })));
    assert.deepEqual(
      ran.map(({ status: how, return_value, stdout }) => [how, return_value, stdout]),
      values.map((v) => ["completed", v, "===RESULT=== 7\n"]),
    );
  }
  const script = { language: "javascript" };
  const cases: readonly (readonly [code: string, wanted: Readonly<Record<string, unknown>>, value: unknown])[] = [
    ["def handler(event):\n  return event", {}, {}],
    ["handler = lambda event: 5", {}, 5],
    ["async def handler(event):\n    return event['a']", { event: { a: 6 } }, 6],
    ["def handler():\n    return 7", {}, 7],
    ["x = 1", {}, null],
    ["const handler = async (event) => event.n + 1", { ...script, event: { n: 1 } }, 2],
  ];
  for (const [code, wanted, value] of cases) {
    const ran = await door.run(code, wanted, "sess-called");
    assert.deepEqual([ran.status, ran.return_value, ran.stderr], ["completed", value, ""], code);
  }
  const thrown = await door.run("function handler(event) { throw new RangeError('no'); }", script, "sess-called");
  assert.deepEqual([thrown.status, thrown.error_message], ["failed", "RangeError: no"]);
  const strange = await door.run(`def handler(a${" ".repeat(120_000)}`, {}, "sess-called");
  assert.match(String(strange.error_message), /^SyntaxError/);
});

/** On a busy machine a program would take all of a short time to begin; then it has more of it. */
async function spokenRun(code: string, given: { readonly conversation_id: string; readonly timeout: number }) {
  for (let timeout = given.timeout; ; timeout *= 2) {
    const ran = await door.run(code, { ...given, timeout });
    if (ran.stdout !== "" || timeout > 30) return ran;
  }
}

test("a program that failed or ran out of time tells everything that one that went well does, and leaves no process [X2][X4]", async () => {
  const work = "open('outputs/{}.txt', 'w').write('x'); print('said'); import sys; print('warned', file=sys.stderr)";
  const child = "import subprocess; subprocess.Popen(['sleep', '4321'])";
  const ends = { failed: "sys.exit(3)", timeout: `sys.stdout.flush(); ${child}; import time; time.sleep(600)` };
  const inside = { conversation_id: "ends" };
  // The time is for the program, not for its Python.
  await door.run("import subprocess", inside);
  for (const [how, end] of Object.entries(ends)) {
    const code = `${work.replace("{}", how)}; ${end}`;
    const ran = await spokenRun(code, { ...inside, timeout: how === "timeout" ? 1 : 60 });
    assert.deepEqual(
      [ran.status, ran.exit_code, ran.stdout, ran.stderr.slice(0, 7), ran.artifacts.map(({ path }) => path)],
      [how, how === "failed" ? 3 : -1, "said\n", "warned\n", [`outputs/${how}.txt`]],
    );
    const known = [ran.error_message, ran.execution_time, ran.metrics, ran.started_at, ran.completed_at];
    assert.ok(known.every((value) => value !== null));
  }
  const left = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 432[1]'";
  assert.equal((await door.run(left, { ...inside, language: "shell" })).stdout, "0\n");
});

test("tracebacks are errors, bytes that are no text do no harm, long output is cut and kept in a file [X2][X1]", async () => {
  const failed = await door.run("print('out')\n1 / 0");
  assert.deepEqual([failed.status, failed.exit_code, failed.stdout], ["failed", 1, "out\n"]);
  assert.match(failed.stderr, /Traceback[\s\S]*ZeroDivisionError: division by zero\n$/);
  const bytes = await door.run("import sys; sys.stdout.buffer.write(b'a\\xff\\xfeb')");
  assert.deepEqual([bytes.status, bytes.stdout], ["completed", "a\ufffd\ufffdb"]);
  const long = await door.run("print('<' + 'x' * 1_000_000 + '>')", { conversation_id: "long" });
  assert.deepEqual([long.status, long.stdout_truncated, long.stderr_truncated], ["completed", true, false]);
  assert.match(long.stdout, /^<x[\s\S]*x>\n$/);
  assert.ok(long.stdout.length < 300_000);
  assert.deepEqual(long.artifacts, [], "that file is not the program's");
  const kept = await door.run(`print(len(open('${long.stdout_path}').read()))`, { conversation_id: "long" });
  assert.equal(kept.stdout, "1000003\n");
});

test("a program that dies under our hands is over, in every answer [X2]", async () => {
  const died = await door.run("import os; os.kill(os.getpid(), 9)", { conversation_id: "died" });
  assert.deepEqual([["failed", "crashed"].includes(died.status), died.completed_at !== null], [true, true]);
  assert.deepEqual(await status(died.id), died);
  assert.equal((await door.run("print('again')", { conversation_id: "died" })).stdout, "again\n");
});

test("a running execution shows what it has said so far; it is cancelled once, and its end is told in every language [X2][P5]", async () => {
  const id = await submit({ code: "print('on', flush=True); import time; time.sleep(600)", timeout: 900 });
  await until(async () => (await status(id)).stdout === "on\n");
  const { status: how, completed_at } = await status(id);
  assert.deepEqual([how, completed_at], ["running", null]);
  const cancelled = await door.post(`/executions/${id}/cancel`);
  assert.deepEqual([cancelled.status, cancelled.body.status], [200, "cancelled"]);
  assert.deepEqual((await door.post(`/executions/${id}/cancel`)).body, cancelled.body);
  const inChinese = (await door.get(`/executions/${id}/status`, chinese)).body.error_message;
  assert.deepEqual([(await status(id)).error_message, inChinese], ["The program was stopped.", "程序已停止。"]);
});

test("whoever waits too long for an execution is told so, and it goes on [X2]", async () => {
  const path = "/executions/sessions/sess-slow/execute-sync?sync_timeout=0.2&poll_interval=0.1";
  const code = "import os, time\nwhile not os.path.exists('temp/go'): time.sleep(0.02)\nprint('done')";
  const late = await door.post(path, { code, conversation_id: "slow", timeout: 600 });
  assert.deepEqual([late.status, late.body.code], [408, "execution_running"]);
  const page = SandboxExecutionPage.parse((await door.get("/executions/sessions/sess-slow/executions")).body);
  assert.deepEqual([page.total, page.has_more], [1, false]);
  const id = page.items[0]?.id;
  await door.run("touch temp/go", { conversation_id: "slow", language: "shell" }, "sess-slow");
  await until(async () => (await status(id)).completed_at !== null);
  assert.equal((await status(id)).stdout, "done\n");
});

test("no room after waiting is told as that, with when to come again, and not as a program's failure [X2][X4]", async () => {
  const narrow = { AGENTYARD_SANDBOX_EXECUTIONS_PER_USER_MAX: "1", AGENTYARD_SANDBOX_WAIT_SECONDS_MAX: "0.3" };
  await using small = await openDoor({ env: narrow });
  const path = "/executions/sessions/sess-late";
  const sleeper = { code: "sleep 600", language: "shell", timeout: 900 };
  assert.equal((await small.post(`${path}/execute`, sleeper)).status, 201);
  const refused = await small.post(`${path}/execute-sync`, { code: "1", language: "shell" });
  const params = { kind: "running", limit: 1, setting: "sandbox.executions_per_user_max", retryAfterSeconds: 2 };
  assert.deepEqual(
    [refused.status, refused.headers.get("retry-after"), refused.body.code, refused.body.params],
    [429, "2", "sandbox_busy", params],
  );
  const told = await small.get(`/executions/${refused.body.execution_id}/status`, chinese);
  const { status: how, exit_code, failure, error_message } = SandboxExecution.parse(told.body);
  assert.deepEqual([how, exit_code, failure], ["failed", -1, { code: "sandbox_busy", params, retryable: true }]);
  assert.match(String(error_message), /^您正在运行的程序已达上限 1 个。请在 2 秒后重试/);
  await small.remove("/sessions/sess-late");
});

test("a program may run for as long as the setting says, more than an hour too [X1][X4]", async () => {
  const ran = await Promise.all([7200, 80_000].map((timeout) => door.run("1", { timeout }, `sess-t${timeout}`)));
  assert.deepEqual(
    ran.map(({ timeout }) => timeout),
    [7200, 7200],
  );
});

test("output is streamed as it comes, and a reader that comes back goes on where it was [X1][X2]", async () => {
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
  const rest = await (await openEvents(`/executions/${id}/stream?after=0-0`, { "last-event-id": "4-0" })).rest();
  assert.deepEqual(
    rest.map(({ event }) => event),
    ["output", "result"],
  );
  assert.deepEqual(rest[0]?.data, { frame: "output", stream: "stdout", text: "two\n", at: { stdout: 8, stderr: 0 } });
  assert.deepEqual(rest[1]?.data, { frame: "result", execution: await status(id) });
});

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

// Those in the last 64 KiB.
const lastLines = 8192;

const linesOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${String(from + index).padStart(7, "0")}\n`).join("");

test("of what a program says beyond its limit the end comes, what is missing is told to the byte, and who comes again hears nothing twice [X1][X4]", async () => {
  const { id } = await door.run("for i in range(300_000): print(f'{i:07}')", { timeout: 60 });
  const frames = await stream(id);
  assert.equal(textOf(frames), linesOf(0, 250_000) + linesOf(300_000 - lastLines, 300_000));
  const bytes = 400_000 - 8 * lastLines;
  const cuts = frames.flatMap(({ frame }) => (frame.frame === "cut" ? [frame] : []));
  assert.deepEqual(cuts, [{ frame: "cut", stream: "stdout", bytes, at: { stdout: 2_000_000 + bytes, stderr: 0 } }]);
  const third = frames[2] ?? assert.fail("it comes in pieces");
  assert.deepEqual(await stream(id, third.id), frames.slice(3));
});

type Told = { readonly id: string | undefined; readonly frame: ExecutionFrame };

async function stream(id: string, after?: string): Promise<Told[]> {
  const headers = after === undefined ? {} : { "last-event-id": after };
  const told: Told[] = [];
  let parts = "";
  for (const { id: place, data } of await (await openEvents(`/executions/${id}/stream`, headers)).rest()) {
    const frame = ExecutionFrame.parse(data);
    // A result may be longer than an event is.
    if (frame.frame === "part") parts += frame.text;
    if (frame.frame !== "part") told.push({ id: place, frame });
    else if (frame.index === frame.count - 1) told.push({ id: place, frame: ExecutionFrame.parse(JSON.parse(parts)) });
  }
  return told;
}

function textOf(told: readonly Told[]): string {
  return told.map(({ frame }) => (frame.frame === "output" ? frame.text : "")).join("");
}

test("as many streams as a user may have are followed, and one more is refused [X2][P5]", async () => {
  const { id } = await door.run("1", {}, "sess-reader");
  const submitted = await door.post("/executions/sessions/sess-reader/execute", {
    ...{ code: "import time\nprint('on', flush=True)\ntime.sleep(60)", timeout: 60 },
  });
  const running = submitted.body.execution_id;
  const follow = (signal: AbortSignal) => fetch(`${door.url}/api/v1/executions/${running}/stream`, { signal });
  const gone = new AbortController();
  const streams = await Promise.all(Array.from({ length: 20 }, () => follow(gone.signal)));
  assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]));
  const refused = await door.get(`/executions/${id}/stream`);
  assert.deepEqual([refused.status, refused.body.code, refused.body.retryable], [429, "streams_full", true]);
  // Another user has streams of their own, and whoever leaves makes room.
  const other = await door.run("1", {}, "sess-other-reader");
  assert.equal((await fetch(`${door.url}/api/v1/executions/${other.id}/stream`)).status, 200);
  gone.abort();
  await until(async () => {
    const again = new AbortController();
    const { status } = await follow(again.signal);
    again.abort();
    return status === 200;
  });
  await door.post(`/executions/${running}/cancel`, {});
});

test("artifacts are the files that this execution made or changed, with size, type and checksum [X2]", async () => {
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
});

const codeOf = (kibibytes: number) => `#${"一".repeat((kibibytes * 1024) / 3)}\nprint("y" * 5000 + "end")`;

test("of long code a record keeps the beginning and the end, and a list shows little of it [X2]", async () => {
  const long = await door.run(codeOf(200), {}, "sess-long");
  assert.deepEqual(
    [long.code_truncated, long.code.startsWith("#一"), long.code.endsWith('"end")'), long.stdout_truncated],
    [true, true, true, false],
  );
  assert.ok(Buffer.byteLength(long.code) < 66 * 1024, `${Buffer.byteLength(long.code)} bytes`);
  const short = await door.run("1", {}, "sess-long");
  const listed = await door.get("/executions/sessions/sess-long/executions");
  const [first, second] = SandboxExecutionPage.parse(listed.body).items;
  assert.deepEqual(first, short);
  assert.deepEqual({ ...second, code: "", stdout: "" }, { ...long, code: "", stdout: "", stdout_truncated: true });
  assert.ok((second?.code.length ?? 0) < 2100 && (second?.stdout.length ?? 0) < 2100);
  assert.ok(second?.stdout.startsWith("yyy") && second.stdout.endsWith("end\n"));
  const kept = await door.get(`/executions/${long.id}/result`);
  assert.deepEqual(SandboxExecution.parse(kept.body), long);
});

test("the ledger of a conversation holds every file that a program made, however many [W12][X2]", async () => {
  const ran = await door.run("for i in range(600): open(f'outputs/{i}', 'w').write('x')", { conversation_id: "many" });
  const noted = (await door.yard.events("many")).filter((event) => event.type === "file.changed");
  // It stands there when the execution is over: whoever asks then finds it.
  assert.deepEqual([noted.length, ran.artifacts.length], [600, 500]);
  assert.deepEqual(new Set(all(noted, "file.changed").map(({ by }) => by)), new Set(["person"]));
});

test("a file that a program changes through its memory is told each time [W12][X1]", async () => {
  const mapped = { conversation_id: "mapped" };
  const changed = async (code: string) => (await door.run(code, mapped)).artifacts.map(({ sha256 }) => sha256);
  await changed("import mmap\nopen('outputs/m', 'wb').write(b'a' * 8192)");
  const open = "f = open('outputs/m', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0:3] = b'one'";
  const hashes = [
    ...(await changed(open)),
    ...(await changed("m[0:3] = b'two'")),
    ...(await changed("m[0:3] = b'six'")),
  ];
  assert.equal(new Set(hashes).size, 3);
  assert.deepEqual(await changed("print('looks only')"), []);
  // Also by what is undone before anybody looks again.
  assert.equal((await changed("m[0:3] = b'ten'; m.close(); f.close()")).length, 1);
  assert.deepEqual(await changed("print('looks only')"), []);
});

// Runs alone: its server is started before all tests and closed after them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SandboxExecution, SandboxExecutionPage } from "../../src/protocol/sandbox-resources.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { all } from "../world/events.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { type Door, openDoor, until } from "./sandbox-http.ts";

// Executions over HTTP.

let beforeLedger = async () => {};
const isLedger = ({ type }: { readonly type: string }) => type === "file.changed";
const wrapStorage = (storage: Storage): Storage => ({
  ...storage,
  async append(batch) {
    if (batch.events.some(isLedger)) await beforeLedger();
    return storage.append(batch);
  },
});

let door: Door;
const options = { skip: cannotRunCode };
before(async () => {
  if (cannotRunCode === false) door = await openDoor({ wrapStorage });
});
after(() => door?.[Symbol.asyncDispose]());

const status = async (id: unknown) => SandboxExecution.parse((await door.get(`/executions/${id}/status`)).body);
const notedIn = async (conversation: string) => all(await door.yard.events(conversation), "file.changed");
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
  "the conversation is named by any of five fields, and files are where every path of the chat platform has them [X2][S4]",
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
  assert.deepEqual(
    (await notedIn("ledger")).map(({ path, by }) => ({ path, by })),
    [{ path: "outputs/noted.txt", by: "person" }],
  );
});

test(
  "an execution is over when the log knows what it did to files, also where storage is slow [W12][X2]",
  options,
  async (t) => {
    const inside = { conversation_id: "slow-ledger", language: "shell" };
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    t.after(() => goOn.resolve());
    beforeLedger = () => {
      begun.resolve();
      return goOn.promise;
    };
    const id = await submit({ ...inside, code: "echo a > outputs/noted.txt" });
    await begun.promise;
    // A whole one beside it takes longer than what is left to do of the first.
    await door.run("echo b", { language: "shell" });
    assert.equal((await status(id)).status, "running");
    goOn.resolve();
    await until(async () => (await status(id)).status === "completed");
    assert.deepEqual(
      (await notedIn("slow-ledger")).map(({ path }) => path),
      ["outputs/noted.txt"],
    );
  },
);

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
    const rest = await (await openEvents(`/executions/${id}/stream?after=0-0`, { "last-event-id": "4-0" })).rest();
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

test(
  "who has the server tidy up ends no program that runs, and no Python forgets anything [X3][X2]",
  options,
  async () => {
    const inside = { conversation_id: "tidy" };
    await door.run("x = 41", inside);
    const code = "import os, time\nwhile not os.path.exists('temp/go'): time.sleep(0.02)\nprint(x + 1)";
    const id = await submit({ ...inside, code, timeout: 600 });
    await until(async () => (await status(id)).status === "running");
    assert.equal((await door.post("/health/sync")).body.status, "completed");
    await door.run("touch temp/go", { ...inside, language: "shell" });
    await until(async () => (await status(id)).completed_at !== null);
    const { status: end, stdout } = await status(id);
    assert.deepEqual([end, stdout], ["completed", "42\n"]);
  },
);

test("whoever waits too long for an execution is told so, and it goes on [X2]", options, async () => {
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

import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { ExecutionFrame, SandboxExecution } from "../protocol/sandbox-resources.ts";
import type { ClientFailure } from "./failure.ts";
import { type ExecutionNews, followExecution } from "./follow-execution.ts";

// A connection that breaks is tried again at once: only the waiting between is taken out.
const clock = { ...systemClock, wait: async () => "elapsed" as const };
const cut: ClientFailure = { code: "answer_unreadable", params: {}, detail: "cut off", retryable: false };

test("a connection that breaks goes on after the last word that came, and nothing comes twice [X2]", async () => {
  const asked: (string | undefined)[] = [];
  const answers = [
    response(output("one ", "4-0"), ping),
    failed({ ...cut, code: "network", retryable: true }),
    response(gap(1000, "1004-0"), output("two ", "1008-0")),
    response(),
    response(result),
  ];
  const news = await follow((after) => {
    asked.push(after);
    return answers.shift() ?? assert.fail("asked once too often");
  });
  assert.deepEqual(
    news.map((one) => (one.frame === "output" ? one.text : one.frame)),
    ["one ", "cut", "two ", "result"],
  );
  assert.deepEqual(asked, [undefined, "4-0", "4-0", "1008-0", "1008-0"]);
});

test("a server that knows nothing of it, or stays away, is not asked for ever [X2]", async () => {
  const unknown = { ...cut, code: "execution_not_found", status: 404 };
  assert.deepEqual(await follow(() => failed(unknown)), [{ frame: "failed", failure: unknown }]);
  let asked = 0;
  const away = await follow(() => {
    asked += 1;
    return response();
  });
  assert.deepEqual([away, asked], [[{ frame: "failed", failure: cut }], 8]);
});

test("a server that says of it what nobody can read is asked once [X2]", async () => {
  let asked = 0;
  const told = await follow(() => {
    asked += 1;
    return ok(new Response("data: {\n\n", { headers: { "content-type": "text/event-stream" } }));
  });
  assert.deepEqual([told, asked], [[{ frame: "failed", failure: cut }], 1]);
});

test("who lets go hears nothing more [X2]", async () => {
  const gone = new AbortController();
  const news: string[] = [];
  for await (const { frame } of followExecution({
    ...{ clock, signal: gone.signal, cutOff: () => cut },
    connect: async () => response(output("a", "1-0"), output("b", "2-0")),
  })) {
    news.push(frame);
    gone.abort();
  }
  assert.deepEqual(news, ["output"]);
});

async function follow(connect: (after: string | undefined) => Result<Response, ClientFailure>) {
  const { signal } = new AbortController();
  const news: ExecutionNews[] = [];
  const following = { clock, signal, cutOff: () => cut, connect: async (after: string | undefined) => connect(after) };
  for await (const one of followExecution(following)) news.push(one);
  return news;
}

function response(...events: string[]): Result<Response, ClientFailure> {
  return ok(new Response(events.join(""), { headers: { "content-type": "text/event-stream" } }));
}

function output(text: string, id: string): string {
  return event(id, { frame: "output", stream: "stdout", text, at: { stdout: Number.parseInt(id, 10), stderr: 0 } });
}

function gap(bytes: number, id: string): string {
  return event(id, { frame: "cut", stream: "stdout", bytes, at: { stdout: Number.parseInt(id, 10), stderr: 0 } });
}

function event(id: string, frame: ExecutionFrame): string {
  return `event: ${frame.frame}\nid: ${id}\ndata: ${JSON.stringify(frame)}\n\n`;
}

const ping = `event: ping\ndata: {"frame":"ping"}\n\n`;
const execution: SandboxExecution = {
  ...{
    id: "e",
    execution_id: "e",
    session_id: "s",
    conversation_id: null,
    status: "completed",
    code: "1",
    code_truncated: false,
  },
  ...{
    language: "python",
    timeout: 30,
    exit_code: 0,
    error_message: null,
    failure: null,
    execution_time: 1,
    stdout: "",
    stderr: "",
  },
  ...{ stdout_truncated: false, stderr_truncated: false, stdout_path: null, stderr_path: null, value: null },
  ...{
    return_value: null,
    figures: [],
    artifacts: [],
    changed_files: [],
    removed_files: [],
    metrics: null,
    retry_count: 0,
    created_at: "",
  },
  ...{ started_at: null, completed_at: null, how: "done", signal: null, is_over_limit: false },
};
const result = `event: result\ndata: ${JSON.stringify({ frame: "result", execution })}\n\n`;

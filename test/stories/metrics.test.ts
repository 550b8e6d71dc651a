import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { listen } from "../../src/http/http.ts";
import { openMetrics } from "../../src/observe/observe.ts";
import { failure } from "../../src/protocol/failure.ts";
import { Problem } from "../../src/protocol/resources.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { onPort } from "../world/http-reading.ts";
import { calls, modelServer } from "../world/model-server.ts";
import { startYard } from "../world/yard.ts";

test("what was done is counted: turns, model calls, tokens, tools, decisions, requests, sessions [O1]", async () => {
  await using model = await modelServer([
    calls(["now", {}], ["made_up_by_alice", {}], ["write_file", { path: "outputs/a.txt", content: "a" }]),
    { text: "done", usage: { prompt_tokens: 70, completion_tokens: 9 } },
    { status: 400, body: '{"error":{"message":"no"}}' },
  ]);
  const metrics = await openMetrics({ version: "1.2.3", logger: console });
  await using yard = await startYard({ model, approves: true, observers: { metrics } });
  const { conversation } = await yard.ask("the secret question of alice");
  await yard.ask("and again", { conversation });
  await yard.client.call("getConversation", { params: { id: "none" } });

  const text = await read(yard.fetch);
  const has = (line: string | RegExp) =>
    assert.match(text, new RegExp(typeof line === "string" ? `^${line}$` : line, "m"));
  has('agentyard_info{version="1.2.3"} 1'.replaceAll(/[{}]/g, "\\$&"));
  has(/^agentyard_turns_total\{outcome="done"\} 1$/);
  has(/^agentyard_turns_total\{outcome="failed"\} 1$/);
  has(/^agentyard_model_calls_total\{slot="base",model="test-model",outcome="ok"\} 2$/);
  has(/^agentyard_model_first_piece_seconds_count\{slot="base",model="test-model"\} [12]$/);
  has(/^agentyard_model_tokens_total\{slot="base",model="test-model",kind="output"\} \d+$/);
  has(/^agentyard_tool_calls_total\{tool="now",outcome="ok"\} 1$/);
  has(/^agentyard_tool_calls_total\{tool="other",outcome="error"\} 1$/);
  has(/^agentyard_sandbox_guests 0$/);
  has(/^agentyard_conversations 1$/);
  has(/^agentyard_decisions_open 0$/);
  has(/^agentyard_http_requests_total\{route="\/api\/v1\/conversations\/\{id\}",method="GET",status="404"\} 1$/);
  has(/^agentyard_nodejs_eventloop_lag_seconds /);
  has(/^agentyard_process_resident_memory_bytes /);
  assert.doesNotMatch(text, /alice|secret|none"|test-yard/);
});

test("a label is one of ours, whatever path and method somebody sends [O1][Q1]", async () => {
  const metrics = await openMetrics({ version: "1", logger: console });
  await using yard = await startYard({ observers: { metrics } });
  await using door = await onPort(yard);
  for (const path of ["/alice/1", "/alice/2", "/api/v1/alice", "/api/v1/conversations/alice/nothing"])
    await fetch(door.url + path);
  await fetch(`${door.url}/api/v1/health`, { method: "PROPFIND" });
  const text = await (await fetch(`${door.url}/metrics`)).text();
  const labels = [...text.matchAll(/^agentyard_http_requests_total\{(.*)\}/gm)].map(([, found]) => found);
  assert.deepEqual(labels, [
    'route="none",method="GET",status="404"',
    'route="/api/v1/health",method="OTHER",status="405"',
  ]);
});

test("who follows a stream is counted as long as they do [O1]", async () => {
  const metrics = await openMetrics({ version: "1", logger: console });
  await using yard = await startYard({ observers: { metrics } });
  await yard.client.call("createConversation", { body: { id: "c" } });
  const door = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  assert.ok(door.ok);
  const open = async () => Number(/^agentyard_http_streams_open (\d+)$/m.exec(await metrics.text())?.[1]);
  const leave = new AbortController();
  const url = `${door.value.address}/api/v1/conversations/c/stream`;
  const streams = await Promise.all([1, 2, 3].map(() => fetch(url, { signal: leave.signal })));
  assert.deepEqual(
    streams.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal(await open(), 3);
  leave.abort();
  await until("nobody follows", async () => (await open()) === 0);
  await door.value.close();
});

test("where the state cannot be counted the rest is told, and the log says so [O1]", async () => {
  const lines: string[] = [];
  const metrics = await openMetrics({ version: "1", logger: { error: (line) => void lines.push(line) } });
  metrics.lookAt(() => Promise.reject(new Error("the disk is gone")));
  assert.match(await metrics.text(), /^agentyard_info\{version="1"\} 1$/m);
  assert.deepEqual(lines, ["the state was not counted"]);
});

test("where nobody counts there are no metrics, and that is said [O1]", async () => {
  await using yard = await startYard();
  await using door = await onPort(yard);
  const answer = await fetch(`${door.url}/metrics`);
  assert.deepEqual([answer.status, Problem.parse(await answer.json()).code], [404, "route_not_found"]);
});

test("a probe learns that the process answers, and whether it can do its work [O1]", async () => {
  let found: Awaited<ReturnType<Storage["check"]>> = { ok: true, value: undefined };
  const check = async () => found;
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now };
  await using yard = await startYard({ clock, wrapStorage: (storage) => ({ ...storage, check }) });
  await using door = await onPort(yard);
  const ask = async (path: string) => {
    const answer = await fetch(door.url + path);
    const { code, status, params } = Told.parse(await answer.json());
    return [answer.status, answer.headers.get("retry-after"), code === undefined ? status : `${code} ${params?.why}`];
  };
  assert.deepEqual(await ask("/healthz"), [200, null, "ok"]);
  assert.deepEqual(await ask("/readyz"), [200, null, "ready"]);
  found = failure("storage_full", {});
  assert.equal((await ask("/readyz"))[0], 200, "not looked at again so soon");
  now += 1_000;
  assert.deepEqual(await ask("/readyz"), [503, "1", "not_ready passing"]);
  assert.equal((await ask("/healthz"))[0], 200);
  now += 1_000;
  found = failure("storage_broken", { why: "removed" });
  assert.deepEqual(await ask("/readyz"), [503, "5", "not_ready broken"], "it takes somebody to mend it");
});

test("a server that is told to end says first that it is not ready, and serves on until balancers have seen it [O1][N1]", async () => {
  await using yard = await startYard();
  const drained = Promise.withResolvers<"elapsed">();
  const waits: number[] = [];
  const wait = (ms: number) => {
    waits.push(ms);
    return drained.promise;
  };
  const door = await listen(
    yard.app,
    { host: "127.0.0.1", port: 0 },
    { clock: { ...systemClock, wait }, drainMs: 5_000 },
  );
  assert(door.ok);
  const statusOf = async (path: string) => (await fetch(door.value.address + path)).status;
  assert.equal(await statusOf("/readyz"), 200);
  const closed = door.value.close();
  assert.deepEqual(
    [await statusOf("/readyz"), await statusOf("/healthz"), await statusOf("/api/v1/tools")],
    [503, 200, 200],
  );
  assert.deepEqual(waits, [5_000]);
  drained.resolve("elapsed");
  await closed;
  await assert.rejects(statusOf("/healthz"));
});

test("a probe of a server whose database was taken away is not told to try again in a moment [O1]", async () => {
  await using yard = await startYard();
  await using door = await onPort(yard);
  rmSync(join(yard.data, "sessions.db"));
  const answer = await fetch(`${door.url}/readyz`);
  assert.equal(answer.status, 503);
  assert.match(await answer.text(), /removed or replaced while it was open.*End the server, put a backup back/);
});

const Told = z.object({
  ...{ code: z.string().optional(), status: z.unknown() },
  params: z.object({ why: z.string() }).optional(),
});

async function read(
  get: (url: string, init: { method: string; headers: Record<string, string> }) => Promise<Response>,
) {
  const answer = await get("http://localhost/metrics", { method: "GET", headers: {} });
  assert.deepEqual(
    [answer.status, answer.headers.get("content-type")],
    [200, "text/plain; version=0.0.4; charset=utf-8"],
  );
  return answer.text();
}

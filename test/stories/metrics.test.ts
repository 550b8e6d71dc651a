import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { listen } from "../../src/http/http.ts";
import { openMetrics, openTracer, type Tracer, traceSettingsFrom } from "../../src/observe/observe.ts";
import { failure } from "../../src/protocol/failure.ts";
import { Problem } from "../../src/protocol/resources.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { onPort } from "../world/http-reading.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { noSandbox } from "../world/sandbox.ts";
import { must, startYard } from "../world/yard.ts";

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

test("health is as good as what is worst: a sandbox that lacks something, or a database that is away [X2][P5]", async () => {
  const lack = (name: "no_bwrap" | "no_cgroup_memory") => ({ name, reason: `${name} is so`, fix: "mend it" });
  const sandbox = noSandbox();
  let isAway = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    check: async () => (isAway ? failure("storage_busy", {}) : storage.check()),
  });
  const statuses = async (missing: ReturnType<typeof lack>[], degraded: ReturnType<typeof lack>[]) => {
    const probe = async () => ({ missing, degraded });
    await using yard = await startYard({ openSandbox: () => ({ ...sandbox, probe }), wrapStorage });
    const { status, dependencies } = await must(yard.client.call("healthDetailed", {}));
    return [status, dependencies.sandbox.status, dependencies.sandbox.error, dependencies.database.status];
  };
  assert.deepEqual(await statuses([], []), ["healthy", "healthy", null, "healthy"]);
  assert.deepEqual(await statuses([], [lack("no_cgroup_memory")]), ["degraded", "degraded", null, "healthy"]);
  const without = await statuses([lack("no_bwrap")], [lack("no_cgroup_memory")]);
  assert.deepEqual([...without.slice(0, 2), without[3]], ["unhealthy", "unhealthy", "healthy"]);
  assert.notEqual(without[2], null);
  isAway = true;
  assert.deepEqual(await statuses([], [lack("no_cgroup_memory")]), ["unhealthy", "degraded", null, "unhealthy"]);
});

test("a server says for how many seconds it has been up, and what it found to clear away [X2][O1]", async () => {
  let now = 5_000;
  const swept = { processes: 1, groups: 2, mounts: 3 };
  await using yard = await startYard({
    clock: { ...systemClock, monotonic: () => now },
    openSandbox: () => ({
      ...noSandbox(),
      sweep: async () => swept,
      load: () => ({ guests: 4, running: 5, waiting: 6 }),
    }),
  });
  now += 1_234.6;
  const { client } = yard;
  const [short, long] = [await must(client.call("health", {})), await must(client.call("healthDetailed", {}))];
  assert.deepEqual([short.uptime, long.uptime], [1.235, 1.235]);
  const { guests, running, waiting } = long.dependencies.sandbox;
  assert.deepEqual([guests, running, waiting], [4, 5, 6]);
  assert.deepEqual(await must(client.call("healthSync", {})), { status: "completed", ...swept });
});

const question = "the secret question";

test("a turn is one trace: the caller's span, the request, the agent, its model calls and its tools [O1]", async (t) => {
  await using target = await collector();
  const tracer = await tracerFor(t, { OTEL_EXPORTER_OTLP_ENDPOINT: target.url, OTEL_SERVICE_NAME: "yard" });
  const { conversation } = await talk(tracer);
  const [traceId, caller] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];

  const spans = target.spans.filter(({ trace }) => trace === traceId);
  const named = (name: string): CollectedSpan => {
    const [found, ...more] = spans.filter((span) => span.name === name);
    assert.ok(found !== undefined && more.length === 0, `one ${name} among ${spans.map((span) => span.name)}`);
    return found;
  };
  // A server that hands a request on to the conversation's home has the home's span within its own.
  const requests = spans.filter(({ name }) => name === "POST /api/v1/conversations/{id}/messages");
  const asked = requests.find(({ parent }) => parent === caller);
  const request = requests.find(({ parent }) => parent === asked?.id) ?? asked;
  assert.ok(request !== undefined && requests.length === new Set([asked, request]).size);
  const agent = spans.find(({ name }) => name.startsWith("invoke_agent"));
  const [first, second] = spans.filter(({ name }) => name === "chat test-model");
  const tool = named("execute_tool now");
  assert.deepEqual(
    [asked?.parent, agent?.parent, first?.parent, second?.parent, tool.parent],
    [caller, request.id, agent?.id, agent?.id, agent?.id],
  );
  assert.deepEqual([request.kind, agent?.kind, first?.kind, tool.kind], [2, 1, 3, 1]);
  assert.equal(request.facts["http.response.status_code"], 202);
  assert.equal(agent?.facts["service.name"], "yard");
  for (const span of [agent, first, second, tool]) assert.equal(span?.facts["gen_ai.conversation.id"], conversation);
  assert.deepEqual(
    [agent, first, tool].map((span) => span?.facts["gen_ai.operation.name"]),
    ["invoke_agent", "chat", "execute_tool"],
  );
  assert.equal(first?.facts["gen_ai.request.model"], "test-model");
  assert.ok(Number(first?.facts["gen_ai.usage.input_tokens"]) > 0);
  assert.deepEqual(second?.facts["gen_ai.response.finish_reasons"], ["stop"]);
  assert.equal(tool.facts["gen_ai.tool.name"], "now");
  for (const { ms, isError } of spans) assert.ok(ms >= 0 && !isError);
  // What people and models say goes nowhere unless the operator wants it.
  assert.doesNotMatch(JSON.stringify(target.spans), /secret question|the hidden answer/);
});

test("messages, arguments and results are told only where the operator asked for it [O1][Q1]", async (t) => {
  await using target = await collector();
  const tracer = await tracerFor(t, {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${target.url}/custom`,
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abc, x-team = 7 ",
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
  });
  await talk(tracer);
  assert.match(JSON.stringify(target.spans), /the hidden answer/);
  const [asked] = target.asked;
  assert.deepEqual(
    [asked?.path, asked?.headers.authorization, asked?.headers["x-team"]],
    ["/custom", "Bearer abc", "7"],
  );
});

test("LangSmith's variables send the same traces there, with its headers and with nobody else's [O1]", async (t) => {
  await using smith = await collector();
  await using other = await collector();
  const tracer = await tracerFor(t, {
    LANGCHAIN_TRACING_V2: "true",
    LANGCHAIN_API_KEY: "ls-key",
    LANGCHAIN_PROJECT: "yard",
    LANGCHAIN_ENDPOINT: `${smith.url}/`,
    OTEL_EXPORTER_OTLP_ENDPOINT: other.url,
    OTEL_EXPORTER_OTLP_HEADERS: "x-other=secret",
  });
  await talk(tracer);
  const [asked] = smith.asked;
  assert.equal(asked?.path, "/otel/v1/traces");
  assert.deepEqual([asked?.headers["x-api-key"], asked?.headers["langsmith-project"]], ["ls-key", "yard"]);
  assert.equal(asked?.headers["x-other"] ?? "", "");
  assert.deepEqual([other.asked[0]?.path, other.asked[0]?.headers["x-other"]], ["/v1/traces", "secret"]);
  assert.deepEqual(ids(smith), ids(other));
});

test("a collector that is away or refuses harms no turn, is said once, and holds up no end [O1]", async (t) => {
  await using target = await collector();
  target.answerWith(400);
  const said: string[] = [];
  const gone = { LANGCHAIN_TRACING_V2: "1", LANGCHAIN_API_KEY: "k", LANGCHAIN_ENDPOINT: "http://127.0.0.1:9" };
  const tracer = await tracerFor(t, { ...gone, OTEL_EXPORTER_OTLP_ENDPOINT: target.url }, said);
  await talk(tracer, { isClosing: false });
  await tracer.close();
  assert.equal(target.spans.length, 0);
  assert.ok(said.length > 0 && said.length <= 2, "once for each");
});

test("without an exporter nothing is traced and nothing of it is loaded [O1]", async () => {
  assert.equal(traceSettingsFrom({}), undefined);
  assert.equal(traceSettingsFrom({ LANGCHAIN_TRACING_V2: "true" }), undefined, "no key");
  assert.equal(traceSettingsFrom({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://x", OTEL_SDK_DISABLED: "true" }), undefined);
  assert.equal(traceSettingsFrom({ OTEL_EXPORTER_OTLP_ENDPOINT: "no address" }), undefined);
  const tracer = await openTracer({ settings: undefined, version: "1", clock: systemClock, logger: silent });
  const span = tracer.start("x");
  assert.deepEqual([tracer.isOn, span.place, tracer.within(span.place, () => 7)], [false, undefined, 7]);
});

const silent = { warn: () => {}, info: () => {} };

async function tracerFor(t: TestContext, env: Record<string, string>, said: string[] = []): Promise<Tracer> {
  const settings = traceSettingsFrom(env);
  assert.ok(settings !== undefined);
  const logger = { warn: (line: string) => void said.push(line), info: () => {} };
  const tracer = await openTracer({ settings, version: "1.2.3", clock: systemClock, logger });
  t.after(() => tracer.close());
  return tracer;
}

/** A conversation with one tool call, asked for over HTTP by somebody who traces too. */
async function talk(tracer: Tracer, { isClosing = true } = {}): Promise<{ conversation: string }> {
  await using model = await modelServer([calls(["now", {}]), says("the hidden answer")]);
  await using yard = await startYard({ model, observers: { tracer } });
  const door = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  assert.ok(door.ok);
  await yard.client.call("createConversation", { body: { id: "c" } });
  const sent = await fetch(`${door.value.address}/api/v1/conversations/c/messages`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    },
    body: JSON.stringify({ text: question }),
  });
  assert.equal(sent.status, 202);
  assert.equal((await yard.whenAtRest("c")).answer, "the hidden answer");
  await door.value.close();
  if (isClosing) await tracer.close();
  return { conversation: "c" };
}

function ids({ spans }: Collector): string[] {
  return spans.map(({ id }) => id).sort();
}

/** A collector of traces that takes OTLP over HTTP, as JSON. */
type Collector = AsyncDisposable & {
  /** Its address, without a path. */
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** Path and headers of each request. */
  readonly asked: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** From now on it answers with this status. */
  answerWith(status: number): void;
};

type CollectedSpan = {
  readonly name: string;
  readonly kind: number;
  readonly id: string;
  readonly trace: string;
  readonly parent: string | undefined;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  readonly ms: number;
};

async function collector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const asked: Collector["asked"] = [];
  let status = 200;
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    asked.push({ path: request.url ?? "", headers: request.headers });
    const body = await text(request);
    if (status === 200) spans.push(...readSpans(JSON.parse(body)));
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  };
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = z.custom<AddressInfo>().parse(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    asked,
    answerWith(next) {
      status = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Of what a collector is sent, what is looked at here. */
type Fact = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
type Span = {
  readonly [name in "name" | "spanId" | "traceId" | "startTimeUnixNano" | "endTimeUnixNano"]: string;
} & {
  readonly kind: number;
  readonly parentSpanId?: string;
  readonly attributes: readonly Fact[];
  readonly status?: { code?: number };
};
type Export = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Fact[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
};

function readSpans({ resourceSpans }: Export): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        ...{ name: span.name, kind: span.kind, id: span.spanId, trace: span.traceId },
        parent: span.parentSpanId || undefined,
        facts: Object.fromEntries(
          [...resource.attributes, ...span.attributes].map(({ key, value }) => [key, plain(value)]),
        ),
        isError: span.status?.code === 2,
        ms: (Number(span.endTimeUnixNano) - Number(span.startTimeUnixNano)) / 1e6,
      })),
  );
}

function plain(value: Fact["value"]): unknown {
  const { stringValue, intValue, doubleValue, boolValue, arrayValue } = value;
  const number = intValue === undefined ? doubleValue : Number(intValue);
  const all: { stringValue: string }[] | undefined = Object(arrayValue).values;
  return stringValue ?? number ?? boolValue ?? all?.map((each) => each.stringValue) ?? null;
}

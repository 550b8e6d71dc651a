import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { listen } from "../../src/http/http.ts";
import { openTracer, type Tracer, traceSettingsFrom } from "../../src/observe/observe.ts";
import { startChatYard } from "../world/chat.ts";
import { type CollectedSpan, type Collector, collector } from "../world/collector.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { startYard } from "../world/yard.ts";

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
  for (const { ms, isError } of spans) assert.ok(ms >= 0 && ms < 60_000 && !isError);
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

test("the turn of a conversation that was made for an agent has the agent's name [O1][C2]", async (t) => {
  await using target = await collector();
  const tracer = await tracerFor(t, { OTEL_EXPORTER_OTLP_ENDPOINT: target.url });
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model, observers: { tracer } });
  const { json } = await world.call("POST", "conversation", { title: "t", agent_id: "somebody", temparea_id: "" });
  await world.yard.ask("hello", { conversation: String(json.id) });
  await tracer.close();
  const [turn] = target.spans.filter(({ facts }) => facts["gen_ai.operation.name"] === "invoke_agent");
  assert.deepEqual([turn?.name, turn?.facts["gen_ai.agent.name"]], ["invoke_agent general", "general"]);
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

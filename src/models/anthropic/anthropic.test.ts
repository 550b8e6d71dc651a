import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import type { Message } from "../../protocol/message.ts";
import { defaultProfile, type Profile } from "../profile.ts";
import type { ModelRequest } from "../provider.ts";
import { anthropic } from "./anthropic.ts";

type Asked = {
  readonly path: string | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Body;
};
type Body = { readonly [field: string]: unknown; readonly messages: readonly { role: string; content: unknown[] }[] };
type Reply = { readonly status?: number; readonly body: unknown };

const counts = { input_tokens: 10, output_tokens: 2 };
const said = (...content: object[]): Reply => ({
  body: { type: "message", role: "assistant", content, stop_reason: "end_turn", usage: counts },
});
const hi = said({ type: "text", text: "hi" });

/** A server with these answers, in order, and a provider that asks it. */
async function open(t: TestContext, replies: readonly Reply[], profile: Partial<Profile> = {}, more: object = {}) {
  const asked: Asked[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    asked.push({ path: request.url, headers: request.headers, body: (await json(request)) as Body });
    const { status = 200, body } = replies[asked.length - 1] ?? hi;
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const endpoint = {
    ...{ baseUrl: `http://127.0.0.1:${port}`, model: "claude-test", apiKey: "sk-ant-test-0123" },
    ...{ profile: { ...defaultProfile, ...profile }, idleTimeoutMs: 10_000, firstDataTimeoutMs: 10_000, ...more },
  };
  const provider = anthropic({ endpoint, clock: systemClock, ids: systemIds });
  t.after(async () => {
    await provider.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const ask = (request: Partial<ModelRequest> = {}) =>
    provider
      .prepare({ messages: [{ role: "user", text: "hello" }], stream: false, ...request })
      .send({}, new AbortController().signal);
  return { asked, ask, base: `http://127.0.0.1:${port}` };
}

const tool = { name: "now", description: "Tells the time.", parameters: { type: "object", properties: {} } };
const mark = { cache_control: { type: "ephemeral" } };

test("the address may name the version and the route or neither, and the key goes where the server looks for it [M6]", async (t) => {
  const { ask, asked, base } = await open(t, []);
  await ask();
  for (const end of ["/v1", "/v1/", "/v1/messages", "/anthropic"]) {
    const endpoint = { ...{ baseUrl: base + end, model: "m", profile: defaultProfile, apiKey: "k" } };
    const times = { idleTimeoutMs: 10_000, firstDataTimeoutMs: 10_000 };
    const provider = anthropic({ endpoint: { ...endpoint, ...times }, clock: systemClock, ids: systemIds });
    await provider
      .prepare({ messages: [{ role: "user", text: "x" }], stream: false })
      .send({}, new AbortController().signal);
    await provider.close();
  }
  assert.deepEqual(
    asked.map(({ path }) => path),
    ["/v1/messages", "/v1/messages", "/v1/messages", "/v1/messages", "/anthropic/v1/messages"],
  );
  const { "x-api-key": key, authorization, "anthropic-version": version } = asked[0]?.headers ?? {};
  assert.deepEqual([key, authorization, version], ["sk-ant-test-0123", "Bearer sk-ant-test-0123", "2023-06-01"]);
});

test("a request has what was asked for and nothing else, with marks where the server may cache [M6][L3]", async (t) => {
  const { ask, asked } = await open(t, []);
  const system: Message = { role: "system", text: "You help." };
  const user: Message = { role: "user", text: "look", images: [{ mime: "image/png", base64: "eA==" }] };
  await ask({ messages: [system, user], tools: [tool], maxOutputTokens: 100, temperature: 0.5, toolChoice: "auto" });
  assert.deepEqual(asked[0]?.body, {
    model: "claude-test",
    tools: [{ name: "now", description: "Tells the time.", input_schema: { type: "object", properties: {} }, ...mark }],
    system: [{ type: "text", text: "You help.", ...mark }],
    messages: [
      {
        role: "user",
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data: "eA==" } },
          { type: "text", text: "look", ...mark },
        ],
      },
    ],
    stream: false,
    max_tokens: 100,
    temperature: 0.5,
  });
});

test("a tool may be forbidden, demanded or named, and one call at a time asked for [M6]", async (t) => {
  const { ask, asked } = await open(t, []);
  const choices = ["none", "required", { tool: "now" }, { tool: "unknown" }, "auto"] as const;
  for (const toolChoice of choices) await ask({ tools: [tool], toolChoice });
  await ask({ tools: [tool], parallelToolCalls: false });
  assert.deepEqual(
    asked.map(({ body }) => body.tool_choice),
    [
      { type: "none" },
      { type: "any" },
      { type: "tool", name: "now" },
      ...[undefined, undefined],
      { type: "auto", disable_parallel_tool_use: true },
    ],
  );
});

const thinkingCases: readonly [Partial<Profile>, Partial<ModelRequest>, object][] = [
  [{ thinkingSwitch: "adaptive" }, {}, { thinking: { type: "adaptive", display: "summarized" } }],
  [
    { thinkingSwitch: "adaptive" },
    { thinking: "low", temperature: 0.2 },
    { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } },
  ],
  [{ thinkingSwitch: "adaptive" }, { thinking: false, temperature: 0.2 }, { temperature: 0.2 }],
  [{ thinkingSwitch: "budget" }, {}, {}],
  [{ thinkingSwitch: "budget" }, { thinking: true }, { thinking: { type: "enabled", budget_tokens: 7_168 } }],
  [
    { thinkingSwitch: "budget" },
    { thinking: "high", maxOutputTokens: 30_000 },
    { max_tokens: 30_000, thinking: { type: "enabled", budget_tokens: 16_384 } },
  ],
  [{ thinkingSwitch: "budget" }, { thinking: "high", maxOutputTokens: 2_000 }, { max_tokens: 2_000 }],
  [{ thinkingSwitch: "none", sampling: false }, { thinking: true, temperature: 0.2 }, {}],
];

test("thinking is asked for as the model's generation knows it, and never beside a temperature [M6][R1]", async (t) => {
  for (const [profile, request, expected] of thinkingCases) {
    const { ask, asked } = await open(t, [], profile);
    await ask(request);
    const { model, messages, stream, ...rest } = asked[0]?.body ?? { messages: [] };
    assert.deepEqual(rest, { max_tokens: 8_192, ...expected });
  }
});

const thought = { type: "thinking", thinking: "Let me see.", signature: "c2lnbg==" };
const hidden = { type: "redacted_thinking", data: "ZGFyaw==" };
const call = { type: "tool_use", id: "toolu_1", name: "now", input: { zone: "UTC" } };
const later = { type: "tool_use", id: "toolu_2", name: "now", input: {} };
const mixed = [thought, { type: "text", text: "One. " }, hidden, call, { type: "text", text: "Two." }, later];

/** The answer as the loop stores it, with results for its calls. */
async function stored(ask: (request?: Partial<ModelRequest>) => Promise<unknown>): Promise<Message[]> {
  const { text, reasoning, reasoningDetails, toolCalls } = (await ask({ tools: [tool] })) as Extract<
    Message,
    { role: "assistant" }
  >;
  // Through the log and back.
  const answer: Message = JSON.parse(
    JSON.stringify({ role: "assistant", text, reasoning, reasoningDetails, toolCalls }),
  );
  const results = (toolCalls ?? []).map(({ id }): Message => ({ role: "tool", toolCallId: id, text: `of ${id}` }));
  return [{ role: "user", text: "hello" }, answer, ...results];
}

test("thoughts go back signed and unchanged, in their place among text and calls [M6][R1]", async (t) => {
  const { ask, asked } = await open(t, [said(...mixed)]);
  const messages = await stored(ask);
  await ask({ messages });
  const results = ["toolu_1", "toolu_2"].map((id) => ({ type: "tool_result", tool_use_id: id, content: `of ${id}` }));
  assert.deepEqual(asked[1]?.body.messages, [
    { role: "user", content: [{ type: "text", text: "hello", ...mark }] },
    { role: "assistant", content: mixed },
    { role: "user", content: [results[0], { ...results[1], ...mark }] },
  ]);
});

test("marks are at most four: tools, system, the last message and the end of the request before [M6][L3]", async (t) => {
  const { ask, asked } = await open(t, []);
  const calls = Array.from({ length: 15 }, (_, n) => ({ id: `c${n}`, name: "now", arguments: "{}" }));
  const messages: Message[] = [
    { role: "system", text: "You help." },
    { role: "user", text: "one" },
    { role: "assistant", text: "two" },
    { role: "user", text: "three" },
    { role: "assistant", text: "", toolCalls: calls },
    ...calls.map(({ id }): Message => ({ role: "tool", toolCallId: id, text: "x" })),
    { role: "user", text: "and this" },
  ];
  await ask({ messages, tools: [tool] });
  const { body } = asked[0] ?? { body: { messages: [] } };
  const where = body.messages.map(({ content }) => content.filter((block) => Object(block).cache_control).length);
  assert.deepEqual(where, [0, 0, 1, 0, 0, 1]);
  assert.equal(JSON.stringify(body).split("cache_control").length - 1, 4);
});

test("a history that others would take is put right: who speaks first and last, blanks, ids, a system text on the way [M6]", async (t) => {
  const { ask, asked } = await open(t, []);
  const messages: Message[] = [
    { role: "assistant", text: "Welcome." },
    { role: "user", text: " " },
    { role: "assistant", text: " \n", toolCalls: [{ id: "call:1/ü", name: "a.b", arguments: "{broken" }] },
    { role: "system", text: "It is late." },
    { role: "assistant", text: "Good night." },
  ];
  await ask({ messages });
  const told = asked[0]?.body.messages ?? [];
  assert.deepEqual(
    told.map(({ role }) => role),
    ["user", "assistant", "user", "assistant", "user", "user", "assistant", "user"],
  );
  const [use] = (told[3]?.content ?? []) as { id: string; name: string; input: object }[];
  const [result] = (told[4]?.content ?? []) as { tool_use_id: string }[];
  assert.match(use?.id ?? "", /^call_[0-9a-f]{32}$/);
  assert.deepEqual([use?.id, use?.input], [result?.tool_use_id, {}]);
  assert.match(use?.name ?? "", /^a_b_[0-9a-f]{8}$/);
  assert.deepEqual(told[5]?.content, [{ type: "text", text: "It is late.", ...mark }]);
});

test("a field that the model refuses is left out and not sent again, a limit is lowered, but never left out [M6]", async (t) => {
  const refusal = (message: string) => ({
    status: 400,
    body: { type: "error", error: { type: "invalid_request_error", message } },
  });
  const { ask, asked } = await open(t, [
    refusal("`temperature` is deprecated for this model."),
    hi,
    refusal("max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-test"),
    hi,
    refusal("max_tokens: Input should be a valid integer"),
  ]);
  assert.equal((await ask({ temperature: 0.5 })).text, "hi");
  assert.equal((await ask({ temperature: 0.5, maxOutputTokens: 100_000 })).text, "hi");
  const { error } = await ask({ maxOutputTokens: 5 });
  assert.deepEqual([error?.kind, error?.retryable], ["bad_request", false]);
  assert.deepEqual(
    asked.map(({ body }) => `${body.temperature} ${body.max_tokens}`),
    ["0.5 8192", "undefined 8192", "undefined 100000", "undefined 64000", "undefined 5"],
  );
});

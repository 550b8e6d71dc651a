import assert from "node:assert/strict";
import { test } from "node:test";
import { families } from "./families.ts";
import type { Api, Profile } from "./profile.ts";
import { describeModel, isLocalHost, outputLimit } from "./profiles.ts";

const openai = "https://api.openai.com/v1";
const router = "https://openrouter.ai/api/v1";
const ollama = "http://127.0.0.1:11434/v1";

const windows: readonly [model: string, windowTokens: number, outputTokens: number | undefined][] = [
  ["gpt-4", 8_192, 2_048],
  ["gpt-4-0613", 8_192, 2_048],
  ["gpt-4-turbo", 128_000, 4_096],
  ["gpt-4o-mini", 128_000, 16_384],
  ["gpt-4.1", 1_047_576, 32_000],
  ["o3-mini", 200_000, 32_000],
  ["gpt-5", 272_000, 32_000],
  ["gpt-5.2-codex", 272_000, 32_000],
  ["gpt-5.4-mini", 272_000, 32_000],
  ["openai/gpt-5.6", 1_050_000, 32_000],
  ["claude-3-5-sonnet-20241022", 200_000, 4_096],
  ["claude-opus-4-20250514", 200_000, 32_000],
  ["anthropic/claude-sonnet-4.5", 200_000, 32_000],
  ["claude-haiku-4-5-20251001", 200_000, 32_000],
  ["claude-sonnet-4-6", 1_000_000, 32_000],
  ["us.anthropic.claude-opus-4-7-v1:0", 1_000_000, 32_000],
  ["claude-fable-5", 1_000_000, 32_000],
  ["models/gemini-2.5-pro", 1_048_576, 32_000],
  ["google/gemini-3-flash", 1_048_576, 32_000],
  ["deepseek-chat", 131_072, 8_192],
  ["deepseek-reasoner", 131_072, 32_000],
  ["deepseek-ai/DeepSeek-V4", 1_000_000, 32_000],
  ["qwen3-max", 258_048, 32_000],
  ["qwen3-coder-plus", 997_952, 32_000],
  ["qwen3.7-plus", 991_808, 32_000],
  ["qwen-plus", 129_024, 16_384],
  ["glm-4.5-air", 128_000, 32_000],
  ["zai-org/GLM-5.1", 200_000, 32_000],
  ["moonshotai/Kimi-K2.6", 262_144, undefined],
  ["MiniMax-M3", 1_000_000, 32_000],
  ["mistral-large-2512", 256_000, undefined],
  ["x-ai/grok-4.3", 1_000_000, undefined],
  ["grok-4-fast", 256_000, undefined],
  ["somebody/new-model", 128_000, undefined],
];

for (const [model, windowTokens, outputTokens] of windows) {
  test(`${model} has a window of ${windowTokens} and is asked for ${outputTokens ?? "no fixed number of"} tokens [M1]`, () => {
    const known = describeModel({ baseUrl: router, model });
    assert.deepEqual([known.windowTokens, outputLimit(known, undefined)], [windowTokens, outputTokens]);
  });
}

const fields: readonly [model: string, baseUrl: string, some: Partial<Profile>][] = [
  [
    "gpt-5.6",
    openai,
    { systemRole: "developer", maxTokensField: "max_completion_tokens", sampling: false, effortWithTools: "none" },
  ],
  [
    "gpt-5.6",
    router,
    { systemRole: "system", maxTokensField: "max_completion_tokens", sampling: false, effortWithTools: "none" },
  ],
  ["gpt-5.2", openai, { systemRole: "developer", sampling: false, effortWithTools: "leave", parallelToolCalls: true }],
  ["o3", openai, { systemRole: "developer", sampling: false, parallelToolCalls: false }],
  ["gpt-4o", openai, { systemRole: "system", maxTokensField: "max_tokens", sampling: true }],
  ["claude-opus-5", router, { sampling: false, reasoningReplay: "details", noPrefill: true }],
  ["claude-sonnet-4-5", router, { sampling: true, reasoningReplay: "details" }],
  ["gemini-3-pro", router, { sampling: false, reasoningReplay: "details" }],
  ["gemini-2.5-pro", router, { sampling: true }],
  ["deepseek-v4", router, { reasoningReplay: "tool_calls", forcedToolChoice: false, sampling: true }],
  ["DeepSeek-R1", router, { reasoningReplay: "never", thinkTags: "implicit-open" }],
  ["kimi-k2.5", router, { sampling: false, schemaDialect: "mfjs", reasoningReplay: "tool_calls" }],
  ["kimi-k2-0905", router, { sampling: true, schemaDialect: "mfjs" }],
  ["glm-4.7", router, { reasoningReplay: "tool_calls", thinkingSwitch: "thinking-object" }],
  ["qwen3-max", router, { reasoningReplay: "tool_calls", thinkingSwitch: "enable_thinking" }],
  [
    "mistral-large-latest",
    "https://api.mistral.ai/v1",
    { toolCallIds: "alnum9", roleOrder: "mistral", streamUsage: false },
  ],
  ["mistral:7b", ollama, { toolCallIds: "alnum9", streamUsage: true, toolCallsInText: true }],
  ["llama3.3:70b", ollama, { thinkTags: "leading", toolCallsInText: true }],
  [
    "unheard-of",
    router,
    { systemRole: "system", sampling: true, thinkTags: "off", toolCallsInText: false, reasoningReplay: "never" },
  ],
];

for (const [model, baseUrl, some] of fields) {
  test(`${model} at ${new URL(baseUrl).hostname} is spoken to in its own way [M1]`, () => {
    assert.partialDeepStrictEqual(describeModel({ baseUrl, model }).profile, some);
  });
}

test("a local model counts with 8k until its server tells, then with what it tells [M1]", () => {
  const guessed = describeModel({ baseUrl: ollama, model: "qwen3-coder:30b" });
  assert.deepEqual([guessed.windowTokens, guessed.windowGuessed, guessed.promptSize], [8_192, true, "small"]);
  const told = describeModel({ baseUrl: ollama, model: "qwen3-coder:30b", contextWindow: 65_536 });
  assert.deepEqual([told.windowTokens, told.windowGuessed, told.promptSize], [65_536, false, "full"]);
  assert.equal(outputLimit(told, undefined), undefined);
});

test("a small local model gets the small prompt, whatever its window [M1]", () => {
  const known = describeModel({ baseUrl: ollama, model: "qwen3:8b", contextWindow: 131_072 });
  assert.equal(known.promptSize, "small");
  assert.partialDeepStrictEqual(known.profile, {
    toolCallsInText: true,
    reasoningReplay: "never",
    thinkTags: "leading",
  });
});

test("a gateway at a private address does not shrink a closed model [M1]", () => {
  const known = describeModel({ baseUrl: "http://litellm:4000/v1", model: "gpt-4o" });
  assert.deepEqual([known.windowTokens, known.promptSize], [128_000, "full"]);
});

test("a small cloud window gets the small prompt [M1]", () => {
  assert.equal(describeModel({ baseUrl: openai, model: "gpt-4" }).promptSize, "small");
});

test("the user's own words win over the table [M1]", () => {
  const known = describeModel({ baseUrl: openai, model: "gpt-5", contextWindow: 50_000, profile: { sampling: true } });
  assert.deepEqual([known.windowTokens, known.profile.sampling, outputLimit(known, 99_000)], [50_000, true, 99_000]);
});

test("local addresses are told from public ones [M1]", () => {
  const local = [
    "localhost",
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.9",
    "100.64.0.1",
    "[::1]",
    "[fd00::1]",
    "box.local",
    "ollama",
    "host.docker.internal",
  ];
  const remote = ["api.openai.com", "172.32.0.1", "11.0.0.1", "100.63.0.1", "[2001:db8::1]", "10.example.com", ""];
  assert.deepEqual(
    local.filter((host) => !isLocalHost(host)),
    [],
  );
  assert.deepEqual(remote.filter(isLocalHost), []);
});

test("every row of the table can be reached [M1]", () => {
  const samples = [...windows, ...fields].map(([model]) => model.toLowerCase().split("/").at(-1) ?? "");
  const more = [
    "gpt-3.5-turbo",
    "gpt-oss:20b",
    "gemini-2.0-flash",
    "qwen3-235b-thinking",
    "qwen3:8b",
    "kimi-k2-0711-preview",
    "minimax-m2",
    "codestral",
    "claude-3-opus",
  ];
  const reached = new Set([...samples, ...more].map((id) => families.find((row) => row.id.test(id))?.id.source));
  assert.deepEqual(
    families.filter((row) => !reached.has(row.id.source)),
    [],
  );
});

test("a server is asked in its vendor's own format, any other in chat completions, and the user's word wins [M6]", () => {
  const apiOf = (baseUrl: string, model: string, api?: Api) => describeModel({ baseUrl, model, api }).profile.api;
  assert.equal(apiOf("https://api.anthropic.com/v1", "claude-opus-4-7"), "anthropic");
  assert.equal(apiOf("https://api.anthropic.com", "claude-haiku-4-5"), "anthropic");
  assert.equal(apiOf("https://api.deepseek.com/anthropic", "deepseek-chat"), "anthropic");
  assert.equal(apiOf("https://gateway.example/anthropic/v1/", "claude-opus-4-7"), "anthropic");
  assert.equal(apiOf("https://openrouter.ai/api/v1", "anthropic/claude-opus-4.7"), "chat");
  assert.equal(apiOf("https://anthropic.com.example/v1", "claude-opus-4-7"), "chat");
  assert.equal(apiOf("https://api.openai.com/v1", "gpt-4o"), "chat");
  assert.equal(apiOf("http://127.0.0.1:8000/v1", "qwen3"), "chat");
  const google = "https://generativelanguage.googleapis.com";
  assert.deepEqual([apiOf(`${google}/v1beta`, "gemini-3-pro"), apiOf(google, "gemini-2.5-pro")], ["google", "google"]);
  assert.equal(apiOf(`${google}/v1beta/openai/`, "gemini-3-pro"), "chat");
  const reasoning = ["gpt-5", "gpt-5.4-mini", "gpt-5.6", "gpt-6", "o3", "o4-mini"];
  assert.deepEqual(new Set(reasoning.map((model) => apiOf(openai, model))), new Set(["responses"]));
  assert.deepEqual([apiOf(openai, "gpt-4.1"), apiOf(openai, "my-own")], ["chat", "chat"]);
  assert.equal(apiOf("https://openrouter.ai/api/v1", "openai/gpt-5.5"), "chat");
  assert.equal(apiOf("http://127.0.0.1:8000/v1", "qwen3", "anthropic"), "anthropic");
  assert.equal(apiOf("https://api.anthropic.com/v1", "claude-opus-4-7", "chat"), "chat");
});

test("Claude thinks as much as it wants to from 4.6 on, and by a budget before [M6][R1]", () => {
  const switchOf = (model: string) =>
    describeModel({ baseUrl: "https://api.anthropic.com/v1", model }).profile.thinkingSwitch;
  const adaptive = ["claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-4-7", "claude-sonnet-5", "claude-fable-5"];
  assert.deepEqual(new Set(adaptive.map(switchOf)), new Set(["adaptive"]));
  const budget = [
    "claude-opus-4-5-20251101",
    "claude-haiku-4-5",
    "claude-sonnet-4-20250514",
    "claude-3-7-sonnet-latest",
  ];
  assert.deepEqual(new Set(budget.map(switchOf)), new Set(["budget"]));
  assert.equal(switchOf("claude-3-5-haiku-latest"), "none");
});

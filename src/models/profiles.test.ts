import assert from "node:assert/strict";
import { test } from "node:test";
import { countSteps } from "../../test/world/steps.ts";
import { Slot } from "../protocol/message.ts";
import { complexity } from "./complexity.ts";
import { estimateTokens } from "./estimate.ts";
import { costOf, priceOf } from "./models.ts";
import type { Api, Profile } from "./profile.ts";
import { describeModel, isLocalHost, outputLimit } from "./profiles.ts";
import { defaultResolver, type ModelFacts } from "./resolver.ts";

const openai = "https://api.openai.com/v1";
const router = "https://openrouter.ai/api/v1";
const ollama = "http://127.0.0.1:11434/v1";

const windows: readonly [model: string, windowTokens: number, outputTokens: number | undefined][] = [
  ["gpt-4", 8_192, 2_048],
  ["gpt-5", 272_000, 32_000],
  ["openai/gpt-5.6", 1_050_000, 32_000],
  ["claude-3-5-sonnet-20241022", 200_000, 4_096],
  ["claude-sonnet-4-6", 1_000_000, 32_000],
  ["models/gemini-2.5-pro", 1_048_576, 32_000],
  ["deepseek-chat", 131_072, 8_192],
  ["qwen3-max", 258_048, 32_000],
  ["moonshotai/Kimi-K2.6", 262_144, undefined],
  ["mistral-large-2512", 256_000, undefined],
  ["x-ai/grok-4.3", 1_000_000, undefined],
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

test("the user's own words win over the table [M1]", () => {
  const known = describeModel({ baseUrl: openai, model: "gpt-5", contextWindow: 50_000, profile: { sampling: true } });
  assert.deepEqual([known.windowTokens, known.profile.sampling, outputLimit(known, 99_000)], [50_000, true, 99_000]);
});

test("local addresses are told from public ones [M1]", () => {
  const local =
    "localhost 127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.9 100.64.0.1 [::1] [fd00::1] box.local ollama host.docker.internal".split(
      " ",
    );
  const remote = ["api.openai.com", "172.32.0.1", "11.0.0.1", "100.63.0.1", "[2001:db8::1]", "10.example.com", ""];
  assert.deepEqual(
    local.filter((host) => !isLocalHost(host)),
    [],
  );
  assert.deepEqual(remote.filter(isLocalHost), []);
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

const table = {
  "gpt-5": { input: 1.25, output: 10, cachedInput: 0.125 },
  "gpt-5*": { input: 2, output: 20 },
  "gpt-5-mini*": { input: 0.25, output: 2 },
  toString: { input: 1, output: 1 },
};
const named = (id: string) => priceOf({ id, isDemo: false }, table);

test("a model's price is that of its own id, then of the longest beginning that fits; others have none [A4]", () => {
  assert.deepEqual(
    ["gpt-5", "gpt-5-nano", "gpt-5-mini-2026", "gpt-4", "constructor", "__proto__", ""].map((id) => named(id)?.input),
    [1.25, 2, 0.25, undefined, undefined, undefined, undefined],
  );
  assert.deepEqual(priceOf({ id: "demo", isDemo: true }, {}), { input: 0, output: 0 });
});

test("tokens out of the cache cost their own price, or as much as others where none is named [A4]", () => {
  const usage = { input: 1_000_000, output: 100_000, cachedInput: 400_000 };
  assert.equal(costOf(usage, table["gpt-5"]), 0.75 + 0.05 + 1);
  assert.equal(costOf(usage, table["gpt-5*"]), 4);
  assert.equal(costOf({ input: 10, output: 0, cachedInput: 50 }, table["gpt-5"]), 0.00000125, "no more than was sent");
});

const cases: readonly [what: string, text: string, tokens: number][] = [
  ["nothing", "", 0],
  ["ASCII by four, rounded up", "hello", 2],
  ["Han one each", "你好世界", 4],
  ["mixed text", "hi 你好", 3],
  ["letters of other scripts by two", "привет", 3],
  ["full-width punctuation by two", "，。", 1],
  ["an emoji as one", "🙂", 1],
  ["a rare Han character as one", "𠀀", 1],
];

for (const [what, text, tokens] of cases) {
  test(`tokens are estimated: ${what} [M1]`, () => assert.equal(estimateTokens(text), tokens));
}

const plain: ModelFacts = { hasImages: false, hasCode: false, task: "hello", final: false };
const complex = { task: "Do this:\n1. read\n2. compare\n3. report" };
const [images, code, final] = [{ hasImages: true }, { hasCode: true }, { final: true }];

/** What is filled: all slots, or these. */
type Choice = readonly [what: string, facts: Partial<ModelFacts>, filled: string, slot: string, reason: string];
const choices: readonly Choice[] = [
  ["nothing special goes to base", {}, "", "base", "default"],
  ["the preference comes first", { preferred: "chat", ...images, ...code }, "", "chat", "preferred"],
  ["a preference for an empty slot is still named", { preferred: "chat" }, "base", "chat", "preferred"],
  ["images go to vision before code", { ...images, ...code }, "", "vision", "images"],
  ["images without a vision slot do not block code", { ...images, ...code }, "base code", "code", "code"],
  ["code goes before complexity", { ...code, ...complex }, "", "code", "code"],
  ["a complex task goes to reasoning", complex, "", "reasoning", "complex: 3 parts"],
  ["a complex task without a reasoning slot goes to base", complex, "base code", "base", "default"],
  ["code without a slot", { ...code, ...complex }, "base reasoning", "reasoning", "complex: 3 parts"],
  ["the last answer goes to chat", { ...final, ...code, ...complex }, "", "chat", "final"],
  ["the last answer without a chat slot", { ...final, ...code, ...complex }, "base code reasoning", "base", "default"],
  ["the last answer with images goes to vision", { ...final, ...images }, "", "vision", "images"],
  ["the last answer with a preference goes there", { ...final, preferred: "code" }, "", "code", "preferred"],
];

for (const [what, facts, filled, slot, reason] of choices) {
  test(`a model is chosen: ${what} [M2]`, () => {
    const slots = filled === "" ? Slot.options : filled.split(" ").map((name) => Slot.parse(name));
    assert.deepEqual(defaultResolver({ ...plain, ...facts }, new Set(slots)), { slot, reason });
  });
}

const tasks: readonly [task: string, why: string | undefined][] = [
  ["hello", undefined],
  ["What time is it?", undefined],
  ["1. one thing\n2. another", undefined],
  ["Please:\n1. read a.csv\n2) plot it\n(3) write a summary", "3 parts"],
  ["- a\n- b\n* c\n• d", "4 parts"],
  ["请完成：\n一、读取文件\n二、画图\n三、写总结", "3 parts"],
  ["①读取 \n②画图\n③总结", "3 parts"],
  ["第一，读取\n第二，画图\n第三步：总结", "3 parts"],
  ["1.2 is out\n3.14 is pi\n10.5 kg\n7.0", undefined],
  ["Prove that there is no largest prime", "proof"],
  ["证明不存在最大的素数", "proof"],
  ["Think carefully before you answer", "steps"],
  ["请一步一步地算", "steps"],
  ["What are the trade-offs of SQLite and PostgreSQL?", "comparison"],
  ["比较两种方案的优缺点", "comparison"],
  ["Find the root cause of this error", "cause"],
  ["找出根本原因", "cause"],
  ["Design a small queue system for our shop", "design"],
  ["设计一个订单系统", "design"],
  ["Design a logo", undefined],
  ["Show me the proofreading rules", undefined],
  ["word ".repeat(480), "long"],
  ["说明".repeat(300), "long"],
  [`What does this do?\n\`\`\`\n${"line of code\n".repeat(900)}\`\`\``, undefined],
  [`Is this right?\n${"> 1. quoted words of somebody else\n".repeat(200)}`, undefined],
];

for (const [task, why] of tasks) {
  test(`${JSON.stringify(task.slice(0, 40))} is ${why ?? "not complex"} [M2]`, () =>
    assert.equal(complexity(task), why));
}

test("a huge hostile request is judged to its end [M2]", async () => {
  const huge = `${"why does a ".repeat(500_000)}${"设计".repeat(500_000)}${"`".repeat(500_000)}`;
  // A pattern that tries anew from each place would take hours, and countSteps would tell.
  const [judged] = await countSteps(new URL("./complexity.ts", import.meta.url), [
    { name: "complexity", with: [huge] },
  ]);
  assert.equal(judged?.value, "long");
});

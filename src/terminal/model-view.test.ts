import assert from "node:assert/strict";
import { test } from "node:test";
import { wordsFor } from "../words/words.ts";
import { connectLines, modelTable, modelTestLines } from "./model-view.ts";

const slots = [
  { slot: "base", id: "demo", server: "demo", isDemo: true, windowTokens: 8192, filled: true },
  { slot: "code", id: "qwen", server: "localhost", isDemo: false, windowTokens: 500, filled: false },
] as const;

test("the slots stand in columns, also under Chinese headings [U1] [P4]", () => {
  assert.deepEqual(modelTable({ slots: [...slots] }, wordsFor("zh"), "code"), [
    "  槽位  模型  服务器     窗口",
    "  base  demo  demo       8 K   演示，不是 AI",
    "  code  qwen  localhost  500   使用 base，优先",
  ]);
});

test("a local server is offered with the lines that use it [M4]", () => {
  const found = [
    {
      kind: "ollama",
      baseUrl: "http://127.0.0.1:11434/v1",
      models: [{ id: "qwen3", windowTokens: 32_768, tools: true }, { id: "b" }, { id: "c" }, { id: "d" }],
      advice: "Raise its window.",
    },
  ];
  assert.deepEqual(connectLines({ slots: [...slots], found }, wordsFor("en")).slice(0, 4), [
    "Found on this machine:",
    "  ollama http://127.0.0.1:11434/v1  qwen3 (33 K, tools: yes), b, c, and 1 more",
    "    Raise its window.",
    "    to use it: MODEL_BASIC_BASE_URL=http://127.0.0.1:11434/v1 MODEL_BASIC_ID=qwen3",
  ]);
});

test("what a model test found out reads as a list [P2]", () => {
  const checks = [{ name: "answers", isOk: true } as const, { name: "tools", isOk: false, detail: "none" } as const];
  const test = { slot: "base", model: "m", server: "s", api: "chat", checks, latency: { firstMs: 20, totalMs: 90 } };
  assert.deepEqual(modelTestLines(test, wordsFor("en")), [
    "base: m (s, format chat)",
    "  ✓ answers",
    "  ✗ calls tools none",
    "  first text after 20 ms, all after 90 ms",
  ]);
  const failure = ["s cannot be reached: refused", "Check the base URL."] as const;
  const failed = modelTestLines({ ...test, failure }, wordsFor("en"));
  assert.deepEqual(failed.slice(-2), ["✗ s cannot be reached: refused", "→ Check the base URL."]);
});

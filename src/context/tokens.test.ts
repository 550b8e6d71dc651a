import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyHistory, type History } from "../log/log.ts";
import { estimateTokens } from "../models/models.ts";
import { messageTokens, tokenStatus } from "./tokens.ts";

const levels: readonly [percent: number, level: string][] = [
  [0, "info"],
  [74.9, "info"],
  [75, "warning"],
  [84.9, "warning"],
  [85, "high"],
  [95, "high"],
  [95.1, "critical"],
  [130, "critical"],
];

for (const [percent, level] of levels) {
  test(`a window that is ${percent} % full is at level ${level} [Z1]`, () => {
    const usage = { input: percent * 900, output: percent * 100 };
    const counted = { usage, estimated: false, messages: 0 };
    assert.deepEqual(tokenStatus({ ...emptyHistory(), counted }, 100_000), {
      used: percent * 1_000,
      window: 100_000,
      level,
      estimated: false,
    });
  });
}

const said: History["messages"][number][] = [
  { role: "user", text: "Count the lines." },
  {
    role: "assistant",
    text: "",
    toolCalls: [{ id: "1", name: "count_lines", arguments: '{"path": "a.txt"}' }],
  },
  { role: "tool", toolCallId: "1", text: "十二行" },
];

test("before the provider has counted, prompt, tools and messages are estimated [Z1]", () => {
  const history = { ...emptyHistory(), recipe, messages: said };
  const used = estimateTokens(recipe.system) + estimateTokens(recipe.tools) + sum(said.map(messageTokens));
  assert.deepEqual(tokenStatus(history, 1_000), { used, window: 1_000, level: "info", estimated: true });
});

test("after that the provider's count stands, and only what came since is estimated on top [Z1]", () => {
  const counted = { usage: { input: 700, output: 40 }, estimated: false, messages: 2 };
  const history = { ...emptyHistory(), recipe, messages: said, counted };
  const used = 740 + messageTokens(said[2]);
  assert.deepEqual(tokenStatus(history, 1_000), { used, window: 1_000, level: "info", estimated: true });
});

test("a server that counts too little of its answer is not believed: we send it back as it is [Z1]", () => {
  const counted = { usage: { input: 700, output: 1 }, estimated: false, messages: 2 };
  const history = { ...emptyHistory(), recipe, messages: said, counted };
  const used = 700 + messageTokens(said[1]) + messageTokens(said[2]);
  assert.deepEqual(tokenStatus(history, 1_000), { used, window: 1_000, level: "info", estimated: true });
});

test("a Han character weighs a token, and names, arguments and images of a message count too [Z1]", () => {
  const [, call, result] = said;
  assert.deepEqual([messageTokens(result), messageTokens(call)], [4 + 3, 4 + 3 + 5]);
  const image = { mime: "image/png", base64: "" };
  assert.equal(messageTokens({ role: "user", text: "", images: [image, image] }), 4 + 2_000);
});

const recipe = {
  system: "s".repeat(400),
  tools: "[]",
  systemMessage: { role: "system", text: "s".repeat(400) },
  descriptions: [],
  startedAt: 0,
} as const;

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { talkOf } from "../../test/world/talk.ts";
import { emptyHistory, type History } from "../log/log.ts";
import { estimateTokens } from "../models/models.ts";
import { needsRoom, type Reader, roomOf } from "./room.ts";
import { defaultWindowLimits as limits, messageTokens, tokenStatus, windowOf } from "./tokens.ts";

const prompt = "s".repeat(8_000);

/** Tokens from which on room is made, to the hundred. */
function triggerAt(windowTokens: number, promptSize: "full" | "small", more: Partial<typeof limits> = {}): number {
  const reader = { windowTokens, promptSize, limits: { ...limits, ...more } };
  const { history } = talkOf([], { system: prompt });
  const isFull = (used: number) => {
    history.messages.splice(0, 1, { role: "user", text: "x".repeat(4 * (used - 2_005)) });
    return needsRoom(history, reader);
  };
  let [fits, full] = [21, windowTokens / 100];
  while (full - fits > 1) {
    const middle = Math.floor((fits + full) / 2);
    if (isFull(100 * middle)) full = middle;
    else fits = middle;
  }
  return 100 * full;
}

test("room is made above 95 % of a large window, and before an answer has no room in a smaller one [Z1]", () => {
  assert.deepEqual([triggerAt(200_000, "full"), triggerAt(32_000, "full")], [190_100, 28_000]);
  assert.equal(triggerAt(200_000, "full", { criticalShare: 0.8 }), 160_100, "by configuration");
});

test("for small models room is made when 60 % of what the prompt leaves is used [Z1]", () => {
  assert.deepEqual([triggerAt(8_000, "small"), triggerAt(4_000, "small")], [5_700, 3_300]);
  assert.equal(triggerAt(8_000, "small", { smallShare: 0.5 }), 5_100, "by configuration");
});

for (const windowTokens of [4_096, 8_192, 32_000, 128_000, 1_000_000]) {
  test(`of a window of ${windowTokens} tokens all shares together leave room for an answer and some steps [Z2]`, () => {
    const turns = Array.from({ length: 300 }, (_, n) => ({ said: `Always mind rule ${n}.`, steps: [], answer: "yes" }));
    const { history } = talkOf(turns, { system: prompt });
    const { prefix, summary, keepsakes, kept, limit, trigger } = roomOf(history, {
      ...{ windowTokens, limits, promptSize: windowTokens < 24_000 ? "small" : "full" },
    });
    assert.ok(prefix + summary + kept <= limit && limit < trigger && limit <= 0.85 * windowTokens);
    assert.ok(kept >= 100 && keepsakes >= 100 && summary >= 100 && summary <= 1_440, `${kept} ${keepsakes} ${summary}`);
  });
}

test("where the prompt fills nearly all of a window, it is used up to the last few tokens before a conversation ends [Z1][Z2]", () => {
  const shares = [2_000, 3_000, 3_300, 3_800].map((promptTokens) => {
    const { history } = talkOf([{ said: "Always mind the gap.", steps: [] }], { system: "s".repeat(4 * promptTokens) });
    const { trigger, limit, hard } = roomOf(history, { windowTokens: 4_096, promptSize: "small", limits });
    assert.ok(limit <= trigger && trigger <= hard, `${limit} ${trigger} ${hard}`);
    return Math.round(trigger);
  });
  assert.deepEqual(shares, [3_258, 3_658, 3_778, 3_840]);
});

/** Thirty short turns behind a prompt of so many tokens, and one more for its tools. */
function talkBehind(promptTokens: number, turns = 30) {
  const said = Array.from({ length: turns }, (_, n) => `question ${n}: ${"word ".repeat(40)}`);
  return talkOf(
    said.map((text) => ({ said: text, steps: [], answer: "fine" })),
    { system: "word".repeat(promptTokens) },
  ).history;
}

function sharesOf(history: ReturnType<typeof talkBehind>, reader: Omit<Reader, "limits">) {
  const { weigh: _, ...shares } = roomOf(history, { ...reader, limits });
  return shares;
}

test("a large window is shared out by fixed shares: for the answer, what stays, its summary and what is never lost [Z1][Z2]", () => {
  assert.deepEqual(sharesOf(talkBehind(4_000), { windowTokens: 128_000, promptSize: "full" }), {
    ...{ used: 5_881, prefix: 4_001, scale: 1, trigger: 121_600, limit: 92_200, hard: 127_744, target: 74_560 },
    ...{ summary: 1_440, keepsakes: 19_200, said: 19_200, needed: 1_890, kept: 64_000 },
  });
  assert.deepEqual(sharesOf(talkBehind(2_000), { windowTokens: 16_000, promptSize: "full" }), {
    ...{ used: 3_881, prefix: 2_001, scale: 1, trigger: 13_600, limit: 10_700, hard: 15_744, target: 8_960 },
    ...{ summary: 1_440, keepsakes: 2_400, said: 2_400, needed: 1_780, kept: 5_435 },
  });
});

test("after a refusal no more is sent than was said, but for what is never lost; a provider is believed up to four times our count [Z1][Z2]", () => {
  const history = talkBehind(2_000);
  const refused = (sentTokensMax: number) =>
    sharesOf(history, { windowTokens: 16_000, promptSize: "full", sentTokensMax }).limit;
  assert.deepEqual([5_000, 2_001].map(refused), [5_000, 2_255]);
  const counted = [3, 5].map((times) => {
    history.counted = {
      usage: { input: times * 3_881, output: 0 },
      estimated: false,
      messages: history.messages.length,
    };
    return Math.round(sharesOf(history, { windowTokens: 128_000, promptSize: "full" }).scale * 10) / 10;
  });
  assert.deepEqual(counted, [3, 4]);
  history.windows.set("m", 9_000);
  const windows = ["m", "other"].map((id) => windowOf(history, { id, windowTokens: 16_000 }));
  assert.deepEqual([windows, windowOf(history, { id: "m", windowTokens: 8_000 })], [[9_000, 16_000], 8_000]);
});

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

const spoken: History["messages"][number][] = [
  { role: "user", text: "Count the lines." },
  {
    role: "assistant",
    text: "",
    toolCalls: [{ id: "1", name: "count_lines", arguments: '{"path": "a.txt"}' }],
  },
  { role: "tool", toolCallId: "1", text: "十二行" },
];

test("before the provider has counted, prompt, tools and messages are estimated [Z1]", () => {
  const history = { ...emptyHistory(), recipe, messages: spoken };
  const used = estimateTokens(recipe.system) + estimateTokens(recipe.tools) + sum(spoken.map(messageTokens));
  assert.deepEqual(tokenStatus(history, 1_000), { used, window: 1_000, level: "info", estimated: true });
});

test("after that the provider's count stands, and only what came since is estimated on top [Z1]", () => {
  const counted = { usage: { input: 700, output: 40 }, estimated: false, messages: 2 };
  const history = { ...emptyHistory(), recipe, messages: spoken, counted };
  const used = 740 + messageTokens(spoken[2]);
  assert.deepEqual(tokenStatus(history, 1_000), { used, window: 1_000, level: "info", estimated: true });
});

test("a server that counts too little of its answer is not believed: we send it back as it is [Z1]", () => {
  const counted = { usage: { input: 700, output: 1 }, estimated: false, messages: 2 };
  const history = { ...emptyHistory(), recipe, messages: spoken, counted };
  const used = 700 + messageTokens(spoken[1]) + messageTokens(spoken[2]);
  assert.deepEqual(tokenStatus(history, 1_000), { used, window: 1_000, level: "info", estimated: true });
});

test("a Han character weighs a token, and names, arguments and images of a message count too [Z1]", () => {
  const [, call, result] = spoken;
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

import assert from "node:assert/strict";
import { test } from "node:test";
import { talkOf } from "../../test/world/talk.ts";
import { type Reader, roomOf } from "./room.ts";
import { defaultWindowLimits as limits, windowOf } from "./tokens.ts";

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

test("a small window, and one that its prompt nearly fills, keep a little of everything, and a summary only where it says something [Z1][Z2]", () => {
  assert.deepEqual(sharesOf(talkBehind(2_000), { windowTokens: 8_000, promptSize: "small" }), {
    ...{ used: 3_881, prefix: 2_001, scale: 1, trigger: 5_600.4, limit: 4_700, hard: 7_744, target: 4_160 },
    ...{ summary: 674, keepsakes: 1_200, said: 1_200, needed: 939, kept: 1_042 },
  });
  const full = talkBehind(2_900, 3);
  assert.deepEqual(sharesOf(full, { windowTokens: 4_000, promptSize: "full" }), {
    ...{ used: 3_087, prefix: 2_901, scale: 1, trigger: 3_670.3, limit: 3_400, hard: 3_744, target: 3_362 },
    ...{ summary: 120, keepsakes: 320, said: 299.4, needed: 215, kept: 120 },
  });
  const summaries = [3_980, 3_970].map((windowTokens) => sharesOf(full, { windowTokens, promptSize: "full" }).summary);
  assert.deepEqual(summaries, [103, 0]);
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

import assert from "node:assert/strict";
import { test } from "node:test";
import { talkOf } from "../../test/world/talk.ts";
import { needsRoom, roomOf } from "./room.ts";
import { defaultWindowLimits as limits } from "./tokens.ts";

const prompt = "s".repeat(8_000); // 2,000 tokens.

/** Tokens from which on room is made, to the hundred. */
function triggerAt(windowTokens: number, promptSize: "full" | "small", more: Partial<typeof limits> = {}): number {
  const reader = { windowTokens, promptSize, limits: { ...limits, ...more } };
  const { history } = talkOf([], { system: prompt });
  for (let used = 2_100; used <= windowTokens; used += 100) {
    history.messages.splice(0, 1, { role: "user", text: "x".repeat(4 * (used - 2_005)) });
    if (needsRoom(history, reader)) return used;
  }
  return Number.POSITIVE_INFINITY;
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

test("a provider that counts twice as much as we do leaves half the room [Z1]", () => {
  const { history } = talkOf([{ said: "word ".repeat(8_000), steps: [], answer: "yes" }], { system: prompt });
  const reader = { windowTokens: 32_000, promptSize: "full", limits } as const;
  const before = roomOf(history, reader);
  history.counted = { usage: { input: 24_000, output: 24 }, estimated: false, messages: 2 };
  const after = roomOf(history, reader);
  assert.ok(after.scale > 1.9 && after.scale < 2.1, `${after.scale}`);
  assert.ok(Math.abs(after.weigh(history.messages[0]) - 2 * before.weigh(history.messages[0])) < 200);
});

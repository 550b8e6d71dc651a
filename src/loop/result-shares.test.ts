import assert from "node:assert/strict";
import { after, test } from "node:test";
import { baseModel } from "../../test/world/base-model.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { talkOf } from "../../test/world/talk.ts";
import { messageTokens, roomOf, tokenStatus } from "../context/context.ts";
import { outputBytesMax } from "../tools/tools.ts";
import { defaultLimits } from "./parts.ts";
import { resultBytesMax } from "./result-room.ts";

const windowTokens = 16_000;
const models = await baseModel(manualClock(), windowTokens);
after(() => models.close());

/** A conversation of so many tokens, and an answer that calls so many tools. */
function asking(tokens: number, calls: number, messagesKeptMax = defaultLimits.messagesKeptMax) {
  const talk = talkOf([{ said: "word".repeat(tokens), steps: [] }]);
  talk.ask(Array.from({ length: calls }, () => "look"));
  const { history } = talk;
  const limits = { ...defaultLimits, messagesKeptMax };
  const reader = { windowTokens, promptSize: models.get("base").promptSize, limits: limits.window };
  return {
    bytes: resultBytesMax(history, { models, agents: () => [], limits }),
    free: 0.75 * windowTokens - tokenStatus(history, windowTokens).used,
    kept: roomOf(history, reader).kept - messageTokens(history.messages.at(-1)),
  };
}

/** Four bytes a token, without the eight tokens that stand around each result. */
const shared = (tokens: number, calls: number) => Math.floor((tokens / calls - 8) * 4);

test("the results of one answer share what is free of three quarters of the window, or what stays when room is made, where that is more [M5][Z2][F1]", () => {
  assert.equal(asking(100, 1).bytes, outputBytesMax(windowTokens));
  const half = asking(6_000, 4);
  assert.deepEqual([half.bytes, half.free > half.kept], [shared(half.free, 4), true]);
  const full = asking(11_000, 2);
  assert.deepEqual([full.bytes, full.kept > full.free, full.bytes > 2_000], [shared(full.kept, 2), true, true]);
  assert.equal(asking(11_000, 40).bytes, 2_000, "less would say nothing");
  const without = asking(11_000, 2, 0);
  assert.equal(without.bytes, Math.max(2_000, shared(without.free, 2)), "where no room is made, only what is free");
});

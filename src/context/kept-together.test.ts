import assert from "node:assert/strict";
import { test } from "node:test";
import { step } from "../../test/world/any-log.ts";
import { talkOf } from "../../test/world/talk.ts";
import type { NewEvent } from "../protocol/events.ts";
import { forModels } from "../words/words.ts";
import { bodyStart, keepNewest, trimOld } from "./keep.ts";
import { roomOf } from "./room.ts";
import { shortenedText, trimsOf } from "./shorten.ts";
import { defaultWindowLimits as limits, messageTokens } from "./tokens.ts";

const reader = { windowTokens: 100_000, promptSize: "full", limits } as const;
const all = { tokensMax: 10_000, messagesMax: 99, messagesMin: 99, tokensWanted: 10_000 };
const image = { mime: "image/png", base64: "AA==" };
const steered = (id: string, more: object = {}): NewEvent => ({
  ...{ type: "message.user", id, text: id, mode: "steer", ...more },
});

/** A question with two results, and then two messages that joined in one place. */
function joined(more: object = {}) {
  const talk = talkOf([{ said: "go", steps: [["first", "second"]] }]);
  talk.add(steered("b"), steered("c", more), step(2, { joined: ["b", "c"] }));
  talk.history.counted = undefined;
  return talk.history;
}

test("messages that joined in one place stay or go together, and so do an answer and all its results [Z2][L5][L7]", () => {
  const history = joined();
  const room = roomOf(history, reader);
  const kept = (messagesMax: number) => {
    const { first, upTo } = keepNewest(history, room, { ...all, messagesMax });
    return [first, upTo];
  };
  assert.deepEqual(
    history.messages.map(({ role }) => role),
    ["user", "assistant", "tool", "tool", "user", "user"],
  );
  const [, , x = 0, y = 0] = history.seqs;
  assert.ok(x > y, "the first result came last");
  // Of the two that came last one alone would be too many: the newest unit stays in any case.
  assert.deepEqual(
    [kept(1), kept(4)],
    [
      [4, x],
      [4, x],
    ],
  );
  assert.deepEqual(
    [kept(5), kept(6)],
    [
      [1, history.seqs[0]],
      [0, 0],
    ],
  );
});

test("where one of several messages of a place is shortened all of them are named, and the others stay as they are [Z2][Z3]", () => {
  const history = joined({ text: `c ${"word ".repeat(600)}\n\nfile`, own: 2 });
  const short = shortenedText(history.messages[5] ?? assert.fail(), 200);
  const place = history.seqs[5] ?? 0;
  assert.deepEqual(trimsOf(history, new Map([[5, short]])), [
    { seq: place, text: "b" },
    { seq: place, text: short.text, own: 2 },
  ]);
  assert.deepEqual(trimsOf(history, new Map([[4, { text: "x" }]])), [
    { seq: place, text: "x" },
    { seq: place, text: history.messages[5]?.text, own: 2 },
  ]);
  assert.deepEqual(trimsOf(history, new Map()), []);
});

test("old images go from messages and from results, whatever their text weighs, and what is left is weighed without them [Z2]", () => {
  const talk = talkOf([{ said: "see", images: 2, steps: [["looked"]], answer: "seen" }]);
  const { history } = talk;
  const [, , result] = history.messages;
  assert.ok(result?.role === "tool");
  history.messages[2] = { ...result, images: [image] };
  const room = roomOf(history, reader);
  const { trims, tokens } = trimOld(history, room, 0);
  const { imagesGone } = forModels.compact;
  const texts = [`see${imagesGone(2)}`, `looked${imagesGone(1)}`];
  assert.deepEqual(
    trims.map(({ seq, text }) => [seq, text]),
    [
      [history.seqs[0], texts[0]],
      [history.seqs[2], texts[1]],
    ],
  );
  const left = texts.reduce((sum, text) => sum + messageTokens({ role: "user", text }), 0);
  assert.equal(tokens, room.prefix + left + messageTokens(history.messages[1]) + messageTokens(history.messages[3]));
  assert.deepEqual(trimOld(history, room, 100_000).trims, [], "the newest part stays as it is");
});

test("what stands for older messages is neither shortened nor counted as one of them [Z2]", () => {
  const talk = talkOf([{ said: "go", steps: [["one"], ["two"]] }]);
  const upTo = talk.history.seqs[2] ?? 0;
  talk.compact({ strategy: "compact", upTo, summary: "s".repeat(9_000), messagesBefore: 5, messagesAfter: 3 });
  const { history } = talk;
  const room = roomOf(history, reader);
  assert.deepEqual([bodyStart(history), history.messages.length], [1, 3]);
  assert.deepEqual(trimOld(history, room, 0).trims, []);
  const { first, tokens, upTo: last } = keepNewest(history, room, all);
  assert.deepEqual([first, last], [1, upTo]);
  assert.equal(tokens, messageTokens(history.messages[1]) + messageTokens(history.messages[2]));
});

test("a message that fits stays whole with its reminder; one whose own words stand before the cut keeps them all as its own [Z2][Z3]", () => {
  const own = "Look at this.";
  const message = {
    role: "user",
    text: `${own}\n\n${"row ".repeat(900)}[told]`,
    own: own.length,
    reminder: 6,
  } as const;
  const whole = messageTokens(message) - 4;
  assert.deepEqual(shortenedText(message, whole), { text: message.text, own: own.length });
  const without = shortenedText({ ...message, images: [image] }, whole);
  assert.equal(without.text, `${message.text.slice(0, -6)}${forModels.compact.imagesGone(1)}`);
  const { text, own: kept } = shortenedText(message, 300);
  assert.ok(text.startsWith(own) && text.length < 1_300, text);
  assert.equal(kept, own.length);
});

test("of a long message as many of its instructions are kept as three tenths of the room hold, one that is too long left out [Z3]", () => {
  const long = `Always ${"word ".repeat(90)}one.`;
  const lines = ["Always this.", long, "Never that."];
  const text = [`${"start ".repeat(400)}`, ...lines, `${"end ".repeat(600)}`].join("\n");
  const kept = (tokensMax: number) => {
    const short = shortenedText({ role: "user", text }, tokensMax).text.split("\n");
    return lines.map((line) => short.includes(line));
  };
  assert.deepEqual(kept(200), [true, false, true]);
  assert.deepEqual(kept(600), [true, true, true]);
  const result = shortenedText({ role: "tool", toolCallId: "c", text }, 200).text;
  assert.ok(!result.includes("Never that."), "what a result says is no instruction");
});

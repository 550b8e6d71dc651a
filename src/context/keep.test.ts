import assert from "node:assert/strict";
import { test } from "node:test";
import { step } from "../../test/world/any-log.ts";
import { type Turn, talkOf } from "../../test/world/talk.ts";
import type { History } from "../log/log.ts";
import type { CompactionCause, NewEvent } from "../protocol/events.ts";
import { forModels } from "../words/words.ts";
import { keepNewest, trimOld } from "./keep.ts";
import { planRoom } from "./plan-room.ts";
import { roomOf } from "./room.ts";
import { shortenedText } from "./shorten.ts";
import { defaultWindowLimits as limits, messageTokens } from "./tokens.ts";

/** Of so many tokens with what stands around it. */
const sized = (tokens: number) => "word".repeat(tokens - 4);

const said = (tokens: number): Turn => ({ said: sized(tokens), steps: [], answer: sized(100) });

const roomFor = (history: History, windowTokens = 100_000) =>
  roomOf(history, { windowTokens, promptSize: "full", limits });

/** Six messages of 100 tokens each. */
const six = () => talkOf([said(100), said(100), said(100)]).history;

const bytes = { hash: "", bytes: 0, reused: 0 };

const usage = { input: 1, output: 1 };

const all = { tokensMax: 10_000, messagesMax: 10, messagesMin: 10, tokensWanted: 10_000 };

test("what stays is as much as was asked for, to the last token and the last message [Z2]", () => {
  const history = six();
  const room = roomFor(history);
  assert.deepEqual(history.messages.map(messageTokens), [100, 100, 100, 100, 100, 100]);
  const kept = (wanted: Partial<typeof all>) => {
    const { first, tokens, trims } = keepNewest(history, room, { ...all, ...wanted });
    return [history.messages.length - first, tokens, trims.length];
  };
  assert.deepEqual(kept({}), [6, 600, 0]);
  assert.deepEqual(
    [kept({ messagesMax: 3 }), kept({ tokensMax: 300 }), kept({ tokensMax: 299 })],
    [
      ...[
        [3, 300, 0],
        [3, 300, 0],
      ],
      [2, 200, 0],
    ],
  );
  const few = { messagesMin: 2, tokensWanted: 0 };
  assert.deepEqual(
    [kept(few), kept({ ...few, tokensWanted: 400 }), kept({ ...few, tokensWanted: 399 })],
    [
      ...[
        [2, 200, 0],
        [4, 400, 0],
      ],
      [3, 300, 0],
    ],
  );
});

test("of what is too long to stay nothing is made shorter: it is left out with all before it [Z2]", () => {
  const talk = talkOf([said(100), { said: "and now", steps: [] }]);
  const calls = [{ id: "c", name: "look", arguments: JSON.stringify({ at: sized(400) }) }];
  talk.add(
    { type: "step.started", turn: 2, step: 1, attempt: 1, slot: "base", model: "m", reason: "r", ...bytes },
    { type: "message.assistant", turn: 2, step: 1, text: "", calls, finish: "stop", usage, durationMs: 1 },
    { type: "call.finished", call: "c", outcome: "ok", text: sized(3_000) },
  );
  talk.history.counted = undefined;
  const { first, trims } = keepNewest(talk.history, roomFor(talk.history), { ...all, tokensMax: 350 });
  assert.deepEqual([first, trims], [talk.history.messages.length, []]);
});

test("old results are shortened from 301 tokens on, those of the newest part never, and each is named by its place [Z2]", () => {
  const steps = [[sized(300)], [sized(301)], [sized(2_000)], [sized(500)]];
  const { history } = talkOf([{ said: "look", steps }]);
  const { trims, tokens } = trimOld(history, roomFor(history), 600);
  const places = history.seqs.flatMap((seq, index) => (history.messages[index]?.role === "tool" ? [seq] : []));
  assert.deepEqual(
    trims.map(({ seq }) => seq),
    [places[1], places[2]],
  );
  const shorter = trims.reduce((sum, { text }) => sum + 4 + Math.ceil(text.length / 4), 0);
  const whole = history.messages.reduce((sum, message) => sum + messageTokens(message), 0) - 301 - 2_000;
  assert.ok(Math.abs(tokens - (roomFor(history).prefix + whole + shorter)) <= 4, `${tokens}`);
});

const alike = (tokens: number): Turn => ({ said: sized(tokens), steps: [], answer: sized(tokens) });

const many = (count: number, tokens: number) => Array.from({ length: count }, () => alike(tokens));

const readerOf = (windowTokens: number) => ({ windowTokens, promptSize: "full", limits }) as const;

const all99 = { tokensMax: 10_000, messagesMax: 99, messagesMin: 99, tokensWanted: 10_000 };

test("where nothing can be left out and it does not fit, the window is exhausted; where it fits there is nothing to do [Z2]", () => {
  const { history } = talkOf(many(3, 100));
  const reader = readerOf(8_000);
  const room = roomOf(history, reader);
  const kindWith = (limit: number, by: CompactionCause = "window") =>
    planRoom(history, { ...room, limit }, { ...reader, by }).kind;
  assert.deepEqual([kindWith(room.prefix + 600), kindWith(room.prefix + 599)], ["nothing", "exhausted"]);
  const long = talkOf(many(10, 100)).history;
  const scaled = (left: number) =>
    planRoom(long, { ...room, scale: 2, limit: room.prefix + left }, { ...reader, by: "person" }).kind;
  assert.deepEqual([scaled(119), scaled(120)], ["exhausted", "leave_out"], "as its provider counts");
});

const reader = { windowTokens: 100_000, promptSize: "full", limits } as const;

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
    const { first, upTo } = keepNewest(history, room, { ...all99, messagesMax });
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

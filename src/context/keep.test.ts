import assert from "node:assert/strict";
import { test } from "node:test";
import { type Turn, talkOf } from "../../test/world/talk.ts";
import type { History } from "../log/log.ts";
import { keepNewest, trimOld } from "./keep.ts";
import { roomOf } from "./room.ts";
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

test("of results that are too long together the short ones stay, and the long ones share what is left [Z2]", () => {
  const { history } = talkOf([{ said: sized(100), steps: [[sized(900), sized(50), sized(700)]] }]);
  const { first, trims, tokens } = keepNewest(history, roomFor(history), { ...all, tokensMax: 1_000 });
  const each = (1_000 - messageTokens(history.messages[1]) - 50) / 2;
  const lengths = trims.map(({ text }) => Math.ceil(text.length / 4) + 4);
  const places = [history.seqs[2], history.seqs[4]];
  assert.deepEqual([first, trims.map(({ seq }) => seq)], [1, places]);
  for (const length of lengths) assert.ok(length <= each && length > each - 40, `${lengths} of ${each}`);
  assert.ok(tokens <= 1_000 && tokens > 920, `${tokens}`);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, numbered, step } from "../../test/world/any-log.ts";
import type { EventBody, NewEvent } from "../protocol/events.ts";
import { foldHistory } from "./history.ts";

const image = { mime: "image/png", base64: "AA==" } as const;
const said = (id: string, more: object = {}): NewEvent => ({
  ...{ type: "message.user", id, text: id, mode: "queue", ...more },
});
const started: NewEvent = { type: "turn.started", turn: 1, message: "a", epoch: 1 };
const room = (more: Partial<EventBody<"compacted">> = {}): NewEvent => ({
  ...{ type: "compacted", turn: 1, strategy: "compact", upTo: 0, summary: "", messagesBefore: 9, messagesAfter: 1 },
  ...more,
});
const after = (...events: readonly NewEvent[]) => foldHistory(numbered([said("a"), started, ...events]));

test("after room was made the window holds what was estimated then, over all messages that are left, and nothing is known where nobody estimated [Z1][Z2]", () => {
  const before = [step(1), answer(1, [])];
  assert.deepEqual(after(...before, room({ tokensAfter: 70 })).counted, {
    ...{ usage: { input: 70, output: 0 }, estimated: true, messages: 2 },
  });
  const short = room({ upTo: 4, summary: "in short", tokensAfter: 30 });
  assert.deepEqual(after(...before, short).counted, {
    ...{ usage: { input: 30, output: 0 }, estimated: true, messages: 1 },
  });
  assert.equal(after(...before, room()).counted, undefined);
});

test("what stands for messages that were left out is nobody's own words, and what was told in other ways counts on [Z2][R1]", () => {
  const told = ["date:2026-11-18", "memory:m", "todos:", "budget:tokens 9 0"];
  const {
    messages,
    seqs,
    told: left,
  } = after(step(1, { told }), answer(1, []), room({ upTo: 4, summary: "in short" }));
  assert.deepEqual(messages, [{ role: "user", text: "in short", own: 0 }]);
  assert.deepEqual(seqs, [4]);
  assert.deepEqual([...left.keys()], ["todos", "budget"]);
  const trimmed = after(step(1, { told }), answer(1, []), room({ trims: [{ seq: 2, text: "x" }] }));
  assert.equal(trimmed.told.size, 4, "where all messages are still there, so is what they told");
});

test("of messages that joined in one place each has its own shorter text, and one that stays as it is keeps its image [Z2]", () => {
  const joining = [said("b", { mode: "steer", images: [image] }), said("c", { mode: "steer", images: [image] })];
  const trims = [
    { seq: 5, text: "b" },
    { seq: 5, text: "less" },
  ];
  const { messages } = after(...joining, step(1, { joined: ["b", "c"] }), room({ trims }));
  assert.deepEqual(messages.slice(1), [
    { role: "user", text: "b", images: [image] },
    { role: "user", text: "less", images: undefined },
  ]);
});

test("a message that is shortened has no reminder behind it any more, and a result stays that of its call and its file [Z2][L5]", () => {
  const file = "temp/results/1-look.txt";
  const result: NewEvent = { type: "call.finished", call: "x", outcome: "ok", text: "long", images: [image], file };
  const open = [step(1, { reminder: " [told]" }), answer(1, ["x"]), result];
  const { messages } = after(
    ...open,
    room({
      trims: [
        { seq: 2, text: "A" },
        { seq: 5, text: "l…" },
      ],
    }),
  );
  const [first, , last] = messages;
  assert.deepEqual(first, { role: "user", text: "A", images: undefined });
  assert.deepEqual(last, { role: "tool", toolCallId: "x", text: "l…", images: undefined, file });
  const whole = after(...open).messages;
  assert.deepEqual(whole[0], { role: "user", text: "a [told]", images: undefined, reminder: 7 });
  assert.deepEqual(whole[2], { role: "tool", toolCallId: "x", text: "long", images: [image], file });
});

test("two reminders behind one message are both known to be ours [L3][Z2]", () => {
  const again = step(1, { attempt: 2, reminder: " [two]" });
  assert.deepEqual(after(step(1, { reminder: " [one]" }), again).messages, [
    { role: "user", text: "a [one] [two]", images: undefined, reminder: 12 },
  ]);
});

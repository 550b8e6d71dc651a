import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyHistory } from "../log/log.ts";
import type { Message } from "../protocol/message.ts";
import { forModels } from "../words/words.ts";
import { leaveOutOldest } from "./compact.ts";

const user = (text: string): Message => ({ role: "user", text });
const says = (text: string): Message => ({ role: "assistant", text });
const asks = (...ids: string[]): Message => ({
  role: "assistant",
  text: "",
  toolCalls: ids.map((id) => ({ id, name: "look", arguments: "{}" })),
});
const result = (toolCallId: string): Message => ({ role: "tool", toolCallId, text: "seen" });

/** Every message weighs one. */
function leaveOut(said: readonly [Message, seq: number][], tokensMax: number, messagesKeptMax = 150) {
  const history = emptyHistory();
  history.messages.push(...said.map(([message]) => message));
  history.seqs.push(...said.map(([, seq]) => seq));
  return leaveOutOldest(history, { tokensMax, messagesKeptMax, tokensOf: () => 1 });
}

const talk: [Message, number][] = [
  [user("one"), 2],
  [says("first"), 4],
  [user(`two${forModels.reminder([forModels.dateNow("2026-11-15")])}`), 7],
  [asks("a", "b"), 9],
  [result("a"), 13],
  [result("b"), 12],
  [says("second"), 15],
];

test("the latest messages stay, and the newest request among the others is repeated without its reminder [Z2]", () => {
  assert.deepEqual(leaveOut(talk, 4000, 4), {
    strategy: "fallback",
    upTo: 7,
    summary: [forModels.compactedHead, forModels.leftOut(3), forModels.lastRequest("two")].join("\n\n"),
    messagesBefore: 7,
    messagesAfter: 5,
  });
});

test("a call and its results stay together, also when a later call finished first [Z2][L5]", () => {
  for (const kept of [1, 2, 3]) assert.equal(leaveOut(talk, 4000, kept)?.upTo, 13, `${kept} messages`);
});

test("messages that joined the turn in one step stay or go together [Z2][L7]", () => {
  const joined: [Message, number][] = [...talk, [user("three"), 17], [user("four"), 17], [says("third"), 19]];
  const { upTo, messagesAfter, summary } = leaveOut(joined, 4000, 2) ?? {};
  assert.deepEqual({ upTo, messagesAfter }, { upTo: 17, messagesAfter: 2 });
  assert.match(summary ?? "", /\nfour$/);
});

test("where nothing can be left out nothing is done [Z2]", () => {
  assert.equal(leaveOut(talk, 4000), undefined);
  assert.equal(leaveOut(talk, 0), undefined);
  assert.equal(leaveOut([], 4000), undefined);
});

test("when room is made again, the request is repeated as it was and everything left out is counted [Z2]", () => {
  const first = leaveOut(talk, 4000, 4);
  const again: [Message, number][] = [[user(first?.summary ?? ""), first?.upTo ?? 0], ...talk.slice(3)];
  const { summary, messagesBefore, messagesAfter } = leaveOut(again, 4000, 1) ?? {};
  assert.deepEqual(
    { summary, messagesBefore, messagesAfter },
    {
      summary: [forModels.compactedHead, forModels.leftOut(6), forModels.lastRequest("two")].join("\n\n"),
      messagesBefore: 5,
      messagesAfter: 2,
    },
  );
});

test("a request that would fill the room by itself is repeated only in part [Z2]", () => {
  const { summary = "" } =
    leaveOut(
      [
        [user("long ".repeat(10_000)), 2],
        [says("a"), 4],
        [user("b"), 6],
      ],
      1000,
      2,
    ) ?? {};
  assert.ok(summary.length < 1_300, `${summary.length} characters`);
  assert.match(summary, /\.\.\.$/);
});

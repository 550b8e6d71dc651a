import assert from "node:assert/strict";
import { test } from "node:test";
import { talkOf } from "../../test/world/talk.ts";

test("a window that was taken for smaller is what it is again once its provider counts more than that [Z1][Z2]", () => {
  const talk = talkOf([{ said: "hello", steps: [["looked"]] }]); // By model m.
  const answer = (input: number) =>
    ({
      type: "message.assistant",
      ...{ turn: 1, step: 1, text: "yes", usage: { input, output: 1 }, durationMs: 1 },
      finish: "stop",
    }) as const;
  talk.add({
    type: "compacted",
    ...{ turn: 1, strategy: "trim", upTo: 0, summary: "", messagesBefore: 2, messagesAfter: 2 },
    window: { model: "m", tokens: 2_800 },
  });
  talk.history.windows.set("another", 1_000);
  const both = [...talk.history.windows];
  talk.add(answer(2_700));
  assert.deepEqual([...talk.history.windows], both);
  talk.add({ ...answer(3_700), usageEstimated: true });
  assert.deepEqual([...talk.history.windows], both, "an estimate of ours shows nothing");
  talk.add(answer(3_700));
  assert.deepEqual([...talk.history.windows], [["another", 1_000]], "of another model it says nothing");
});

test("an answer that nobody counted leaves the last count as it was: what came since is estimated [Z1]", () => {
  const talk = talkOf([{ said: "hello", steps: [["looked"]] }]);
  const counted = { usage: { input: 3_000, output: 20 }, estimated: false, messages: 2 };
  talk.history.counted = counted;
  talk.add({
    type: "message.assistant",
    ...{ turn: 1, step: 1, text: "I was ab", usage: { input: 9, output: 9 }, durationMs: 1, finish: "stop" },
    ...{ usageEstimated: true, cut: true },
  });
  assert.deepEqual(talk.history.counted, counted);
});

test("a message of blanks alone, which an older log may hold, is sent as words that say so [Z3]", () => {
  for (const text of [" ", "\n\t", "\u200b\u2060", "\u3000"])
    assert.equal(talkOf([{ said: text, steps: [] }]).history.messages.at(-1)?.text, "(an empty message)");
  assert.equal(
    talkOf([{ said: " ", images: 1, steps: [] }]).history.messages.at(-1)?.text,
    " ",
    "an image says enough",
  );
});

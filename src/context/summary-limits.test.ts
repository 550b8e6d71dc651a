import assert from "node:assert/strict";
import { test } from "node:test";
import { talkOf } from "../../test/world/talk.ts";
import { estimateTokens } from "../models/models.ts";
import { forModels } from "../words/words.ts";
import { languageIn, readSummary, summaryRequest } from "./summarise.ts";

const wanted = { first: 99, strategy: "compact", focus: undefined, tokensMax: 1_440, inputTokensMax: 20_000 } as const;

test("a summariser is told of three quarters of its room in words, and of 200 where a few are wanted [Z2]", () => {
  const { history } = talkOf([{ said: "one", steps: [], answer: "two" }]);
  const told = (strategy: "compact" | "summarize", tokensMax: number) =>
    summaryRequest(history, { ...wanted, strategy, tokensMax })[0]?.text;
  const words = [
    ...([
      ["compact", 1_440, 720],
      ["compact", 135, 60],
      ["summarize", 1_440, 200],
      ["summarize", 300, 150],
    ] as const),
  ];
  for (const [strategy, tokensMax, count] of words)
    assert.equal(told(strategy, tokensMax), forModels.compact.summariser({ language: "en", strategy, words: count }));
});

test("a summary may fill its room, and not have a token more [Z2]", () => {
  const text = `The user wants ${"tea ".repeat(40)}now.`;
  const [tokens, strategy, finish] = [estimateTokens(text), "summarize", "stop"] as const;
  assert.deepEqual(readSummary({ text, finish }, { strategy, tokensMax: tokens }), { text });
  assert.deepEqual(readSummary({ text, finish }, { strategy, tokensMax: tokens - 1 }), { because: "too_long" });
});

test("a request for a summary has room for the one before it; a focus of blanks is none, and of long arguments the beginning is read [Z2]", () => {
  const talk = talkOf([{ said: "one", steps: [], answer: "two" }]);
  const [prose, head] = ["word ".repeat(1_000).trim(), "# head\n\n"];
  const where = { prose: { at: head.length, length: prose.length } };
  const counts = { messagesBefore: 2, messagesAfter: 1 };
  talk.compact({ strategy: "compact", upTo: 99, summary: head + prose, ...where, ...counts });
  talk.say(...Array.from({ length: 60 }, () => ({ said: "word ".repeat(100), steps: [], answer: "yes" })));
  talk.ask(["write"], { path: "a.md", content: "x".repeat(1_000) });
  const first = talk.history.messages.length;
  const asked = (focus?: string) => summaryRequest(talk.history, { ...wanted, focus, first, inputTokensMax: 4_000 });
  const sizes = asked().map(({ text }) => estimateTokens(text));
  const all = sizes.reduce((sum, size) => sum + size);
  assert.ok(all <= 4_000 && all > 3_600, `${all}`);
  assert.deepEqual(asked(" \n"), asked());
  const call = asked()[1]?.text.match(/^\[call\] write .*$/m)?.[0] ?? "";
  assert.ok(call.includes("a.md") && Buffer.byteLength(call) <= 220, call);
});

test("the language is that of the last eight messages, where Han characters weigh twice as much as letters [Z2][P4]", () => {
  const of = (...texts: string[]) => languageIn({ said: texts.map((text, seq) => ({ seq, text })) });
  const english = "Please list the files of this folder, all of them, and say which is the newest one";
  assert.equal(of(english, ...Array.from({ length: 8 }, () => "好的")), "zh");
  assert.equal(of(...Array.from({ length: 8 }, () => "好的"), english, ...Array.from({ length: 7 }, () => "好")), "en");
  assert.deepEqual([of("文件abc"), of("文件abcd")], ["zh", "en"]);
});

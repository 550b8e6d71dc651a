import assert from "node:assert/strict";
import { test } from "node:test";
import { talkOf } from "../../test/world/talk.ts";
import { estimateTokens } from "../models/models.ts";
import { languageIn, readSummary, summaryRequest } from "./summarise.ts";

const sizes = { tokensMax: 1_440, inputTokensMax: 20_000 };
const wanted = { first: 99, strategy: "compact", focus: undefined, ...sizes } as const;
const parts = (count: number) => Array.from({ length: count }, (_, n) => `## ${n + 1}. Part\ntext`).join("\n");

const answers: readonly [what: string, text: string, strategy: "compact" | "summarize", because: string | undefined][] =
  [
    ["seven parts", parts(7), "compact", undefined],
    ["four parts, for there was no more to say", parts(4), "compact", undefined],
    ["three parts", parts(3), "compact", "refused"],
    ["its own heading first", `# Conversation summary (12 messages)\n\n${parts(7)}`, "compact", undefined],
    ["other marks behind the numbers", parts(7).replaceAll(". ", "、"), "compact", undefined],
    ["only blanks", " \n\t", "compact", "empty"],
    ["too many words", `${parts(7)}${"word ".repeat(2_000)}`, "compact", "too_long"],
    ["a refusal", "I’m sorry, I can’t help with that.", "compact", "refused"],
    ["plain words where those are wanted", "The user wants tea.", "summarize", undefined],
    ["a refusal where plain words are wanted", "抱歉，我无法完成这个请求。", "summarize", "refused"],
  ];

for (const [what, text, strategy, because] of answers) {
  test(`a summariser's answer is read: ${what} [Z2]`, () => {
    const read = readSummary({ text, finish: "stop" }, { strategy, tokensMax: 1_440 });
    assert.equal("because" in read ? read.because : undefined, because);
    if ("text" in read) assert.ok(!read.text.startsWith("# Conversation"));
  });
}

test("an answer that was cut off, or ended with an error, is no summary [Z2]", () => {
  const limits = { strategy: "compact", tokensMax: 1_440 } as const;
  assert.deepEqual(readSummary({ text: parts(7), finish: "length" }, limits), { because: "too_long" });
  const error = { kind: "network", retryable: true, message: "gone" } as const;
  assert.deepEqual(readSummary({ text: parts(7), finish: "error", error }, limits), { because: "error" });
});

test("the summariser reads results in short and calls by their names, without reminders and thoughts [Z2]", () => {
  const long = `begin ${"x".repeat(5_000)} end`;
  const { history } = talkOf([{ said: `look ${long}`, images: 2, steps: [[long, "short"]], answer: "seen" }]);
  const [, request] = summaryRequest(history, wanted);
  const text = request?.text ?? "";
  assert.ok(text.includes(`\n[user] look begin ${"x".repeat(1_189)} ... ${"x".repeat(796)} end [2 images]\n`));
  assert.ok(text.includes("\n[call] look {}\n[call] look {}\n"));
  assert.ok(text.includes(`\n[result] begin ${"x".repeat(494)} ... ${"x".repeat(196)} end\n[result] short\n`));
  assert.ok(text.includes("\n[assistant] seen\n"));
});

test("what does not fit is counted, the oldest first, and the request keeps to its room [Z2]", () => {
  const turns = Array.from({ length: 60 }, (_, n) => ({
    said: `say ${n} ${"word ".repeat(100)}`,
    steps: [],
    answer: "yes",
  }));
  const { history } = talkOf(turns);
  const messages = summaryRequest(history, { ...wanted, first: 120, inputTokensMax: 3_000 });
  const text = messages.map((message) => message.text).join("");
  assert.match(text, /The history to sum up \(\d+ older messages did not fit\):/);
  assert.ok(text.includes("say 59 ") && !text.includes("say 0 "));
  assert.ok(estimateTokens(text) <= 3_000, `${estimateTokens(text)} tokens`);
});

test("the summary of last time is given along, and a focus in the words of who wants it [Z2]", () => {
  const talk = talkOf([{ said: "one", steps: [], answer: "two" }]);
  const counts = { messagesBefore: 2, messagesAfter: 1 };
  talk.compact({
    strategy: "compact",
    upTo: 99,
    summary: "# head\n\nthe words",
    prose: { at: 8, length: 9 },
    ...counts,
  });
  talk.say({ said: "three", steps: [], answer: "four" });
  const [system, request] = summaryRequest(talk.history, { ...wanted, focus: "the tea" });
  assert.match(request?.text ?? "", /<previous_summary mark="(\w+)">\nthe words\n<\/previous_summary mark="\1">/);
  assert.match(request?.text ?? "", /<history mark="\w+">\n\[user\] three\n\[assistant\] four\n<\/history/);
  assert.match(request?.text ?? "", /Tell most about this: the tea/);
  assert.ok(estimateTokens(system?.text ?? "") <= 300, `${estimateTokens(system?.text ?? "")} tokens`);
});

test("the language is the one that the user speaks [Z2][P4]", () => {
  const said = (...texts: string[]) => ({ said: texts.map((text, seq) => ({ seq, text })) });
  assert.equal(languageIn(said("Please list the files")), "en");
  assert.equal(languageIn(said("请列出文件 report.md")), "zh");
  assert.equal(languageIn(said()), "en");
});

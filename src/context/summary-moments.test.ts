import assert from "node:assert/strict";
import { test } from "node:test";
import { talkOf } from "../../test/world/talk.ts";
import { estimateTokens } from "../models/models.ts";
import { languageIn, readSummary, summaryRequest } from "./summarise.ts";

const wanted = { first: 99, strategy: "compact", focus: undefined, tokensMax: 1_440, inputTokensMax: 20_000 } as const;
const stop = { finish: "stop" } as const;

test("a summary has four of the seven parts at least, each counted once, with or without a heading of its own [Z2]", () => {
  const read = (text: string) => readSummary({ text, ...stop }, { strategy: "compact", tokensMax: 1_440 });
  const parts = (...numbers: number[]) => numbers.map((number) => `## ${number}. Part\ntext`).join("\n");
  assert.deepEqual(read(parts(1, 2, 3, 3, 3)), { because: "refused" });
  assert.deepEqual(read(parts(1, 2, 3, 8, 9)), { because: "refused" });
  const good = parts(1, 2, 3, 7);
  for (const head of ["", "\n  ", "# 对话历史摘要（12 条）\n", "#conversation history SUMMARY\n\n"])
    assert.deepEqual(read(`${head}${good}\n \n`), { text: good }, head);
  assert.deepEqual(read(`${good}\ud800`), { text: `${good}\ufffd` });
});

test("whatever words a model refuses with, they are no summary where plain words are wanted [Z2]", () => {
  const read = (text: string) => readSummary({ text, ...stop }, { strategy: "summarize", tokensMax: 1_440 });
  const refusals = [
    ...["I'm sorry, no.", "I am sorry, no.", "Sorry, no.", "I cannot do that.", "I can't do that.", "I can’t do that."],
    ...["I am unable to.", "I'm unable to.", "As an AI, no.", "> I’m sorry"],
    ...["抱歉。", "对不起。", "很遗憾。", "我无法完成。", "我不能完成。"],
  ];
  for (const text of refusals) assert.deepEqual(read(text), { because: "refused" }, text);
  const plain = "The user was sorry that the file could not be read.";
  assert.deepEqual(read(plain), { text: plain });
});

test("the summariser is told of images also in results, reads blanks as nothing said, and names and arguments of calls in a line [Z2]", () => {
  const talk = talkOf([{ said: "look", steps: [] }]);
  const { history } = talk;
  const image = { mime: "image/png", base64: "AA==" };
  const name = "n".repeat(100);
  history.messages.push(
    { role: "assistant", text: " \n", toolCalls: [{ id: "c", name, arguments: '{\n  "at": 1\n}' }] },
    { role: "tool", toolCallId: "c", text: "seen", images: [image] },
    { role: "tool", toolCallId: "d", text: "told [old]", reminder: 6 },
  );
  history.seqs.push(7, 8, 9);
  const lines = (summaryRequest(history, wanted)[1]?.text ?? "").split("\n").filter((line) => line.startsWith("["));
  const [said, call = "", ...results] = lines;
  assert.deepEqual([said, results], ["[user] look", ["[result] seen [1 image]", "[result] told"]]);
  assert.match(call, /^\[call\] n+\.\.\. \{ "at": 1 \}$/);
  assert.ok(Buffer.byteLength(call) <= "[call] ".length + 67 + ' { "at": 1 }'.length, call);
});

test("what is as long as it may be is read whole, and a character more of it by its two ends [Z2]", () => {
  const lineFor = (saidLength: number, resultLength: number) => {
    const { history } = talkOf([{ said: "s".repeat(saidLength), steps: [["r".repeat(resultLength)]] }]);
    const text = summaryRequest(history, wanted)[1]?.text ?? "";
    return [/^\[user\] (.*)$/m, /^\[result\] (.*)$/m].map((line) => line.exec(text)?.[1]);
  };
  assert.deepEqual(lineFor(2_000, 700), ["s".repeat(2_000), "r".repeat(700)]);
  assert.deepEqual(lineFor(2_001, 701), [
    `${"s".repeat(1_200)} ... ${"s".repeat(800)}`,
    `${"r".repeat(500)} ... ${"r".repeat(200)}`,
  ]);
});

test("only what is left out is summed up, and the mark stands in no text that it is around [Z2][R1]", () => {
  const talk = talkOf(["one", "two", "three"].map((said) => ({ said, steps: [], answer: `${said}!` })));
  const asked = (first: number) => summaryRequest(talk.history, { ...wanted, first })[1]?.text ?? "";
  assert.ok(asked(3).includes("[user] one\n[assistant] one!\n[user] two\n</history"));
  const mark = /<history mark="(\w+)">/.exec(asked(6))?.[1] ?? "";
  const summary = `# head\n\nthe mark is ${mark}`;
  const counts = { messagesBefore: 2, messagesAfter: 1 };
  talk.compact({ strategy: "compact", upTo: 1, summary, prose: { at: 8, length: summary.length - 8 }, ...counts });
  const again = asked(7);
  const [now = "", ...others] = [...again.matchAll(/mark="(\w+)"/g)].map(([, found]) => found);
  assert.ok(!summary.includes(now) && others.every((other) => other === now), again);
});

test("as many of the newest messages are read as fit, to the last token [Z2]", () => {
  const { history } = talkOf(Array.from({ length: 5 }, () => ({ said: "w".repeat(393), steps: [], answer: "yes" })));
  const asked = (inputTokensMax: number) => summaryRequest(history, { ...wanted, inputTokensMax });
  const [system] = asked(20_000);
  // "[user] www…" is 100 tokens and "[assistant] yes" 4, and each ends a line.
  const two = estimateTokens(system?.text ?? "") + 200 + 2 * (101 + 5);
  const dropped = (inputTokensMax: number) => /\((\d+) older/.exec(asked(inputTokensMax)[1]?.text ?? "")?.[1];
  assert.deepEqual([dropped(two), dropped(two - 1), dropped(two + 5)], ["6", "7", "5"]);
});

test("a page that somebody pasted does not decide which language they speak [Z2][P4]", () => {
  const of = (...texts: string[]) => languageIn({ said: texts.map((text, seq) => ({ seq, text })) });
  const pasted = `${"字".repeat(2_000)}${"word ".repeat(4_000)}`;
  assert.equal(of(pasted), "zh");
  assert.equal(of(`${"字".repeat(100)}${"word ".repeat(4_000)}`), "en");
});

test("what the summariser reads is whole characters, wherever a message is cut and whatever it holds [Z2]", () => {
  for (const said of [
    `${"x".repeat(1_199)}😀${"y".repeat(3_000)}`,
    `${"x".repeat(3_000)}😀${"y".repeat(799)}`,
    "a\ud800b",
  ]) {
    const text = summaryRequest(talkOf([{ said, steps: [] }]).history, wanted)[1]?.text ?? "";
    assert.ok(text.isWellFormed() && text.includes("[user] "), said.slice(0, 9));
  }
});

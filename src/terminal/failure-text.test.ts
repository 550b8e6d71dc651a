import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFailure } from "../protocol/failure.ts";
import { failureWords, failureWordsOverHttp, type ModelFault, wordsFor } from "../words/words.ts";
import { commandFailureText, failureText } from "./failure-text.ts";

test("what a server said and our advice are two sentences [P4]", () => {
  const failure = makeFailure("model_network", {
    model: "m",
    server: "s",
    said: "connect ECONNREFUSED 127.0.0.1:7199",
  });
  assert.match(failureText(wordsFor("en"), failure), /127\.0\.0\.1:7199\. Check the base URL/);
  assert.match(failureText(wordsFor("zh"), failure), /127\.0\.0\.1:7199。/);
});

const faults: Readonly<
  Record<ModelFault, readonly [kind: "network" | "protocol" | "overloaded" | "bad_request", en: RegExp, zh: RegExp]>
> = {
  silent: [
    "network",
    /^s sent nothing for too long \(x\)\. Check the base URL/,
    /^s 长时间没有发来任何内容（x）。请检查服务地址/,
  ],
  closed: [
    "network",
    /^s closed the connection .* \(x\)\. Check the base URL/,
    /^s 在回答完成之前断开了连接（x）。请检查/,
  ],
  garbled: ["network", /^s sent compressed data .* \(x\)\. Send .* again/, /^s 发来的压缩数据已损坏（x）。请重新发送/],
  cancelled: [
    "network",
    /^s had not answered .* stopped \(x\)\. Send/,
    /^s 还没有回答，调用就被停止了（x）。请重新发送/,
  ],
  broken_off: [
    "overloaded",
    /^s broke its answer off .* \(x\)\. Send .* again/,
    /^s 因自身故障中断了回答（x）。请重新发送/,
  ],
  no_choice: [
    "protocol",
    /^s sent an answer with nothing in it \(x\)\. Send .* again/,
    /^s 的回答没有内容（x）。请重新发送/,
  ],
  not_json: [
    "protocol",
    /^s sent something that is not JSON \(x\)\. Send .* again/,
    /^s 发来的内容不是 JSON（x）。请重新发送/,
  ],
  foreign: ["protocol", /^s does not answer as .* \(x\)\. Check .* \/v1/, /^s 的回答不符合.*（x）。.* \/v1/],
  too_long: ["protocol", /^s sent an answer that is too long \(x\)\. Ask for less/, /^s 的回答太长（x）。请减少/],
  too_many_calls: ["protocol", /^s .* too many tool calls \(x\)\. Ask for less/, /^s .*太多工具（x）。请减少/],
  redirected: [
    "protocol",
    /^s .* another address \(x\)\. Set that as the base URL/,
    /^s 要求改用其他地址（x）。.*设为服务地址/,
  ],
  no_vectors: [
    "protocol",
    /^s sent something other than one vector .* \(x\)\. Name a model for embeddings/,
    /^s 没有为每段文本返回一个数值向量（x）。请改用嵌入模型/,
  ],
  unsendable: [
    "bad_request",
    /^s was not asked: .* \(x\)\. Check the API key/,
    /^s 没有收到请求：.*（x）。请检查 API 密钥/,
  ],
};

for (const [because, [kind, en, zh]] of Object.entries(faults) as [ModelFault, (typeof faults)[ModelFault]][]) {
  test(`a model's failure is told by its cause, with advice that fits it, in the reader's language: ${because} [M3][P4]`, () => {
    const failure = makeFailure(`model_${kind}`, { model: "m", server: "s", said: "x", because });
    assert.match(failureText(wordsFor("en"), failure), en);
    assert.match(failureText(wordsFor("zh"), failure), zh);
    const wordless = makeFailure(`model_${kind}`, { model: "m", server: "s", said: "", because });
    assert.doesNotMatch(failureText(wordsFor("en"), wordless) + failureText(wordsFor("zh"), wordless), /[(（]x?[)）]/);
    // Only where the address may be wrong is it to be looked at.
    const isAddress = /URL/.test(failureWordsOverHttp(wordsFor("en"), failure)[1]);
    assert.equal(
      isAddress,
      kind === "network" || ["foreign", "redirected", "unsendable", "no_vectors"].includes(because),
    );
    const isAddressInChinese = /地址/.test(failureWordsOverHttp(wordsFor("zh"), failure)[1]);
    assert.equal(isAddressInChinese, isAddress);
  });
}

test("what keeps code, a pattern or arguments from being used is told in the reader's language [P4]", () => {
  const about = { detail: "", sudo: "", install: "apt-get install -y bubblewrap" };
  const lack = makeFailure("sandbox_unavailable", { reason: "R.", fix: "F.", lack: "no_bwrap", ...about });
  assert.match(
    failureText(wordsFor("en"), lack),
    /^Code cannot be run here: bubblewrap is not installed.* bubblewrap$/,
  );
  assert.match(failureText(wordsFor("zh"), lack), /^这台机器无法运行代码：未安装 bubblewrap.* bubblewrap$/);
  assert.match(failureWordsOverHttp(wordsFor("zh"), lack)[1], /运维人员可以这样解决：apt-get install/);
  // An earlier version kept the two sentences alone.
  const old = makeFailure("sandbox_unavailable", { reason: "R.", fix: "F." });
  assert.equal(failureText(wordsFor("en"), old), "Code cannot be run here: R. F.");

  const pattern = (cause: object) => [
    failureWords(wordsFor("en"), { code: "pattern_invalid", params: { pattern: "x", ...cause } })[0].split(": ")[1],
    failureWords(wordsFor("zh"), { code: "pattern_invalid", params: { pattern: "x", ...cause } })[0].split("：")[1],
  ];
  assert.deepEqual(pattern({ why: "empty" }), ["it is empty.", "内容为空。"]);
  assert.deepEqual(pattern({ why: "nothing" }), ["it names nothing.", "没有指明任何名称。"]);
  assert.deepEqual(pattern({ why: "too_long", max: 9 }), ["it has more than 9 characters.", "超过 9 个字符。"]);
  assert.deepEqual(pattern({ why: "too_many", max: 9 }), [
    "its braces stand for more than 9 patterns.",
    "花括号展开后超过 9 个模式。",
  ]);
  assert.deepEqual(pattern({ why: "syntax", said: "S" }), [
    "it is no regular expression (S).",
    "不是正则表达式（S）。",
  ]);
  assert.deepEqual(pattern({ why: "an old sentence" }), ["an old sentence.", "an old sentence。"]);

  const list = makeFailure("tool_arguments_broken", { tool: "now", why: "a list", because: "no_object" });
  assert.match(failureText(wordsFor("en"), list), /^The arguments of now are a list, not a JSON object\. /);
  assert.match(failureText(wordsFor("zh"), list), /^now 的参数不是 JSON 对象。/);
  const broken = makeFailure("tool_arguments_broken", { tool: "now", why: "Unexpected token" });
  assert.match(failureText(wordsFor("zh"), broken), /^now 的参数不是有效的 JSON：Unexpected token。/);
});

test("on the command line an unknown id comes with how to list them from there [P2] [P4]", () => {
  const failure = makeFailure("conversation_not_found", { id: "zzz" });
  assert.match(
    commandFailureText(wordsFor("en"), failure),
    /zzz\. To list them, start `agentyard` and type \/sessions\.$/,
  );
  assert.match(
    commandFailureText(wordsFor("zh"), failure),
    /zzz。要查看全部对话，请启动 `agentyard` 并输入 \/sessions。$/,
  );
});

test("what the rules forbid and why a call was not run are told in the reader's language [P4][H1]", () => {
  const found = { kind: "delete", what: "rm -r outputs", source: "config/hitl_rules.yaml:4" };
  const denied = makeFailure("tool_denied", { tool: "run_bash_command", why: "deletes something", ...found });
  assert.equal(
    failureText(wordsFor("zh"), denied),
    "本系统的规则不允许 run_bash_command：会删除 temp/ 以外的内容：rm -r outputs（config/hitl_rules.yaml:4）。运维人员可以在 hitl_rules.yaml 中修改。",
  );
  const stopped = makeFailure("tool_not_run", { tool: "now", why: "the turn was stopped", because: "stopped" });
  assert.equal(failureText(wordsFor("zh"), stopped), "now 没有运行：这一回合已停止。请根据已知信息回答。");
  const broken = makeFailure("checker_broken", { file: "checkers/a.ts", why: "…", because: "no_definition" });
  assert.match(failureText(wordsFor("zh"), broken), /无法使用：它的默认导出不是 \{ tool, check \}。/);
});

test("what keeps the index of documents from being used is told in the reader's language [D2][P4]", () => {
  const why = ["busy", "full", "read_only", "damaged", "memory", "stopped", "closed", "broken"] as const;
  const told = (language: "en" | "zh") =>
    why.map((each) => failureText(wordsFor(language), makeFailure("index_unavailable", { why: each, said: "S" })));
  assert.equal(new Set(told("en")).size, why.length);
  assert.equal(new Set(told("zh")).size, why.length);
  assert.equal(
    told("en")[3],
    "The index of documents cannot be used: it was damaged, and has been thrown away (S). Nothing else is lost: documents are indexed again when they are next searched.",
  );
  assert.match(told("zh")[1] ?? "", /^文档索引无法使用：磁盘已满（S）。 ?请腾出一些空间，然后重试。$/);
  const missing = makeFailure("segmenter_missing", { segmentation: "jieba" });
  assert.match(
    failureText(wordsFor("en"), missing),
    /npm install @node-rs\/jieba, or set documents\.segmentation to bigram\.$/,
  );
  assert.match(failureText(wordsFor("zh"), missing), /把 documents\.segmentation 设为 bigram。$/);
});

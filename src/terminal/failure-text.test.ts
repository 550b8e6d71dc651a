import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFailure } from "../protocol/failure.ts";
import { wordsFor } from "../words/words.ts";
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

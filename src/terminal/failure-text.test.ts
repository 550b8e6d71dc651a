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
    /zzz。要查看全部会话，请启动 `agentyard` 并输入 \/sessions。$/,
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { judge } from "./approvals.ts";

test("a call is allowed unless its tool asks for a decision, which then says why and how risky it is [H2]", () => {
  assert.deepEqual(judge(undefined), {
    verdict: "allow",
    risk: "low",
    layer: "default",
    reason: "nothing asks for a decision",
  });
  assert.deepEqual(judge({ reason: "it pays money", risk: "high" }), {
    verdict: "ask",
    risk: "high",
    layer: "tool",
    reason: "it pays money",
  });
});

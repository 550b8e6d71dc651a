import assert from "node:assert/strict";
import { test } from "node:test";
import { interruptOf } from "./interrupt.ts";

const asked = { type: "decision.asked", seq: 1, at: 1, turn: 1, id: "d", call: "c1", tool: "pay" } as const;
const both = { question: "How much?", reason: "It costs money." };

test("a person is asked about the arguments that are asked about, and told why, or what the agent wants to know [C4][H2][H3]", () => {
  const call = { runId: "r", arguments: '{"amount":1}' };
  const approval = interruptOf({ ...asked, ...both, kind: "approval", arguments: '{"amount":2}' }, call);
  assert.deepEqual(
    [approval.data.tool_args, approval.data.interrupt_config.confirmation_message, approval.handle.interrupt_type],
    [[{ key: "amount", value: 2, type: "number" }], "It costs money.", "tool_interrupt"],
  );
  const question = interruptOf({ ...asked, ...both, kind: "question" }, call);
  assert.deepEqual(
    [question.data.tool_args, question.data.interrupt_config.confirmation_message, question.handle.interrupt_type],
    [[{ key: "amount", value: 1, type: "number" }], "How much?", "user_input_request"],
  );
  assert.deepEqual(interruptOf({ ...asked, kind: "approval" }, { ...call, arguments: undefined }).data.tool_args, []);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { toolContext } from "../../../test/world/tools.ts";
import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import type { ToolContext } from "../tool.ts";
import { compactContext } from "./compact-context.ts";

const report = { strategy: "compact", messagesBefore: 40, messagesAfter: 11, tokensBefore: 9_000, tokensAfter: 3_000 };
const event = { type: "compacted", turn: 1, upTo: 3, summary: "…", ...report } as const;

test("what was made room for is told in numbers, and the event goes with it [Z2]", async () => {
  const asked: string[] = [];
  const { text, events } = await run({ strategy: "summarize" }, async (strategy) => {
    asked.push(strategy);
    return ok({ report, event });
  });
  assert.equal(
    text,
    "Room was made (compact): 40 messages, about 9000 tokens before; 11 messages, about 3000 tokens now (33 %). Go on with the work.",
  );
  assert.deepEqual([events, asked], [[event], ["summarize"]]);
});

test("where there is nothing to do, or no summary came, nothing is stored and it says so [Z2]", async () => {
  const nothing = await run({}, async () => ok({ report: { ...report, strategy: "none", messagesBefore: 3 } }));
  assert.match(nothing.text, /^Nothing to do: with 3 messages/);
  const failed = await run({}, async () => ok({ report: { ...report, strategy: "fallback" } }));
  assert.match(failed.text, /^The model made no usable summary/);
  assert.deepEqual([nothing.events, failed.events], [[], []]);
});

test("switched off, it says so [Z2]", async () => {
  const opened = compactContext.open({});
  assert.ok(opened.ok);
  const output = await opened.value.run(toolContext({ compact: async () => failure("compaction_off", {}) }));
  assert.equal(!output.ok && output.failure.code, "compaction_off");
});

async function run(input: object, compact: ToolContext["compact"]) {
  const opened = compactContext.open({ ...input });
  assert.ok(opened.ok);
  const output = await opened.value.run(toolContext({ compact }));
  assert.ok(output.ok);
  return { text: output.value.text, events: output.value.events ?? [] };
}

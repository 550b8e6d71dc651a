import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewEvent } from "../protocol/events.ts";
import { makeFailure } from "../protocol/failure.ts";
import { closeCalls } from "./finish.ts";
import { keepOne, said, started } from "./tenure.testing.ts";

const calls = ["waits", "runs", "done"].map((id) => ({ id, name: `tool-${id}`, arguments: "{}" }));
const sent = { attempt: 1, slot: "base", model: "m", reason: "r", hash: "", bytes: 0, reused: 0 } as const;
const written = { finish: "tool_calls", usage: { input: 1, output: 1 }, durationMs: 1 } as const;
const before: NewEvent[] = [
  ...[said("m1"), started],
  { type: "step.started", turn: 1, step: 1, ...sent },
  { type: "message.assistant", turn: 1, step: 1, text: "", calls, ...written },
  ...["runs", "done"].map((call): NewEvent => ({ type: "call.started", call, class: "unsafe", attempt: 1 })),
  { type: "call.finished", call: "done", outcome: "ok", text: "fine" },
];
const notRun = { tool: "tool-waits", why: "the turn was stopped", because: "stopped" } as const;

test("when a turn ends before its time each open call has one result: not run, stopped, or that nobody knows, and the model can read why [L5][L6]", async (t) => {
  for (const [code, outcome] of [
    ["tool_cancelled", "cancelled"],
    ["tool_interrupted", "unknown"],
  ] as const) {
    const { tenure, log, number } = await keepOne(t, { before });
    closeCalls(tenure.root, code);
    assert.ok((await tenure.root.commit()).ok);
    const ends = await log.read(number, { after: before.length, limit: 10 });
    assert.deepEqual(
      ends.map((event) => event.type === "call.finished" && [event.call, event.outcome, event.failure]),
      [
        ["waits", "not_run", makeFailure("tool_not_run", notRun)],
        ["runs", outcome, makeFailure(code, { tool: "tool-runs" })],
      ],
    );
    const texts = ends.flatMap((event) => (event.type === "call.finished" ? [event.text] : []));
    assert.match(texts[0] ?? "", /^Error: tool_not_run: .*the turn was stopped/);
    assert.equal(texts[1]?.startsWith(`Error: ${code}: `), true);
    closeCalls(tenure.root, code);
    assert.ok((await tenure.root.commit()).ok);
    assert.equal(await log.headOf(number), before.length + 2, "and none has two");
    await tenure.release();
  }
});

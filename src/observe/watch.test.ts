import assert from "node:assert/strict";
import { test } from "node:test";
import { noMetrics } from "./counted.ts";
import { noTracer } from "./tracer.ts";
import { openWatch } from "./watch.ts";

test("a turn is measured from its beginning; one that began before this process is counted and not measured [O1]", () => {
  const ended: unknown[] = [];
  const metrics = { ...noMetrics, turnEnded: (turn: unknown) => void ended.push(turn) };
  const watch = openWatch({
    ...{ tracer: noTracer, metrics, idOf: async () => undefined, isKnownTool: () => false },
    logger: { error: () => assert.fail("nothing broke") },
  });
  watch.appended(1, [{ type: "turn.started", turn: 1, message: "m", epoch: 1 }], 1_000);
  watch.appended(1, [{ type: "turn.finished", turn: 1, outcome: "done" }], 1_250);
  watch.appended(2, [{ type: "turn.finished", turn: 7, outcome: "cancelled" }], 2_000);
  assert.deepEqual(ended, [
    { outcome: "done", ms: 250 },
    { outcome: "cancelled", ms: undefined },
  ]);
});

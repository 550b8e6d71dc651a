import assert from "node:assert/strict";
import { after, test } from "node:test";
import { answer, numbered, step } from "../../../test/world/any-log.ts";
import { baseModel } from "../../../test/world/base-model.ts";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { systemIds } from "../../base/ids.ts";
import { applyToTree, emptyHistory, type Tree } from "../../log/log.ts";
import type { EventBody, NewEvent } from "../../protocol/events.ts";
import { openMarks } from "../marks.ts";
import { defaultLimits } from "../parts.ts";
import { workerResult } from "./worker-result.ts";

const models = await baseModel(manualClock(), 16_000);
after(() => models.close());
const parts = { models, agents: () => [], limits: defaultLimits, marks: openMarks(systemIds) };

function resultOf(ended?: Partial<EventBody<"agent.ended">>, context?: string) {
  const tree: Tree = { root: emptyHistory(), agents: new Map() };
  const events: NewEvent[] = [
    { type: "message.user", id: "m1", text: "go", mode: "queue" },
    { type: "turn.started", turn: 1, message: "m1", epoch: 1 },
    step(1),
    answer(1, ["c"]),
    {
      ...{ type: "agent.spawned", id: "w", mode: "worker", role: "r", brief: "b", call: "c" },
      ...(context === undefined ? {} : { context }),
    },
    ...(ended === undefined ? [] : [{ type: "agent.ended", id: "w", outcome: "done", ...ended } as const]),
  ];
  for (const event of numbered(events)) applyToTree(tree, event);
  const [state] = tree.root.turn?.calls ?? [];
  assert.ok(state !== undefined);
  return workerResult({ history: tree.root }, parts, state);
}

test("the result of a worker is what it said, with what it is told under and how many steps it took; while it works there is none [A2]", () => {
  assert.equal(resultOf(), undefined);
  const told = (body: object, outcome = "ok") => ({
    type: "call.finished",
    call: "c",
    outcome,
    text: JSON.stringify(body),
  });
  const about = { context_id: "subagent-1", loops: 3 };
  for (const outcome of ["done", "limit"] as const)
    assert.deepEqual(
      resultOf({ outcome, result: "all", steps: 3 }, "subagent-1"),
      told({ ok: true, result: "all", ...about }),
    );
  assert.deepEqual(
    resultOf({ outcome: "done" }),
    told({ ok: true, result: "(done, nothing to show)", context_id: "w", loops: 0 }),
  );
  const stopped = { ok: false, error: "it was stopped", context_id: "w", loops: 0 };
  assert.deepEqual(resultOf({ outcome: "terminated", result: "half" }), told(stopped, "error"));
  const failure = { code: "turn_crashed", params: { times: 3 } };
  const failed = resultOf({ outcome: "failed", failure, steps: 2 });
  assert.ok(failed?.type === "call.finished");
  const { error, ...rest } = JSON.parse(failed.text);
  assert.deepEqual(rest, { ok: false, context_id: "w", loops: 2 });
  assert.match(error, /3/);
});

test("a result of a worker that has read text from outside is data from outside, and a long one is cut in the middle [A2][R1][M5]", () => {
  const marked = resultOf({ result: "from the web", untrusted: true });
  assert.ok(marked?.type === "call.finished");
  assert.equal(marked.untrusted, true);
  assert.match(marked.text, /^<data [^>]*source="look"[^>]*>\n\{"ok":true,"result":"from the web".*\}\n<\/data/);
  const cut = resultOf({ result: `begin${"x".repeat(200_000)}end` });
  assert.ok(cut?.type === "call.finished");
  const { result } = JSON.parse(cut.text);
  assert.ok(result.length < 100_000);
  assert.match(result, /^beginx+\n\[\.\.\. .* left out here.*\]\nx+end$/);
});

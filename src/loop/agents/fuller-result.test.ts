import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, numbered, step } from "../../../test/world/any-log.ts";
import { applyToTree, emptyHistory, type Tree } from "../../log/log.ts";
import type { NewEvent } from "../../protocol/events.ts";
import { isTooShort } from "./fuller-result.ts";

function isShort(mode: "worker" | "task", text: string, more: readonly NewEvent[] = []): boolean {
  const tree: Tree = { root: emptyHistory(), agents: new Map() };
  const events: NewEvent[] = [
    { type: "agent.spawned", id: "a", mode, role: "writer", brief: "write it" },
    { type: "turn.started", agent: "a", turn: 1, message: "a-brief", epoch: 1 },
    step(1, { agent: "a" }),
    Object.assign(answer(1, []), { agent: "a", text }),
  ];
  for (const event of numbered([...events, ...more])) applyToTree(tree, event);
  return isTooShort(tree.agents.get("a") ?? assert.fail());
}

test("a worker that says less than 200 characters, blanks at the ends not counted, is asked for more, once; a task is not [A2]", () => {
  const asked: NewEvent = { type: "agent.mailed", agent: "a", to: "a", id: "m", text: "more", kind: "more" };
  assert.deepEqual(
    [
      ...[isShort("worker", "x".repeat(199)), isShort("worker", ` ${"x".repeat(199)}\n\n`)],
      ...[isShort("worker", "x".repeat(200)), isShort("worker", "x", [asked]), isShort("task", "x")],
    ],
    [true, true, false, false, false],
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, numbered, step } from "../../test/world/any-log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { foldTree } from "./history.ts";

const begun: readonly NewEvent[] = [
  { type: "message.user", id: "a", text: "go", mode: "queue" },
  { type: "turn.started", turn: 1, message: "a", epoch: 1 },
];
const spawned = (id: string, more: object = {}): NewEvent => ({
  ...{ type: "agent.spawned", id, mode: "task", role: "writer", brief: `be ${id}`, ...more },
});
const working = (agent: string, turn: number): NewEvent => ({
  ...{ type: "turn.started", agent, turn, message: `${agent}-brief`, epoch: 1 },
});
const treeAfter = (...events: readonly NewEvent[]) => foldTree(numbered([...begun, ...events]));
const agentOf = (tree: ReturnType<typeof foldTree>, id: string) => tree.agents.get(id) ?? assert.fail(id);

test("an agent is what it was made as: its name, its steps, its budget, its place and who made it [A1]", () => {
  const made = { name: "Ann", loops: 7, context: "subagent-0a1b2c3d", budget: { tokens: 9 } };
  const tree = treeAfter(spawned("t", made), spawned("u", { agent: "t", mode: "worker" }));
  assert.deepEqual(agentOf(tree, "t").self, {
    ...{ id: "t", mode: "task", role: "writer", brief: "be t", ...made },
    ...{ parent: "root", path: ["root", "t"] },
  });
  const below = agentOf(tree, "u").self;
  assert.deepEqual([below?.name, below?.parent, below?.loops, below?.budget], ["u", "t", undefined, undefined]);
  assert.deepEqual([agentOf(tree, "t").head, agentOf(tree, "u").head], [4, 4]);
});

test("an agent whose parent has read nothing from outside has read nothing either, and of files it knows that they were sent [A2][R1]", () => {
  const state = { hash: "h", bytes: 1, mode: 0o644 };
  const tree = treeAfter(
    { type: "file.changed", path: "uploads/a.csv", by: "upload", after: state },
    { type: "file.known", path: "uploads/a.csv", hash: "h" },
    ...[step(1), answer(1, ["x"]), spawned("w", { mode: "worker", call: "x" }), spawned("t", { call: "x" })],
  );
  const worker = agentOf(tree, "w");
  assert.deepEqual([worker.isTainted, [...worker.deeds]], [false, [["uploads/a.csv", { uploaded: 3 }]]]);
  assert.equal(worker.known.size, 0, "it has seen none of them");
  assert.deepEqual(
    tree.root.turn?.calls.map(({ worker }) => worker?.spawned.id),
    ["w"],
    "a task answers by mail",
  );
  assert.deepEqual([[...tree.root.children.keys()], tree.root.workedAt], [["w", "t"], 8]);
});

test("an agent that has ended has no turn, no mail and no question any more [A1][L8]", () => {
  const open: NewEvent[] = [
    ...[spawned("t"), working("t", 1), step(1, { agent: "t" }), Object.assign(answer(1, ["x"]), { agent: "t" })],
    { type: "decision.asked", agent: "t", turn: 1, id: "d", call: "x", kind: "approval", tool: "look" },
    { type: "agent.mailed", to: "t", id: "m", text: "more" },
  ];
  const seen = (...events: readonly NewEvent[]) => {
    const { turn, queue, decisions, isOver } = agentOf(treeAfter(...open, ...events), "t");
    return [turn?.turn, queue.length, decisions.size, isOver];
  };
  assert.deepEqual(seen(), [1, 1, 1, false]);
  assert.deepEqual(seen({ type: "agent.ended", id: "other", outcome: "done" }), [1, 1, 1, false]);
  assert.deepEqual(seen({ type: "agent.ended", id: "t", outcome: "terminated" }), [undefined, 0, 0, true]);
});

test("an agent that is stopped stops in whichever turn it is; the main agent has nothing that it is to end with [L8][A1]", () => {
  const tree = treeAfter(
    ...[spawned("t"), working("t", 5)],
    ...[{ type: "cancel.asked", turn: 1, agent: "t" } as const, { type: "cancel.asked", turn: 1 } as const],
  );
  const task = agentOf(tree, "t");
  assert.deepEqual([task.turn?.cancelAsked, task.ending], [true, { by: undefined }]);
  assert.deepEqual([tree.root.turn?.cancelAsked, tree.root.ending], [true, undefined]);
  assert.equal(agentOf(treeAfter(spawned("t"), { type: "cancel.asked", turn: 1 }), "t").ending, undefined);
});

test("the turns of other agents are none of the main agent's, and the files that they made for the conversation are in its list [A1][Z3]", () => {
  const made = (path: string, more: object = {}): NewEvent => ({
    ...{ type: "file.changed", path, by: "tool", after: { hash: "h", bytes: 1, mode: 0o644 }, agent: "t", ...more },
  });
  const { root } = treeAfter(
    ...[spawned("t"), working("t", 9), made("outputs/a.md")],
    made("b.md", { workspace: "t" }),
  );
  assert.equal(root.turnsEver, 1);
  assert.deepEqual([[...root.deeds], root.known.size], [[["outputs/a.md", { made: 5 }]], 0]);
});

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { answer, step } from "../../test/world/any-log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { leftOver, running, waiting } from "./left-over.testing.ts";
import { conversationRow } from "./rows.testing.ts";
import { conversationOf, describeState } from "./state.ts";

const ended: NewEvent = { type: "turn.finished", turn: 1, outcome: "done" };
const asked = (id: string, call: string, agent?: string): NewEvent => ({
  ...{ type: "decision.asked", turn: 1, id, call, kind: "approval", tool: "pay", arguments: "{}" },
  ...(agent === undefined ? {} : { agent }),
});
const made = (id: string): NewEvent => ({
  ...{ type: "decision.made", id, verdict: "approve", by: "me", argumentsHash: "", previous: "" },
});
/** The main agent waits for a worker, and both have a call that a person is asked about. */
const both: NewEvent[] = [
  ...[...running, step(1), answer(1, ["x", "y"])],
  { type: "agent.spawned", id: "w", mode: "worker", role: "writer", brief: "write", call: "y" },
  { type: "turn.started", agent: "w", turn: 1, message: "w-brief", epoch: 1 },
  ...[step(1, { agent: "w" }), Object.assign(answer(1, ["z"]), { agent: "w" })],
];

/** `cleanedAt`: when its files were tidied away. */
async function stateAfter(t: TestContext, events: readonly NewEvent[], cleanedAt?: number) {
  const { parts, start, clock, real } = await leftOver(t);
  clock.move(5);
  const row = await start("c", ...events);
  if (cleanedAt !== undefined) {
    assert.ok((await parts.workspaces.create(row)).ok);
    assert.ok((await real.updateWorkspace("workspace/c", { cleanedAt })).ok);
  }
  return describeState(parts, row);
}

test("a conversation is idle when nothing runs or waits, and running as soon as somebody said something [C3][L7]", async (t) => {
  const statusOf = async (...events: readonly NewEvent[]) => (await stateAfter(t, events)).status;
  assert.deepEqual(
    [await statusOf(), await statusOf(waiting), await statusOf(...running), await statusOf(...running, ended)],
    ["idle", "running", "running", "idle"],
  );
});

test("what any agent asks is listed as it was asked, first things first; it waits for a person only when nobody works [H2][A1]", async (t) => {
  const open = await stateAfter(t, [...both, asked("theirs", "z", "w"), asked("mine", "x")]);
  assert.deepEqual(
    [open.status, open.decisions.map(({ id, at }) => [id, at])],
    [
      "waiting",
      [
        ["theirs", 5],
        ["mine", 5],
      ],
    ],
  );
  const works = await stateAfter(t, [...both, asked("mine", "x")]);
  assert.deepEqual([works.status, works.decisions.map(({ id }) => id)], ["running", ["mine"]]);
  const decided = await stateAfter(t, [...both, asked("theirs", "z", "w"), asked("mine", "x"), made("mine")]);
  assert.deepEqual([decided.status, decided.decisions.map(({ id }) => id)], ["running", ["theirs"]]);
});

test("beside the history one sees who is asked next, what is left of the window, what waits, the steps of the agent, and when files went [C3][Z1]", async (t) => {
  const todos = [{ id: "0a1b2c3d", content: "one", status: "pending", priority: "low" } as const];
  const said: NewEvent = { type: "message.user", id: "b", text: "faster", mode: "steer" };
  const state = await stateAfter(t, [...running, { type: "todo.set", todos }, said], 77);
  const { model, head, queue, filesRemovedAt, tokens, budget, conversation } = state;
  assert.deepEqual({ ...model, server: undefined }, { slot: "base", id: "m", server: undefined, isDemo: false });
  assert.deepEqual([head, queue, state.todos], [4, [{ id: "b", text: "faster", mode: "steer" }], todos]);
  assert.deepEqual([filesRemovedAt, conversation.id, budget.by], [77, "c", "settings"]);
  assert.ok(tokens.used > 0 && tokens.used < 16_000, JSON.stringify(tokens));
  assert.equal((await stateAfter(t, [])).filesRemovedAt, null);
});

test("what another agent wrote to the main one is not among the words of people that wait [L7][A1]", async (t) => {
  const mail: NewEvent = { type: "agent.mailed", agent: "w", to: "root", id: "mail-1", text: "done", kind: "result" };
  const said: NewEvent = { type: "message.user", id: "b", text: "faster", mode: "steer" };
  const { queue, status } = await stateAfter(t, [...both, said, mail]);
  assert.deepEqual([queue, status], [[{ id: "b", text: "faster", mode: "steer" }], "running"]);
});

test("a conversation is listed with its title, its last words, its turns, its mark and its times, and with no more [C3]", () => {
  const row = { ...conversationRow("c", 7), title: "Tea", lastMessage: "hello", turns: 3, isPinned: true };
  const shown = { id: "c", title: "Tea", lastMessage: "hello", turns: 3, pinned: true };
  assert.deepEqual(conversationOf({ ...row, seenAt: 4, createdAt: 5, updatedAt: 6 }), {
    ...{ ...shown, seenAt: 4, createdAt: 5, updatedAt: 6 },
  });
  assert.deepEqual(conversationOf(row), { ...shown, seenAt: null, createdAt: 0, updatedAt: 0 });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentInfo } from "../../src/protocol/agent-routes.ts";
import type { LogEvent, NewEvent } from "../../src/protocol/events.ts";
import { foldEvents } from "../../web/src/chat/fold.ts";
import { stateOf } from "../../web/src/chat/team.ts";
import { rowsOfTree } from "../../web/src/tasks/tree-rows.ts";

// What the browser makes of the events of agents that others made.

const usage = { input: 10, output: 1 };
const answer = (agent: string | undefined, calls: [id: string, name: string][], text = ""): NewEvent => ({
  ...{ type: "message.assistant", ...(agent !== undefined && { agent }), turn: 1, step: 1, text, usage },
  ...{ calls: calls.map(([id, name]) => ({ id, name, arguments: "{}" })), finish: "tool_calls", durationMs: 1 },
});
const begins: NewEvent[] = [
  { type: "message.user", id: "m", text: "go", mode: "queue" },
  { type: "turn.started", turn: 1, message: "m", epoch: 1 },
  answer(undefined, [
    ["one", "spawn_agent"],
    ["two", "now"],
  ]),
  { type: "agent.spawned", id: "task-a", mode: "task", call: "one", role: "r", name: "amber", brief: "look" },
  { type: "turn.started", agent: "task-a", turn: 1, message: "task-a-brief", epoch: 1 },
];
const asks: NewEvent = {
  ...{ type: "decision.asked", agent: "task-a", turn: 1, id: "d", call: "one", path: ["root", "task-a"] },
  ...{ kind: "approval", tool: "pay", arguments: "{}" },
};
const ends: NewEvent = { type: "agent.ended", id: "task-a", outcome: "terminated" };

const logged = (...events: NewEvent[]): LogEvent[] =>
  // Tests give whole bodies.
  events.map((event, at) => ({ ...event, seq: at + 1, at: at + 1 }) as LogEvent);

function shown(events: readonly LogEvent[]) {
  const { items, decisions, team } = foldEvents(events);
  return {
    calls: items.flatMap((item) => (item.kind === "call" ? [[item.call, item.state, item.agents.join()]] : [])),
    cards: items.flatMap((item) =>
      item.kind === "decision" ? [item.isGone ? "gone" : (item.made?.verdict ?? "open")] : [],
    ),
    waiting: decisions.length,
    team: [...team.values()].map((member) => [
      ...[member.name, stateOf(member, team), member.steps, member.tokens],
      ...member.folded.items.map((item) => (item.kind === "call" ? `${item.name} ${item.state}` : item.kind)),
    ]),
  };
}

test("calls of several agents with one id are kept apart, and what a nested one asks stands among the main agent's messages [B1][H4]", () => {
  const works = [...begins, answer("task-a", [["one", "pay"]])];
  const started: NewEvent = { type: "call.started", agent: "task-a", call: "one", class: "pure", attempt: 1 };
  const calls = [
    ["one", "asked", "task-a"],
    ["two", "asked", ""],
  ];
  assert.deepEqual(shown(logged(...works, started)), {
    ...{ calls, cards: [], waiting: 0 },
    team: [["amber", "working", 1, 11, "pay running"]],
  });
  assert.deepEqual(shown(logged(...works, asks)), {
    ...{ calls, cards: ["open"], waiting: 1 },
    team: [["amber", "waiting_person", 1, 11, "pay waiting", "decision"]],
  });
  const made: NewEvent = {
    ...{ type: "decision.made", agent: "task-a", id: "d", verdict: "approve", by: "local" },
    ...{ argumentsHash: "h", previous: "" },
  };
  assert.deepEqual(shown(logged(...works, asks, made)), {
    ...{ calls, cards: ["approve"], waiting: 0 },
    team: [["amber", "working", 1, 11, "pay asked", "decision"]],
  });
  assert.deepEqual(shown(logged(...works, asks, ends)), {
    ...{ calls, cards: ["gone"], waiting: 0 },
    team: [["amber", "terminated", 1, 11, "pay cancelled", "decision"]],
  });
});

test("mail stands with both, an agent from before what was read goes by its id, and going back takes agents along [B1]", () => {
  const mail: NewEvent = { type: "agent.mailed", agent: "task-a", to: "task-b", id: "l", text: "hi" };
  const { team } = foldEvents(logged(mail, { ...mail, agent: "task-b", to: "root", id: "l2" }));
  assert.deepEqual(
    [...team.values()].map(({ name, mode, folded }) => [name, mode, folded.items.length]),
    [
      ["task-a", "task", 1],
      ["task-b", "task", 2],
    ],
  );
  assert.equal(foldEvents(logged(mail, { ...mail, to: "root" })).items.length, 1);
  assert.equal(foldEvents(logged(mail, { ...mail, to: "root", kind: "result" })).items.length, 0);
  assert.equal(foldEvents(logged(...begins, { type: "rewound", to: 1, cause: "undo" })).team.size, 0);
  const handed: NewEvent = { type: "agent.spawned", id: "handoff-1", mode: "handoff", role: "r", brief: "b" };
  assert.equal(foldEvents(logged(handed, { type: "agent.ended", id: "handoff-1", outcome: "done" })).team.size, 0);
});

test("the tree closes and opens, and more than 50 below one stand together by their state [B1][A1]", () => {
  const agents = [
    ...[["root", null, "working"] as const, ["a", "root", "done"] as const, ["b", "a", "done"] as const],
    ...Array.from({ length: 51 }, (_, at) => [`w${at}`, "b", at < 50 ? "done" : "failed"] as const),
  ].map(([id, parent, state]) => ({ id, parent, state }) as AgentInfo);
  const keys = (...turned: string[]) => rowsOfTree(agents, new Set(turned)).map(({ key, level }) => `${level} ${key}`);
  assert.deepEqual(keys(), ["1 root", "2 a", "3 b", "4 b/done", "4 b/failed"]);
  assert.deepEqual(keys("b/failed"), ["1 root", "2 a", "3 b", "4 b/done", "4 b/failed", "5 w50"]);
  assert.equal(keys("b/done").length, 55);
  assert.deepEqual(keys("a"), ["1 root", "2 a"]);
});

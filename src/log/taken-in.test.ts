import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, numbered, step } from "../../test/world/any-log.ts";
import type { LogEvent, NewEvent } from "../protocol/events.ts";
import { foldHistory, foldTree, insertEvents } from "./history.ts";

const said = (id: string, more: object = {}): NewEvent => ({
  ...{ type: "message.user", id, text: id, mode: "queue", ...more },
});
const started = (turn: number, message: string): NewEvent => ({ type: "turn.started", turn, message, epoch: 1 });
const ended = (turn: number): NewEvent => ({ type: "turn.finished", turn, outcome: "done" });
const compacted = (upTo: number): NewEvent => ({
  ...{
    type: "compacted",
    turn: 1,
    strategy: "compact",
    upTo,
    summary: "in short",
    messagesBefore: 3,
    messagesAfter: 2,
  },
});
const decided = (agent?: string): NewEvent => ({
  ...{ type: "decision.made", id: "d", verdict: "approve", by: "me", argumentsHash: "h", previous: "" },
  ...(agent === undefined ? {} : { agent }),
});

test("in a turn that was given another history, what waits aside moves along when others wrote before it [C1][L2]", () => {
  const instead = [{ role: "user", text: "given" }];
  const own = (moved: number): NewEvent[] => [
    ...[started(1, "a"), { type: "file.known", path: "read", hash: "h1" } as const, step(1), answer(1, [])],
    { type: "file.known", path: "not read yet", hash: "h2" },
    ...[compacted(3 + moved), ended(1), started(2, "b"), step(1)],
  ];
  const head = [said("a"), said("b", { instead })];
  const renamed: NewEvent = { type: "conversation.renamed", title: "x" };
  const history = foldHistory(numbered([...head, ...own(0)]));
  const [, , other] = numbered([...head, renamed]);
  assert.ok(other !== undefined && insertEvents(history, 2, [other]));
  const { aside, checkpoints } = foldHistory(numbered([...head, renamed, ...own(1)]));
  assert.deepEqual(history.aside, aside);
  assert.deepEqual(history.checkpoints, checkpoints);
  assert.deepEqual([aside?.known.get(":read")?.seq, aside?.summary?.upTo, aside?.seqs], [5, 4, [4, 7, 11]]);
});

test("checkpoints name the one before them also when both have moved [L9][L2]", () => {
  const own: NewEvent[] = [ended(1), { type: "checkpoint.saved", name: "here" }];
  const head = [said("a"), started(1, "a")];
  const history = foldHistory(numbered([...head, ...own]));
  const [, , other] = numbered([...head, said("b")]);
  assert.ok(other !== undefined && insertEvents(history, 2, [other]));
  assert.deepEqual(
    history.checkpoints.map(({ seq, parent }) => [seq, parent]),
    [
      [4, null],
      [5, 4],
    ],
  );
});

test("what a person decides for another agent is taken in without reading the log anew [H2][L2]", () => {
  const history = foldHistory(numbered([said("a"), started(1, "a"), step(1)]));
  const at = (event: NewEvent): LogEvent => ({ ...event, seq: 3, at: 0 });
  assert.deepEqual(
    [insertEvents(history, 2, [at(decided("t"))]), insertEvents(history, 2, [at(decided())])],
    [true, false],
  );
});

test("an agent that an agent made begins with what that one has; whom the user is handed over to is none of them [A1][A3]", () => {
  const made = (id: string, more: object = {}): NewEvent => ({
    ...{ type: "agent.spawned", id, mode: "task", role: "writer", brief: `be ${id}`, ...more },
  });
  const { agents } = foldTree(
    numbered([
      ...[said("a"), started(1, "a"), made("task"), { type: "tool.loaded", agent: "task", tool: "draw" } as const],
      ...[made("below", { agent: "task" }), made("other", { mode: "handoff" })],
    ]),
  );
  assert.deepEqual([...agents.keys()], ["task", "below"]);
  const below = agents.get("below");
  assert.deepEqual([below?.self?.path, below?.self?.parent], [["root", "task", "below"], "task"]);
  assert.deepEqual([...(below?.loadedTools ?? [])], ["send_message", "draw"]);
});

test("after going back every agent's next decision follows the last one of the log, and what agents spent is theirs [H2][A4][L9]", () => {
  const { root, agents } = foldTree(
    numbered([
      ...[said("a"), started(1, "a")],
      { type: "agent.spawned", id: "task", mode: "task", role: "writer", brief: "write" },
      { type: "turn.started", agent: "task", turn: 1, message: "task-brief", epoch: 1 },
      ...[step(1, { agent: "task" }), Object.assign(answer(1, []), { agent: "task" })],
      { ...decided(), hash: "last" } as NewEvent,
      { type: "rewound", to: 6, cause: "undo" },
    ]),
  );
  assert.deepEqual([root.lastDecision, agents.get("task")?.lastDecision], ["last", "last"]);
  assert.deepEqual([root.budget.spent.tokens, agents.get("task")?.budget.spent.tokens], [0, 11]);
});

test("a skill is linked as it was first, and whom the user is handed over to when no call is open reads at once what to do [K1][A3]", () => {
  const linked = (because: "mention" | "file_type"): NewEvent => ({
    type: "skill.linked",
    turn: 1,
    skill: "pdf",
    because,
  });
  const { skills, messages } = foldHistory(
    numbered([
      ...[said("a"), started(1, "a"), linked("mention"), linked("file_type")],
      { type: "agent.spawned", id: "h", mode: "handoff", role: "other", brief: "go on" },
    ]),
  );
  assert.deepEqual([...skills], [["pdf", { turn: 1, because: "mention" }]]);
  assert.deepEqual(messages.at(-1), { role: "user", text: "go on", own: 0 });
});

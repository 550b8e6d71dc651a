import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, numbered, step } from "../../test/world/any-log.ts";
import type { EventOf, NewEvent } from "../protocol/events.ts";
import { noCorrespondence, noteMail } from "./fold-mail.ts";
import { agentAfter, foldHistory, foldTree } from "./history.ts";
import type { History } from "./history-state.ts";

const uploaded = (path: string, by: "upload" | "tool" = "upload"): NewEvent => ({
  ...{ type: "file.changed", path, by, after: { hash: "h", bytes: 1, mode: 0o644 } },
});
const mail = (to: string, more: Partial<Extract<NewEvent, { type: "agent.mailed" }>> = {}): NewEvent => ({
  ...{ type: "agent.mailed", to, id: `to ${to}`, text: "words", ...more },
});
const spawned = (mode: "task" | "worker", more: object = {}): NewEvent => ({
  ...{ type: "agent.spawned", id: mode, mode, role: "writer", brief: `be a ${mode}`, ...more },
});
/** The main agent has a tool, a skill, files, instructions, a smaller window, and has read a page of the web. */
const before: NewEvent[] = [
  { type: "message.user", id: "a", text: "go", mode: "queue", slot: "reasoning", hints: ["code"] },
  { type: "turn.started", turn: 1, message: "a", epoch: 1 },
  { type: "tool.loaded", tool: "draw" },
  { type: "skill.linked", turn: 1, skill: "pdf", because: "mention" },
  uploaded("uploads/AGENTS.md"),
  uploaded("outputs/own.md", "tool"),
  {
    ...{ type: "compacted", turn: 1, strategy: "trim", upTo: 0, summary: "", messagesBefore: 1, messagesAfter: 1 },
    window: { model: "m", tokens: 9_000 },
  },
  step(1),
  answer(1, ["x", "y"]),
  { type: "call.finished", call: "y", outcome: "ok", text: "a page", untrusted: true },
];

test("an agent begins with what the user named and sent, and with what it is to do; a task has files of its own [A1][A2][W2]", () => {
  const budget = { tokens: 7 };
  const { agents } = foldTree(numbered([...before, spawned("task", { budget }), spawned("worker", { call: "x" })]));
  const seen = (history: History | undefined) => ({
    parts: [history?.self?.parent, history?.self?.path, history?.self?.name, history?.agent],
    tools: [...(history?.loadedTools ?? [])],
    skills: [...(history?.skills.keys() ?? [])],
    files: [...(history?.deeds ?? [])],
    guides: [...(history?.guides.keys() ?? [])],
    windows: [...(history?.windows ?? [])],
    rest: [history?.isTainted, history?.messages.length, history?.todos.length, history?.budget.set],
    queue: history?.queue.map(({ type: _, at: __, ...message }) => message),
  });
  const both = { guides: ["uploads/AGENTS.md"], windows: [["m", 9_000]] };
  const asked = { mode: "queue", slot: "reasoning", hints: ["code"] };
  assert.deepEqual(seen(agents.get("task")), {
    ...both,
    parts: ["root", ["root", "task"], "task", { role: "writer" }],
    ...{ tools: ["draw", "send_message"], skills: [], files: [] },
    rest: [true, 0, 0, { limits: budget, by: "parent" }],
    queue: [{ ...asked, seq: 11, agent: "task", id: "task-brief", text: "be a task" }],
  });
  assert.deepEqual(seen(agents.get("worker")), {
    ...both,
    parts: ["root", ["root", "worker"], "worker", { role: "writer" }],
    ...{ tools: ["draw"], skills: ["pdf"], files: [["uploads/AGENTS.md", { uploaded: 5 }]] },
    rest: [true, 0, 0, undefined],
    queue: [{ ...asked, seq: 12, agent: "worker", id: "worker-brief", text: "be a worker" }],
  });
});

test("mail is read by the one it is for, never as words of the user, and who waits for it waits no longer [A1]", () => {
  const treeAfter = (...events: readonly NewEvent[]) => foldTree(numbered([...before.slice(0, 2), ...events]));
  const waiting = [spawned("task"), mail("task", { awaits: true })];
  const { root, agents } = treeAfter(...waiting);
  assert.deepEqual([[...root.awaited], root.queue], [["task"], []]);
  const [, got] = agents.get("task")?.queue ?? [];
  assert.deepEqual([got?.text, got?.from, got?.own, got?.agent, got?.mode], ["words", "root", 0, "task", "steer"]);

  const heard = (kind?: "silence" | "more" | "result", more: object = {}) =>
    treeAfter(...waiting, mail("another", { awaits: true }), mail("root", { agent: "task", kind, ...more })).root;
  assert.deepEqual([...heard().awaited], ["another"]);
  assert.deepEqual([...heard("silence").awaited], [], "an answer will never come");
  assert.deepEqual([heard("more").isAskedForMore, heard().isAskedForMore], [true, false]);
  assert.deepEqual([heard("result", { untrusted: true }).isTainted, heard("result").isTainted], [true, false]);
  const [answered] = heard().queue;
  assert.deepEqual([answered?.from, answered?.own, answered?.agent], ["task", 0, undefined]);
  const circle = { kind: "circle", failure: { code: "mail_in_circles", params: {} } } as const;
  const round = treeAfter(...waiting, mail("root", { agent: "task", ...circle })).root;
  assert.deepEqual([round.circles, [...round.circledWith]], [[circle.failure], ["task"]]);
});

test("an agent that has ended is heard of by its parent, once, and does nothing any more; who was stopped knows by whom [A1][L8]", () => {
  const over = (result: string): NewEvent => ({ type: "agent.ended", id: "worker", outcome: "done", result });
  const events = [...before, spawned("worker", { call: "x" }), mail("worker", { awaits: true }), over("1"), over("2")];
  const { root, agents } = foldTree(numbered(events));
  const worker = agents.get("worker");
  assert.deepEqual(
    [root.children.get("worker")?.ended?.result, root.turn?.calls[0]?.worker?.ended?.result, root.awaited.size],
    ["1", "1", 0],
  );
  assert.deepEqual([worker?.isOver, worker?.queue, worker?.turn], [true, [], undefined]);

  const stopped = (...cancels: readonly NewEvent[]) => foldTree(numbered([...before, spawned("task"), ...cancels]));
  const cancel = (more: object): NewEvent => ({ type: "cancel.asked", turn: 1, ...more });
  const byAgent = stopped(cancel({ agent: "task", by: "root" }), cancel({ agent: "task" }));
  assert.deepEqual(byAgent.agents.get("task")?.ending, { by: "root" });
  assert.equal(byAgent.root.turn?.cancelAsked, false);
  assert.deepEqual(
    [1, 2].map((turn) => stopped(cancel({ turn })).root.turn?.cancelAsked),
    [true, false],
    "of an earlier or a later turn it says nothing",
  );
});

test("with its turn agents, what they wrote and what was asked go; what people sent waits on [A1][L7]", () => {
  const events: NewEvent[] = [
    ...[...before, spawned("task"), mail("root", { agent: "task" }), mail("task", { awaits: true })],
    { type: "message.user", id: "b", text: "and then?", mode: "queue" },
    { type: "agent.spawned", id: "h", mode: "handoff", role: "other", brief: "go on" },
  ];
  const open = foldHistory(numbered(events));
  assert.deepEqual([open.queue.length, open.children.size, open.stack.length, open.mails.size], [2, 1, 1, 1]);
  const rest = foldHistory(numbered([...events, { type: "turn.finished", turn: 1, outcome: "done" }]));
  assert.deepEqual(
    [rest.queue.map(({ id }) => id), rest.children.size, rest.stack.length, rest.mails.size, rest.awaited.size],
    [["b"], 0, 0, 0, 0],
  );
});

test("each name of a conversation's agent is that of the first caller who gave one, and its role never changes [S5][C1]", () => {
  const chosen = { type: "agent.chosen", seq: 1, at: 0 } as const;
  const first = agentAfter(undefined, { ...chosen, role: "a", agentId: "one" });
  assert.deepEqual(first, { role: "a", agentId: "one" });
  assert.deepEqual(agentAfter(first, { ...chosen, role: "b", agentId: "two", agentKey: "key", appKey: "app" }), {
    ...{ role: "a", agentId: "one", agentKey: "key", appKey: "app" },
  });
});

const inTurn: readonly NewEvent[] = [
  { type: "message.user", id: "a", text: "go", mode: "queue" },
  { type: "turn.started", turn: 1, message: "a", epoch: 1 },
];
const spawnedAs = (id: string, more: object = {}): NewEvent => ({
  ...{ type: "agent.spawned", id, mode: "task", role: "writer", brief: `be ${id}`, ...more },
});
const treeOf = (...events: readonly NewEvent[]) => foldTree(numbered([...inTurn, ...events]));
const agentOf = (tree: ReturnType<typeof foldTree>, id: string) => tree.agents.get(id) ?? assert.fail(id);

test("an agent whose parent has read nothing from outside has read nothing either, and of files it knows that they were sent [A2][R1]", () => {
  const state = { hash: "h", bytes: 1, mode: 0o644 };
  const tree = treeOf(
    { type: "file.changed", path: "uploads/a.csv", by: "upload", after: state },
    { type: "file.known", path: "uploads/a.csv", hash: "h" },
    ...[step(1), answer(1, ["x"]), spawnedAs("w", { mode: "worker", call: "x" }), spawnedAs("t", { call: "x" })],
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

const mailed = (seq: number, more: Partial<EventOf<"agent.mailed">> = {}): EventOf<"agent.mailed"> => ({
  ...{ type: "agent.mailed", seq, at: 0, to: "b", id: `m${seq}`, text: "words", words: `w${seq}`, ...more },
});
test("of the mail with each other agent the newest twelve are kept, in the order of the log [R1][A1]", () => {
  const kept = noCorrespondence();
  for (const seq of [2, 1, ...Array.from({ length: 11 }, (_, index) => index + 3)]) noteMail(kept, "root", mailed(seq));
  noteMail(kept, "root", mailed(20, { agent: "c", to: "root" }));
  noteMail(kept, "root", mailed(21, { kind: "silence" }));
  assert.deepEqual(
    [...kept.mails].map(([other, mails]) => [other, mails.map(({ from, words, seq }) => `${from} ${words} ${seq}`)]),
    [
      ["b", Array.from({ length: 12 }, (_, index) => `root w${index + 2} ${index + 2}`)],
      ["c", ["c w20 20"]],
    ],
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, numbered, step } from "../../test/world/any-log.ts";
import { talkOf } from "../../test/world/talk.ts";
import type { EventBody, NewEvent } from "../protocol/events.ts";
import { decidedOn } from "./decision-record.ts";
import { foldHistory, foldTree, insertEvents } from "./history.ts";

const said = (id: string, more: object = {}): NewEvent => ({
  ...{ type: "message.user", id, text: id, mode: "queue", ...more },
});
const started: NewEvent = { type: "turn.started", turn: 1, message: "a", epoch: 1 };
const begun = [said("a"), started];
const after = (...events: readonly NewEvent[]) => foldHistory(numbered([...begun, ...events]));
const result = (call: string, more: object = {}): NewEvent => ({
  ...{ type: "call.finished", call, outcome: "ok", text: call, ...more },
});
const asked = (id: string, more: object = {}): NewEvent => ({
  ...{ type: "decision.asked", turn: 1, id, call: "x", kind: "approval", tool: "look", ...more },
});
const made = (id: string, more: object = {}): NewEvent => ({
  ...{ type: "decision.made", id, verdict: "approve", by: "me", argumentsHash: "", previous: "", hash: id, ...more },
});

test("a conversation has read text from outside with the text of a file, a server's prompt or such a result, and not by the name of a file [R1]", () => {
  const isTainted = (more: object, ...events: readonly NewEvent[]) =>
    foldHistory(numbered([said("a", more), started, step(1), answer(1, ["x"]), ...events])).isTainted;
  const file = { path: "uploads/a.csv", name: "a.csv", type: "csv", bytes: 3 };
  assert.deepEqual(
    [
      ...[{}, { files: [file] }, { files: [file, { ...file, hash: "h" }] }, { untrusted: true, own: 1 }].map((more) =>
        isTainted(more),
      ),
      ...[isTainted({}, result("x")), isTainted({}, result("x", { untrusted: true }))],
    ],
    [false, false, true, true, false, true],
  );
});

test("what was decided for another agent decides nothing here, though the next decision follows it [H2][A1]", () => {
  const open = [step(1), answer(1, ["x"]), asked("d")];
  const others = after(...open, made("e"), made("d", { agent: "t", hash: "theirs" }));
  assert.deepEqual([others.decisions.get("d")?.made, others.decided, others.lastDecision], [undefined, [], "theirs"]);
  const own = after(...open, made("d"), made("d", { verdict: "reject", hash: "late" }));
  assert.deepEqual([own.turn?.calls[0]?.decision?.made?.verdict, own.decided.length], ["approve", 1]);
});

const ended = (outcome: "done" | "failed" = "done"): NewEvent => ({ type: "turn.finished", turn: 1, outcome });
const image = { mime: "image/png", base64: "AA==" } as const;
const handedOver = (id: string): NewEvent => ({
  ...{ type: "agent.spawned", id, mode: "handoff", role: id, brief: `be ${id}` },
});

test("room that was made is counted once the provider refused, but for what a person or the agent wanted [Z2]", () => {
  const made = (more: object = {}): NewEvent => ({
    ...{ type: "compacted", turn: 1, strategy: "compact", upTo: 0, summary: "", messagesBefore: 1, messagesAfter: 1 },
    ...more,
  });
  const refused: NewEvent = {
    ...{ type: "step.failed", turn: 1, step: 1, attempt: 1, kind: "context_overflow" },
    failure: { code: "x", params: {} },
  };
  const seen = (...events: readonly NewEvent[]) => {
    const { turn } = after(step(1), ...events);
    return [turn?.isOverflown, turn?.compactions];
  };
  assert.deepEqual(
    [seen(refused), seen(refused, made()), seen(refused, made({ by: "tool" })), seen(made({ by: "person" }), made())],
    [
      [true, 0],
      [false, 1],
      [false, 0],
      [false, 1],
    ],
  );
  // What came later than the summary stays behind it.
  assert.deepEqual(
    after(made({ summary: "before" })).messages.map(({ text }) => text),
    ["before", "a"],
  );
});

test("a decision is about the edited arguments, those that were shown, or the question [H2]", () => {
  const asked = { type: "decision.asked", turn: 1, id: "d", call: "x", kind: "approval", tool: "pay" } as const;
  assert.deepEqual(
    [
      decidedOn({ ...asked, arguments: "5" }, { arguments: "4" }),
      decidedOn({ ...asked, arguments: "5" }, {}),
      decidedOn({ ...asked, question: "Which?" }, {}),
      decidedOn(asked, {}),
    ],
    ["4", "5", "Which?", ""],
  );
});

test("who the user is handed over to reads what to do when the calls have their results, and is done with all behind them [A1]", () => {
  const told = ({ stack, messages }: ReturnType<typeof after>) => [
    stack.map(({ id, isActing }) => `${id} ${isActing}`),
    messages.slice(2).map(({ role, text }) => `${role} ${text}`),
  ];
  const open = [step(1), answer(1, ["x"]), handedOver("h")];
  assert.deepEqual(told(after(...open)), [["h false"], []]);
  assert.deepEqual(told(after(...open, handedOver("h"), result("x"))), [["h true"], ["tool x", "user be h"]]);
  const both = [...open, handedOver("i"), result("x")];
  assert.deepEqual(told(after(...both))[0], ["h true", "i true"]);
  const done = (id: string): NewEvent => ({ type: "agent.ended", id, outcome: "done" });
  assert.deepEqual(told(after(...both, done("i")))[0], ["h true"]);
  assert.deepEqual(told(after(...both, done("h")))[0], []);
  assert.deepEqual(told(after(...both, done("j")))[0], ["h true", "i true"]);
});

test("whatever others may append at any time is taken in afterwards, and nothing of a turn of its own is [L2]", () => {
  const others: readonly NewEvent[] = [
    said("a", { id: "b" }),
    { type: "cancel.asked", turn: 1 },
    { type: "agent.chosen", role: "writer" },
    { type: "agent.mailed", agent: "t", to: "root", id: "m", text: "words" },
    { type: "agent.ended", id: "t", outcome: "done" },
    { type: "tool.loaded", tool: "draw" },
    { type: "budget.set", limits: { tokens: 5 }, by: "person" },
    { type: "conversation.renamed", title: "x" },
    { type: "file.changed", path: "f", by: "upload" },
    { type: "file.changed", path: "f", by: "person" },
    { type: "file.changed", path: "f", by: "tool", agent: "t" },
  ];
  const own: readonly NewEvent[] = [
    { type: "file.changed", path: "f", by: "tool" },
    { type: "decision.made", id: "d", verdict: "approve", by: "me", argumentsHash: "h", previous: "" },
    { type: "todo.set", todos: [] },
    step(1),
    ended(),
  ];
  const isTaken = (event: NewEvent) => insertEvents(after(), 1, [{ ...event, seq: 2, at: 0 }]);
  assert.deepEqual([others.filter((event) => !isTaken(event)), own.filter(isTaken)], [[], []]);
});

test("whose agent a conversation is stays however far one goes back, and which tools were loaded there does not [S5][L9]", () => {
  const chosen: NewEvent = { type: "agent.chosen", role: "writer", agentId: "one" };
  const events: NewEvent[] = [
    ...[said("a"), chosen, started, { type: "tool.loaded", tool: "draw" } as const, ended()],
    { type: "rewound", to: 1, cause: "undo" },
  ];
  for (const { agent, loadedTools, queue } of [foldHistory(numbered(events)), foldTree(numbered(events)).root]) {
    assert.deepEqual([agent, loadedTools.size], [{ role: "writer", agentId: "one" }, 0]);
    assert.deepEqual(
      queue.map(({ id }) => id),
      ["a"],
      "the event that is gone back to is there itself",
    );
  }
});

test("a window that was taken for smaller is what it is again once its provider counts more than that [Z1][Z2]", () => {
  const talk = talkOf([{ said: "hello", steps: [["looked"]] }]); // By model m.
  const answer = (input: number) =>
    ({
      type: "message.assistant",
      ...{ turn: 1, step: 1, text: "yes", usage: { input, output: 1 }, durationMs: 1 },
      finish: "stop",
    }) as const;
  talk.add({
    type: "compacted",
    ...{ turn: 1, strategy: "trim", upTo: 0, summary: "", messagesBefore: 2, messagesAfter: 2 },
    window: { model: "m", tokens: 2_800 },
  });
  talk.history.windows.set("another", 1_000);
  const both = [...talk.history.windows];
  talk.add(answer(2_700));
  assert.deepEqual([...talk.history.windows], both);
  talk.add({ ...answer(3_700), usageEstimated: true });
  assert.deepEqual([...talk.history.windows], both, "an estimate of ours shows nothing");
  talk.add(answer(3_700));
  assert.deepEqual([...talk.history.windows], [["another", 1_000]], "of another model it says nothing");
});

const room = (more: Partial<EventBody<"compacted">> = {}): NewEvent => ({
  ...{ type: "compacted", turn: 1, strategy: "compact", upTo: 0, summary: "", messagesBefore: 9, messagesAfter: 1 },
  ...more,
});

test("after room was made the window holds what was estimated then, over all messages that are left, and nothing is known where nobody estimated [Z1][Z2]", () => {
  const before = [step(1), answer(1, [])];
  assert.deepEqual(after(...before, room({ tokensAfter: 70 })).counted, {
    ...{ usage: { input: 70, output: 0 }, estimated: true, messages: 2 },
  });
  const short = room({ upTo: 4, summary: "in short", tokensAfter: 30 });
  assert.deepEqual(after(...before, short).counted, {
    ...{ usage: { input: 30, output: 0 }, estimated: true, messages: 1 },
  });
  assert.equal(after(...before, room()).counted, undefined);
});

test("what stands for messages that were left out is nobody's own words, and what was told in other ways counts on [Z2][R1]", () => {
  const told = ["date:2026-11-18", "memory:m", "todos:", "budget:tokens 9 0"];
  const {
    messages,
    seqs,
    told: left,
  } = after(step(1, { told }), answer(1, []), room({ upTo: 4, summary: "in short" }));
  assert.deepEqual(messages, [{ role: "user", text: "in short", own: 0 }]);
  assert.deepEqual(seqs, [4]);
  assert.deepEqual([...left.keys()], ["todos", "budget"]);
  const trimmed = after(step(1, { told }), answer(1, []), room({ trims: [{ seq: 2, text: "x" }] }));
  assert.equal(trimmed.told.size, 4, "where all messages are still there, so is what they told");
});

test("a message that is shortened has no reminder behind it any more, and a result stays that of its call and its file [Z2][L5]", () => {
  const file = "temp/results/1-look.txt";
  const result: NewEvent = { type: "call.finished", call: "x", outcome: "ok", text: "long", images: [image], file };
  const open = [step(1, { reminder: " [told]" }), answer(1, ["x"]), result];
  const { messages } = after(
    ...open,
    room({
      trims: [
        { seq: 2, text: "A" },
        { seq: 5, text: "l…" },
      ],
    }),
  );
  const [first, , last] = messages;
  assert.deepEqual(first, { role: "user", text: "A", images: undefined });
  assert.deepEqual(last, { role: "tool", toolCallId: "x", text: "l…", images: undefined, file });
  const whole = after(...open).messages;
  assert.deepEqual(whole[0], { role: "user", text: "a [told]", images: undefined, reminder: 7 });
  assert.deepEqual(whole[2], { role: "tool", toolCallId: "x", text: "long", images: [image], file });
});

const startedTurn = (turn: number, message: string): NewEvent => ({ type: "turn.started", turn, message, epoch: 1 });
const decided = (agent?: string): NewEvent => ({
  ...{ type: "decision.made", id: "d", verdict: "approve", by: "me", argumentsHash: "h", previous: "" },
  ...(agent === undefined ? {} : { agent }),
});

test("after going back every agent's next decision follows the last one of the log, and what agents spent is theirs [H2][A4][L9]", () => {
  const { root, agents } = foldTree(
    numbered([
      ...[said("a"), startedTurn(1, "a")],
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

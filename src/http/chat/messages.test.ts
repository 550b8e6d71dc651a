import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { write } from "../../../test/world/any-log.ts";
import { ChatMessage } from "../../protocol/chat.ts";
import type { LogEvent, NewEvent } from "../../protocol/events.ts";
import { ConversationId, localOwner } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { chatMessages, newestMessage, standingOf } from "./messages.ts";

const conversation: ConversationRow = {
  ...{ number: 1, owner: localOwner, id: ConversationId.parse("c"), title: "", lastMessage: "", turns: 0, cursor: "1" },
  ...{ origin: "person", isPassing: false, agentId: undefined, appKey: undefined, readIndex: 0 },
  ...{ isPinned: false, seenAt: undefined },
  ...{ createdAt: 1, updatedAt: 1, deletedAt: undefined },
};
const usage = { input: 10, output: 2 };
const said = (id: string, text = id): NewEvent => ({ type: "message.user", id, text, mode: "queue" });
const turn = (number: number, message: string, text: string): NewEvent[] => [
  { type: "turn.started", turn: number, message, epoch: 1 },
  {
    ...{ type: "step.started", turn: number, step: 1, attempt: 1, slot: "base", model: "m", reason: "r" },
    ...{ hash: "", bytes: 0, reused: 0 },
  },
  { type: "message.assistant", turn: number, step: 1, text, finish: "stop", usage, durationMs: 1 },
  { type: "turn.finished", turn: number, outcome: "done" },
];
const numbered = (events: readonly NewEvent[]): LogEvent[] =>
  events.map((event, index) => ({ ...event, seq: index + 1, at: 1_000 + index }));

const shown = (events: readonly LogEvent[]) =>
  chatMessages(events, conversation, "en").map((row) => {
    const content = JSON.parse(row.content);
    const text: unknown = row.origin === "user" ? content.text : content.final_answer.answer.text;
    return [row.index, row.id, row.status, row.run_state, text];
  });

/** What the conversation itself says of its newest message. */
function standing(rows: readonly ChatMessage[]) {
  const { index, status, run_state } = standingOf(rows) ?? {};
  return index === undefined ? undefined : { index, status, run_state };
}

test("messages come as question and answer with their places, also those that wait, steer or were withdrawn [C4]", () => {
  const events = numbered([
    said("a"),
    ...turn(1, "a", "to a"),
    said("b"),
    { type: "turn.started", turn: 2, message: "b", epoch: 1 },
    { type: "message.user", id: "s", text: "faster", mode: "steer" },
    said("c"),
    said("d"),
    { type: "message.withdrawn", id: "c" },
  ]);
  const replyOf = (id: string) => chatMessages(events, conversation, "en").find((row) => row.reply_id === id)?.id;
  assert.deepEqual(shown(events), [
    [1, "a", "processed", "", "a"],
    [2, replyOf("a"), "succeded", "", "to a"],
    [3, "b", "processed", "", "b"],
    [4, replyOf("b"), "processing", "running", ""],
    [5, "s", "processed", "", "faster"],
    [8, "d", "received", "", "d"],
    [9, replyOf("d"), "processing", "queued", ""],
  ]);
  assert.match(replyOf("a") ?? "", /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("a question said again keeps its id and its place, and so does its answer [C4]", () => {
  const before = numbered([said("a"), ...turn(1, "a", "to a"), said("b"), ...turn(2, "b", "to b")]);
  const again = numbered([
    said("a"),
    ...turn(1, "a", "to a"),
    { type: "rewound", to: 5, cause: "edit" },
    said("b", "b, but better"),
    ...turn(3, "b", "to b, better"),
  ]);
  const waited = numbered([
    said("a"),
    said("b"),
    ...turn(1, "a", "to a"),
    { type: "rewound", to: 6, cause: "regenerate" },
    { type: "message.withdrawn", id: "b" },
    said("b"),
    ...turn(3, "b", "to b, better"),
  ]);
  const places = (events: readonly LogEvent[]) => shown(events).map(([index, id]) => [index, id]);
  assert.deepEqual(places(again), places(before));
  assert.deepEqual(places(waited), places(before));
  assert.deepEqual(shown(again).at(-1)?.at(-1), "to b, better");
});

test("a message that came too late to join a turn begins the next one, and its answer is shown [C4][L7]", () => {
  const late: NewEvent = { type: "message.user", id: "s", text: "faster", mode: "steer" };
  const events = numbered([said("a"), ...turn(1, "a", "to a"), late, said("b"), ...turn(2, "s", "to s")]);
  const rows = shown(events).map(([index, , status, , text]) => [index, status, text]);
  assert.deepEqual(rows, [
    [1, "processed", "a"],
    [2, "succeded", "to a"],
    [3, "processed", "faster"],
    [4, "succeded", "to s"],
    [5, "received", "b"],
    [6, "processing", ""],
  ]);
});

test("how a turn ended is told of its answer, by the list as well [C4]", () => {
  const outcomes = ["done", "limit", "failed", "crashed", "cancelled"] as const;
  const told = outcomes.map((outcome) => {
    const { asked, ...events } = helped;
    const log = numbered([said("a"), events.started, asked("d1"), { type: "turn.finished", turn: 1, outcome }]);
    const rows = chatMessages(log, conversation, "en");
    assert.deepEqual(newestMessage(log, conversation), standing(rows));
    return [rows[1]?.status, rows[1]?.run_state, rows[1]?.update_time];
  });
  assert.deepEqual(
    told,
    ["succeded", "succeded", "failed", "failed", "cancelled"].map((status) => [status, "", 1_003]),
  );
});

/** Events of a turn in which a helper works, who counts turns of its own. */
const helped = {
  started: { type: "turn.started", turn: 1, message: "a", epoch: 1 } satisfies NewEvent,
  work: [
    { type: "turn.started", agent: "h1", turn: 1, message: "h1-brief", epoch: 1 },
    {
      ...{ type: "message.assistant", agent: "h1", turn: 1, step: 1, text: "mine", finish: "stop", usage },
      durationMs: 1,
    },
  ] satisfies NewEvent[],
  asked: (id: string, agent = "h1"): NewEvent => ({
    ...{ type: "decision.asked", agent, turn: 1, id, call: "c1", kind: "approval", tool: `pay ${agent}` },
  }),
  made: (id: string): NewEvent => ({
    ...{ type: "decision.made", agent: "h1", id, verdict: "approve", by: "me", argumentsHash: "", previous: "" },
  }),
  finished: { type: "turn.finished", agent: "h1", turn: 1, outcome: "failed" } satisfies NewEvent,
  ended: { type: "agent.ended", id: "h1", outcome: "failed" } satisfies NewEvent,
};

test("what helpers do changes nothing of a message but what they ask, until it is answered or they end [A2][C4]", () => {
  const { started, work, asked, made, finished, ended } = helped;
  const states: unknown[] = [];
  const log: NewEvent[] = [said("a"), started];
  const look = (...more: NewEvent[]) => {
    log.push(...more);
    const events = numbered(log);
    const rows = chatMessages(events, conversation, "en");
    assert.deepEqual(newestMessage(events, conversation), standing(rows));
    const { content, ext, run_state, status } = rows[1] ?? assert.fail("there is an answer");
    const { interrupt_info } = JSON.parse(ext);
    const { final_answer, middle_answer } = JSON.parse(content);
    assert.deepEqual(
      [rows.length, final_answer.answer.text, middle_answer.progress, status],
      [2, "", [], "processing"],
    );
    states.push([run_state, interrupt_info?.data.tool_name]);
    const behind = numbered([...log, said("b")]);
    const asking = run_state === "waiting_approval" ? run_state : "queued";
    assert.deepEqual(newestMessage(behind, conversation), { index: 4, status: "processing", run_state: asking });
  };
  look(...work);
  look(asked("d1"), asked("d2", "h2"), asked("d3"));
  look(made("d1"));
  look(finished);
  look(ended);
  // Of a helper's helper, which its own parent has ended.
  look({ type: "agent.ended", agent: "h1", id: "h2", outcome: "terminated" });
  assert.deepEqual(states, [
    ["running", undefined],
    ["waiting_approval", "pay h1"],
    ["waiting_approval", "pay h2"],
    ["waiting_approval", "pay h2"],
    ["waiting_approval", "pay h2"],
    ["running", undefined],
  ]);
});

test("what a user selected stands in the message, and words put behind it for the model do not [C2][C4]", () => {
  const root = "/workspace/c/uploads/temparea/";
  const selected = { root, session: "sess-local", files: [`${root}data.csv`] };
  const event: NewEvent = {
    type: "message.user",
    id: "a",
    text: "sum it up\n\n<files>",
    own: 9,
    mode: "queue",
    selected,
  };
  const [row] = chatMessages(numbered([event]), conversation, "en");
  assert.deepEqual(row?.content_json, { text: "sum it up", selected_files: [{ file_name: `${root}data.csv` }] });
  assert.equal(row?.content, JSON.stringify(row?.content_json));
});

test("any log gives the same messages twice, in order and in their form [C4]", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000), { maxLength: 120, size: "max" }), (chosen) => {
      const { events } = write(chosen.filter((n) => n % 23 !== 0));
      const rows = chatMessages(events, conversation, "en");
      assert.deepEqual(ChatMessage.array().parse(rows), rows);
      assert.equal(JSON.stringify(chatMessages(structuredClone(events), conversation, "en")), JSON.stringify(rows));
      const indexes = rows.map(({ index }) => index);
      assert.deepEqual(
        indexes,
        indexes.toSorted((a, b) => a - b),
      );
      assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length);
      assert.equal(new Set(indexes).size, rows.length);
      assert.deepEqual(newestMessage(events, conversation), standing(rows), "the list says the same of it");
    }),
    { numRuns: 100 },
  );
});

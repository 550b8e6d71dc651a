import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { write } from "../../../test/world/any-log.ts";
import { writtenTurn } from "../../../test/world/written-turn.ts";
import { ChatMessage } from "../../protocol/chat.ts";
import type { LogEvent, NewEvent } from "../../protocol/events.ts";
import { ConversationId, localOwner } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { chatPlaces } from "./message-numbers.ts";
import { chatMessages, newestMessage, standingOf } from "./messages.ts";
import { openNewestMessages } from "./newest-messages.ts";
import { OwnEvents } from "./own-events.ts";
import { liveliest, saidMessages } from "./said-messages.ts";

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

/** Of an event only what places a message. */
type Told = readonly [type: LogEvent["type"], of?: object];

function logged(...told: readonly Told[]): LogEvent[] {
  return told.map(([type, of], index) => ({ type, seq: index + 1, at: (index + 1) * 1_000, ...of }) as LogEvent);
}

const row = { id: "c", owner: "ann", agentId: "writer" } as ConversationRow;
const message = (id: string, of: object = {}): Told => ["message.user", { id, text: id, mode: "queue", ...of }];

test("a message that joins a turn is answered where it begins one of the main agent's, and not where it was withdrawn [C4][L7]", () => {
  const steering = { mode: "steer" };
  const places = chatPlaces(
    logged(
      ...[message("a", steering), message("b", steering), message("c", steering), message("d")],
      ["turn.started", { turn: 1, message: "a" }],
      ["turn.started", { turn: 1, message: "b", agent: "helper" }],
      ["message.withdrawn", { id: "c" }],
      ["message.withdrawn", { id: "d" }],
    ),
    row,
  );
  assert.deepEqual(
    places.map(({ message, isAnswered, isWithdrawn }) => [message.id, isAnswered, isWithdrawn]),
    [
      ["a", true, false],
      ["b", false, false],
      ["c", false, true],
      ["d", false, true],
    ],
  );
});

test("a message has the agent that the conversation has when it is said, by its id where it has one [C4][S5]", () => {
  const agents = (chosen: object) =>
    chatPlaces(logged(message("a"), ["agent.chosen", chosen], message("b")), row).map(({ agent }) => agent);
  const before = { id: "writer", name: "general" };
  assert.deepEqual(agents({ role: "simple", agentId: "painter" }), [before, { id: "painter", name: "simple" }]);
  assert.deepEqual(agents({ role: "simple" }), [before, { id: "simple", name: "simple" }]);
});

test("who steers a turn that asks a person is told so by the list, and an answer is as old as its last change [C4][H2]", () => {
  const turn: readonly Told[] = [
    message("a"),
    ["turn.started", { turn: 1, message: "a" }],
    ["step.started", { turn: 1, step: 1, attempt: 1 }],
    ["message.assistant", { turn: 1, step: 1, text: "", usage: { input: 1, output: 1 }, calls: [] }],
    ["decision.asked", { turn: 1, id: "d", call: "c1", kind: "approval", tool: "look" }],
    ["todo.set", { items: [] }],
    message("s", { mode: "steer" }),
  ];
  const events = logged(...turn);
  assert.deepEqual(newestMessage(events, row), { index: 3, status: "processed", run_state: "waiting_approval" });
  assert.deepEqual(
    chatMessages(events, row, "en")
      .map(({ id, update_time }) => [id, update_time])
      .slice(0, 2),
    [
      ["a", 1_000],
      [chatPlaces(events, row)[0]?.reply, 5_000],
    ],
  );
});
const saidWithReply = (id: string): NewEvent => ({
  type: "message.user",
  id,
  text: id,
  mode: "queue",
  reply: `to ${id}`,
});
const started = (turn: number, message: string): NewEvent => ({ type: "turn.started", turn, message, epoch: 1 });
const finished = (turn: number): NewEvent => ({ type: "turn.finished", turn, outcome: "done" });
const asked = (id: string, turn: number, agent?: string): NewEvent => ({
  ...{ type: "decision.asked", turn, id, call: "c1", kind: "approval", tool: "pay" },
  ...(agent === undefined ? {} : { agent }),
});
const look = (...written: readonly NewEvent[]) => {
  const events = written.map((event, index): LogEvent => ({ ...event, seq: index + 1, at: 1_000 }));
  return saidMessages({ headOf: async () => events.length, effective: async () => events }, conversation);
};

test("what a helper asks is asked in the turn that is open, whatever it counts as its own [A2][H2]", async () => {
  const { all, ofDecision, verdictOn } = await look(
    ...[saidWithReply("a"), started(1, "a"), asked("d1", 1), finished(1), saidWithReply("b"), started(2, "b")],
    { type: "turn.started", agent: "h1", turn: 1, message: "h1-brief", epoch: 1 },
    asked("d2", 1, "h1"),
    { type: "turn.finished", agent: "h1", turn: 1, outcome: "done" },
    { type: "decision.made", agent: "h1", id: "d2", verdict: "reject", by: "me", argumentsHash: "", previous: "" },
    ...[asked("d3", 2), saidWithReply("c")],
  );
  assert.deepEqual(
    all.map(({ message, state, turn }) => [message.id, state, turn]),
    [
      ["a", "ended", 1],
      ["b", "open", 2],
      ["c", "queued", undefined],
    ],
  );
  assert.deepEqual(
    ["d1", "d2", "d3", "d4"].map((id) => [ofDecision(id)?.reply, verdictOn(id)]),
    [
      ["to a", undefined],
      ["to b", "reject"],
      ["to b", undefined],
      [undefined, undefined],
    ],
  );
});

test("of several turns under one name the one that runs is meant, else the first that waits, else the newest [C4]", async () => {
  const names = async (...written: readonly NewEvent[]) => liveliest((await look(...written)).all)?.message.id;
  const [first, second] = [
    [saidWithReply("a"), started(1, "a"), finished(1)],
    [saidWithReply("b"), started(2, "b")],
  ];
  assert.equal(await names(...first, ...second, saidWithReply("c"), saidWithReply("d")), "b");
  assert.equal(await names(...first, saidWithReply("c"), saidWithReply("d")), "c");
  assert.equal(await names(...first, ...second, finished(2)), "b");
  assert.equal(await names(), undefined);
});

const first = { turn: 1, message: "first" };
const own = { turn: 2, message: "own" };

test("of all that happens in a conversation a message has its own turn alone, with what helpers ask in it [C3][A2][L7]", () => {
  const events = new OwnEvents("own");
  const before = events.take(
    logged(
      ["message.user", { id: "first" }],
      ["turn.started", first],
      ["message.user", { id: "own" }],
      ["decision.asked", { turn: 1, id: "d0", call: "c0" }],
      ["decision.asked", { turn: 7, id: "h0", call: "c0", agent: "helper" }],
      ["decision.made", { id: "d0" }],
      ["agent.ended", { id: "helper" }],
      ["todo.set"],
      ["file.changed", { call: "c0" }],
      ["call.finished", { call: "c0" }],
      ["message.withdrawn", { id: "another" }],
      ["turn.finished", { turn: 1, outcome: "done" }],
    ),
  );
  assert.deepEqual([before.map(({ seq }) => seq), events.isStarted, events.ended], [[3], false, undefined]);
  const during = events.take(
    logged(
      ["turn.started", own],
      ["step.started", { turn: 2, step: 1, attempt: 1 }],
      ["step.started", { turn: 2, step: 1, attempt: 1, agent: "helper" }],
      ["message.assistant", { turn: 2, calls: [{ id: "c1" }] }],
      ["call.started", { call: "c1" }],
      ["call.finished", { call: "c0" }],
      ["file.changed", { call: "c1" }],
      ["file.changed"],
      ["todo.set"],
      ["decision.asked", { turn: 7, id: "h1", call: "c0", agent: "helper" }],
      ["decision.made", { id: "d0" }],
      ["decision.made", { id: "h1" }],
      ["agent.ended", { id: "helper" }],
      ["decision.asked", { turn: 8, id: "h2", call: "c0", agent: "helper" }],
      ["agent.ended", { id: "another" }],
      ["agent.ended", { id: "helper" }],
      ["turn.finished", { turn: 2, outcome: "limit" }],
      ["conversation.deleted"],
    ),
  );
  assert.deepEqual([during.map(({ seq }) => seq), events.ended], [[1, 2, 4, 5, 7, 9, 10, 12, 14, 16, 17], "limit"]);
});

test("a turn asks when a question is open and nothing is being written, whoever of it asks [C3][H2]", () => {
  const events = new OwnEvents("own");
  const isAskingAfter = (...told: Told) => {
    events.take(logged(told));
    return events.isAsking;
  };
  const asked = { turn: 2, id: "d", call: "c1" };
  assert.deepEqual(
    [
      isAskingAfter("turn.started", own),
      isAskingAfter("step.started", { turn: 2, step: 1, attempt: 1 }),
      isAskingAfter("decision.asked", { ...asked, turn: 7, agent: "helper" }),
      isAskingAfter("message.assistant", { turn: 2, calls: [{ id: "c1" }] }),
      isAskingAfter("decision.asked", { ...asked, id: "anew", instead: "d" }),
      isAskingAfter("decision.made", { id: "anew" }),
    ],
    [false, false, false, true, true, false],
  );
});

test("a message that joins a turn has the rest of that, and one that a way back leaves behind is lost until it is said again [C3][L7][L9]", () => {
  const joined = new OwnEvents("own");
  const told = joined.take(
    logged(
      ["turn.started", first],
      ["message.user", { id: "own" }],
      ["step.started", { turn: 1, step: 2, attempt: 1, joined: ["own"] }],
      ["turn.finished", { turn: 1, outcome: "done" }],
    ),
  );
  assert.deepEqual([told.map(({ seq }) => seq), joined.ended], [[2, 3, 4], "done"]);
  const waiting = new OwnEvents("own");
  waiting.take(logged(["turn.started", first], ["message.user", { id: "own" }], ["rewound", { to: 2 }]));
  assert.equal(waiting.isLost, false);
  waiting.take(logged(["rewound", { to: 1 }]));
  assert.equal(waiting.isLost, true);
  waiting.take(logged(["message.user", { id: "own" }]));
  assert.equal(waiting.isLost, false);
});

test("the newest message of a conversation is read again when its log has grown, and not before [C4]", async () => {
  await using yard = await writtenTurn();
  const { conversation, log } = yard.view;
  let reads = 0;
  const newestOf = openNewestMessages({
    headOf: log.headOf,
    effective(...asked) {
      reads += 1;
      return log.effective(...asked);
    },
  });
  assert.deepEqual([await newestOf(conversation), await newestOf(conversation), reads], [undefined, undefined, 1]);
  await yard.append(said("a"));
  const queued = { index: 2, status: "processing", run_state: "queued" };
  assert.deepEqual([await newestOf(conversation), await newestOf(conversation), reads], [queued, queued, 2]);
  await yard.append(started(1, "a"));
  assert.deepEqual([await newestOf(conversation), reads], [{ ...queued, run_state: "running" }, 3]);
});

test("of ten thousand conversations it is remembered, and the one that was asked for longest ago is forgotten first [C4][Q2]", async () => {
  await using yard = await writtenTurn();
  const { conversation } = yard.view;
  const read: number[] = [];
  const newestOf = openNewestMessages({
    headOf: async () => 1,
    async effective(number) {
      read.push(number);
      return [];
    },
  });
  const ask = (number: number) => newestOf({ ...conversation, number });
  for (let number = 1; number <= 10_000; number += 1) await ask(number);
  await ask(1);
  await ask(10_001);
  assert.deepEqual([read.splice(0).length, await ask(1), await ask(3)], [10_001, undefined, undefined]);
  assert.deepEqual(read, [], "of one too many the others are remembered");
  await ask(2);
  assert.deepEqual(read, [2]);
});

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

test("a message has the agent that the conversation has when it is said, by its id where it has one [C4][S5]", () => {
  const agents = (chosen: object) =>
    chatPlaces(logged(message("a"), ["agent.chosen", chosen], message("b")), row).map(({ agent }) => agent);
  const before = { id: "writer", name: "general" };
  assert.deepEqual(agents({ role: "simple", agentId: "painter" }), [before, { id: "painter", name: "simple" }]);
  assert.deepEqual(agents({ role: "simple" }), [before, { id: "simple", name: "simple" }]);
});

const started = (turn: number, message: string): NewEvent => ({ type: "turn.started", turn, message, epoch: 1 });

const first = { turn: 1, message: "first" };

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

import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEvent } from "../../protocol/events.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { chatPlaces } from "./message-numbers.ts";
import { chatMessages, newestMessage } from "./messages.ts";

/** Of an event only what places a message. */
type Told = readonly [type: LogEvent["type"], of?: object];

function logged(...told: readonly Told[]): LogEvent[] {
  return told.map(([type, of], index) => ({ type, seq: index + 1, at: (index + 1) * 1_000, ...of }) as LogEvent);
}

const row = { id: "c", owner: "ann", agentId: "writer" } as ConversationRow;
const said = (id: string, of: object = {}): Told => ["message.user", { id, text: id, mode: "queue", ...of }];

test("a message that is said again keeps its place, and the next one comes behind all others [C4]", () => {
  const places = chatPlaces(
    logged(said("a"), said("b"), said("a"), said("c"), said("brief", { agent: "helper" }), said("d")),
    row,
  );
  assert.deepEqual(
    places.map(({ message, index }) => [message.id, index]),
    [
      ["a", 1],
      ["b", 3],
      ["c", 5],
      ["d", 7],
    ],
  );
});

test("a message that joins a turn is answered where it begins one of the main agent's, and not where it was withdrawn [C4][L7]", () => {
  const steering = { mode: "steer" };
  const places = chatPlaces(
    logged(
      ...[said("a", steering), said("b", steering), said("c", steering), said("d")],
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
    chatPlaces(logged(said("a"), ["agent.chosen", chosen], said("b")), row).map(({ agent }) => agent);
  const before = { id: "writer", name: "general" };
  assert.deepEqual(agents({ role: "simple", agentId: "painter" }), [before, { id: "painter", name: "simple" }]);
  assert.deepEqual(agents({ role: "simple" }), [before, { id: "simple", name: "simple" }]);
});

test("who steers a turn that asks a person is told so by the list, and an answer is as old as its last change [C4][H2]", () => {
  const turn: readonly Told[] = [
    said("a"),
    ["turn.started", { turn: 1, message: "a" }],
    ["step.started", { turn: 1, step: 1, attempt: 1 }],
    ["message.assistant", { turn: 1, step: 1, text: "", usage: { input: 1, output: 1 }, calls: [] }],
    ["decision.asked", { turn: 1, id: "d", call: "c1", kind: "approval", tool: "look" }],
    ["todo.set", { items: [] }],
    said("s", { mode: "steer" }),
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

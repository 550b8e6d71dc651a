import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEvent } from "../../protocol/events.ts";
import { OwnEvents } from "./own-events.ts";

/** Of an event only what says whose it is. */
type Told = readonly [type: LogEvent["type"], of?: object];

function logged(...told: readonly Told[]): LogEvent[] {
  return told.map(([type, of], index) => ({ type, seq: index + 1, at: 1, ...of }) as LogEvent);
}

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

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { answer, numbered, peopleMoves, step, turnMoves, write } from "../../test/world/any-log.ts";
import type { LogEvent } from "../protocol/events.ts";
import { applyEvent, foldHistory, insertEvents } from "./history.ts";
import { emptyHistory, type History } from "./history-state.ts";

// A few logs that one can read.

test("a reminder stands at the end of the newest message from then on, after a steering message that joined [L3][L7]", () => {
  const history = foldHistory(
    numbered([
      { type: "message.user", id: "a", text: "go", mode: "queue" },
      { type: "turn.started", turn: 1, message: "a", epoch: 1 },
      { type: "message.user", id: "b", text: "faster", mode: "steer" },
      step(1, { joined: ["b"], reminder: "\n\n[told]", told: ["date:2026-11-15", "todos:"] }),
      step(1, { attempt: 2 }),
    ]),
  );
  assert.deepEqual(
    history.messages.map(({ text }) => text),
    ["go", "faster\n\n[told]"],
  );
  assert.deepEqual(
    [...history.told],
    [
      ["date", { value: "2026-11-15", step: 1 }],
      ["todos", { value: "", step: 1 }],
    ],
  );
  assert.equal(history.steps, 1, "another attempt is no other step");
});

test("a summary that was undone is sent again after going back to before that [L9][Z2]", () => {
  const events = numbered([
    { type: "message.user", id: "a", text: "one", mode: "queue" },
    { type: "turn.started", turn: 1, message: "a", epoch: 1 },
    step(1),
    answer(1, []),
    { type: "turn.finished", turn: 1, outcome: "done" },
    {
      type: "compacted",
      turn: 1,
      strategy: "compact",
      upTo: 4,
      summary: "in short",
      messagesBefore: 2,
      messagesAfter: 1,
    },
    { type: "checkpoint.saved", name: "short" },
    { type: "compaction.undone", compacted: 6, by: "me" },
    { type: "rewound", to: 7, cause: "checkpoint" },
  ]);
  const sent = (count: number) => foldHistory(events.slice(0, count)).messages.map(({ text }) => text);
  assert.deepEqual([sent(7), sent(8), sent(9)], [["in short"], ["one", "answer 1"], ["in short"]]);
});

// The same for any log that the engine and its users could write.

const choices = fc.array(fc.nat({ max: 99_999 }), { maxLength: 100, size: "max" });

test("folding event by event gives what folding the whole log gives [L2]", () => {
  fc.assert(
    fc.property(choices, (chosen) => {
      const { events } = write(chosen);
      let history = emptyHistory();
      for (const [index, event] of events.entries()) {
        const isBack = event.type === "rewound" || event.type === "compaction.undone";
        if (isBack) history = foldHistory(events.slice(0, index + 1));
        else applyEvent(history, event);
      }
      assert.deepEqual(history, foldHistory(events));
    }),
  );
});

test("going back leaves out exactly what lies between [L9]", () => {
  fc.assert(
    fc.property(choices, (chosen) => {
      const { events } = write(chosen);
      const last = events.findLast((event) => event.type === "rewound");
      if (last === undefined) return;
      const without = [...events.slice(0, last.to), ...events.slice(last.seq - 1)];
      const { turnsEver, lastDecision: _, budget, ...history } = foldHistory(events);
      const { turnsEver: __, lastDecision: ___, budget: less, ...expected } = foldHistory(without);
      assert.ok(budget.spent.tokens >= less.spent.tokens, "what is left out was paid for");
      assert.deepEqual(history, expected);
      assert.equal(turnsEver, events.filter((event) => event.type === "turn.started").length, "numbers come once");
    }),
  );
});

test("when a turn has ended every call stands directly before its results, in the order of the calls [L5]", () => {
  fc.assert(
    fc.property(choices, (chosen) => {
      const { messages, seqs, turn, decisions } = foldHistory(write(chosen, { isEnded: true }).events);
      assert.deepEqual([seqs.length, turn, decisions.size], [messages.length, undefined, 0]);
      const paired = messages.flatMap((message, index) =>
        message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }, place) => [index + 1 + place, id]) : [],
      );
      const results = messages.flatMap((message, index) =>
        message.role === "tool" ? [[index, message.toolCallId]] : [],
      );
      assert.deepEqual(results, paired);
    }),
  );
});

test("what others wrote in between is taken in as if it had been read in its place [L2][L7]", () => {
  fc.assert(
    fc.property(choices, choices, fc.array(fc.nat(), { maxLength: 10 }), (before, own, foreign) => {
      const head = write(before);
      const tail = untilTurnEnds(
        write(own, { after: head, moves: turnMoves, name: "own" }).events.slice(head.events.length),
      );
      const others = write(foreign, { after: head, moves: peopleMoves, name: "other" }).events.slice(
        head.events.length,
      );
      const history = foldHistory([...head.events, ...tail]);
      // Its turn over, a decision finds nothing to decide: then the log is folded anew.
      const isLate = isAny(others, "decision.made") && isAny(tail, "turn.finished");
      fc.pre(insertEvents(history, head.events.length, others) || !isLate);
      const moved = tail.map((event) => ({ ...event, seq: event.seq + others.length }));
      assert.deepEqual(comparable(history), comparable(foldHistory([...head.events, ...others, ...moved])));
    }),
  );
});

test("events whose order matters are not taken in afterwards [L2]", () => {
  const late = numbered([{ type: "message.withdrawn", id: "a" }]);
  assert.equal(insertEvents(emptyHistory(), 0, late), false);
});

/** Events inside the history name the place they were staged at; nobody looks there. */
function comparable({ turn, decisions, ...history }: History) {
  const inside = JSON.stringify([turn, ...decisions], (key, value) => (key === "seq" ? undefined : value));
  return { ...history, inside };
}

/** The end of a turn is stored at once. */
function untilTurnEnds(events: readonly LogEvent[]): LogEvent[] {
  const end = events.findIndex((event) => event.type === "turn.finished");
  return events.slice(0, end < 0 ? events.length : end + 1);
}

function isAny(events: readonly LogEvent[], type: LogEvent["type"]): boolean {
  return events.some((event) => event.type === type);
}

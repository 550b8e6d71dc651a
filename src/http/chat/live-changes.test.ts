import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEvent, NewEvent } from "../../protocol/events.ts";
import { TurnChanges } from "./changes.ts";
import type { ChatPlace } from "./message-numbers.ts";

// What text that is shown live changes in the document of its turn.

const place: ChatPlace = {
  message: { type: "message.user", id: "m", text: "how many?", mode: "queue", seq: 1, at: 1_000 },
  ...{ index: 1, reply: "a", runId: "r", agent: { id: "general", name: "general" } },
  ...{ isAnswered: true, isWithdrawn: false },
};

function openTurn() {
  const turn = new TurnChanges({ place, needsProgress: false, language: "en" });
  let seq = 1;
  const told = (changes: ReturnType<typeof turn.addEvent>) =>
    changes.map(({ key, content, action }) => [key.slice(3).join("."), action, content]);
  return {
    logged(event: NewEvent) {
      seq += 1;
      const logged: LogEvent = { ...event, seq, at: 2_000 };
      return told(turn.addEvent(logged));
    },
    said: (text: string, { offset = 0, step = 1 } = {}) =>
      told(turn.addText({ frame: "delta", turn: 1, step, attempt: 1, kind: "text", offset, text })),
  };
}

const step: NewEvent = {
  ...{ type: "step.started", turn: 1, step: 1, attempt: 1, slot: "base", model: "m", reason: "r" },
  ...{ hash: "", bytes: 0, reused: 0 },
};
const answered: NewEvent = {
  ...{ type: "message.assistant", turn: 1, step: 1, text: "It was two.", finish: "stop", durationMs: 1 },
  usage: { input: 10, output: 2 },
};

test("of text that comes live only what is new is shown, and none of a step that is not being written [C3]", () => {
  const turn = openTurn();
  assert.deepEqual(turn.said("too soon"), []);
  turn.logged(step);
  assert.deepEqual(turn.said("It was"), [["answer.text", "append", "It was"]]);
  assert.deepEqual(turn.said("It was"), [], "it is there already");
  assert.deepEqual(turn.said("was two", { offset: 3 }), [["answer.text", "append", " two"]]);
  assert.deepEqual(turn.said(" and more", { offset: 30 }), [], "what is missing before it comes with the whole answer");
  assert.deepEqual(turn.said("of the next one", { step: 2 }), []);
  assert.deepEqual(turn.logged(answered), [["answer.text", "append", "."]]);
  assert.deepEqual(turn.said("It was two. Late", { offset: 0 }), [], "its answer is whole");
});

test("what was shown of an answer that died with its server is taken away once, and is not what the turn ends with [C3][L2]", () => {
  const turn = openTurn();
  turn.logged(step);
  turn.said("It w");
  const emptied = [["answer.text", "upsert", ""]];
  assert.deepEqual(turn.logged({ type: "turn.recovered", turn: 1, epoch: 2 }), emptied);
  const ends = turn.logged({ type: "turn.finished", turn: 1, outcome: "cancelled" });
  assert.deepEqual(
    ends.filter(([key]) => key === "answer.text"),
    [],
  );
});

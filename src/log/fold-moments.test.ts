import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, numbered, step } from "../../test/world/any-log.ts";
import { talkOf } from "../../test/world/talk.ts";
import type { NewEvent } from "../protocol/events.ts";
import { foldHistory, foldTree, insertEvents } from "./history.ts";

const said = (id: string, more: object = {}): NewEvent => ({
  ...{ type: "message.user", id, text: id, mode: "queue", ...more },
});
const started: NewEvent = { type: "turn.started", turn: 1, message: "a", epoch: 1 };
const ended: NewEvent = { type: "turn.finished", turn: 1, outcome: "done" };
const begun = [said("a"), started];
const compacted = { type: "compacted", turn: 1, strategy: "compact", messagesBefore: 2, messagesAfter: 1 } as const;
const decision = (id: string): NewEvent => ({
  ...{ type: "decision.asked", turn: 1, id, call: id, kind: "approval", tool: "look", arguments: id },
});
const made = (id: string): NewEvent => ({
  ...{ type: "decision.made", id, verdict: "approve", by: "me", argumentsHash: "", previous: "", hash: id },
});

test("a decision that turns out to have been made before another one stands before it in what is kept [Z3][H2]", () => {
  const open = [...begun, step(1), answer(1, ["x", "y"]), decision("x"), decision("y")];
  const history = foldHistory(numbered([...open, made("y")]));
  const earlier = numbered([...open, made("x")]).at(-1);
  assert.ok(earlier !== undefined && insertEvents(history, open.length, [earlier]));
  assert.deepEqual(
    history.decided.map(({ seq, about }) => [seq, about]),
    [
      [7, "x"],
      [8, "y"],
    ],
  );
});

test("an agent whose mail was refused because it went round in circles knows of the circle until its turn ends [A1][R1]", () => {
  const failure = { code: "mail_in_circles", params: {} };
  const refused: NewEvent = { type: "call.finished", call: "x", outcome: "error", text: "no", failure };
  const open = [...begun, step(1), answer(1, ["x"]), refused];
  assert.deepEqual(foldHistory(numbered(open)).circles, [failure]);
  assert.deepEqual(foldHistory(numbered([...open, ended])).circles, []);
});

test("whose agent a conversation is stays however far one goes back, and which tools were loaded there does not [S5][L9]", () => {
  const chosen: NewEvent = { type: "agent.chosen", role: "writer", agentId: "one" };
  const events: NewEvent[] = [
    ...[said("a"), chosen, started, { type: "tool.loaded", tool: "draw" } as const, ended],
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

test("of a summary the model's own words are kept apart from what stands around them; where no model made any there are none [Z2]", () => {
  const short = (more: object): NewEvent => ({ ...compacted, upTo: 4, summary: "[in short: we talked]", ...more });
  const summaryOf = (more: object) =>
    foldHistory(numbered([...begun, step(1), answer(1, []), short(more)])).summary ?? assert.fail();
  const all = { upTo: 4, leftOut: 2 };
  assert.deepEqual(summaryOf({ prose: { at: 11, length: 9 } }), { text: "we talked", ...all });
  assert.deepEqual(summaryOf({}), { text: "", ...all });
});

test("a picture without words is put behind a given history that ends with a question, and counts as said [C1][C5]", () => {
  const images = [{ mime: "image/png", base64: "AA==" }];
  const instead = [{ role: "user", text: "what is this?" }];
  const seen = (more: object) => {
    const { messages, said: words } = foldHistory(numbered([said("a", { text: "", instead, ...more }), started]));
    return [messages.length, words.length];
  };
  assert.deepEqual(
    [seen({}), seen({ images: [] }), seen({ images })],
    [
      [1, 1],
      [1, 1],
      [2, 2],
    ],
  );
});

test("a window that its provider filled to the last token is no larger than it was taken for [Z1]", () => {
  const talk = talkOf([{ said: "hello", steps: [["looked"]] }]);
  talk.history.windows.set("m", 2_800);
  const counted = (input: number): NewEvent => ({
    ...{ turn: 1, step: 1, text: "yes", usage: { input, output: 1 }, durationMs: 1 },
    ...({ type: "message.assistant", finish: "stop" } as const),
  });
  talk.add(counted(2_800));
  assert.deepEqual([...talk.history.windows], [["m", 2_800]]);
  talk.add(counted(2_801));
  assert.deepEqual([...talk.history.windows], []);
});

test("a turn and a place know when they began, and the list of steps is the newest one [L9][L2]", () => {
  const timed = (...events: readonly NewEvent[]) =>
    foldHistory(numbered(events).map((event) => ({ ...event, at: event.seq * 100 })));
  const line = { id: "0a1b2c3d", content: "one", status: "pending", priority: "low" } as const;
  const newest = { ...line, content: "two" };
  const open = timed(...begun, { type: "todo.set", todos: [line] }, { type: "todo.set", todos: [newest] });
  assert.deepEqual([open.turn?.startedAt, open.todos], [200, [newest]]);
  const { checkpoints } = timed(...begun, ended, { type: "checkpoint.saved", name: "here" });
  assert.deepEqual(
    checkpoints.map(({ seq, at }) => [seq, at]),
    [
      [3, 300],
      [4, 400],
    ],
  );
});

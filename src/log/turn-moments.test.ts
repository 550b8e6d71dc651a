import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, numbered, step } from "../../test/world/any-log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { applyEvent, foldHistory, insertEvents } from "./history.ts";
import { emptyHistory } from "./history-state.ts";

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

test("a turn knows which attempt at which step it makes, by which model, and whether it is the last [L1][L2]", () => {
  const seen = (...events: readonly NewEvent[]) => {
    const { turn, steps } = after(...events);
    return [turn?.step, turn?.attempt, turn?.model, turn?.isStepOpen, turn?.isFinal, steps];
  };
  const last = step(2, { attempt: 3, model: "other", final: true });
  assert.deepEqual(seen(step(1)), [1, 1, "m", true, false, 1]);
  assert.deepEqual(seen(step(1), answer(1, [])), [1, 1, "m", false, false, 1]);
  assert.deepEqual(seen(step(1), answer(1, []), last), [2, 3, "other", true, true, 2]);
  assert.deepEqual(seen(step(1), last, step(2, { attempt: 4 })), [2, 4, "m", true, false, 2]);
});

test("steps are counted over all turns, and what was told is kept whole, with the step that told it [L4]", () => {
  const { told, steps } = after(
    ...[step(1), step(2, { told: ["memory:a:b\nc", "loop"] }), answer(2, [])],
    { type: "turn.finished", turn: 1, outcome: "done" },
    ...[said("b"), { type: "turn.started", turn: 2, message: "b", epoch: 1 } as const, step(1, { told: ["date:d"] })],
  );
  assert.deepEqual(
    [...told],
    [
      ["memory", { value: "a:b\nc", step: 2 }],
      ["loop", { value: "", step: 2 }],
      ["date", { value: "d", step: 3 }],
    ],
  );
  assert.equal(steps, 3);
});

test("an answer goes back to its model with its thoughts and its calls, as they were [L5]", () => {
  const thoughts = { reasoning: "hm", reasoningDetails: [{ signature: "s" }] };
  const { messages } = after(step(1), Object.assign(answer(1, ["x"]), thoughts));
  const toolCalls = [{ id: "x", name: "look", arguments: "{}" }];
  assert.deepEqual(messages.at(-1), { role: "assistant", text: "answer 1", ...thoughts, toolCalls });
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

test("what came with a message is known to be there: its values with the user's words, and its files as sent [Z3][C1]", () => {
  const files = [
    { path: "uploads/a.csv", name: "a.csv", type: "csv", bytes: 3 },
    { path: "uploads/b.txt", name: "b.txt", type: "txt", bytes: 3, hash: "h" },
  ];
  const history = foldHistory(numbered([said("a", { files, inputs: { colour: "red" } }), started]));
  assert.deepEqual(history.said, [{ seq: 2, text: "a", inputs: { colour: "red" } }]);
  assert.deepEqual(
    [...history.deeds],
    [
      ["uploads/a.csv", { uploaded: 2 }],
      ["uploads/b.txt", { uploaded: 2 }],
    ],
  );
  assert.deepEqual([...history.known.keys()], [":uploads/b.txt"], "only what stands in the message was seen");
});

test("a call that went round in circles is known to its turn, and the next turn begins without it [R1]", () => {
  const stuck = [step(1), answer(1, ["x"]), result("x", { failure: { code: "tool_repeated", params: {} } })];
  const other = [step(1), answer(1, ["x"]), result("x", { failure: { code: "tool_failed", params: {} } })];
  assert.deepEqual([after(...stuck).turn?.isStuck, after(...other).turn?.isStuck], [true, false]);
  const next: NewEvent[] = [
    { type: "turn.finished", turn: 1, outcome: "done" },
    ...[said("b"), { type: "turn.started", turn: 2, message: "b", epoch: 1 } as const],
  ];
  const { turn } = after(...stuck, ...next);
  assert.deepEqual([turn?.isStuck, turn?.finished], [false, []]);
});

test("what a running call asks besides is no decision about whether it may run [H2][G1]", () => {
  const open = [step(1), answer(1, ["x"])];
  const { turn, decisions } = after(...open, asked("may"), made("may"), asked("which", { kind: "elicitation" }));
  assert.equal(turn?.calls[0]?.decision?.asked.id, "may");
  assert.deepEqual(
    [...decisions].map(([id, { made }]) => [id, made?.verdict]),
    [
      ["may", "approve"],
      ["which", undefined],
    ],
  );
});

test("what was decided for another agent decides nothing here, though the next decision follows it [H2][A1]", () => {
  const open = [step(1), answer(1, ["x"]), asked("d")];
  const others = after(...open, made("e"), made("d", { agent: "t", hash: "theirs" }));
  assert.deepEqual([others.decisions.get("d")?.made, others.decided, others.lastDecision], [undefined, [], "theirs"]);
  const own = after(...open, made("d"), made("d", { verdict: "reject", hash: "late" }));
  assert.deepEqual([own.turn?.calls[0]?.decision?.made?.verdict, own.decided.length], ["approve", 1]);
});

test("a result that came before what others wrote stands in its place when the last one is in [L2][L5]", () => {
  const own = [step(1), answer(1, ["x", "y"]), result("y")];
  const history = after(...own);
  const [, , other] = numbered([...begun, said("b")]);
  const whole = numbered([...begun, said("b"), ...own, result("x")]);
  const last = whole.at(-1) ?? assert.fail();
  assert.ok(other !== undefined && insertEvents(history, 2, [other]));
  applyEvent(history, last);
  assert.deepEqual([history.seqs, history.head], [foldHistory(whole).seqs, 7]);
  assert.deepEqual(history.seqs, [2, 5, 7, 6]);
});

test("events of others that say nothing to an agent move its places along all the same [L2][A1]", () => {
  const history = after(step(1), answer(1, []));
  assert.ok(insertEvents(history, 2, [], 3));
  assert.deepEqual([history.seqs, history.head], [[2, 7], 7]);
  assert.ok(insertEvents(history, 7, [], 2));
  assert.deepEqual([history.seqs, history.head], [[2, 7], 9]);
});

test("a place that is forgotten is no place any more, and the others stay as they were [L9]", () => {
  const events: NewEvent[] = [
    { type: "checkpoint.saved", name: "one" },
    { type: "checkpoint.saved", name: "two" },
    { type: "checkpoint.saved", name: "three" },
    { type: "checkpoint.deleted", checkpoint: 4 },
  ];
  assert.deepEqual(after(...events).checkpoints, [
    { seq: 3, parent: null, name: "one", at: 0 },
    { seq: 5, parent: 4, name: "three", at: 0 },
  ]);
});

test("a turn whose message is not there does not begin, and its number is used up [L7]", () => {
  const history = emptyHistory();
  const unknown: NewEvent = { type: "turn.started", turn: 4, message: "b", epoch: 1 };
  for (const event of numbered([said("a"), unknown])) applyEvent(history, event);
  assert.deepEqual([history.turn, history.turnsEver, history.queue.length], [undefined, 4, 1]);
});

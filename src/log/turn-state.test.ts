import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, numbered, step } from "../../test/world/any-log.ts";
import type { LogEvent, NewEvent } from "../protocol/events.ts";
import { decidedOn } from "./decision-record.ts";
import { emptySpending, noteSpending } from "./fold-budget.ts";
import { foldHistory, insertEvents } from "./history.ts";

const said = (more: object = {}): NewEvent => ({ type: "message.user", id: "a", text: "go", mode: "queue", ...more });
const started: NewEvent = { type: "turn.started", turn: 1, message: "a", epoch: 1 };
const ended = (outcome: "done" | "failed" = "done"): NewEvent => ({ type: "turn.finished", turn: 1, outcome });
const after = (...events: readonly NewEvent[]) => foldHistory(numbered([said(), started, ...events]));
const image = { mime: "image/png", base64: "AA==" } as const;
const result = (call: string, more: object = {}): NewEvent => ({
  ...{ type: "call.finished", call, outcome: "ok", text: call, ...more },
});
const handedOver = (id: string): NewEvent => ({
  ...{ type: "agent.spawned", id, mode: "handoff", role: id, brief: `be ${id}` },
});

test("a turn knows that its newest answer was cut, what its calls are, and how it ended [L2][L5]", () => {
  const cut = { ...answer(1, ["x"]), finish: "length" } as NewEvent;
  const isCut = (...events: readonly NewEvent[]) => after(step(1), ...events).turn?.isCut;
  assert.deepEqual([isCut(), isCut(cut), isCut(cut, result("x"), step(2), answer(2, []))], [false, true, false]);
  const { turn } = after(step(1), answer(1, ["x"]), { type: "call.started", call: "x", class: "unsafe", attempt: 2 });
  assert.deepEqual(turn?.calls[0]?.started, { class: "unsafe", attempt: 2 });
  assert.deepEqual(after(ended("failed")).lastTurn, { turn: 1, outcome: "failed" });
});

test("a turn begins anew with what its message asks for, and calls and counts are kept as they came [L2][L5]", () => {
  const { turn, counted } = foldHistory(numbered([said({ slot: "reasoning" }), started]));
  const { message, ...fresh } = turn ?? assert.fail();
  assert.deepEqual(fresh, {
    ...{ turn: 1, startedAt: 0, epoch: 1, recoveries: 0, cancelAsked: false, step: 0, attempt: 0, failures: 0 },
    ...{ isStepOpen: false, isCut: false, isFinal: false, compactions: 0, isOverflown: false, isStuck: false },
    ...{ slot: "reasoning", model: undefined, hasImages: false, calls: [], finished: [] },
  });
  assert.deepEqual([message.id, counted], ["a", undefined]);
  const asked = [step(1), answer(1, ["x"]), { type: "decision.asked", turn: 1, id: "d", call: "x", tool: "look" }];
  const open = after(...(asked.map((event) => ({ kind: "approval", ...event })) as NewEvent[]));
  assert.equal(open.turn?.calls[0]?.decision?.asked.id, "d");
  assert.deepEqual(open.counted, { usage: { input: 10, output: 1 }, estimated: false, messages: 2 });
  assert.deepEqual(after(step(1), answer(1, ["x"]), result("x")).turn?.finished, [
    { name: "look", arguments: "{}", text: "x" },
  ]);
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
    ["before", "go"],
  );
});

test("after a turn that was given another history, what was counted before it counts again [C1][Z1]", () => {
  const second = { id: "b", instead: [{ role: "user", text: "given" }] };
  const { counted } = after(
    ...[step(1), answer(1, []), ended(), said(second)],
    ...([{ type: "turn.started", turn: 2, message: "b", epoch: 1 }, step(1)] as const),
    { ...answer(1, []), usage: { input: 99, output: 9 } } as NewEvent,
    { type: "turn.finished", turn: 2, outcome: "done" },
  );
  assert.deepEqual(counted, { usage: { input: 10, output: 1 }, estimated: false, messages: 2 });
});

test("what others wrote into a message of the user is kept apart from the user's own words [Z3][R1]", () => {
  const lineOf = (more: object) => foldHistory(numbered([said({ text: "/sum\n\n a page \n", ...more }), started])).said;
  assert.deepEqual(lineOf({ own: 4, untrusted: true }), [{ seq: 2, text: "/sum", rest: "a page" }]);
  assert.deepEqual(lineOf({ own: 4 }), [{ seq: 2, text: "/sum" }]);
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

test("a turn has images from its message, from one that joins or from a result, and not without [Z1][T1]", () => {
  const has = (...events: readonly NewEvent[]) => foldHistory(numbered(events)).turn?.hasImages;
  const asked = [said(), started, step(1), answer(1, ["x"])];
  assert.deepEqual(
    [
      has(said(), started),
      has(said({ images: [] }), started),
      has(said({ images: [image] }), started),
      has(...asked, result("x", { images: [] })),
      has(...asked, result("x", { images: [image] })),
      has(said(), started, said({ id: "b", mode: "steer", images: [image] }), step(1, { joined: ["b"] })),
      has(said(), started, said({ id: "b", mode: "steer" }), step(1, { joined: ["b"] })),
    ],
    [false, false, true, false, true, true, false],
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

test("a message that is shortened keeps how much of it are the user's own words, and loses its images [Z2][Z3]", () => {
  const trims = [{ seq: 2, text: "g…", own: 1 }];
  const compacted: NewEvent = {
    ...{ type: "compacted", turn: 1, strategy: "trim", upTo: 0, summary: "", messagesBefore: 1, messagesAfter: 1 },
    trims,
  };
  const { messages } = foldHistory(numbered([said({ images: [image], own: 2 }), started, compacted]));
  assert.deepEqual(messages, [{ role: "user", text: "g…", images: undefined, own: 1 }]);
});

test("a recipe is all that it was set with [L3]", () => {
  const set = {
    ...{ cause: "start", system: "be kind", tools: '[{"name":"look"}]', startedAt: 5, role: "writer" },
    ...{ instructions: { at: 0, length: 2, path: "AGENTS.md", hash: "h" }, notes: { at: 3, length: 4 } },
  };
  const { recipe } = foldHistory([{ type: "recipe.set", seq: 1, at: 0, ...set } as LogEvent]);
  assert.deepEqual(recipe, {
    ...{ system: "be kind", tools: set.tools, startedAt: 5, role: "writer" },
    ...{ instructions: set.instructions, notes: set.notes },
    ...{ systemMessage: { role: "system", text: "be kind" }, descriptions: [{ name: "look" }] },
  });
});

test("while nothing runs time costs nothing, also after a call has its result [A4]", () => {
  const spending = emptySpending();
  const timed: readonly (readonly [number, NewEvent])[] = [
    [0, started],
    [0, step(1)],
    [10, answer(1, ["x", "y"])],
    [20, { type: "call.started", call: "x", class: "pure", attempt: 1 }],
    [25, result("x")],
    [100, { type: "call.started", call: "y", class: "pure", attempt: 1 }],
    [103, result("y")],
    [200, ended()],
  ];
  for (const [index, [at, event]] of timed.entries()) noteSpending(spending, { ...event, seq: index + 1, at });
  assert.equal(spending.spent.ms, 10 + 5 + 3);
  // A turn that ends in the middle of a step leaves nothing running behind.
  for (const [index, [at, event]] of (
    [
      [300, started],
      [300, step(1)],
      [304, ended()],
      [400, started],
      [450, step(1)],
    ] as const
  ).entries())
    noteSpending(spending, { ...event, seq: index + 20, at });
  assert.equal(spending.spent.ms, 10 + 5 + 3 + 4);
});

test("whatever others may append at any time is taken in afterwards, and nothing of a turn of its own is [L2]", () => {
  const others: readonly NewEvent[] = [
    said({ id: "b" }),
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

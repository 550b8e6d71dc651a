import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { answer, numbered, step, write } from "../../test/world/any-log.ts";
import type { LogEvent, NewEvent } from "../protocol/events.ts";
import type { GivenMessage } from "../protocol/given.ts";
import type { Message } from "../protocol/message.ts";
import { foldHistory } from "./history.ts";

const call = { id: "x", name: "look", arguments: "{}" };
const first: NewEvent[] = [
  { type: "message.user", id: "a", text: "first", mode: "queue" },
  { type: "turn.started", turn: 1, message: "a", epoch: 1 },
  step(1),
  answer(1, []),
  { type: "turn.finished", turn: 1, outcome: "done" },
];
const given: GivenMessage[] = [
  { role: "user", text: "elsewhere" },
  { role: "assistant", text: "", toolCalls: [call] },
  { role: "tool", toolCallId: "x", text: "seen elsewhere" },
];
const turnWith = (instead: GivenMessage[], text = "now"): NewEvent[] => [
  { type: "message.user", id: "b", text, mode: "queue", instead },
  { type: "turn.started", turn: 2, message: "b", epoch: 1 },
];
const end: NewEvent = { type: "turn.finished", turn: 2, outcome: "done" };
const textsOf = (events: readonly NewEvent[]) => foldHistory(numbered(events)).messages.map(({ text }) => text);

test("a turn that is given another history sees that one, and afterwards the stored one goes on with its words [C1]", () => {
  const events = [...first, ...turnWith(given)];
  assert.deepEqual(textsOf(events), ["elsewhere", "", "seen elsewhere", "now"]);
  assert.deepEqual(textsOf([...events, step(1, { reminder: " [told]" }), answer(1, []), end]), [
    ...["first", "answer 1", "now [told]", "answer 1"],
  ]);
});

test("an empty history is none at all, and one that ends with what is to be answered needs no query [C1][C5]", () => {
  assert.deepEqual(textsOf([...first, ...turnWith([])]), ["now"]);
  assert.deepEqual(textsOf([...first, ...turnWith(given, "")]), ["elsewhere", "", "seen elsewhere"]);
  assert.deepEqual(textsOf([...first, ...turnWith([{ role: "user", text: "and?" }], "")]), ["and?"]);
  const answered: GivenMessage[] = [{ role: "assistant", text: "well" }];
  assert.deepEqual(textsOf([...first, ...turnWith(answered, "")]), ["well", "(an empty message)"]);
  const silent = [...first, ...turnWith(given, ""), step(1, { reminder: " [told]" }), answer(1, []), end];
  assert.deepEqual(textsOf(silent), ["first", "answer 1", "answer 1"]);
});

test("a call without a result gets one, and a result that nobody asked for is left out [C1][C5]", () => {
  const broken: GivenMessage[] = [
    { role: "tool", toolCallId: "x", text: "from nowhere" },
    { role: "assistant", text: "", toolCalls: [call, { ...call, id: "y" }] },
    { role: "tool", toolCallId: "y", text: "of y" },
    { role: "user", text: "  " },
  ];
  assert.deepEqual(foldHistory(numbered(turnWith(broken))).messages, [
    { role: "assistant", text: "", toolCalls: [call, { ...call, id: "y" }] },
    { role: "tool", toolCallId: "y", text: "of y" },
    { role: "tool", toolCallId: "x", text: "(no result was given)" },
    { role: "user", text: "(an empty message)", images: undefined },
    { role: "user", text: "now", images: undefined },
  ]);
});

test("what was told before stands in messages that are not sent: in such a turn it is told anew, and afterwards it counts again [C1][R1]", () => {
  const toldIn = (events: readonly NewEvent[]) => [...foldHistory(numbered(events)).told.keys()];
  const date = step(1, { reminder: " [today]", told: ["date:2026-01-01"] });
  const talk = first.map((event) => (event.type === "step.started" ? date : event));
  const begun = [...talk, ...turnWith(given)];
  assert.deepEqual([toldIn(talk), toldIn(begun)], [["date"], []]);
  const memory = step(1, { reminder: " [memory]", told: ["memory:m"] });
  assert.deepEqual(toldIn([...begun, memory]), ["memory"]);
  assert.deepEqual(toldIn([...begun, memory, answer(1, []), end]), ["date"]);
});

test("what was shown before is not known in such a turn; afterwards it is again, but for what was shown since [C1][F2]", () => {
  const shown = (path: string, hash: string): NewEvent => ({ type: "file.known", path, hash });
  const knownIn = (events: readonly NewEvent[]) => {
    const { known, unread } = foldHistory(numbered(events));
    return [known, unread].map((entries) => Object.fromEntries([...entries].map(([key, { hash }]) => [key, hash])));
  };
  const [said, started, ...rest] = first;
  assert.ok(said !== undefined && started !== undefined);
  const before = [said, started, shown("old", "h1"), shown("both", "h1"), ...rest, shown("not read yet", "h2")];
  const turn = [...before, ...turnWith(given), step(1), shown("new", "h3"), shown("both", "h4")];
  assert.deepEqual(knownIn(before), [{ ":old": "h1", ":both": "h1" }, { ":not read yet": "h2" }]);
  assert.deepEqual(knownIn([...turn, step(2)]), [{ ":new": "h3", ":both": "h4" }, {}]);
  assert.deepEqual(knownIn([...turn, step(2), end]), [
    { ":old": "h1", ":both": "h4", ":new": "h3" },
    { ":not read yet": "h2" },
  ]);
});

const choices = fc.array(fc.nat({ max: 99_999 }), { maxLength: 100, size: "max" });

test("at rest any log has the messages that it would have had if no history had ever been given [C1][L2]", () => {
  fc.assert(
    fc.property(choices, (chosen) => {
      const { events } = write(chosen, { isEnded: true });
      const [history, ordinary] = [foldHistory(events), foldHistory(asOrdinary(events))];
      const { messages, seqs, said, selected, summary, aside } = history;
      assert.deepEqual(
        { messages, seqs, said, selected, summary, aside },
        {
          ...{ messages: ordinary.messages, seqs: ordinary.seqs, said: ordinary.said },
          ...{ selected: ordinary.selected, summary: ordinary.summary, aside: undefined },
        },
      );
    }),
  );
});

test("whatever was given and left out, a call stands before its results at every moment [C1][L5]", () => {
  fc.assert(
    fc.property(choices, (chosen) => {
      const { events } = write(chosen);
      const { messages, turn } = foldHistory(events);
      const open = new Set(turn?.calls.map((state) => state.call.id));
      assert.deepEqual(
        unpaired(messages).filter((id) => !open.has(id)),
        [],
      );
    }),
  );
});

/** The same log where nobody brought a history along, and no room was made in the turns that had one. */
function asOrdinary(events: readonly LogEvent[]): LogEvent[] {
  const given = new Set(events.map((event) => (event.type === "message.user" && event.instead ? event.id : undefined)));
  let isGiven = false;
  return events.flatMap((event): LogEvent[] => {
    if (event.type === "turn.started") isGiven = given.has(event.message);
    if (event.type === "turn.finished") isGiven = false;
    if (event.type === "compacted" && isGiven) return [];
    if (event.type !== "message.user") return [event];
    const { instead: _, ...message } = event;
    return [message];
  });
}

/** Calls without their result directly behind them, and results without a call. */
function unpaired(messages: readonly Message[]): string[] {
  const wrong: string[] = [];
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool" && open.includes(message.toolCallId))
      open = open.filter((id) => id !== message.toolCallId);
    else if (message.role === "tool") wrong.push(message.toolCallId);
    else {
      wrong.push(...open);
      open = message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : [];
    }
  }
  return [...wrong, ...open];
}

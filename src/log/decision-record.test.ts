import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { derivedHex } from "../base/ids.ts";
import type { AllowRule, Finding } from "../protocol/approval.ts";
import { type EventBody, eventBody, type NewEvent } from "../protocol/events.ts";
import { localOwner, OwnerId } from "../protocol/ids.ts";
import { type Beside, checkRecord, checkRules, type RecordRow } from "./check-record.ts";
import { argumentsHash, askedHash, chained, decidedOn, linkOf, madeHash } from "./decision-record.ts";

type Asked = EventBody<"decision.asked">;

const rule: AllowRule = {
  ...{ id: "3fa1b2c4", tool: "run_bash_command", scope: "conversation", conversation: "c", at: 1, by: "local" },
  match: { match: "findings", covers: [{ kind: "packages", pattern: "pip install *" }] },
};
const finding: Finding = {
  ...{ kind: "packages", action: "ask", risk: "medium", layer: "default", what: "pip install rich" },
  ...{ shape: "pip install *", said: "so", source: "hitl_rules.yaml:3" },
};
const command: Asked = {
  ...{ turn: 1, id: "d1", call: "c1", kind: "approval", tool: "run_bash_command", arguments: '{"command":"pip x 茶"}' },
  ...{ reason: "installs packages", risk: "medium", layer: "default", findings: [finding], always: [rule.match] },
};
const question: Asked = {
  ...{ agent: "a", turn: 1, id: "d2", call: "c2", kind: "question", tool: "ask_human", question: "Which?\u0007" },
  ...{ context: "two fit", default: "a", required: true },
};
const payment: Asked = { turn: 1, id: "d3", call: "c3", kind: "approval", tool: "pay", arguments: "{}", risk: "high" };

const time = 1_794_700_000_000;

/** A whole log: three questions, an approval that stores a rule, an answer, an edit. */
function record(): RecordRow[] {
  const asked = [command, question, payment].map((body) => ({ ...body, time, hash: askedHash({ ...body, time }) }));
  const made = [
    { id: "d1", verdict: "approve", by: "local", rule },
    { id: "d2", verdict: "answer", by: "local", answer: "b" },
    { id: "d3", verdict: "edit", by: "local", arguments: '{"mark":1}', reason: "safer" },
  ] as const;
  let previous = "";
  const decisions = made.map((body, index) => {
    const about = asked[index] ?? assert.fail();
    const bytes = argumentsHash(decidedOn(about, { arguments: "arguments" in body ? body.arguments : undefined }));
    const decision = chained(about, { ...body, argumentsHash: bytes, time }, previous);
    previous = decision.hash ?? "";
    return decision;
  });
  return rowsOf([
    ...asked.map((body): NewEvent => ({ type: "decision.asked", ...body })),
    ...decisions.map((body): NewEvent => ({ type: "decision.made", ...body })),
  ]);
}

function rowsOf(events: readonly NewEvent[], number = 1): RecordRow[] {
  return events.map((event, index) => {
    const body = JSON.stringify(eventBody(event));
    return { number, seq: index + 1, type: event.type, version: 1, at: time, body };
  });
}

/** Nothing is from before there were hashes, and what was not decided yet is still asked. */
const beside: Beside = { isOld: () => false, isOpen: () => true, ownerOf: () => "local" };

function faultsOf(rows: Iterable<RecordRow>, other: Partial<Beside> = {}): string[] {
  return [...checkRecord(rows, { ...beside, ...other })].map(({ number, seq, what }) => `${number}/${seq} ${what}`);
}

test("a record as it was written holds, conversation by conversation [H2]", () => {
  const second = record().map((row) => ({ ...row, number: 2 }));
  const check = checkRecord([...record(), ...second], beside);
  const rules = new Map([[rule.id, { rule, number: 1, owner: "local" }]]);
  assert.deepEqual(check.next(), { done: true, value: { decisions: 6, rules } });
});

test("one flipped bit anywhere in what was asked or decided is found, and its place is named [H2]", () => {
  const rows = record();
  let flips = 0;
  for (const [index, row] of rows.entries()) {
    const bytes = Buffer.from(row.body);
    for (let at = 0; at < bytes.length; at += 1) {
      for (const bit of [0x01, 0x20]) {
        const flipped = Buffer.from(bytes);
        flipped[at] = (flipped[at] ?? 0) ^ bit;
        const changed = rows.with(index, { ...row, body: flipped.toString("utf8") });
        const [first = "none"] = faultsOf(changed);
        // A question is named itself; where its name was hit, the decision that misses it is.
        const isNamed = first.startsWith(`1/${row.seq} `) || /^1\/\d (asked_missing|made_changed)$/.test(first);
        assert.ok(isNamed, `${row.body.slice(0, at)}⟨${flipped[at]}⟩: ${first}`);
        flips += 1;
      }
    }
  }
  assert.ok(flips > 2_000, `only ${flips} flips`);
});

test("a record that was removed, moved or put in is found [H2]", () => {
  const rows = record();
  const [asked1, asked2, , made1, made2, made3] = rows;
  assert.ok(asked1 && asked2 && made1 && made2 && made3);
  const without = (row: RecordRow) => rows.filter((other) => other !== row);
  assert.deepEqual(faultsOf(without(asked1)), ["1/4 asked_missing"]);
  assert.deepEqual(faultsOf(without(made1)), ["1/5 broken_link"]);
  assert.deepEqual(faultsOf(without(made2)), ["1/6 broken_link"]);
  const swapped = rows.with(3, { ...made1, body: made2.body }).with(4, { ...made2, body: made1.body });
  assert.deepEqual(faultsOf(swapped), ["1/4 broken_link", "1/5 broken_link", "1/6 broken_link"]);
  assert.deepEqual(faultsOf([...rows, { ...made3, seq: 7 }]), ["1/7 made_twice"]);
});

test("a hash that was taken away, or made anew for other bytes, is found [H2]", () => {
  const rows = record();
  const made = JSON.parse(rows[5]?.body ?? "");
  const bare = { ...made, hash: undefined };
  const last = rows[5] ?? assert.fail();
  assert.deepEqual(faultsOf(rows.with(5, { ...last, body: JSON.stringify(bare) })), ["1/6 made_changed"]);
  const other = chained({ ...payment, time }, { ...bare, argumentsHash: argumentsHash("{}") }, made.previous);
  assert.deepEqual(faultsOf(rows.with(5, { ...last, body: JSON.stringify(other) })), ["1/6 bytes_differ"]);
});

test("decisions from before there were hashes are checked as they were made, also after a return [H2]", () => {
  const asked = ["a", "b", "c"].map((id): NewEvent => ({ type: "decision.asked", ...payment, id }));
  const old = (id: string, previous: string) =>
    ({
      type: "decision.made",
      id,
      verdict: "approve",
      by: "local",
      argumentsHash: argumentsHash("{}"),
      previous,
    }) as const;
  const link = (made: ReturnType<typeof old>) =>
    derivedHex(16, made.id, made.verdict, made.argumentsHash, made.previous);
  const first = old("a", "");
  // The second was rewound: the third names the first.
  const events = [...asked, first, old("b", link(first)), old("c", link(first))];
  const isOld = { isOld: () => true };
  assert.deepEqual(faultsOf(rowsOf(events), isOld), []);
  assert.deepEqual(faultsOf(rowsOf([...asked.slice(0, 1), first])), ["1/1 asked_changed", "1/2 made_changed"]);
  const changed = [...asked, { ...first, verdict: "reject" } as const, old("b", link(first))];
  assert.deepEqual(faultsOf(rowsOf(changed), isOld), ["1/5 broken_link"]);
  const bytes = [...asked, { ...first, argumentsHash: argumentsHash("{ }") }];
  assert.deepEqual(faultsOf(rowsOf(bytes), isOld), ["1/4 bytes_differ"]);
});

test("an agent that went on without the decision it had asked for is found, whatever took its place [H2]", () => {
  const rows = record();
  const instead = (event: NewEvent, seq: number): RecordRow => ({ ...(rowsOf([event])[0] ?? assert.fail()), seq });
  const withoutLast = (...events: NewEvent[]) => [
    ...rows.slice(0, 5),
    ...events.map((event, index) => instead(event, 6 + index)),
  ];
  const other: NewEvent = { type: "conversation.renamed", title: "x" };
  const started: NewEvent = { type: "call.started", call: "c3", class: "unsafe", attempt: 1 };
  const step = { turn: 1, step: 2, attempt: 1, slot: "base", model: "m", reason: "r", hash: "", bytes: 1, reused: 0 };
  const next: NewEvent = { type: "step.started", ...step, slot: "base" };
  assert.deepEqual(faultsOf(withoutLast(other, started)), ["1/7 made_missing"]);
  assert.deepEqual(faultsOf(withoutLast(other, next)), ["1/7 made_missing"]);
  // Cut off behind the question: nobody is asked any more, though.
  assert.deepEqual(faultsOf(withoutLast(), { isOpen: () => false }), ["1/3 made_missing"]);
  const ended: NewEvent = { type: "turn.finished", turn: 1, outcome: "cancelled" };
  assert.deepEqual(faultsOf(withoutLast(ended, next), { isOpen: () => false }), []);
  assert.deepEqual(faultsOf(withoutLast({ ...next, final: true })), []);
});

const stepOf = (agent?: string): NewEvent => ({
  ...{ type: "step.started", turn: 1, step: 2, attempt: 1, slot: "base", model: "m", reason: "r" },
  ...{ hash: "", bytes: 1, reused: 0, ...(agent !== undefined && { agent }) },
});
const callOf = (call: string, agent?: string): NewEvent => ({
  ...{ type: "call.started", call, class: "unsafe", attempt: 1, ...(agent !== undefined && { agent }) },
});
const askedBy = (agent?: string): NewEvent => {
  const body = { ...payment, id: `d ${agent}`, time, ...(agent !== undefined && { agent }) };
  return { type: "decision.asked", ...body, hash: askedHash(body) };
};

test("an agent that waits for a decision keeps no other agent from going on, also where their calls have one name [H2][A1]", () => {
  const both = [askedBy("a"), askedBy("a2")];
  const goesOn = (...events: NewEvent[]) => faultsOf(rowsOf([...both, ...events]));
  assert.deepEqual(goesOn(stepOf(), callOf("c3"), callOf("c4", "a"), stepOf("a3")), []);
  assert.deepEqual(goesOn(stepOf("a")), ["1/3 made_missing"]);
  assert.deepEqual(goesOn(callOf("c3", "a2"), callOf("c3", "a2")), ["1/3 made_missing"], "told once");
  assert.deepEqual(goesOn({ type: "turn.finished", agent: "a", turn: 1, outcome: "done" }, stepOf("a")), []);
  const ended: NewEvent = { type: "turn.finished", agent: "a", turn: 1, outcome: "done" };
  assert.deepEqual(goesOn(ended, stepOf("a2")), ["1/4 made_missing"], "the end of one is not that of the other");
  const main = [askedBy(), callOf("c3", "a"), stepOf("root2"), callOf("c3")];
  assert.deepEqual(faultsOf(rowsOf(main)), ["1/4 made_missing"]);
});

test("after going back nobody waits for what was asked before, and a caller's program may leave a question open [H2][L9][C5]", () => {
  const back: NewEvent = { type: "rewound", to: 0, cause: "reset" };
  const nobody = { isOpen: () => false };
  assert.deepEqual(faultsOf(rowsOf([askedBy(), back, stepOf()]), nobody), []);
  const body = { ...payment, kind: "function", time } as const;
  const asked: NewEvent = { type: "decision.asked", ...body, hash: askedHash(body) };
  assert.deepEqual(faultsOf(rowsOf([asked]), nobody), []);
  assert.deepEqual(faultsOf(rowsOf([asked, callOf("c3")]), nobody), ["1/2 made_missing"]);
  const open: unknown[] = [];
  const isOpen = (...asked: unknown[]) => open.push(asked) > 0;
  assert.deepEqual(faultsOf(rowsOf([askedBy()], 4), { isOpen }), []);
  assert.deepEqual(open, [[4, "d undefined"]]);
});

test("a rule that was only followed was not made by that, and one for all conversations belongs to none [H2]", () => {
  const wide: AllowRule = { ...rule, scope: "user" };
  const body = { ...payment, time };
  const made = (by: string) =>
    chained(body, { id: "d3", verdict: "approve", by, rule: wide, argumentsHash: argumentsHash("{}"), time }, "");
  const rulesOf = (by: string) => {
    const asked: NewEvent = { type: "decision.asked", ...body, hash: askedHash(body) };
    const check = checkRecord(rowsOf([asked, { type: "decision.made", ...made(by) }], 7), beside);
    const { done, value } = check.next();
    return done === true ? value.rules : assert.fail(JSON.stringify(value));
  };
  assert.deepEqual([...rulesOf("rule")], []);
  assert.deepEqual([...rulesOf("local")], [[rule.id, { rule: wide, number: 7, owner: "local" }]]);
  const row = { owner: localOwner, id: rule.id, body: JSON.stringify(wide), at: rule.at, mayBeLost: false };
  const named = (number: number | undefined) => [...checkRules([{ ...row, number }], rulesOf("local"))];
  assert.deepEqual([named(undefined), named(7)], [[], [rule.id]]);
});

test("events that no version writes, and those of a session that is not there, are named [H2]", () => {
  const rows = record();
  const last = rows[5] ?? assert.fail();
  assert.deepEqual(faultsOf(rows.with(5, { ...last, type: "decision.mada" })), ["1/6 unknown_type"]);
  assert.deepEqual(faultsOf(rows.with(5, { ...last, version: 2 })), ["1/6 unreadable"]);
  assert.deepEqual(faultsOf(rows.with(5, { ...last, at: time - 1 })), ["1/6 time_changed"]);
  assert.deepEqual(faultsOf(rows, { ownerOf: () => undefined }), ["1/1 conversation_missing"]);
});

test("what is allowed always although nobody decided so is named, unless the record of it was deleted in order [H2]", () => {
  const made = new Map([[rule.id, { rule, number: 1, owner: "local" }]]);
  const row = { owner: localOwner, id: rule.id, number: 1, body: JSON.stringify(rule), at: rule.at, mayBeLost: false };
  const named = (...rows: (typeof row)[]) => [...checkRules(rows, made)];
  assert.deepEqual(named(row, { ...row, id: "deadbeef", mayBeLost: true }), []);
  const wider = JSON.stringify({
    ...rule,
    match: { match: "findings", covers: [{ kind: "delete", pattern: "rm *" }] },
  });
  const forged = [
    { id: "deadbeef" },
    { body: wider },
    { body: "{" },
    { number: 2 },
    { at: 2 },
    { owner: OwnerId.parse("eve") },
  ];
  for (const change of forged) assert.deepEqual(named({ ...row, ...change }), [change.id ?? rule.id]);
});

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const askedOnce: EventBody<"decision.asked"> = {
  ...{ turn: 1, id: "d1", call: "c1", kind: "approval", tool: "pay", arguments: '{"b":1,"a":2}', time: 5 },
  always: [{ match: "findings", covers: [{ pattern: "z *", kind: "packages" }] }],
};
const askedText = [
  '{"always":[{"covers":[{"kind":"packages","pattern":"z *"}],"match":"findings"}],',
  '"arguments":"{\\"b\\":1,\\"a\\":2}","call":"c1","id":"d1","kind":"approval","time":5,"tool":"pay","turn":1}',
].join("");
const madeOnce = { id: "d1", verdict: "approve", by: "me", argumentsHash: "abc", time: 6 } as const;

test("records that earlier versions wrote hold for ever: the same question and the same answer have the same hash as ever [H2]", () => {
  assert.equal(askedHash(askedOnce), sha256(askedText));
  const text = '{"argumentsHash":"abc","by":"me","id":"d1","previous":"before","time":6,"verdict":"approve"}';
  const hash = sha256(JSON.stringify([sha256(askedText), text]));
  assert.equal(madeHash(askedHash(askedOnce), { ...madeOnce, previous: "before" }), hash);
  assert.deepEqual(chained(askedOnce, madeOnce, "before"), { ...madeOnce, previous: "before", hash });
  assert.equal(argumentsHash("茶"), sha256("茶").slice(0, 32));
});

test("where an event stands, and the hash itself, are no part of what the hash is about; who wrote it down in which order is none either [H2]", () => {
  const { turn, ...rest } = askedOnce;
  const placed = { type: "decision.asked", seq: 9, at: 77, hash: "other", ...rest, turn } as const;
  assert.equal(askedHash(placed), askedHash(askedOnce));
  assert.notEqual(askedHash({ ...askedOnce, time: 6 }), askedHash(askedOnce));
  assert.notEqual(askedHash({ ...askedOnce, agent: "a" }), askedHash(askedOnce));
  const decided = { ...madeOnce, previous: "" };
  assert.equal(madeHash("h", { ...decided, hash: "other" }), madeHash("h", decided));
  assert.notEqual(madeHash("h", { ...decided, previous: "x" }), madeHash("h", decided));
  assert.notEqual(madeHash("i", decided), madeHash("h", decided));
  assert.equal(linkOf({ ...decided, hash: "its own" }), "its own");
});

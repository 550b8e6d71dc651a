import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewEvent } from "../../src/protocol/events.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { all } from "../world/events.ts";
import { type Answer, modelServer, says } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const sent = { step: 1, attempt: 1, slot: "base", model: "m", reason: "r", hash: "", bytes: 0, reused: 0 } as const;
const written = { finish: "stop", usage: { input: 1, output: 1 }, durationMs: 1 } as const;

function turnOf(turn: number): NewEvent[] {
  const message = `m${turn}`;
  return [
    { type: "message.user", id: message, text: `part ${turn}`, mode: "queue" },
    { type: "turn.started", turn, message, epoch: 1 },
    { type: "step.started", turn, ...sent },
    { type: "message.assistant", turn, step: 1, text: "I see. ".repeat(200), ...written },
    { type: "turn.finished", turn, outcome: "done" },
  ];
}

/** So many that there is something to sum up. */
const turns = 10;

/** A conversation with that many turns behind it. */
async function longTalk(yard: TestYard): Promise<ConversationRow> {
  const row = await yard.start("c");
  const recipe: NewEvent = { type: "recipe.set", cause: "start", system: "You help.", tools: "[]", startedAt: 0 };
  const said = Array.from({ length: turns }, (_, index) => turnOf(index + 1)).flat();
  await must(yard.log.append(row.number, [recipe, ...said]));
  return row;
}

const summary = (text: string) => says(Array.from({ length: 7 }, (_, n) => `## ${n + 1}. Part\n- ${text}`).join("\n"));

/** What a person is told who makes room, while this is done to the log before the summary is there. */
async function madeWhile(deed: (yard: TestYard, row: ConversationRow) => Promise<unknown>, answer: Answer) {
  let asked: (() => Promise<unknown>) | undefined;
  await using model = await modelServer(() => {
    const done = asked?.() ?? Promise.resolve();
    return { ...answer, heldUntil: done.then(() => {}) };
  });
  await using yard = await startYard({ model, isOneProcess: true });
  const row = await longTalk(yard);
  asked = () => deed(yard, row);
  const before = await yard.log.headOf(row.number);
  const made = await yard.engine.compact(row, { strategy: "summarize" });
  const events = (await yard.events("c")).filter(({ seq }) => seq > before);
  return { made, before, events, types: events.map(({ type }) => type) };
}

test("what was said and answered while a person makes room is not left out with the rest: they hear that it is busy, and nothing is stored [Z2][N1]", async () => {
  const whole = turnOf(turns + 1);
  const { made, types } = await madeWhile((yard, row) => must(yard.log.append(row.number, whole)), summary("fine"));
  assert.deepEqual([made.ok || made.failure.code, types], ["conversation_busy", whole.map(({ type }) => type)]);
  const begun = whole.slice(0, 2);
  const other = await madeWhile((yard, row) => must(yard.log.append(row.number, begun)), summary("fine"));
  assert.deepEqual(
    [other.made.ok || other.made.failure.code, other.types],
    ["conversation_busy", begun.map(({ type }) => type)],
  );
});

test("what else people do while one of them makes room does not hinder it, and the place of what was left out is told [Z2]", async () => {
  const { made, before, events } = await madeWhile(
    (yard, row) => must(yard.engine.setBudget(row, { steps: 9 })),
    summary("fine"),
  );
  assert.ok(made.ok);
  const [compacted] = all(events, "compacted");
  assert.deepEqual(
    [made.value.seq, compacted?.seq, compacted?.turn, compacted?.by, compacted?.strategy],
    [before + 2, before + 2, turns, "person", "summarize"],
  );
});

test("a summary that was of no use is paid for all the same, and nobody is told of a place where something was left out [Z2][A4]", async () => {
  const { made, events } = await madeWhile(async () => {}, {
    ...says(" "),
    usage: { prompt_tokens: 700, completion_tokens: 3 },
  });
  assert.ok(made.ok);
  const { seq, strategy, messagesBefore, messagesAfter } = made.value;
  assert.deepEqual([seq, strategy, messagesBefore, messagesAfter], [null, "fallback", 2 * turns, 2 * turns]);
  assert.deepEqual(
    events.map((event) => (event.type === "usage.noted" ? [event.turn, event.usage.input] : event.type)),
    [[turns, 700]],
  );
});

test("room is neither made nor undone while a turn is about to go on, though nobody drives it yet [Z2][L2]", async () => {
  await using model = await modelServer(() => says("I see."));
  await using yard = await startYard({ model, isOneProcess: true });
  const row = await longTalk(yard);
  await must(yard.engine.compact(row, { strategy: "summarize" }));
  await must(yard.log.append(row.number, turnOf(turns + 1).slice(0, 2)));
  const asked = model.asked.length;
  const refused = [await yard.engine.compact(row, { strategy: "compact" }), await yard.engine.undoCompaction(row)];
  assert.deepEqual(
    refused.map((answer) => answer.ok || answer.failure.code),
    ["conversation_busy", "conversation_busy"],
  );
  assert.equal(model.asked.length, asked, "no model was asked in vain");
});

test("undoing it goes from the newest room that was made to the oldest, each once, and never to one that was left behind [Z2][L9]", async () => {
  await using yard = await startYard({ isOneProcess: true });
  const row = await longTalk(yard);
  const made = { type: "compacted", turn: 1, strategy: "compact", messagesBefore: 2, messagesAfter: 1 } as const;
  const rooms = [4, 9, 14].map((upTo): NewEvent => ({ ...made, upTo, summary: `up to ${upTo}` }));
  const before = await yard.log.headOf(row.number);
  const rewound: NewEvent = { type: "rewound", to: before + 2, cause: "undo" };
  await must(yard.log.append(row.number, [...rooms, rewound]));
  const told: unknown[] = [];
  for (let times = 0; times < 3; times += 1) {
    const undone = await yard.engine.undoCompaction(row);
    told.push(undone.ok ? undone.value : undone.failure.code);
  }
  assert.deepEqual(told, [{ seq: before + 5 }, { seq: before + 6 }, "compaction_not_found"]);
  assert.deepEqual(
    all(await yard.events("c"), "compaction.undone").map(({ compacted, by }) => [compacted, by]),
    [
      [before + 2, localOwner],
      [before + 1, localOwner],
    ],
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Turn, talkOf } from "../../test/world/talk.ts";
import type { History } from "../log/log.ts";
import { estimateTokens } from "../models/models.ts";
import type { CompactionCause } from "../protocol/events.ts";
import type { Message } from "../protocol/message.ts";
import { forModels } from "../words/words.ts";
import { bodyStart } from "./keep.ts";
import { type Compacted, planRoom, summedUp, withoutSummary } from "./plan-room.ts";
import { roomOf } from "./room.ts";
import { defaultWindowLimits as limits, messageTokens, prefixTokens } from "./tokens.ts";

type Options = { window?: number; by?: CompactionCause; prose?: string | undefined; size?: "full" | "small" };

/** As the loop does it, with this in place of a model's answer. */
function makeRoom(history: History, { window = 4_000, by = "window", prose, size = "small" }: Options = {}) {
  const reader = { windowTokens: window, promptSize: size, limits };
  const room = roomOf(history, reader);
  const plan = planRoom(history, room, { ...reader, by });
  if (plan.kind === "trim") return plan.compacted;
  if (plan.kind !== "leave_out") return plan.kind;
  return prose === undefined
    ? (withoutSummary(history, room, { by, messagesKeptMax: 150 }) ?? "nothing")
    : summedUp(history, room, { by, strategy: "compact", kept: plan.kept, prose });
}

const said = (text: string): Turn => ({ said: text, steps: [], answer: "fine" });

const words = (count: number) => "word ".repeat(count).trim();

test("without a summary of a model, what was summed up before stays, and everything left out is counted [Z2]", () => {
  const talk = talkOf(Array.from({ length: 20 }, (_, n) => said(`question ${n} ${words(150)}`)));
  const first = makeRoom(talk.history, { window: 8_000, prose: "## 1. As it was" });
  assert.ok(typeof first === "object");
  talk.compact(first);
  talk.say(...Array.from({ length: 20 }, (_, n) => said(`more ${n} ${words(150)}`)));
  const second = makeRoom(talk.history, { window: 8_000 });
  assert.ok(typeof second === "object");
  talk.compact(second);
  const { summary, messages } = talk.history;
  assert.deepEqual([second.strategy, summary?.text], ["fallback", "## 1. As it was"]);
  assert.equal(summary?.leftOut, 80 + 1 - messages.length);
  assert.ok(second.summary.includes(forModels.compact.leftOut(80 + 1 - messages.length, false)), second.summary);
});

const list = ["draw the chart", "ask about May"].map(
  (content, n) => ({ id: `0000000${n}`, content, status: "pending", priority: "medium" }) as const,
);

for (const promptTokens of [2_000, 2_500, 3_000, 3_300]) {
  test(`of 4,096 tokens the prompt takes ${promptTokens}: instructions and the to-do list are sent all the same [Z2][Z3]`, () => {
    const orders = ["Always write amounts in euros.", "Never touch uploads/a.csv.", "以后报告一律用中文。"];
    const talk = talkOf([...orders.map(said), said(`${words(200)}`)], { system: "s".repeat(4 * promptTokens) });
    talk.add({ type: "todo.set", todos: list });
    for (let n = 0; n < 20; n += 1) {
      talk.say(n % 3 === 0 ? { said: words(900), steps: [[words(400), words(30)]], answer: "yes" } : said(words(40)));
      const compacted = makeRoom(talk.history, { window: 4_096 });
      if (typeof compacted === "object") talk.compact(compacted);
      else assert.equal(compacted, "nothing");
      assertPaired(talk.history.messages);
      const sent = talk.history.messages.map(({ text }) => text).join("\n");
      for (const fact of orders) assert.ok(sent.includes(fact), `${n}: ${fact}`);
      if (typeof compacted === "object" && compacted.summary !== "")
        for (const { content } of list) assert.ok(sent.includes(content), `${n}: ${content}`);
      assert.ok(sentTokens(talk.history) <= 4_096 - 256, `${sentTokens(talk.history)}`);
    }
  });
}

for (const prose of ["## 1. x", undefined]) {
  test(`a call that weighs more than what may stay is still there when its result comes, ${prose ? "with" : "without"} a summary [Z2][L5]`, () => {
    const talk = talkOf([...Array.from({ length: 20 }, () => said(words(10))), { said: "go", steps: [] }]);
    talk.ask(["write_file", "compact_context"], { content: words(3_000) });
    const compacted = makeRoom(talk.history, { by: "tool", prose });
    assert.ok(typeof compacted === "object");
    talk.compact(compacted);
    const open = talk.history.turn?.calls.map(({ call }) => call.id) ?? [];
    talk.add(...open.map((call) => ({ type: "call.finished", call, outcome: "ok", text: "done" }) as const));
    const { messages } = talk.history;
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["user", "assistant", "tool", "tool"],
    );
    assertPaired(messages);
  });
}

test("whatever was said, room is made: history stays valid, it fits, and instructions stay byte for byte [Z2][Z3][L5]", () => {
  const size = fc.oneof({ weight: 4, arbitrary: fc.nat(80) }, fc.nat(6_000));
  const result = size.map((count) => `${words(count)}.`);
  const step = fc.array(result, { minLength: 1, maxLength: 4 });
  const turn = fc.record({
    said: fc.oneof(result, fc.constant("从现在起必须用中文回答"), fc.constant("Always sign with -- R2")),
    steps: fc.array(step, { maxLength: 6 }),
    answer: result,
    images: fc.nat(2),
  });
  const window = fc.constantFrom(4_096, 8_192, 32_000, 200_000);
  const run = fc.array(turn, { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(window, fc.array(run, { minLength: 1, maxLength: 4 }), fc.boolean(), (windowTokens, runs, speaks) => {
      const talk = talkOf([]);
      for (const turns of runs) {
        talk.say(...turns);
        const compacted = makeRoom(talk.history, { window: windowTokens, prose: speaks ? "## 1. Words" : undefined });
        if (compacted === "nothing") continue;
        assert.ok(typeof compacted === "object", "there is always something to leave out");
        checkCompacted(talk, compacted, windowTokens);
      }
      assert.deepEqual(talk.history, talk.foldedAnew());
    }),
    { numRuns: 150 },
  );
});

function checkCompacted(talk: ReturnType<typeof talkOf>, compacted: Compacted, windowTokens: number): void {
  talk.compact(compacted);
  const { history } = talk;
  assertPaired(history.messages);
  assert.equal(history.messages.length, compacted.messagesAfter);
  assert.ok(sentTokens(history) <= 0.87 * windowTokens, `${sentTokens(history)} of ${windowTokens}`);
  assert.ok(Math.abs(sentTokens(history) - (compacted.tokensAfter ?? 0)) <= 2 + history.messages.length);
  const sent = history.messages.map(({ text }) => text).join("\n");
  for (const { text } of history.said.filter(({ text }) => estimateTokens(text) < 20 && /必须|Always/.test(text)))
    assert.ok(sent.includes(text), text);
}

function sentTokens(history: History): number {
  return history.messages.reduce((sum, message) => sum + messageTokens(message), prefixTokens(history));
}

/** As providers want it: every call is followed by its results, and no result stands alone. */
function assertPaired(messages: readonly Message[]): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") assert.equal(message.toolCallId, open.shift());
    else assert.deepEqual(open, []);
    if (message.role === "assistant") open = (message.toolCalls ?? []).map(({ id }) => id);
  }
  assert.deepEqual(open, []);
}

const many = (count: number, text = "") => Array.from({ length: count }, (_, n) => said(`question ${n} ${text}`));

const readerOf = (windowTokens: number) => ({ windowTokens, promptSize: "full", limits }) as const;

function planFor(history: History, windowTokens: number, by: CompactionCause = "window") {
  const reader = readerOf(windowTokens);
  const room = roomOf(history, reader);
  return { room, plan: planRoom(history, room, { ...reader, by }) };
}

test("without a model there is nothing to leave out of what fits, and nothing is left out twice [Z2]", () => {
  const talk = talkOf(many(20, words(30)));
  const reader = readerOf(8_000);
  const leftOut = (messagesKeptMax: number) =>
    withoutSummary(talk.history, roomOf(talk.history, reader), { by: "window", messagesKeptMax });
  assert.equal(leftOut(150), undefined);
  const made = leftOut(6) ?? assert.fail();
  const { by, strategy, messagesBefore, messagesAfter } = made;
  assert.deepEqual(
    { by, strategy, messagesBefore, messagesAfter },
    { by: "window", strategy: "fallback", messagesBefore: 40, messagesAfter: 7 },
  );
  talk.compact(made);
  assert.equal(bodyStart(talk.history), 1);
  assert.equal(leftOut(6), undefined, "these six are there already");
  const room = roomOf(talk.history, reader);
  const all = talk.history.messages.reduce((sum, message) => sum + room.weigh(message), room.prefix);
  const isLeft = (limit: number) =>
    withoutSummary(talk.history, { ...room, limit }, { by: "window", messagesKeptMax: 6 }) !== undefined;
  assert.deepEqual([isLeft(all), isLeft(all - 1)], [false, true], "as long as it fits, to the last token");
  const again = leftOut(4) ?? assert.fail();
  assert.ok(again.summary.includes(forModels.compact.leftOut(36, false)), again.summary);
  assert.equal(again.messagesAfter, 5);
});

test("what is never lost keeps to its room beside what stays, as its provider counts, and stands there even where that weighs too much [Z2][Z3]", () => {
  const rules = Array.from({ length: 60 }, (_, n) => said(`Always mind rule ${n} of the house.`));
  const { history } = talkOf([...rules, ...many(10)]);
  const { room, plan } = planFor(history, 32_000, "person");
  assert.ok(plan.kind === "leave_out");
  const made = (changes: Partial<typeof room>, prose = "", kept = plan.kept) =>
    summedUp(history, { ...room, needed: 0, ...changes }, { by: "person", strategy: "compact", kept, prose });
  const sizes = [made({ keepsakes: 300, said: 300 }), made({ keepsakes: 600, said: 600, scale: 2 })].map(
    ({ summary }) => estimateTokens(summary),
  );
  for (const size of sizes) assert.ok(size <= 300 && size > 230, `${sizes}`);
  const limit = room.prefix + plan.kept.tokens + 1_300;
  const { tokensAfter = 0, kept } = made({ limit, keepsakes: 9_000 }, words(700));
  assert.ok(tokensAfter <= limit && (kept?.standing ?? 0) > 3, `${tokensAfter} of ${limit}`);
  assert.deepEqual([made({}).kept?.said !== undefined, made({ said: 0 }).kept?.said], [true, undefined]);
  const heavy = { ...plan.kept, tokens: room.limit };
  const standing = (changes: Partial<typeof room>) => made(changes, "", heavy).kept?.standing ?? 0;
  assert.deepEqual([standing({}), standing({ needed: room.needed, hard: room.prefix })], [0, 0]);
  assert.ok(standing({ needed: room.needed }) > 20);
});

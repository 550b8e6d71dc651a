import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Turn, talkOf } from "../../test/world/talk.ts";
import type { History } from "../log/log.ts";
import { estimateTokens } from "../models/models.ts";
import type { CompactionCause } from "../protocol/events.ts";
import type { Message } from "../protocol/message.ts";
import { forModels } from "../words/words.ts";
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

test("old results are shortened before anything is left out, and the newest stay as they are [Z2][Z3]", () => {
  const steps = Array.from({ length: 6 }, (_, n) => [`result ${n} ${words(500)}`]);
  const talk = talkOf([{ said: "look at all of them", steps }]);
  const compacted = makeRoom(talk.history, { window: 6_000 });
  assert.ok(typeof compacted === "object");
  const { strategy, summary, trims = [] } = compacted;
  assert.deepEqual([strategy, summary, trims.length], ["trim", "", 5]);
  talk.compact(compacted);
  const { messages } = talk.history;
  assert.equal(messages.length, 13, "all of them are there");
  assert.match(messages[2]?.text ?? "", /^result 0 word [^[]*\[\.\.\. shortened to make room: \d+ of \d+ characters/);
  assert.equal(messages.at(-1)?.text, `result 5 ${words(500)}`);
});

test("an old image is left out with a note, a new one is shown [Z2]", () => {
  const talk = talkOf([
    { said: "see", images: 3, steps: [], answer: "seen" },
    { said: "and this", images: 1, steps: [] },
  ]);
  const compacted = makeRoom(talk.history, { window: 6_000 });
  assert.ok(typeof compacted === "object");
  talk.compact(compacted);
  const [first, , last] = talk.history.messages;
  assert.deepEqual(first, { role: "user", text: `see${forModels.compact.imagesGone(3)}`, images: undefined });
  assert.equal(last?.role === "user" && last.images?.length, 1);
});

test("what a summary stands for is left out, and the facts beside it come from the log [Z2][Z3]", () => {
  const talk = talkOf([
    said("Always answer in French."),
    ...Array.from({ length: 12 }, (_, n) => said(`question ${n} ${words(60)}`)),
    { said: "the newest", steps: [] },
  ]);
  talk.add(
    { type: "todo.set", todos: [{ id: "00000001", content: "write it", status: "in_progress", priority: "high" }] },
    { type: "file.changed", path: "outputs/a.md", by: "tool", after: { bytes: 1, mode: 0o644, hash: "h" } },
    { type: "file.known", path: "uploads/b.csv", hash: "h" },
  );
  const compacted = makeRoom(talk.history, { window: 8_000, by: "person", prose: "## 1. The model's own words" });
  assert.ok(typeof compacted === "object");
  const { summary, prose, kept, strategy, messagesBefore, messagesAfter } = compacted;
  assert.deepEqual(
    { strategy, messagesBefore, messagesAfter },
    { strategy: "compact", messagesBefore: 27, messagesAfter: 11 },
  );
  assert.equal(summary.slice(prose?.at, (prose?.at ?? 0) + (prose?.length ?? 0)), "## 1. The model's own words");
  assert.deepEqual(kept, { standing: 1, said: 8, todos: 1, files: 2 });
  const { sections, leftOut, head } = forModels.compact;
  assert.ok(summary.startsWith(`${head.en}\n\n${leftOut(17, false)}\n\n`));
  assert.ok(summary.includes(`${sections.standing}\n${forModels.compact.words("Always answer in French.")}`));
  assert.ok(summary.includes(`${sections.todos}\n- [in_progress] write it (high)`));
  assert.ok(summary.endsWith(`${sections.files}\n- uploads/b.csv: read\n- outputs/a.md: made`));
});

test("the head of a summary speaks the user's language [Z2][P4]", () => {
  const talk = talkOf([...Array.from({ length: 12 }, (_, n) => said(`第${n}个问题`)), { said: "继续", steps: [] }]);
  const compacted = makeRoom(talk.history, { window: 8_000, by: "person", prose: "## 1. 用户请求" });
  assert.ok(typeof compacted === "object");
  assert.match(compacted.summary, /^# 对话历史摘要\n/);
});

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

test("a short conversation is left alone when somebody asks for room [Z2]", () => {
  const talk = talkOf([said("a"), said("b")]);
  assert.equal(makeRoom(talk.history, { by: "tool", prose: "x" }), "nothing");
  assert.equal(makeRoom(talk.history, { by: "person", prose: "x" }), "nothing");
  talk.say(...Array.from({ length: 5 }, (_, n) => said(`more ${n}`)));
  assert.equal(makeRoom(talk.history, { by: "person", prose: "x", window: 8_000 }), "nothing", "14 messages");
  talk.say({ said: "one more", steps: [] });
  const compacted = makeRoom(talk.history, { by: "person", prose: "x", window: 8_000 });
  assert.deepEqual(typeof compacted === "object" && [compacted.messagesBefore, compacted.messagesAfter], [15, 11]);
});

test("one message that is longer than the window is shortened, and its instructions are kept [Z2][Z3]", () => {
  const long = `${words(9_000)}\nNever touch the uploads.\n${words(9_000)}`;
  const talk = talkOf([said("hello"), { said: long, steps: [] }]);
  const compacted = makeRoom(talk.history);
  assert.ok(typeof compacted === "object");
  talk.compact(compacted);
  const { text = "" } = talk.history.messages.at(-1) ?? {};
  assert.match(
    text,
    /^word word [^[]*\[\.\.\. shortened to make room[^\n]*\nNever touch the uploads\.\n[word ]+ word$/,
  );
  assert.ok(sentTokens(talk.history) < 4_000);
});

test("a window that the prompt alone fills is exhausted, whatever is left out [Z2]", () => {
  const talk = talkOf([said("hello")], { system: words(3_600) });
  assert.equal(makeRoom(talk.history), "exhausted");
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

test("where the room has become too small for what is sent, what was summed up gives way before what is never lost [Z2][Z3]", () => {
  const talk = talkOf(
    [said("Always answer in French."), ...Array.from({ length: 12 }, (_, n) => said(`question ${n}`))],
    {
      system: "s".repeat(4 * 2_000),
    },
  );
  const first = makeRoom(talk.history, { window: 8_000, by: "person", prose: `## 1. ${words(300)}` });
  assert.ok(typeof first === "object");
  talk.compact(first);
  const second = makeRoom(talk.history, { window: 2_700 });
  assert.ok(typeof second === "object");
  talk.compact(second);
  assert.ok(talk.history.messages[0]?.text.includes("Always answer in French."));
  assert.equal(talk.history.summary?.text, "");
  assert.ok(sentTokens(talk.history) <= 2_700 - 256);
});

test("a call that waits for its result stays, whatever is left out before it [Z2][L5]", () => {
  const talk = talkOf([...Array.from({ length: 20 }, () => said(words(100))), { said: "go", steps: [] }]);
  talk.ask(["compact_context"]);
  const compacted = makeRoom(talk.history, { by: "tool", prose: "## 1. x" });
  assert.ok(typeof compacted === "object");
  talk.compact(compacted);
  assert.deepEqual(
    talk.history.messages.at(-1)?.role === "assistant" && talk.history.turn?.calls.map(({ call }) => call.name),
    ["compact_context"],
  );
});

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

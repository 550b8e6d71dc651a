import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { type Turn, talkOf } from "../../test/world/talk.ts";
import { roomOf, sendableTokens, tokenStatus } from "../context/context.ts";
import type { History } from "../log/log.ts";
import { openModels } from "../models/models.ts";
import type { ModelAnswer, ModelRequest } from "../models/provider.ts";
import { ConversationId, localOwner } from "../protocol/ids.ts";
import { makeRoomIn, readerOf, roomEvents, roomInTurn } from "./make-room.ts";
import { defaultLimits, type LoopLimits } from "./parts.ts";

const usage = { input: 700, output: 30 };
const heard = (more: Partial<ModelAnswer>): ModelAnswer => ({
  ...{ text: "", reasoning: "", toolCalls: [], finish: "stop", usage, ...more },
});
const summary = Array.from({ length: 7 }, (_, n) => `## ${n + 1}. Part\n- tea`).join("\n");

type Send = (request: ModelRequest, signal: AbortSignal) => Promise<ModelAnswer>;
type Options = Partial<LoopLimits> & { readonly windowTokens?: number; readonly send?: Send };

/** What making room takes, with a summariser that is played; what it was asked, and what was warned of. */
async function parts({ windowTokens = 16_000, send = async () => heard({ text: summary }), ...limits }: Options = {}) {
  const clock = manualClock();
  const asked: ModelRequest[] = [];
  const warned: unknown[] = [];
  const models = await openModels({
    slots: { base: { slot: "base", baseUrl: "http://127.0.0.1:9", model: "m", contextWindow: windowTokens } },
    makeProvider: () => ({
      prepare(request) {
        asked.push(request);
        const bytes = { hash: "", length: 0, reused: 0 };
        return { bytes, send: (_, signal) => send(request, signal) };
      },
      close: async () => {},
    }),
    ...{ startDemo: () => assert.fail("there is a model"), clock },
  });
  const logger = {
    ...{ path: undefined, info() {}, debug() {}, error() {}, flush: async () => {}, close: async () => {} },
    warn: (message: string, facts: unknown) => void warned.push([message, facts]),
  };
  const all = { ...defaultLimits, prices: { m: { input: 10, output: 20 } }, ...limits };
  return { clock, models, logger, asked, warned, agents: () => [], limits: all };
}

const conversation = { id: ConversationId.parse("c"), owner: localOwner };
const place = (history: History, signal = new AbortController().signal) => ({ conversation, history, signal });
const turns = (count: number, tokens: number): Turn[] =>
  Array.from({ length: count }, (_, n) => ({ said: `${n} ${"word".repeat(tokens)}`, steps: [], answer: "I see." }));

test("a provider that refuses what should have fitted is taken to have seven tenths of it, more where the prompt is most of it, and never more than its window or less than what is never lost [Z2][M3]", async () => {
  const assumed = async (said: number, system: number, windowTokens = 100_000) => {
    const given = await parts({ windowTokens });
    const { history } = talkOf([...turns(8, said), { said: "go on", steps: [] }], { system: "word".repeat(system) });
    const { used, prefix } = roomOf(history, readerOf(history, given));
    const made = await makeRoomIn(given, place(history), { strategy: "auto", by: "overflow" });
    const { compacted } = made.ok ? made.value : {};
    return {
      used,
      prefix,
      half: prefix + (used - prefix) / 2,
      window: compacted?.window,
      after: compacted?.tokensAfter,
    };
  };
  const usual = await assumed(2_000, 500);
  assert.deepEqual(usual.window, { model: "m", tokens: Math.floor(0.7 * usual.used) });
  assert.ok((usual.after ?? Number.POSITIVE_INFINITY) <= usual.half, "half of the history goes");
  const prompted = await assumed(2_000, 10_000);
  assert.deepEqual(prompted.window, { model: "m", tokens: Math.floor(prompted.half / 0.85) });
  const most = await assumed(1_000, 40_000);
  assert.deepEqual(most.window, { model: "m", tokens: Math.floor(0.95 * most.used) });
  const small = await assumed(2_000, 500, 8_000);
  assert.deepEqual(small.window, { model: "m", tokens: 8_000 });
});

test("at the second refusal all goes that may go, and what is hardly more than the prompt is not what was too long [Z2]", async () => {
  const given = await parts();
  const overflown = async (history: History) => {
    const made = await makeRoomIn(given, place(history), { strategy: "auto", by: "overflow" });
    return made.ok ? made.value.compacted?.messagesAfter : made.failure;
  };
  const after = async (compactions: number) => {
    const talk = talkOf([...turns(12, 300), { said: "go on", steps: [] }]);
    if (talk.history.turn !== undefined) talk.history.turn.compactions = compactions;
    return overflown(talk.history);
  };
  const [first, second] = [await after(0), await after(1)];
  assert.ok(typeof first === "number" && typeof second === "number" && second < first, `${second} < ${first}`);
  const beside = (tokens: number) => {
    const { history } = talkOf([{ said: "word".repeat(tokens), steps: [] }]);
    const { used, prefix } = roomOf(history, readerOf(history, given));
    return { history, used, own: used - prefix };
  };
  const less = beside(200);
  assert.ok(less.own < 256);
  const small = await overflown(less.history);
  assert.ok(typeof small === "object" && small.code === "context_exhausted");
  assert.equal(small.params.used, less.used);
});

test("a window that is fuller than it should be is sent as it is while it can be, and not beyond that; where no room may be made that is said [Z2]", async () => {
  const given = await parts();
  const hard = Math.floor(sendableTokens({ windowTokens: 16_000 }));
  const base = tokenStatus(talkOf([{ said: "", steps: [] }]).history, 16_000).used;
  // The prompt is what fills it, so that nothing can be left out.
  const room = async (used: number) => {
    const { history } = talkOf([{ said: "", steps: [] }], { system: `You are an agent.${"word".repeat(used - base)}` });
    assert.equal(tokenStatus(history, 16_000).used, used);
    const made = await makeRoomIn(given, place(history), { strategy: "auto", by: "window" });
    return made.ok ? made.value : made.failure.params;
  };
  assert.deepEqual(await room(hard), {});
  assert.deepEqual(await room(hard + 1), { used: hard + 1, window: 16_000 });
  const off = await parts({ messagesKeptMax: 0 });
  const made = await makeRoomIn(off, place(talkOf([]).history), { strategy: "auto", by: "person" });
  assert.equal(made.ok ? "made" : made.failure.code, "compaction_off");
});

test("a summary is asked for in the name of the user, without tools, and what it cost, what it was to look at and how it was made are stored [Z2][A4]", async () => {
  const given = await parts();
  const { history } = talkOf(turns(20, 100));
  const order: string[] = [];
  const onAsked = async () => void order.push(`asked ${given.asked.length}`);
  const wanted = { strategy: "summarize", by: "person", focus: "tea" } as const;
  const made = await makeRoomIn(given, { ...place(history), onAsked }, wanted);
  assert.ok(made.ok && made.value.compacted !== undefined);
  const { strategy, by, focus, usage: paid, cost, because, window } = made.value.compacted;
  assert.deepEqual(
    { strategy, by, focus, paid, cost, because, window },
    {
      ...{ strategy: "summarize", by: "person", focus: "tea", paid: usage, cost: 0.0076 },
      ...{ because: undefined, window: undefined },
    },
  );
  const [request] = given.asked;
  assert.deepEqual([request?.cacheKey, request?.tools, order], ["summary of c", undefined, ["asked 0"]]);
  assert.match(request?.messages.at(-1)?.text ?? "", /tea/);
  const plain = await makeRoomIn(given, place(history), { strategy: "auto", by: "person", focus: "  " });
  assert.ok(plain.ok && plain.value.compacted !== undefined);
  assert.deepEqual([plain.value.compacted.strategy, "focus" in plain.value.compacted], ["compact", false]);
  assert.deepEqual([given.clock.timers(), given.warned], [0, []]);
});

/** A summariser that only ends when it is told to. */
const endless: Send = (_, signal) =>
  new Promise((resolve) => {
    const end = () => resolve(heard({ finish: "error", error: { kind: "network", retryable: true, message: "" } }));
    if (signal.aborted) return end();
    signal.addEventListener("abort", end);
  });

test("a summary that takes too long, or whose turn is stopped, is not waited for; no clock and nobody runs on for it [Z2][L6]", async () => {
  const given = await parts({ send: endless, summaryTimeoutMs: 5_000 });
  const { history } = talkOf(turns(20, 100));
  const stop = new AbortController();
  const make = () => makeRoomIn(given, place(history, stop.signal), { strategy: "auto", by: "person" });
  const because = async (made: ReturnType<typeof make>) => {
    const { ok: isMade, ...result } = await made;
    return [isMade, "value" in result && result.value.because, given.clock.timers()];
  };
  const whenAsked = async (count: number) => {
    while (given.asked.length < count || given.clock.timers() === 0)
      await new Promise((resolve) => setImmediate(resolve));
  };
  const late = make();
  await whenAsked(1);
  given.clock.move(4_999);
  const isOver = await Promise.race([late.then(() => true), new Promise((resolve) => setImmediate(resolve, false))]);
  given.clock.move(1);
  assert.deepEqual([isOver, await because(late)], [false, [true, "error", 0]]);
  const listening = () => getEventListeners(stop.signal, "abort").length;
  const stopped = make();
  await whenAsked(2);
  assert.equal(listening(), 1);
  stop.abort("cancel");
  assert.deepEqual([await because(stopped), listening()], [[true, "error", 0], 0]);
  assert.deepEqual(await because(make()), [true, "error", 0], "stopped before it was asked");
  const warning = ["no summary of c", { why: "error", kind: "network" }];
  assert.deepEqual(given.warned, [warning, warning, warning]);
});

test("a tool hears what came of its making room: numbers before and after, and what a useless summary cost is noted in its turn; stopped, nothing is stored [Z1][Z2][A4]", async () => {
  let text = summary;
  const given = await parts({ send: async () => heard({ text }) });
  const talk = talkOf([...turns(20, 100), { said: "make room", steps: [] }]);
  const { history } = talk;
  const stop = new AbortController();
  const make = async () => {
    const made = await roomInTurn({ conversation, history }, given, { strategy: "auto", signal: stop.signal });
    assert.ok(made.ok);
    return made.value;
  };
  const { report, event } = await make();
  const { used } = tokenStatus(history, 16_000);
  assert.ok(event?.type === "compacted");
  const { turn, by, messagesBefore, messagesAfter, tokensAfter } = event;
  assert.deepEqual([turn, by, messagesBefore], [21, "tool", 41]);
  assert.deepEqual(report, {
    ...{ strategy: "compact", messagesBefore: 41, messagesAfter, tokensBefore: used, tokensAfter },
  });
  text = "";
  const same = { messagesBefore: 41, messagesAfter: 41, tokensBefore: used, tokensAfter: used };
  const useless = { type: "usage.noted", turn: 21, usage, cost: 0.0076 };
  assert.deepEqual(await make(), { report: { strategy: "fallback", ...same }, event: useless });
  stop.abort("cancel");
  assert.deepEqual(await make(), { report: { strategy: "fallback", ...same }, event: undefined });
  const short = talkOf([{ said: "make room", steps: [] }]).history;
  const none = await roomInTurn({ conversation, history: short }, given, {
    ...{ strategy: "auto", signal: new AbortController().signal },
  });
  assert.ok(none.ok);
  assert.deepEqual([none.value.report.strategy, none.value.event], ["none", undefined]);
  assert.deepEqual(roomEvents(3, {}), []);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { type Turn, talkOf } from "../../test/world/talk.ts";
import { roomOf } from "../context/context.ts";
import type { History } from "../log/log.ts";
import { openModels } from "../models/models.ts";
import type { ModelAnswer, ModelRequest } from "../models/provider.ts";
import { ConversationId, localOwner } from "../protocol/ids.ts";
import { makeRoomIn, readerOf } from "./make-room.ts";
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

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openModels } from "../models/models.ts";
import type { DeltaSink, ModelAnswer, ModelError, ModelRequest } from "../models/provider.ts";
import type { NewEvent } from "../protocol/events.ts";
import type { LiveFrame } from "./loop.ts";
import { defaultLimits, type LoopLimits, type Parts } from "./parts.ts";
import { takeStep } from "./step.ts";
import { keepOne, said, started } from "./tenure.testing.ts";

const recipe: NewEvent = { type: "recipe.set", cause: "start", system: "be kind", tools: "[]", startedAt: 0 };
const usage = { input: 10, output: 2 };
const plain: ModelAnswer = { text: "yes", reasoning: "", toolCalls: [], finish: "stop", usage };
const bytes = { hash: "0123456789abcdef", length: 99, reused: 7 };
const call = { id: "c", name: "look", arguments: "{}" };

type Play = {
  readonly before?: readonly NewEvent[];
  readonly limits?: Partial<LoopLimits>;
  readonly random?: () => number;
  readonly isFinal?: boolean;
  /** What the model does: `kept` is what the step stands in. */
  readonly play?: (kept: Kept, sink: DeltaSink) => Partial<ModelAnswer> | Promise<Partial<ModelAnswer>>;
};
type Kept = Awaited<ReturnType<typeof keepOne>>;

/** One step against a server of models whose part the test plays. */
async function stepping(t: TestContext, { before = [], limits, random = () => 0.5, isFinal = false, play }: Play = {}) {
  const kept = await keepOne(t, { before: [recipe, said("m1"), started, ...before] });
  const { tenure, log, number, clock } = kept;
  const [live, asked, waits]: [LiveFrame[], ModelRequest[], number[]] = [[], [], []];
  const send = async (sink: DeltaSink) => ({ ...plain, ...(await play?.(kept, sink)) });
  const models = await openModels({
    slots: { base: { slot: "base", baseUrl: "http://127.0.0.1:9", model: "m", contextWindow: 16_000 } },
    makeProvider: () => ({
      prepare(request) {
        asked.push(request);
        return { bytes, send };
      },
      close: async () => {},
    }),
    ...{ startDemo: () => assert.fail("there is a model"), clock },
  });
  t.after(() => models.close());
  const wait: typeof clock.wait = async (ms) => {
    waits.push(ms);
    return "elapsed";
  };
  const parts: Parts = {
    ...{ ...kept.parts, models, random, clock: { ...clock, wait } },
    limits: { ...defaultLimits, ...limits },
  };
  parts.live.listen(number, (frame) => live.push(frame));
  const head = await log.headOf(number);
  const isStaged = await takeStep(tenure.root, parts, { isFinal });
  const stored = async () =>
    (await log.read(number, { after: head, limit: 20 })).map(({ seq: _, at: __, ...event }) => event);
  const unshown: LiveFrame[] = [];
  parts.live.listen(number, (frame) => unshown.push(frame));
  assert.deepEqual(unshown, [], "nothing is being written any more");
  return { ...kept, isStaged, stored, live, asked, waits };
}

const failing = (error: Partial<ModelError>, more: Partial<ModelAnswer> = {}) => ({
  play: () => ({
    ...{ text: "", finish: "error" as const, usage: { input: 0, output: 0 }, ...more },
    error: { kind: "network" as const, retryable: true, message: "away", ...error },
  }),
});

test("what is asked is stored before it leaves, with the first words for the list; what is answered is shown as it comes and staged with how long it took [L2][C3][U1]", async (t) => {
  const seen: unknown[] = [];
  const { isStaged, stored, live, tenure, real, asked } = await stepping(t, {
    async play({ log, number, clock }, sink) {
      const [sent, ...more] = await log.read(number, { after: 3, limit: 5 });
      seen.push(sent?.type === "step.started" && [sent.hash, sent.bytes, sent.reused, more]);
      clock.move(3);
      sink.text?.("");
      clock.move(2);
      sink.reasoning?.("hm");
      sink.text?.("yes");
      clock.move(5);
      return { reasoning: "hm" };
    },
  });
  assert.deepEqual(seen, [[bytes.hash, 99, 7, []]]);
  const shown = { frame: "delta", turn: 1, step: 1, attempt: 1, offset: 0 };
  assert.deepEqual(live, [
    { ...shown, kind: "text", text: "" },
    { ...shown, kind: "reasoning", text: "hm" },
    { ...shown, kind: "text", text: "yes" },
  ]);
  assert.equal(isStaged, true);
  assert.deepEqual(
    (await stored()).map(({ type }) => type),
    ["step.started"],
    "the answer is stored with what follows from it",
  );
  assert.ok((await tenure.root.commit()).ok);
  const answer = (await stored()).at(-1);
  assert.deepEqual(answer, {
    ...{ type: "message.assistant", turn: 1, step: 1, text: "yes", reasoning: "hm", finish: "stop", usage },
    ...{ durationMs: 10, firstTokenMs: 5 },
  });
  const row = await real.conversationByNumber(tenure.conversation.number);
  assert.deepEqual([row?.title, row?.lastMessage], ["m1", "m1"]);
  const [request] = asked;
  assert.deepEqual([request?.toolChoice, request?.cacheKey], ["auto", "c"]);
});

test("in its last answer a model may call nothing, and one that does so all the same has said what it said [L8]", async (t) => {
  const play = () => ({ text: "so far", toolCalls: [call], finish: "tool_calls" as const });
  const { tenure, asked, stored } = await stepping(t, { isFinal: true, play });
  assert.ok((await tenure.root.commit()).ok);
  const [begun, answer] = await stored();
  assert.equal(asked[0]?.toolChoice, "none");
  assert.equal(begun?.type === "step.started" && begun.final, true);
  assert.ok(answer?.type === "message.assistant");
  assert.deepEqual([answer.text, answer.calls, answer.finish], ["so far", undefined, "stop"]);
});

test("calls that a server numbers alike are told apart, and each is what the model meant [L5]", async (t) => {
  const play = () => ({ toolCalls: [call, { ...call, name: "other" }, call, { ...call, id: "d" }] });
  const { tenure } = await stepping(t, { play });
  assert.deepEqual(
    tenure.root.history.turn?.calls.map((state) => state.call.id),
    ["c", "c_2", "c_3", "d"],
  );
});

test("of an answer that a person stops the words that were shown are kept, and of one that ends with its process nothing is [L6][L2]", async (t) => {
  const stopped = (reason: "cancel" | "closing", text: string): Play => ({
    play({ tenure }) {
      if (reason === "cancel") tenure.root.stop();
      else tenure.close();
      return { text, reasoning: "hm", finish: "error" };
    },
  });
  const kept = await stepping(t, stopped("cancel", "I was ab"));
  assert.equal(kept.isStaged, false);
  assert.deepEqual((await kept.stored()).slice(1), [
    {
      ...{ type: "message.assistant", turn: 1, step: 1, text: "I was ab", finish: "stop", usage },
      ...{ usageEstimated: true, cut: true, durationMs: 0 },
    },
  ]);
  for (const play of [stopped("cancel", ""), stopped("closing", "I was ab")]) {
    const nothing = await stepping(t, play);
    assert.deepEqual([nothing.isStaged, (await nothing.stored()).length], [false, 1]);
  }
});

test("an attempt that failed is on record, and the next comes after twice the pause up to the longest, a quarter more or less by chance [M3]", async (t) => {
  const failed = (count: number): NewEvent[] =>
    Array.from({ length: count }, (_, index) => [
      {
        ...{ type: "step.started", turn: 1, step: 1, attempt: index + 1, slot: "base", model: "m", reason: "r" },
        ...{ hash: "", bytes: 0, reused: 0 },
      } as NewEvent,
      {
        ...{ type: "step.failed", turn: 1, step: 1, attempt: index + 1, kind: "network" },
        failure: { code: "x", params: {} },
      } as NewEvent,
    ]).flat();
  const pauseAfter = async (count: number, more: Play = {}, error: Partial<ModelError> = {}) => {
    const limits = { attemptsMax: 9, retryDelayMs: 100, retryDelayMsMax: 1_000 };
    const { waits, stored } = await stepping(t, { before: failed(count), ...failing(error), ...more, limits });
    return [waits, (await stored()).map(({ type }) => type)];
  };
  const again = ["step.started", "step.failed"];
  assert.deepEqual(await pauseAfter(0), [[100], again]);
  assert.deepEqual(await pauseAfter(0, { random: () => 0 }), [[75], again]);
  assert.deepEqual(await pauseAfter(0, { random: () => 1 }), [[125], again]);
  assert.deepEqual(await pauseAfter(2), [[400], again]);
  assert.deepEqual(await pauseAfter(5), [[1_000], again]);
  const over = [...again, "turn.finished"];
  assert.deepEqual(await pauseAfter(0, {}, { retryAfterMs: 1_000 }), [[1_000], again]);
  assert.deepEqual(await pauseAfter(0, {}, { retryAfterMs: 1_001 }), [[], over]);
  assert.deepEqual(await pauseAfter(7), [[1_000], again]);
  assert.deepEqual(await pauseAfter(8), [[], over]);
  assert.deepEqual(await pauseAfter(0, {}, { retryable: false }), [[], over]);
});

test("what failed is told with what was seen of it, and paid for only where the server worked; too long a request ends no turn while room can be made [M3][A4][Z2]", async (t) => {
  const none = { input: 0, output: 0 };
  const told = async (error: Partial<ModelError>, more: Partial<ModelAnswer>, limits?: Partial<LoopLimits>) => {
    const { stored, waits } = await stepping(t, { ...failing(error, more), ...(limits && { limits }) });
    const [, event, ...after] = await stored();
    assert.ok(event?.type === "step.failed");
    const { kind, textSeen, usage: paid, retryAfterMs } = event;
    return [kind, textSeen, paid, retryAfterMs, waits.length, after.map(({ type }) => type)];
  };
  const silent = ["network", undefined, undefined, undefined, 1, []];
  assert.deepEqual(await told({}, {}), silent);
  assert.deepEqual(await told({}, { usage, usageEstimated: true }), silent, "a guess at a request nobody served");
  assert.deepEqual(await told({}, { usage }), ["network", undefined, usage, undefined, 1, []]);
  assert.deepEqual(await told({}, { text: "I was" }), ["network", "I was", none, undefined, 1, []]);
  assert.deepEqual(await told({}, { reasoning: "hm" }), ["network", undefined, none, undefined, 1, []]);
  const long = { kind: "context_overflow", retryable: false } as const;
  assert.deepEqual(await told(long, {}), ["context_overflow", undefined, undefined, undefined, 0, []]);
  assert.deepEqual((await told(long, {}, { messagesKeptMax: 0 })).at(-1), ["turn.finished"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import { realProvider } from "../../test/world/base-model.ts";
import { until } from "../../test/world/events.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { modelServer } from "../../test/world/model-server.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { Slot } from "../protocol/message.ts";
import { startDemoServer } from "./demo/demo.ts";
import type { FoundServer } from "./detect.ts";
import { type ModelFacts, type ModelNote, type ModelsOptions, openModels, type SlotSettings } from "./models.ts";
import { NeutralRequest } from "./neutral.ts";
import type { Endpoint, ModelAnswer, ModelError, ModelRequest, PreparedCall } from "./provider.ts";
import { openTurnstile } from "./turnstile.ts";

const facts: ModelFacts = { hasImages: false, hasCode: false, task: "hello", final: false };
const openai = "https://api.openai.com/v1";
const ollama = "http://127.0.0.1:11434/v1";
const request = { messages: [{ role: "user", text: "hello" }], owner: "ada" } as const;

test("with nothing configured the demo model fills the base slot [M1] [M5]", async () => {
  const { models, closed } = await open({});
  assert.deepEqual(models.list().map(shown), [["base", "demo", "demo", true, 128_000, "full"]]);
  assert.deepEqual(shown(models.get("vision")), ["base", "demo", "demo", true, 128_000, "full"]);
  await models.close();
  assert.deepEqual(closed, ["provider demo", "demo"]);
});

test("an empty slot falls back to base, and the reason says so [M1] [M2]", async () => {
  const { models } = await open({ base: { model: "gpt-4o" }, code: { model: "gpt-5" } });
  const choice = ({ slot, reason, model }: ReturnType<typeof models.choose>) => [slot, reason, model.id];
  assert.deepEqual(choice(models.choose({ ...facts, preferred: "vision" })), ["base", "fallback to base", "gpt-4o"]);
  assert.deepEqual(choice(models.choose({ ...facts, preferred: "code" })), ["code", "preferred", "gpt-5"]);
  assert.deepEqual(choice(models.choose({ ...facts, hasCode: true })), ["code", "code", "gpt-5"]);
  assert.deepEqual(choice(models.choose(facts)), ["base", "default", "gpt-4o"]);
});

test("the embedding program can bring its own resolver, and an odd answer of it does no harm [M2]", async () => {
  const seen: (readonly Slot[])[] = [];
  const resolver: ModelsOptions["resolver"] = ({ task }, filled) => {
    seen.push([...filled]);
    return task === "draw" ? { slot: "vision", reason: "drawing" } : { slot: "chat", reason: "house rule" };
  };
  const { models } = await open({ base: { model: "a" }, chat: { model: "b" } }, { resolver });
  assert.deepEqual(
    [models.choose(facts).reason, models.choose({ ...facts, task: "draw" }).reason],
    ["house rule", "fallback to base"],
  );
  assert.deepEqual(seen.join(), "base,chat,base,chat");
});

test("the slot's settings go into every request: a temperature only where it is set and taken [M1]", async () => {
  const { models, requests } = await open({
    base: { model: "gpt-4o", temperature: 0.2 },
    chat: { model: "gpt-4o" },
    reasoning: { model: "gpt-5", temperature: 0.2, maxTokens: 5_000 },
    code: { model: "some-model", temperature: 0 },
  });
  const sent = (["base", "chat", "reasoning", "code"] as const).map((slot) => {
    models.get(slot).prepare(request);
    const { temperature, maxOutputTokens, stream, messages } = requests.at(-1) ?? {};
    return [temperature, maxOutputTokens, stream, messages];
  });
  assert.deepEqual(sent, [
    [0.2, 16_384, true, request.messages],
    [undefined, 16_384, true, request.messages],
    [undefined, 5_000, true, request.messages],
    [0, undefined, true, request.messages],
  ]);
  assert.equal(
    requests.some((sentRequest) => "owner" in sentRequest),
    false,
  );
});

const served: FoundServer = {
  kind: "ollama",
  baseUrl: ollama,
  models: [
    { id: "qwen3-coder:latest", windowTokens: 65_536, tools: true },
    {
      id: "small:8b",
      windowTokens: 4_096,
      tools: true,
      advice: { code: "served_window_small", model: "small:8b", tokens: 4_096, command: "mend" },
    },
  ],
};

test("a local server is asked for its window, unless the user has said it [M1] [M4]", async () => {
  const asked: string[] = [];
  const describeServer = async (baseUrl: string) => {
    asked.push(baseUrl);
    return served;
  };
  const { models, notes } = await open(
    {
      base: { model: "qwen3-coder", baseUrl: ollama },
      code: { model: "small:8b", baseUrl: ollama },
      chat: { model: "unlisted", baseUrl: ollama },
      vision: { model: "small:8b", baseUrl: ollama, contextWindow: 20_000 },
      reasoning: { model: "gpt-5" },
    },
    { describeServer },
  );
  assert.deepEqual(
    models.list().map(({ slot, windowTokens }) => `${slot} ${windowTokens}`),
    ["base 65536", "reasoning 272000", "vision 20000", "code 4096", "chat 8192"],
  );
  assert.deepEqual(asked, [ollama, ollama, ollama]);
  assert.deepEqual(
    notes.map(({ code, model }) => `${code} ${model}`),
    ["served_window_small small:8b", "window_guessed unlisted"],
  );
});

test("calls to one base URL share its limit, those to another do not [M3]", async () => {
  const held = { a: Promise.withResolvers<void>(), c: Promise.withResolvers<void>() };
  await using one = await modelServer([{ text: "from a", heldUntil: held.a.promise }, { text: "from b" }]);
  await using other = await modelServer([{ text: "from c", heldUntil: held.c.promise }]);
  const contextWindow = 32_768;
  const { models, sent } = await open(
    {
      base: { model: "a", baseUrl: one.url, contextWindow },
      chat: { model: "b", baseUrl: `${one.url}/`, contextWindow },
      code: { model: "c", baseUrl: other.url, contextWindow },
    },
    { callsMax: 1 },
  );
  const { signal } = new AbortController();
  const [a, b, c] = (["base", "chat", "code"] as const).map(async (slot) => {
    const answer = await models.get(slot).prepare(request).send({}, signal);
    return "text" in answer ? answer.text : answer;
  });
  await until("both servers are asked", () => one.asked.length > 0 && other.asked.length > 0);
  assert.deepEqual(sent, ["a", "c"]);
  held.c.resolve();
  assert.deepEqual([await c, sent], ["from c", ["a", "c"]]);
  held.a.resolve();
  assert.deepEqual([await a, await b], ["from a", "from b"]);
  await models.close();
});

function settings(slot: Slot, some: Partial<SlotSettings> & { model: string }): SlotSettings {
  return { slot, baseUrl: openai, ...some };
}

type Shown = ReturnType<Awaited<ReturnType<typeof openModels>>["get"]>;
const shown = ({ slot, id, server, isDemo, windowTokens, promptSize }: Shown) => [
  slot,
  id,
  server,
  isDemo,
  windowTokens,
  promptSize,
];

/** Models with their real providers: it is seen what these are asked for and send, and when they have closed. */
async function open(
  slots: Partial<Record<Slot, Partial<SlotSettings> & { model: string }>>,
  options: Partial<ModelsOptions> = {},
) {
  const [endpoints, requests, notes]: [Endpoint[], ModelRequest[], ModelNote[]] = [[], [], []];
  const [closed, sent]: [string[], string[]] = [[], []];
  /** A moment later: it is seen who does not wait for it. */
  const closing = async (name: string, real: { close(): Promise<void> }) => {
    await real.close();
    await nextTick();
    closed.push(name);
  };
  const models = await openModels({
    slots: Object.fromEntries(Object.entries(slots).map(([slot, some]) => [slot, settings(Slot.parse(slot), some)])),
    async startDemo() {
      const demo = await startDemoServer({ clock: systemClock, onThrown: (error) => assert.fail(String(error)) });
      return { ...demo, close: () => closing("demo", demo) };
    },
    clock: systemClock,
    onNote: (note) => notes.push(note),
    makeProvider(endpoint) {
      endpoints.push(endpoint);
      const provider = realProvider(endpoint, systemClock);
      return {
        prepare(prepared) {
          requests.push(prepared);
          const call = provider.prepare(prepared);
          const send: typeof call.send = (...given) => {
            sent.push(endpoint.model);
            return call.send(...given);
          };
          return { ...call, send };
        },
        close: () => closing(`provider ${endpoint.model}`, provider),
      };
    },
    ...options,
  });
  return { models, endpoints, requests, notes, closed, sent };
}

const done: ModelAnswer = {
  text: "done",
  reasoning: "",
  toolCalls: [],
  finish: "stop",
  usage: { input: 1, output: 1 },
};
const slowDown: ModelError = { kind: "rate_limit", retryable: true, retryAfterMs: 5_000, message: "slow down" };

test("no more calls run at once than allowed, and a finished one lets the next in [M3]", async () => {
  const { send, sent, finish } = gate({ callsMax: 2 });
  const answers = ["a1", "a2", "a3", "a4"].map((name) => send(name));
  await nextTick();
  assert.deepEqual(sent, ["a1", "a2"]);
  finish("a2", done);
  await nextTick();
  assert.deepEqual(sent, ["a1", "a2", "a3"]);
  for (const name of ["a1", "a3"]) finish(name, done);
  await nextTick();
  finish("a4", done);
  assert.deepEqual(await Promise.all(answers), [done, done, done, done]);
});

test("owners take turns, however much one of them asks for [M3]", async () => {
  const { send, sent, finish } = gate({ callsMax: 1 });
  for (const name of ["a1", "a2", "a3", "a4", "b1", "b2", "c1"]) void send(name);
  for (let i = 0; i < 7; i += 1) {
    await nextTick();
    finish(sent.at(-1) ?? "", done);
  }
  assert.deepEqual(sent, ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("after a Retry-After nobody calls before it is over [M3]", async () => {
  const { send, sent, finish, pass, timers } = gate({ callsMax: 2 });
  void send("a1");
  void send("a2");
  await nextTick();
  finish("a1", failure(slowDown));
  void send("b1");
  await nextTick();
  pass(4_999);
  await nextTick();
  assert.deepEqual(sent, ["a1", "a2"]);
  pass(1);
  await nextTick();
  assert.deepEqual([sent, timers()], [["a1", "a2", "b1"], 0]);
});

test("a pause longer than the limit is not waited for: everybody gets the provider's own error [M3]", async () => {
  const { send, sent, finish, pass } = gate({ callsMax: 1 });
  const first = send("a1");
  const waiting = send("b1");
  await nextTick();
  const long = { ...slowDown, retryAfterMs: 3_600_000 };
  finish("a1", failure(long));
  assert.deepEqual((await first).error, long);
  assert.deepEqual((await waiting).error, long);
  pass(1_000);
  assert.deepEqual((await send("c1")).error, { ...long, retryAfterMs: 3_599_000 });
  assert.deepEqual(sent, ["a1"]);
});

test("whoever is stopped while waiting leaves at once and takes no turn [M3]", async () => {
  const { send, sent, finish, timers } = gate({ callsMax: 1 });
  void send("a1");
  const stop = new AbortController();
  const stopped = send("b1", stop.signal);
  void send("c1");
  await nextTick();
  stop.abort();
  assert.deepEqual((await stopped).error, { kind: "network", retryable: false, because: "cancelled", message: "" });
  assert.equal((await send("d1", AbortSignal.abort())).finish, "error");
  finish("a1", failure(slowDown));
  await nextTick();
  assert.deepEqual([sent, timers()], [["a1"], 1]);
});

function failure(error: ModelError): ModelAnswer {
  return { ...done, text: "", finish: "error", error };
}

/** A turnstile before calls that end when the test says so; the first letter of a call's name is its owner. */
function gate({ callsMax }: { callsMax: number }) {
  const manual = manualClock();
  const { move: pass, timers, after } = manual;
  const wait: Clock["wait"] = (ms, signal) => {
    const { promise, resolve } = Promise.withResolvers<"elapsed" | "aborted">();
    const cancel = after(ms, () => resolve("elapsed"));
    signal?.addEventListener("abort", () => resolve("aborted"), { once: true });
    signal?.addEventListener("abort", cancel, { once: true });
    return promise;
  };
  const clock: Clock = { ...manual, wait };
  const turnstile = openTurnstile({ clock, callsMax, holdMsMax: 60_000 });
  const sent: string[] = [];
  const open = new Map<string, (answer: ModelAnswer) => void>();
  const send = (name: string, signal = new AbortController().signal) => {
    const call: PreparedCall = {
      bytes: { hash: name, length: 0, reused: 0 },
      send: () => {
        sent.push(name);
        return new Promise((resolve) => open.set(name, resolve));
      },
    };
    return turnstile.guard(call, name.charAt(0)).send({}, signal);
  };
  return { send, sent, pass, timers, finish: (name: string, answer: ModelAnswer) => open.get(name)?.(answer) };
}

test("a key nobody knows is named [P2]", () => {
  const { error } = NeutralRequest.safeParse({ stream: true, temprature: 1, profile: { streamUsages: true } });
  assert.match(error?.message ?? "", /temprature/);
  assert.match(error?.message ?? "", /streamUsages/);
});

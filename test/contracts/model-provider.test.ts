import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { describeModel } from "../../src/models/models.ts";
import type { DeltaSink, ModelAnswer, ModelProvider, ModelRequest } from "../../src/models/provider.ts";
import type { Message } from "../../src/protocol/message.ts";
import { providerFor } from "../../src/providers.ts";
import { type Answer, modelServer } from "../world/model-server.ts";
import { wires } from "../world/wires.ts";

/** A provider, and the server it speaks with, which answers by its script in the provider's own wire format. */
type ModelPlace = AsyncDisposable & {
  readonly provider: ModelProvider;
  /** The messages of each request that arrived, as bytes. */
  readonly arrived: () => readonly string[];
  /** Nobody is there any more. */
  readonly leave: () => Promise<void>;
};

type Opener = (script: readonly Answer[]) => Promise<ModelPlace>;
type Promised = { readonly says: string; readonly holds: (open: Opener) => Promise<void> };

/** What every `ModelProvider` promises, whatever its wire format is. */
function modelProviderContract(name: string, open: Opener): void {
  for (const { says, holds } of promises) test(`${name}: ${says} [M3]`, () => holds(open));
}

const user = (text: string): Message => ({ role: "user", text });
const request = (...messages: Message[]): ModelRequest => ({ messages, stream: true, cacheKey: "c" });
const hello = request(user("hello"));
const never = new AbortController().signal;

/** Sends, and keeps what was delivered on the way. */
async function send(provider: ModelProvider, wanted = hello, signal = never) {
  const said = { text: "", reasoning: "" };
  const sink: DeltaSink = {
    text(delta) {
      said.text += delta;
    },
    reasoning(delta) {
      said.reasoning += delta;
    },
  };
  const answer = await provider.prepare(wanted).send(sink, signal);
  return { answer, said };
}

const told = ({ finish, error }: ModelAnswer) => [finish, error?.kind, error?.retryable];

const promises: readonly Promised[] = [
  {
    says: "a call is known by its bytes before anything leaves, and leaves once",
    async holds(open) {
      await using place = await open([{ text: "hi" }]);
      const call = place.provider.prepare(hello);
      assert.match(call.bytes.hash, /^[0-9a-f]{16}$/);
      assert.deepEqual([call.bytes.length > 0, call.bytes.reused, place.arrived()], [true, 0, []]);
      assert.equal((await call.send({}, never)).text, "hi");
      assert.equal(place.arrived().length, 1);
    },
  },
  {
    says: "an answer has its text, its thoughts, its calls, why it ended and what it cost",
    async holds(open) {
      const usage = { prompt_tokens: 7, completion_tokens: 3 };
      const calls = [{ id: "a", name: "now", arguments: "{}" }];
      await using place = await open([{ text: "let me look", reasoning: "hm", calls, usage }]);
      const { answer } = await send(place.provider);
      assert.partialDeepStrictEqual(answer, {
        ...{ text: "let me look", reasoning: "hm", toolCalls: calls, finish: "tool_calls" },
        usage: { input: 7, output: 3 },
      });
      assert.equal(answer.error, undefined);
    },
  },
  {
    says: "what was received is delivered before the answer settles, also where it breaks off",
    async holds(open) {
      const text = "one two three four five";
      const fault = { after: 5, kind: "break" } as const;
      await using place = await open([
        { text, reasoning: "first this" },
        { text, reasoning: "x", fault },
      ]);
      const whole = await send(place.provider);
      assert.deepEqual(whole.said, { text, reasoning: "first this" });
      const broken = await send(place.provider);
      assert.deepEqual(told(broken.answer), ["error", "network", true]);
      const { text: last, reasoning } = broken.answer;
      assert.deepEqual(broken.said, { text: last, reasoning });
      assert.ok(last !== "" && text.startsWith(last), last);
    },
  },
  {
    says: "a failure is a value that says whether it is worth another try, and nothing is tried again here",
    async holds(open) {
      const refusals: readonly [Answer, kind: string, retryable: boolean][] = [
        [{ status: 401 }, "auth", false],
        [{ status: 400 }, "bad_request", false],
        [{ status: 429 }, "rate_limit", true],
        [{ status: 503 }, "overloaded", true],
      ];
      await using place = await open(refusals.map(([answer]) => answer));
      for (const [, kind, retryable] of refusals) {
        const { answer } = await send(place.provider);
        assert.deepEqual(told(answer), ["error", kind, retryable]);
      }
      assert.equal(place.arrived().length, refusals.length);
      await place.leave();
      assert.deepEqual(told((await send(place.provider)).answer), ["error", "network", true], "nobody is there");
    },
  },
  {
    says: "whoever gives up is answered though the server never is, with what was said so far",
    async holds(open) {
      await using place = await open([{ text: "half of it", fault: { after: 2, kind: "stall" } }]);
      const leave = new AbortController();
      const sink: DeltaSink = { text: () => leave.abort() };
      const answer = await place.provider.prepare(hello).send(sink, leave.signal);
      assert.deepEqual([answer.text, ...told(answer)], ["half ", "error", "network", false]);
      assert.equal(getEventListeners(leave.signal, "abort").length, 0, "nothing listens any more");
    },
  },
  {
    says: "whoever gave up before sends nothing",
    async holds(open) {
      await using place = await open([{ text: "never asked for" }]);
      const { answer } = await send(place.provider, hello, AbortSignal.abort());
      assert.deepEqual([...told(answer), place.arrived()], ["error", "network", false, []]);
    },
  },
  {
    says: "the same messages are the same bytes: a longer conversation begins with those sent before, and it says so",
    async holds(open) {
      await using place = await open([{ text: "two" }, { text: "four" }, { text: "six" }]);
      const { provider } = place;
      const first: Message[] = [{ role: "system", text: "You count." }, user("one")];
      const then: Message[] = [...first, { role: "assistant", text: "two" }, user("three")];
      const [short, long] = [request(...first), request(...then)];
      const { bytes } = provider.prepare(short);
      await send(provider, short);
      const again = provider.prepare(short).bytes;
      assert.deepEqual([again.hash, again.length], [bytes.hash, bytes.length]);
      const grown = provider.prepare(long);
      assert.equal(grown.bytes.reused, bytes.length);
      await grown.send({}, never);
      const [before = "", after = ""] = place.arrived();
      assert.ok(after.startsWith(before) && after.length > before.length, after);
    },
  },
  {
    says: "closing ends what is under way",
    async holds(open) {
      await using place = await open([{ text: "half of it", fault: { after: 2, kind: "stall" } }]);
      const begun = Promise.withResolvers<void>();
      const answer = place.provider.prepare(hello).send({ text: () => begun.resolve() }, never);
      await begun.promise;
      await place.provider.close();
      assert.equal((await answer).finish, "error");
    },
  },
];

for (const wire of wires) {
  modelProviderContract(wire.api, async (script) => {
    const server = await modelServer(script, wire);
    const { model, api } = wire;
    const { profile } = describeModel({ baseUrl: server.url, model, api });
    const times = { idleTimeoutMs: 30_000, firstDataTimeoutMs: 30_000 };
    const endpoint = { baseUrl: server.url, model, profile, ...times };
    const provider = providerFor({ endpoint, clock: systemClock, ids: systemIds });
    return {
      provider,
      arrived: server.messageBytes,
      leave: server.close,
      async [Symbol.asyncDispose]() {
        await provider.close();
        await server.close();
      },
    };
  });
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { failureWords, wordsFor } from "../../src/words/words.ts";
import { all } from "../world/events.ts";
import { endlessClock } from "../world/manual-clock.ts";
import { type Answer, calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

const error = (status: number, message: string, code = "error", headers: Record<string, string> = {}): Answer => ({
  status,
  headers,
  body: JSON.stringify({ error: { message, code, type: code } }),
});

const silenceMs = 200;
const silence = String(silenceMs / 1_000);

/** The short limits of silence pass only while a server is to be silent: a busy machine is not taken for one. */
const silentWhile = (isSilent: () => boolean): Clock => ({
  ...systemClock,
  after: (ms, action) => (ms > silenceMs || isSilent() ? systemClock : endlessClock).after(ms, action),
});

const tooLong = error(400, "This model's maximum context length is 8192 tokens", "context_length_exceeded");

type Fault = readonly [
  answer: Answer,
  code: string,
  says: RegExp,
  because?: string | undefined,
  env?: Record<string, string>,
];
const page = "<!doctype html><html><body>Welcome</body></html>";
const garbled = { status: 200, headers: { "content-encoding": "gzip" }, body: "\u001fnot compressed" };
const half: Answer = { text: "half of an answer", fault: { after: 3, kind: "break" } };
const never: Answer = { text: "never", heldUntil: new Promise(() => {}) };
const faults: Record<string, Fault> = {
  "a wrong key": [
    error(401, "Incorrect API key", "invalid_api_key"),
    "model_auth",
    /refuses the key.*Check the API key/,
  ],
  "no credit": [error(429, "You exceeded your quota", "insufficient_quota"), "model_quota", /no credit.*Top it up/],
  "a conversation that is too long": [tooLong, "context_exhausted", /does not fit.*\/new/],
  "a conversation that is too long, where nobody may make room": [
    ...([tooLong, "model_context_overflow", /too long for test-model.*\/new/, undefined] as const),
    { CONTEXT_MANAGEMENT_ENABLED: "false" },
  ],
  "a page instead of an answer": [
    { status: 200, headers: { "content-type": "text/html" }, body: page },
    ...(["model_protocol", /does not answer as the API of a model does \(<!doctype.*\/v1/, "foreign"] as const),
  ],
  "half an answer and no more": [half, "model_network", /closed the connection before .*Check the base URL/, "closed"],
  "silence from the beginning": [
    ...([never, "model_network", /sent nothing for too long\. Check the base URL/, "silent"] as const),
    { AGENTYARD_FIRST_DATA_TIMEOUT_SECONDS: silence },
  ],
  "broken compression": [
    ...([
      garbled,
      "model_network",
      /compressed data that is broken \(.+\)\. Send the message again/,
      "garbled",
    ] as const),
  ],
};

for (const [what, [answer, code, words, because, env]] of Object.entries(faults)) {
  test(`a server that answers with ${what} gives a clear failure with what to do, and the next turn works [M3][Q2]`, async () => {
    await using model = await modelServer([answer, says("well again")]);
    let isWell = false;
    const clock = silentWhile(() => !isWell);
    await using yard = await startYard({ model, clock, env: { AGENTYARD_ATTEMPTS_MAX: "1", ...env } });
    const { conversation, outcome, events } = await yard.ask("hello");
    assert.equal(outcome, "failed");
    const end = all(events, "turn.finished").at(-1);
    assert.deepEqual([end?.failure?.code, end?.failure?.params.because], [code, because]);
    assert.match(failureWords(wordsFor("en"), end?.failure ?? { code: "", params: {} }).join(" "), words);
    isWell = true;
    assert.equal((await yard.ask("again", { conversation })).answer, "well again");
  });
}

test("an overloaded server, a cut and a stall are tried again with the waits recorded, and nothing is said twice [M3]", async () => {
  await using model = await modelServer([
    error(503, "overloaded"),
    error(429, "slow down", "rate_limit_exceeded", { "retry-after-ms": "40" }),
    { text: "half of an answer", fault: { after: 3, kind: "break" } },
    { text: "half of an answer", fault: { after: 3, kind: "ping" } },
    says("the whole answer"),
  ]);
  await using yard = await startYard({
    // Pauses between attempts pass at once.
    ...{ model, clock: { ...silentWhile(() => model.asked.length === 4), wait: async () => "elapsed" as const } },
    env: { AGENTYARD_IDLE_TIMEOUT_SECONDS: silence, AGENTYARD_ATTEMPTS_MAX: "6" },
  });
  const { answer, outcome, events } = await yard.ask("hello");
  assert.deepEqual({ answer, outcome }, { answer: "the whole answer", outcome: "done" });
  const failed = all(events, "step.failed");
  assert.deepEqual(
    failed.map(({ kind, attempt }) => ({ kind, attempt })),
    [
      { kind: "overloaded", attempt: 1 },
      { kind: "rate_limit", attempt: 2 },
      { kind: "network", attempt: 3 },
      { kind: "network", attempt: 4 },
    ],
  );
  assert.equal(failed[1]?.retryAfterMs, 40);
  assert.equal(failed[2]?.textSeen, "half of ");
  assert.deepEqual(
    failed.map(({ usage }) => usage !== undefined),
    [false, false, true, true],
    "who breaks off in the middle charges for it, who refuses does not",
  );
  assert.equal(all(events, "message.assistant").length, 1);
});

test("the pause before another attempt doubles up to a minute; a server's own word counts, but nobody waits for more than that minute [M3]", async () => {
  const waits: number[] = [];
  let waitedMs = 0;
  // Whoever waits has waited.
  const clock: Clock = {
    ...systemClock,
    now: () => systemClock.now() + waitedMs,
    monotonic: () => systemClock.monotonic() + waitedMs,
    async wait(ms) {
      waits.push(ms);
      waitedMs += ms;
      return "elapsed";
    },
  };
  await using model = await modelServer(() => error(503, "overloaded"));
  await using yard = await startYard({ model, clock, env: { AGENTYARD_ATTEMPTS_MAX: "9" } });
  await yard.ask("hello");
  assert.deepEqual(waits, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
  const told = (ms: number) => error(429, "slow down", "rate_limit_exceeded", { "retry-after-ms": `${ms}` });
  waits.length = 0;
  model.answerWith([told(60_000), told(60_001), says("never")]);
  const { outcome, events } = await yard.ask("hello");
  assert.deepEqual([outcome, waits, all(events, "step.failed").length], ["failed", [60_000], 2]);
});

test("a step that came through after a failure leaves the next one all its attempts [M3]", async () => {
  const busy = error(503, "overloaded", "error", { "retry-after-ms": "1" });
  const look = calls(["now", {}]);
  await using model = await modelServer([busy, look, busy, look, busy, says("there at last")]);
  await using yard = await startYard({ model, env: { AGENTYARD_ATTEMPTS_MAX: "2" } });
  const { answer, outcome } = await yard.ask("go");
  assert.deepEqual({ answer, outcome }, { answer: "there at last", outcome: "done" });
});

test("a slot that does not exist is refused with the ones that do; one that is not filled falls back to base and says so [M1][M2]", async () => {
  await using model = await modelServer([says("fine")]);
  await using yard = await startYard({ model });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const refused = await yard.client.call("sendMessage", {
    params: { id },
    body: { text: "x", mode: "queue", slot: "turbo" },
  });
  assert.equal(refused.ok ? "" : refused.failure.code, "slot_unknown");
  assert.match(refused.ok ? "" : refused.failure.detail, /base, reasoning, vision, code, chat/);
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "x", mode: "queue", slot: "code" } }));
  const { events } = await yard.whenAtRest(id);
  assert.equal(all(events, "step.started")[0]?.reason, "fallback to base");
});

test("arguments that the output limit cut off are never run; the model is told to send less at once, or what else is wrong about them [L5][M3][R1]", async () => {
  await using model = await modelServer([
    { calls: [{ name: "todo_write", arguments: '{"todos":[{"content":"a' }], finish: "length" },
    calls(["now", "{timezone: UTC"]),
    says("shorter"),
  ]);
  await using yard = await startYard({ model });
  const { answer, events } = await yard.ask("go");
  assert.equal(answer, "shorter");
  const [cut, broken] = all(events, "call.finished");
  assert.match(cut?.text ?? "", /^Error: tool_arguments_cut: .*less text at once/);
  assert.match(broken?.text ?? "", /^Error: tool_arguments_broken: /);
});

test("a failed attempt at the last step is tried again as that step, not taken for the final answer [L8][M3]", async () => {
  let failures = 0;
  await using model = await modelServer((request) => {
    if (request.body.tool_choice === "none") return says("all I know");
    if (stepOf(request) === 1 && failures++ === 0) return error(503, "overloaded");
    return stepOf(request) === 1 ? says("the answer") : calls(["now", {}]);
  });
  await using yard = await startYard({ model, env: { MAX_LOOPS: "2" } });
  const { answer, outcome } = await yard.ask("go");
  assert.deepEqual({ answer, outcome }, { answer: "the answer", outcome: "done" });
});

test("a server that repeats the key in its refusal tells it to nobody who reads the answer or the log [M3][Q1]", async () => {
  await using model = await modelServer(({ headers }) =>
    error(401, `bad key ${headers.authorization} (${headers.authorization?.split(" ")[1]})`, "invalid_api_key"),
  );
  const key = "sk-of-nobody-0123456789abcdef";
  await using yard = await startYard({ model, env: { MODEL_BASIC_API_KEY: key } });
  const { conversation } = await yard.ask("hi");
  assert.equal(model.asked[0]?.headers.authorization, `Bearer ${key}`);
  const [finished] = all(await yard.events(conversation), "turn.finished");
  assert.match(JSON.stringify(finished), /bad key Bearer \[key\] \(\[key\]\)/);
  assert.doesNotMatch(JSON.stringify(await yard.events(conversation)), new RegExp(key));
});

test("a server that sends the caller elsewhere does not get the key carried there [M3][Q1]", async () => {
  await using elsewhere = await modelServer(() => says("hello"));
  for (const status of [301, 307, 308]) {
    await using model = await modelServer(() => ({
      status,
      headers: { location: `${elsewhere.url}/chat/completions` },
    }));
    await using yard = await startYard({ model, env: { MODEL_BASIC_API_KEY: "sk-of-nobody-0123456789abcdef" } });
    const { conversation } = await yard.ask("hi");
    const [finished] = all(await yard.events(conversation), "turn.finished");
    assert.match(JSON.stringify(finished), /model_protocol.*redirected/);
  }
  assert.equal(elsewhere.asked.length, 0);
});

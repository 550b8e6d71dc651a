import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
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

type Fault = { answer: Answer; code: string; says: RegExp; because?: string; env?: Record<string, string> };
const faults: Record<string, Fault> = {
  "a wrong key": {
    answer: error(401, "Incorrect API key provided", "invalid_api_key"),
    code: "model_auth",
    says: /refuses the key.*Check the API key/,
  },
  "no credit": {
    answer: error(429, "You exceeded your current quota", "insufficient_quota"),
    code: "model_quota",
    says: /no credit.*Top it up/,
  },
  "a conversation that is too long": { answer: tooLong, code: "context_exhausted", says: /does not fit.*\/new/ },
  "a conversation that is too long, where nobody may make room": {
    answer: tooLong,
    code: "model_context_overflow",
    says: /too long for test-model.*\/new/,
    env: { CONTEXT_MANAGEMENT_ENABLED: "false" },
  },
  "a page instead of an answer": {
    answer: {
      status: 200,
      headers: { "content-type": "text/html" },
      body: "<!doctype html><html><body>Welcome</body></html>",
    },
    code: "model_protocol",
    because: "foreign",
    says: /does not answer as the API of a model does \(<!doctype.*\/v1/,
  },
  "half an answer and no more": {
    answer: { text: "half of an answer", fault: { after: 3, kind: "break" } },
    code: "model_network",
    because: "closed",
    says: /closed the connection before .*Check the base URL/,
  },
  "silence from the beginning": {
    answer: { text: "never", heldUntil: new Promise(() => {}) },
    code: "model_network",
    because: "silent",
    says: /sent nothing for too long\. Check the base URL/,
    env: { AGENTYARD_FIRST_DATA_TIMEOUT_SECONDS: silence },
  },
  "broken compression": {
    answer: { status: 200, headers: { "content-encoding": "gzip" }, body: "\u001fnot compressed" },
    code: "model_network",
    because: "garbled",
    says: /compressed data that is broken \(.+\)\. Send the message again/,
  },
};

for (const [what, { answer, code, because, says: words, env }] of Object.entries(faults)) {
  test(`a server that answers with ${what} gives a clear failure with what to do, and the next turn works [M3][Q2]`, async () => {
    await using model = await modelServer([answer, says("well again")]);
    let isWell = false;
    const clock = silentWhile(() => !isWell);
    await using yard = await startYard({ model, clock, env: { AGENTYARD_ATTEMPTS_MAX: "1", ...env } });
    const { conversation, outcome, events } = await yard.ask("hello");
    assert.equal(outcome, "failed");
    const end = all(events, "turn.finished").at(-1);
    assert.deepEqual([end?.failure?.code, end?.failure?.params.because], [code, because]);
    const { failureWords, wordsFor } = await import("../../src/words/words.ts");
    assert.match(failureWords(wordsFor("en"), end?.failure ?? { code: "", params: {} }).join(" "), words);
    assert.notEqual(failureWords(wordsFor("zh"), end?.failure ?? { code: "", params: {} })[0], end?.failure?.code);
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

test("a host that cannot be reached is named with what to check [M3]", async () => {
  await using yard = await startYard({
    env: {
      MODEL_BASIC_BASE_URL: "http://127.0.0.1:9/v1",
      MODEL_BASIC_ID: "m",
      MODEL_BASIC_CONTEXT_WINDOW: "128000",
      AGENTYARD_ATTEMPTS_MAX: "1",
    },
  });
  const { outcome, events } = await yard.ask("hello");
  assert.equal(outcome, "failed");
  const failure = all(events, "turn.finished").at(-1)?.failure;
  assert.equal(failure?.code, "model_network");
  assert.match(String(failure?.params.server), /127\.0\.0\.1/);
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

test("arguments that the output limit cut off are never run; the model is told to send less at once [L5][M3]", async () => {
  await using model = await modelServer([
    { calls: [{ name: "todo_write", arguments: '{"todos":[{"content":"a' }], finish: "length" },
    calls(["now", {}]),
    says("shorter"),
  ]);
  await using yard = await startYard({ model });
  const { answer, events } = await yard.ask("go");
  assert.equal(answer, "shorter");
  assert.match(all(events, "call.finished")[0]?.text ?? "", /^Error: tool_arguments_cut: .*less text at once/);
});

test("when the window is full the oldest messages are left out, the call and its results stay together, and the turn goes on [L1][Z1]", async () => {
  const long = "word ".repeat(3_000);
  await using model = await modelServer((request) => ({
    text: `${request.body.messages.length} messages`,
    usage: null,
  }));
  await using yard = await startYard({ model, env: { MODEL_BASIC_CONTEXT_WINDOW: "16000" } });
  const { conversation } = await yard.ask(long);
  for (let turn = 0; turn < 4; turn += 1) await yard.ask(long, { conversation });
  const events = await yard.events(conversation);
  const [compacted] = all(events, "compacted");
  assert.ok(compacted, "room was made");
  assert.ok(compacted.messagesAfter < compacted.messagesBefore);
  assert.equal(
    all(events, "turn.finished").every(({ outcome }) => outcome === "done"),
    true,
  );
  const { tokens } = await must(yard.client.call("getState", { params: { id: conversation } }));
  assert.equal(tokens.window, 16_000);
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

test("arguments that are broken, though not cut off, are answered with what is wrong about them [L5][R1]", async () => {
  await using model = await modelServer([calls(["now", "{timezone: UTC"]), says("I see")]);
  await using yard = await startYard({ model });
  const { events } = await yard.ask("go");
  assert.match(all(events, "call.finished")[0]?.text ?? "", /^Error: tool_arguments_broken: /);
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

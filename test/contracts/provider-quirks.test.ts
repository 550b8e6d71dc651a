// Runs alone: its server is started before all tests and closed after them.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { NeutralRequest, toModelRequest } from "../../src/models/models.ts";
import { chatAnswer } from "../../src/models/openai/answer.ts";
import { openAiCompatible } from "../../src/models/openai/openai.ts";
import { writeTool } from "../../src/models/openai/request.ts";
import { defaultProfile } from "../../src/models/profile.ts";
import type { ModelAnswer } from "../../src/models/provider.ts";
import { createAnswer } from "../../src/models/wire/answer.ts";
import { createBodyReader } from "../../src/models/wire/body.ts";
import { createToolWriter } from "../../src/models/wire/sent-tools.ts";
import { endlessClock, manualClock } from "../world/manual-clock.ts";
import { checkRequest } from "../world/quirk-conditions.ts";
import { bodyBytes, type Mode, modesOf, type Quirk, readQuirks } from "../world/quirk-data.ts";
import { checkAnswer, type Delivered } from "../world/quirk-expect.ts";
import { type QuirkServer, type Scene, startQuirkServer } from "../world/quirk-server.ts";

const atOnce = 12;
const settleMsMax = 60_000;
const quietMsMax = 60_000;

let server: QuirkServer;
before(async () => {
  server = await startQuirkServer();
});
after(() => server.close());

// The entries that were collected from servers, and our own beside them.
for (const [name, label] of [
  ["quirks.json", "provider quirks"],
  ["more-quirks.json", "our own quirks"],
] as const) {
  const entries = readQuirks(name);

  test(`the client survives every entry of ${name} over a real connection, however the bytes are cut [M3]`, async (t) => {
    const replays = entries.flatMap((entry) => modesOf(entry.response).map((mode) => ({ entry, mode })));
    const problems: string[] = [];
    const queue = replays.values();
    const worker = async () => {
      for (const { entry, mode } of queue) problems.push(...(await replay(entry, mode)));
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    const counts = `${entries.length} entries × modes = ${replays.length} replays`;
    t.diagnostic(`${label}: ${counts}, failures: ${problems.length}`);
    assert.deepEqual(problems, []);
  });

  test(`the reader gives the same answers to ${name} when every piece has exactly 1 or 7 bytes [M3]`, () => {
    const problems = entries
      .filter(({ kind, response }) => kind !== "status" && response.end === "close" && !hasPlaceholder(response.body))
      .flatMap((entry) => [1, 7].flatMap((size) => readInProcess(entry, size)));
    assert.deepEqual(problems, []);
  });
}

/** One call against the entry's server. The problems found, each with the entry and mode it was found in. */
async function replay(entry: Quirk, mode: Mode): Promise<string[]> {
  const neutral = NeutralRequest.parse(entry.request);
  const responses = [entry.response, ...(entry.followUp ? [entry.followUp.response] : [])];
  const manual = manualClock();
  const scene = server.stage(responses, mode, manual.move);
  const timers = new Set<object>();
  const provider = openAiCompatible({
    endpoint: {
      baseUrl: scene.baseUrl,
      apiKey: "sk-test-key-0123456789",
      model: "test-model",
      profile: neutral.profile ?? defaultProfile,
      idleTimeoutMs: neutral.client?.idleTimeoutMs ?? 10_000,
      firstDataTimeoutMs: neutral.client?.firstDataTimeoutMs ?? 10_000,
    },
    clock: countingClock(timers, manual, entry.expect.withinMs),
    ids: systemIds,
  });
  const { signal } = new AbortController();
  const delivered: Delivered = { text: "", reasoning: "" };
  const sending = provider.prepare(toModelRequest(neutral)).send(collector(delivered), signal);
  const answer = await within(settleMsMax, sending);
  const problems =
    answer === "late"
      ? ["the call never settled"]
      : [
          ...checkAnswer(
            answer,
            delivered,
            scene.asked.length > 1 && entry.followUp ? entry.followUp.expect : entry.expect,
          ),
          ...checkAsked(entry, scene),
          ...(timers.size === 0 ? [] : ["a timer is left over"]),
          ...(getEventListeners(signal, "abort").length === 0 ? [] : ["a listener is left on the signal"]),
          ...((await within(quietMsMax, scene.whenQuiet())) === "late" ? ["a connection is left half open"] : []),
        ];
  await provider.close();
  return problems.map((problem) => `${entry.id} (${mode}): ${problem}`);
}

function checkAsked({ expect, followUp }: Quirk, { asked }: Scene): string[] {
  const [first, second, ...more] = asked;
  if (first === undefined) return expect.mayFailLocally ? [] : ["nothing was sent"];
  const withKey = asked.filter((request) => request.isElsewhere && request.headers.authorization !== undefined);
  return [
    ...checkRequest(first, expect.requestMust, expect.requestMustNot),
    ...(second && followUp ? checkRequest(second, followUp.requestMust, followUp.requestMustNot) : []),
    ...(second && !followUp ? ["a second request was sent"] : []),
    ...(more.length > 0 ? ["more than two requests were sent"] : []),
    ...(withKey.length > 0 ? ["the key was sent to another origin"] : []),
  ];
}

/** The parser alone: nothing between it and the pieces can merge them. */
function readInProcess(entry: Quirk, size: number): string[] {
  const { profile = defaultProfile, tools = [] } = NeutralRequest.parse(entry.request);
  const delivered: Delivered = { text: "", reasoning: "" };
  const bytes = bodyBytes(entry.response);
  if (entry.response.headers["content-encoding"] !== undefined || bytes.length > 20_000) return [];
  const answer = createAnswer(chatAnswer, {
    profile,
    sent: createToolWriter((tool) => writeTool(tool, profile), profile.maxTools)(tools),
    sink: collector(delivered),
    makeId: () => systemIds.uuid(),
    estimateInput: () => 1,
  });
  const reader = createBodyReader({
    answer,
    headers: {},
    isFinishOptional: profile.finishOptional,
    answerBytesMax: 1_000_000,
    eventCharactersMax: 1_000_000,
    now: () => 0,
    onData: () => {},
  });
  let result: ModelAnswer | undefined;
  for (let at = 0; at < bytes.length && result === undefined; at += size)
    result = reader.read(bytes.subarray(at, at + size));
  const problems = checkAnswer(result ?? reader.end(), delivered, entry.expect);
  return problems.map((problem) => `${entry.id} (pieces of ${size}): ${problem}`);
}

function hasPlaceholder(body: Quirk["response"]["body"]): boolean {
  return JSON.stringify(body).includes("{{");
}

function collector(delivered: Delivered) {
  return {
    text(delta: string) {
      delivered.text += delta;
    },
    reasoning(delta: string) {
      delivered.reasoning += delta;
    },
  };
}

/**
 * Time that passes while the server is silent, not while a busy machine is, and which of its timers still run. What must
 * settle within a time sees no longer one pass.
 */
function countingClock(timers: Set<object>, silence: Clock, withinMs = Number.POSITIVE_INFINITY): Clock {
  return {
    ...{ ...silence, now: systemClock.now },
    after(ms, action) {
      const timer = {};
      timers.add(timer);
      const { after } = ms <= withinMs ? silence : endlessClock;
      const cancel = after(ms, () => {
        timers.delete(timer);
        action();
      });
      return () => {
        timers.delete(timer);
        cancel();
      };
    },
  };
}

function within<T>(ms: number, promise: Promise<T>): Promise<T | "late"> {
  const controller = new AbortController();
  const late = sleep(ms, "late" as const, { signal: controller.signal }).catch(() => "late" as const);
  return Promise.race([promise, late]).finally(() => controller.abort());
}

import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../src/base/clock.ts";
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
import { bodyBytes, type Mode, modesOf, type Quirk, type QuirkResponse, readQuirks } from "../world/quirk-data.ts";
import { type AskedRequest, checkAnswer, checkRequest, type Delivered } from "../world/quirk-expect.ts";

/** It stays now, for the server that names a date and for the client that counts up to it. */
const moment = Date.UTC(2026, 0, 1);
const atOnce = 12;
const settleMsMax = 60_000;
const quietMsMax = 60_000;

/** AGENTYARD_QUIRK_CUTS=every sends them byte by byte over connections, too: here the reader alone sees that. */
const everyCut = process.env.AGENTYARD_QUIRK_CUTS === "every";

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
    const replays = entries.flatMap((entry) => {
      const modes = modesOf(entry.response);
      const chosen = modes.filter((mode) => everyCut || mode === "whole" || mode === "pieces");
      return (chosen.length > 0 ? chosen : modes).map((mode) => ({ entry, mode }));
    });
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
    ...{ ...silence, now: () => moment },
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

/** One replay: what it answers, and what happened to it. */
type Scene = {
  readonly baseUrl: string;
  readonly asked: AskedRequest[];
  /** Waits until no connection of this scene is busy: answered in full, or closed by the client. */
  whenQuiet(): Promise<void>;
};

type QuirkServer = {
  /** The first request gets the first response, and so on. Whoever listens hears how much time passes without a byte. */
  stage(responses: readonly QuirkResponse[], mode: Mode, onSilence: (ms: number) => void): Scene;
  close(): Promise<void>;
};

type Stage = {
  readonly responses: QuirkResponse[];
  readonly mode: Mode;
  readonly onSilence: (ms: number) => void;
  readonly asked: AskedRequest[];
  readonly busy: Set<Promise<unknown>>;
};

/** Answers byte for byte as an entry says: real sockets, no added charset, no compression, writes as small as asked. */
async function startQuirkServer(): Promise<QuirkServer> {
  const stages = new Map<string, Stage>();
  const main = createServer((request, response) => void play(request, response, false));
  const other = createServer((request, response) => void play(request, response, true));
  await Promise.all([listen(main), listen(other)]);

  async function play(request: IncomingMessage, response: ServerResponse, isElsewhere: boolean): Promise<void> {
    const id = /^\/scene\/(\d+)\//.exec(request.url ?? "")?.[1] ?? "";
    const stage = stages.get(id);
    if (stage === undefined) return void response.writeHead(404).end();
    response.on("error", () => {});
    const body = JSON.parse(await text(request));
    stage.asked.push({ method: request.method ?? "", headers: request.headers, body, isElsewhere });
    const answer = stage.responses.shift();
    if (answer === undefined) return void response.writeHead(500).end('{"error":"one request too many"}');
    const isOver = Promise.race([once(response, "finish"), closed(request.socket)]);
    stage.busy.add(isOver);
    const filled = fill(answer, body, `${originOf(main)}/scene/${id}`, `${originOf(other)}/scene/${id}`);
    await writeAnswer(filled, request.socket, response, stage);
  }

  return {
    stage(responses, mode, onSilence) {
      const id = String(stages.size);
      const stage: Stage = { responses: [...responses], mode, onSilence, asked: [], busy: new Set() };
      stages.set(id, stage);
      return {
        baseUrl: `${originOf(main)}/scene/${id}/v1`,
        asked: stage.asked,
        whenQuiet: async () => void (await Promise.all(stage.busy)),
      };
    },
    async close() {
      await Promise.all([main, other].map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

async function listen(server: Server): Promise<void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}

function originOf(server: Server): string {
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : "";
}

function closed(socket: Socket): Promise<unknown> {
  return socket.destroyed ? Promise.resolve() : once(socket, "close").catch(() => undefined);
}

/** The placeholders of the README. */
function fill(response: QuirkResponse, asked: unknown, origin: string, otherOrigin: string): QuirkResponse {
  const replace = (value: string) =>
    value
      .replace(/\{\{HTTP_DATE\+(\d+)\}\}/g, (_all, seconds) => new Date(moment + Number(seconds) * 1000).toUTCString())
      .replaceAll("{{ORIGIN}}", origin)
      .replaceAll("{{OTHER_ORIGIN}}", otherOrigin)
      .replace(/\{\{WIRE_NAME:(\d+)\}\}/g, (_all, index) => wireName(asked, Number(index)));
  const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, replace(value)]));
  return { ...response, headers, body: typeof response.body === "string" ? replace(response.body) : response.body };
}

function wireName(asked: unknown, index: number): string {
  const body = JSON.parse(JSON.stringify(asked));
  return String(body.tools[index].function.name);
}

async function writeAnswer(
  answer: QuirkResponse,
  socket: Socket,
  response: ServerResponse,
  stage: Stage,
): Promise<void> {
  if (answer.end === "reset-before-headers") return void socket.resetAndDestroy();
  const bytes = bodyBytes(answer);
  response.sendDate = false;
  const length = answer.end === "short" ? { "content-length": bytes.length + 100 } : {};
  response.writeHead(answer.status, { ...answer.headers, ...length });
  response.flushHeaders();
  await writePieces(bytes, answer, response, stage);
  if (answer.end === "close") response.end();
  if (answer.end === "hang") stayOpen(response, stage);
  if (answer.end === "reset") socket.resetAndDestroy();
  // Without the flush the last bytes would die with the socket.
  if (answer.end === "short") response.write("", () => socket.destroySoon());
}

/** From now on it says nothing. By its own count: one moment in which nobody got to run is one, however long it was. */
function stayOpen(response: ServerResponse, { onSilence }: Stage): void {
  if (response.destroyed) return;
  const timer = setInterval(() => onSilence(silenceMs), silenceMs);
  response.once("close", () => clearInterval(timer));
}

const silenceMs = 20;

async function writePieces(
  bytes: Buffer,
  answer: QuirkResponse,
  response: ServerResponse,
  stage: Stage,
): Promise<void> {
  let at = 0;
  const write = (length: number) => {
    if (length > 0 && !response.destroyed) response.write(bytes.subarray(at, at + length));
    at += length;
  };
  if (stage.mode === "pieces") {
    for (const piece of answer.pieces ?? [{ rest: true }]) {
      if ("ms" in piece) {
        await sleep(piece.ms);
        stage.onSilence(piece.ms);
      } else write("bytes" in piece ? piece.bytes : bytes.length - at);
    }
    return;
  }
  const size = stage.mode === "whole" ? bytes.length : Number(stage.mode);
  while (at < bytes.length && !response.destroyed) {
    write(Math.min(size, bytes.length - at));
    // Without this turn the client would find the writes merged, and small writes would test nothing.
    if (stage.mode !== "whole") await nextTurn();
  }
}

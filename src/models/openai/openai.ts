import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { estimateTokens } from "../estimate.ts";
import type { DeltaSink, Endpoint, ModelAnswer, ModelProvider, ModelRequest } from "../provider.ts";
import type { Edit } from "./adapt.ts";
import { type AnswerBuilder, createAnswer } from "./answer.ts";
import { type Attempt, afterOutcome } from "./attempt.ts";
import { createBodyReader } from "./body.ts";
import { presentable } from "./errors.ts";
import { exchange } from "./exchange.ts";
import { requestBody, requestFields } from "./request.ts";
import { createToolWriter, type SentTools } from "./sent-tools.ts";
import { createTranscripts, type Transcript } from "./transcript.ts";
import { createTransport, type ProxyEnvironment, type Transport } from "./transport.ts";
import type { Watchdog } from "./watchdog.ts";

export type OpenAiLimits = {
  /** What a whole answer may have, after decompression. */
  readonly answerBytesMax: number;
  readonly eventCharactersMax: number;
  /** What is read of the body of an error. */
  readonly errorBytesMax: number;
  /** Conversations whose last request is remembered, to tell how much of the next one is the same. */
  readonly conversationsMax: number;
};

const defaultLimits: OpenAiLimits = {
  answerBytesMax: 64 * 1024 * 1024,
  eventCharactersMax: 16 * 1024 * 1024,
  errorBytesMax: 256 * 1024,
  conversationsMax: 1_000,
};

export type OpenAiOptions = {
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  /** For calls that a server sends without an id. */
  readonly ids: Ids;
  /** `HTTP_PROXY` and its like. */
  readonly proxyEnv?: ProxyEnvironment | undefined;
  readonly limits?: Partial<OpenAiLimits> | undefined;
};

/** Chat completions as OpenAI defined them and others changed them. The profile says what this server does otherwise. */
export function openAiCompatible(options: OpenAiOptions): ModelProvider {
  const { profile } = options.endpoint;
  const limits = { ...defaultLimits, ...options.limits };
  const url = completionsUrl(options.endpoint.baseUrl);
  const transport = createTransport(options.proxyEnv);
  const writeTools = createToolWriter(profile);
  const writeMessages = createTranscripts(profile, limits.conversationsMax);
  const edits = new Map<string, Edit>();
  return {
    prepare(request) {
      const messages = writeMessages(request.messages, request.cacheKey);
      const sent = writeTools(request.tools ?? noTools);
      const call: Call = { ...options, limits, url, transport, edits, request, messages, sent };
      return { bytes: messages.bytes, send: (sink, signal) => send(call, sink, signal) };
    },
    close() {
      transport.close();
      return Promise.resolve();
    },
  };
}

const noTools: ModelRequest["tools"] & object = [];

type Call = OpenAiOptions & {
  readonly limits: OpenAiLimits;
  readonly url: URL;
  readonly transport: Transport;
  /** What this server has taught us about its requests. */
  readonly edits: Map<string, Edit>;
  readonly request: ModelRequest;
  readonly messages: Transcript;
  readonly sent: SentTools;
};

/** Tries until there is an answer: a redirect, a refused parameter and a stale connection each allow one more try. */
async function send(call: Call, sink: DeltaSink, signal: AbortSignal): Promise<ModelAnswer> {
  let attempt: Attempt = {
    url: call.url,
    fields: [...call.edits.values()].reduce(
      (fields, edit) => edit.apply(fields),
      requestFields(call.request, call.endpoint.profile, call.sent),
    ),
    redirects: 0,
    isResent: false,
  };
  for (;;) {
    const body = requestBody(call.endpoint.model, call.messages.json, attempt.fields);
    const answer = createAnswer({
      profile: call.endpoint.profile,
      sent: call.sent,
      sink,
      makeId: () => `call_${call.ids.hex(24)}`,
      estimateInput: () => estimateTokens(call.messages.json) + estimateTokens(call.sent.json),
    });
    const outcome = await exchange({ ...exchangeOptions(call, attempt, body, answer), signal });
    if (outcome.type === "answered") return present(outcome.answer, call.endpoint);
    const next = afterOutcome(outcome, attempt, call.edits, call.clock.now());
    if ("error" in next) return present(answer.build(next), call.endpoint);
    attempt = next;
  }
}

function exchangeOptions(call: Call, { url }: Attempt, body: Buffer, answer: AnswerBuilder) {
  const { endpoint, clock, limits, transport, request } = call;
  return {
    start: () => transport.post(url, headers(endpoint, request.stream), body),
    openBody: (received: IncomingHttpHeaders, watchdog: Watchdog) =>
      createBodyReader({
        ...limits,
        answer,
        headers: received,
        isFinishOptional: endpoint.profile.finishOptional,
        now: () => clock.now(),
        onData: watchdog.reset,
      }),
    clock,
    firstDataTimeoutMs: endpoint.firstDataTimeoutMs,
    idleTimeoutMs: endpoint.idleTimeoutMs,
    errorBytesMax: limits.errorBytesMax,
  };
}

function headers({ apiKey }: Endpoint, isStream: boolean): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: isStream ? "text/event-stream" : "application/json",
    "accept-encoding": "identity",
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  };
}

function completionsUrl(baseUrl: string): URL {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith("/chat/completions") ? path : `${path}/chat/completions`;
  return url;
}

function present(answer: ModelAnswer, { apiKey }: Endpoint): ModelAnswer {
  return answer.error === undefined ? answer : { ...answer, error: presentable(answer.error, apiKey) };
}

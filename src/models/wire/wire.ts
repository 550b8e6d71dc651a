import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { ToolDescription } from "../../protocol/message.ts";
import { estimateTokens } from "../estimate.ts";
import type { DeltaSink, Endpoint, ModelAnswer, ModelProvider, ModelRequest } from "../provider.ts";
import type { Adaptable, Edit, Fields } from "./adapt.ts";
import { type AnswerBuilder, type AnswerForm, createAnswer } from "./answer.ts";
import { type Attempt, afterOutcome } from "./attempt.ts";
import { createBodyReader } from "./body.ts";
import { presentable } from "./errors.ts";
import { exchange } from "./exchange.ts";
import { createToolWriter, type SentTools } from "./sent-tools.ts";
import { createTranscripts, type Transcript, type TranscriptForm } from "./transcript.ts";
import { createTransport, type ProxyEnvironment, type Transport } from "./transport.ts";
import type { Watchdog } from "./watchdog.ts";

/** What one wire format does in its own way: where a request goes, how it is written, how an answer is read. */
export type WireFormat = {
  readonly url: (isStream: boolean) => URL;
  /** The key, and what else the format wants besides the usual. */
  readonly headers: Readonly<Record<string, string>>;
  readonly messages: TranscriptForm;
  readonly writeTool: (tool: ToolDescription) => object;
  /** Everything in a request but its model and messages. */
  readonly fields: (request: ModelRequest, sent: SentTools) => Fields;
  /** The whole request as JSON. Messages come as the text they were written to once. */
  readonly body: (transcript: Transcript, fields: Fields) => string;
  readonly answer: AnswerForm;
  readonly adaptable: Adaptable;
};

export type WireLimits = {
  /** What a whole answer may have, after decompression. */
  readonly answerBytesMax: number;
  readonly eventCharactersMax: number;
  /** What is read of the body of an error. */
  readonly errorBytesMax: number;
  /** Conversations whose last request is remembered, to tell how much of the next one is the same. */
  readonly conversationsMax: number;
};

const defaultLimits: WireLimits = {
  answerBytesMax: 64 * 1024 * 1024,
  eventCharactersMax: 16 * 1024 * 1024,
  errorBytesMax: 256 * 1024,
  conversationsMax: 1_000,
};

export type WireOptions = {
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  /** For calls that a server sends without an id. */
  readonly ids: Ids;
  /** `HTTP_PROXY` and its like. */
  readonly proxyEnv?: ProxyEnvironment | undefined;
  readonly limits?: Partial<WireLimits> | undefined;
};

/** A provider that speaks this format. What is the same for all of them stands here and in the files beside. */
export function openWire(format: WireFormat, options: WireOptions): ModelProvider {
  const { profile } = options.endpoint;
  const limits = { ...defaultLimits, ...options.limits };
  const transport = createTransport(options.proxyEnv);
  const writeTools = createToolWriter(format.writeTool, profile.maxTools);
  const writeMessages = createTranscripts(format.messages, limits.conversationsMax);
  const edits = new Map<string, Edit>();
  return {
    prepare(request) {
      const messages = writeMessages(request.messages, request.cacheKey);
      const sent = writeTools(request.tools ?? noTools);
      const call: Call = { ...options, format, limits, transport, edits, request, messages, sent };
      return { bytes: messages.bytes, send: (sink, signal) => send(call, sink, signal) };
    },
    close() {
      transport.close();
      return Promise.resolve();
    },
  };
}

const noTools: readonly ToolDescription[] = [];

type Call = WireOptions & {
  readonly format: WireFormat;
  readonly limits: WireLimits;
  readonly transport: Transport;
  /** What this server has taught us about its requests. */
  readonly edits: Map<string, Edit>;
  readonly request: ModelRequest;
  readonly messages: Transcript;
  readonly sent: SentTools;
};

/** Tries until there is an answer: a redirect, a refused parameter and a stale connection each allow one more try. */
async function send(call: Call, sink: DeltaSink, signal: AbortSignal): Promise<ModelAnswer> {
  const { format, request, messages, sent, endpoint, edits } = call;
  const fields = [...edits.values()].reduce((changed, edit) => edit.apply(changed), format.fields(request, sent));
  let attempt: Attempt = { url: format.url(request.stream), fields, redirects: 0, isResent: false };
  for (;;) {
    const answer = createAnswer(format.answer, {
      ...{ profile: endpoint.profile, sent, sink },
      makeId: () => `call_${call.ids.hex(24)}`,
      estimateInput: () => estimateTokens(messages.system + messages.json) + estimateTokens(sent.json),
    });
    const body = Buffer.from(format.body(messages, attempt.fields));
    const outcome = await exchange({ ...exchangeOptions(call, attempt, body, answer), signal });
    if (outcome.type === "answered") return present(outcome.answer, endpoint);
    const next = afterOutcome(outcome, attempt, { edits, adaptable: format.adaptable, now: call.clock.now() });
    if ("error" in next) return present(answer.build(next), endpoint);
    attempt = next;
  }
}

function exchangeOptions(call: Call, { url }: Attempt, body: Buffer, answer: AnswerBuilder) {
  const { endpoint, clock, limits, transport, request, format } = call;
  const headers = {
    "content-type": "application/json",
    accept: request.stream ? "text/event-stream" : "application/json",
    "accept-encoding": "identity",
    ...format.headers,
  };
  return {
    start: () => transport.post(url, headers, body),
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

/** The base URL with the route behind it, unless it names the route already. A query of the base URL stays. */
export function routeUrl(baseUrl: string, route: string): URL {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith(route) ? path : `${path}${route}`;
  return url;
}

function present(answer: ModelAnswer, { apiKey }: Endpoint): ModelAnswer {
  return answer.error === undefined ? answer : { ...answer, error: presentable(answer.error, apiKey) };
}

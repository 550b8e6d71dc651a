import type { Clock } from "../../base/clock.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { ModelError } from "../provider.ts";
import type { Adaptable, Edit, Fields } from "../wire/adapt.ts";
import { type Attempt, afterOutcome } from "../wire/attempt.ts";
import { failure, presentable } from "../wire/errors.ts";
import { type Exchange, exchange } from "../wire/exchange.ts";
import { stringifyWellFormed } from "../wire/json.ts";
import { createTransport, type ProxyEnvironment, type Transport } from "../wire/transport.ts";
import { routeUrl } from "../wire/wire.ts";
import { type Embedded, openVectorReader } from "./read-vectors.ts";

/** What the user said about the model for embeddings. */
export type EmbeddingSettings = {
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model: string;
  /** How many numbers a vector is to have, for models that leave the choice. */
  readonly dimensions?: number | undefined;
};

/** Turns texts into vectors of length one: what means much the same lies near to each other. */
export type Embedder = {
  /** Whose vectors they are. Those of two names cannot be compared. */
  readonly name: string;
  /** One vector for each text, all of one size. Nothing is retried here. */
  embed(texts: readonly string[], options: EmbedOptions): Promise<Result<readonly Float32Array[], ModelError>>;
  /** Ends all connections. */
  close(): void;
};

type EmbedOptions = {
  readonly signal: AbortSignal;
  /** For all of it, to the last byte of the answer. */
  readonly timeoutMs: number;
};

type Options = {
  readonly settings: EmbeddingSettings;
  readonly clock: Clock;
  readonly proxyEnv?: ProxyEnvironment | undefined;
};

/** Servers that do not know the format of numbers send the usual one; all else is what the call is about. */
const adaptable: Adaptable = { dispensable: ["encoding_format"], limits: new Map() };
const errorBytesMax = 256 * 1024;

/** A model behind `POST /embeddings`, as OpenAI has it and everybody else with them. */
export function openAiEmbeddings(options: Options): Embedder {
  const { baseUrl, model, dimensions } = options.settings;
  const transport = createTransport(options.proxyEnv);
  const edits = new Map<string, Edit>();
  return {
    name: `${baseUrl.replace(/\/+$/, "")} ${model}${dimensions === undefined ? "" : ` ${dimensions}`}`,
    embed: (texts, asked) => embed({ ...options, transport, edits, texts }, asked),
    close: () => transport.close(),
  };
}

type Call = Options & {
  readonly transport: Transport;
  /** What this server has taught us about its requests. */
  readonly edits: Map<string, Edit>;
  readonly texts: readonly string[];
};

/** Tries until there is an answer: a redirect, a refused parameter and a stale connection each allow one more try. */
async function embed(
  call: Call,
  { signal, timeoutMs }: EmbedOptions,
): Promise<Result<readonly Float32Array[], ModelError>> {
  const { settings, clock, edits } = call;
  const late = new AbortController();
  const stopWatching = clock.after(timeoutMs, () => late.abort());
  const either = AbortSignal.any([signal, late.signal]);
  const given = settings.dimensions === undefined ? {} : { dimensions: settings.dimensions };
  const fields = [...edits.values()].reduce<Fields>((changed, edit) => edit.apply(changed), {
    encoding_format: "float",
    ...given,
  });
  let attempt: Attempt = { url: routeUrl(settings.baseUrl, "/embeddings"), fields, redirects: 0, isResent: false };
  try {
    for (;;) {
      const outcome = await send(call, attempt, { signal: either, timeoutMs });
      if (outcome.type === "answered") return resultOf(outcome.answer, settings);
      if (outcome.type === "aborted" && late.signal.aborted) return failed(failure("network", true, "silent"));
      const next = afterOutcome(outcome, attempt, { edits, adaptable, now: clock.now() });
      if ("error" in next) return failed(presentable(next.error, settings.apiKey));
      attempt = next;
    }
  } finally {
    stopWatching();
  }
}

function send(
  { settings, clock, transport, texts }: Call,
  { url, fields }: Attempt,
  { signal, timeoutMs }: EmbedOptions,
): Promise<Exchange<Embedded>> {
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    "accept-encoding": "identity",
    ...(settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` }),
  };
  const body = Buffer.from(stringifyWellFormed({ model: settings.model, input: texts, ...fields }));
  return exchange({
    start: () => transport.post(url, headers, body),
    openBody: (received) => openVectorReader(texts.length, { headers: received, now: clock.now() }),
    ...{ clock, signal, errorBytesMax, firstDataTimeoutMs: timeoutMs, idleTimeoutMs: timeoutMs },
  });
}

function resultOf(
  { vectors, error }: Embedded,
  { apiKey }: EmbeddingSettings,
): Result<readonly Float32Array[], ModelError> {
  return error === undefined ? ok(vectors) : failed(presentable(error, apiKey));
}

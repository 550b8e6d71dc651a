import type { z } from "zod";
import { type Clock, systemClock } from "../base/clock.ts";
import { throwUnlessNetwork } from "../base/fault.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { UploadedFile } from "../protocol/resources.ts";
import { type RouteName, routes } from "../protocol/routes.ts";
import type { Language } from "../words/words.ts";
import { answerUnreadable, brokenOff, type ClientFailure, failureOf, noAnswer, readJson } from "./failure.ts";
import { type FollowFrame, followStream } from "./follow.ts";
import { type ExecutionNews, followExecution } from "./follow-execution.ts";
import { readEvents } from "./sse.ts";
import { type Download, openBody, piecesOf, type UploadOptions } from "./transfer.ts";

export { applyIncrement } from "./chat-document.ts";
export type { ClientFailure } from "./failure.ts";
export type { FollowFrame } from "./follow.ts";
export type { ExecutionNews } from "./follow-execution.ts";
export { BrokenOff, type Download, SourceUnfit, type UploadOptions } from "./transfer.ts";

/** Every request of the API by its name in the route table, and the event stream of a conversation. */
export interface Client {
  call<N extends string>(name: N & CallName, ...input: Takes<N>): Promise<Result<Gives<N>, ClientFailure>>;
  /** A route that may answer with a stream, where its body asks for one: the data of each event, as it comes. */
  stream<N extends StreamName>(
    name: N,
    input: CallInput<N>,
    options: { signal: AbortSignal },
  ): Promise<Result<AsyncGenerator<unknown, void>, ClientFailure>>;
  /** A route whose body is the bytes of a file. */
  put<N extends PutName>(
    name: N,
    input: BytesInput<N> & { readonly bytes: Uint8Array },
  ): Promise<Result<z.output<Table[N]["answer"]>, ClientFailure>>;
  /** A route whose answer is the bytes of a file; whoever does not take them fires the signal. */
  get<N extends GetName>(
    name: N,
    input: BytesInput<N>,
    options?: { signal?: AbortSignal },
  ): Promise<Result<ReadableStream<Uint8Array>, ClientFailure>>;
  /**
   * The conversation from a place on, until the signal fires. Reconnects by itself: every event comes once and in order,
   * no text comes twice. `lost` says that the server is away and we go on trying; `failed` is the last frame.
   */
  follow(conversation: string, options: FollowOptions): AsyncGenerator<FollowFrame, void>;
  /** What a program says from its beginning on, then its result. Reconnects by itself; `failed` is the last frame. */
  followExecution(id: string, options: { signal: AbortSignal }): AsyncGenerator<ExecutionNews, void>;
  /** Puts a file into uploads/. A source is read no faster than it is sent; what it throws is thrown again here. */
  upload(
    conversation: string,
    name: string,
    data: AsyncIterable<Uint8Array> | Uint8Array,
    options?: UploadOptions,
  ): Promise<Result<UploadedFile, ClientFailure>>;
  /** The bytes of a file, no faster than they are taken. Whoever does not take them fires the signal. */
  download(
    conversation: string,
    path: string,
    options?: { signal?: AbortSignal | undefined },
  ): Promise<Result<Download, ClientFailure>>;
}

export type FollowOptions = {
  /** A place in the log, or the id of the last frame that came. */
  readonly after?: number | string;
  /** Somebody is about to go on with it, and does not only read. */
  readonly opens?: boolean;
  readonly signal: AbortSignal;
};

/** The part of the platform's fetch that a client needs. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;
type FetchInit = {
  readonly method: string;
  readonly headers: Record<string, string>;
  /** A stream can be sent only once: it cannot be tried again. */
  readonly body?: string | Uint8Array | ReadableStream<Uint8Array>;
  /** Goes with a stream; the platform's fetch asks for it. */
  readonly duplex?: "half";
  readonly signal?: AbortSignal;
};

type Table = typeof routes;
type NoJson =
  | { streams: true }
  | { takesBytes: true }
  | { takesForm: true }
  | { givesBytes: true }
  | { givesText: true };
type CallName = { [N in RouteName]: Table[N] extends NoJson ? never : N }[RouteName];
type StreamName = { [N in RouteName]: Table[N] extends { mayStream: true } ? N : never }[RouteName];
type PutName = { [N in RouteName]: Table[N] extends { takesBytes: true } ? N : never }[RouteName];
type GetName = { [N in RouteName]: Table[N] extends { givesBytes: true } ? N : never }[RouteName];
type BytesInput<N extends PutName | GetName> = Part<"params", z.output<Table[N]["params"]>> &
  Part<"query", Partial<z.output<Table[N]["query"]>>>;
export type CallAnswer<N extends CallName> = z.output<Table[N]["answer"]>;

/** `params`, `query` and `body` as far as the route has them; every query parameter can be left out. */
type CallInput<N extends CallName> = Part<"params", z.output<Table[N]["params"]>> &
  Part<"query", Partial<z.output<Table[N]["query"]>>> &
  Part<"body", z.input<Table[N]["body"]>>;
type Part<Name extends string, Value> =
  Value extends Record<string, never>
    ? { readonly [K in Name]?: never }
    : Record<never, never> extends Value
      ? { readonly [K in Name]?: Value }
      : { readonly [K in Name]: Value };
type CallArguments<N extends CallName> =
  Record<never, never> extends CallInput<N> ? [input?: CallInput<N>] : [input: CallInput<N>];
type Calls = { readonly [N in CallName]: { readonly takes: CallArguments<N>; readonly gives: CallAnswer<N> } };
/**
 * Of a name that is any word until the compiler knows which: where it had to be a route, each call was held against the
 * inputs of all routes first, and that was half of the time of a check.
 */
type Takes<N extends string> = N extends CallName ? Calls[N]["takes"] : never;
type Gives<N extends string> = N extends CallName ? Calls[N]["gives"] : never;
type AnyInput = {
  readonly params?: object;
  readonly query?: object;
  readonly body?: unknown;
  readonly bytes?: Uint8Array | ReadableStream<Uint8Array> | undefined;
  readonly announced?: number | undefined;
  /** The id of the last frame of a stream that came. */
  readonly lastEventId?: string | undefined;
};

export type ClientOptions = {
  readonly fetch: Fetch;
  readonly baseUrl?: string;
  readonly language?: Language;
  /** Act as this user, where nobody has to sign in. */
  readonly actsAs?: string | undefined;
  /** An API key, where somebody has to. */
  readonly key?: string | undefined;
  readonly clock?: Clock;
  /** Makes the key under which a creating call is done once, also where it has to be sent twice; without it none is. */
  readonly newKey?: (() => string) | undefined;
};

export function createClient(options: ClientOptions): Client {
  const { language = "en", clock = systemClock } = options;
  const request = asking(options, { language, clock });

  /** The answer of a route by its schema. */
  async function readAnswer<Answer>(response: Response, schema: z.ZodType<Answer>) {
    const answer = schema.safeParse(response.status === 204 ? {} : await readJson(response));
    return answer.success ? ok(answer.data) : failed(answerUnreadable(response, language));
  }

  function call<N extends string>(name: N & CallName, ...input: Takes<N>): Promise<Result<Gives<N>, ClientFailure>>;
  async function call(name: CallName, input: AnyInput = {}): Promise<Result<unknown, ClientFailure>> {
    const response = await request(name, input);
    const schema: z.ZodType<unknown> = routes[name].answer;
    return response.ok ? readAnswer(response.value, schema) : response;
  }

  return {
    call,
    async stream(name, input, { signal }) {
      const response = await request(name, input, signal);
      return response.ok ? ok(dataOf(response.value, signal)) : response;
    },
    async put(name, input) {
      const response = await request(name, input);
      return response.ok ? readAnswer(response.value, putSchemas[name].answer) : response;
    },
    async get(name, input, { signal } = {}) {
      const response = await request(name, input, signal);
      return response.ok ? ok(response.value.body ?? new Blob([]).stream()) : response;
    },
    async upload(conversation, name, data, { keep = false, bytes: announced, signal, onProgress } = {}) {
      const { sent: bytes, faults, end } = openBody(data, { bytes: announced, onProgress });
      signal?.addEventListener("abort", end);
      const sending = request(
        "uploadFile",
        { params: { id: conversation, name }, query: { keep }, bytes, announced },
        signal,
      );
      const response = await sending.finally(() => {
        signal?.removeEventListener("abort", end);
        end();
      });
      if (faults.length > 0) throw faults[0];
      return response.ok ? readAnswer(response.value, routes.uploadFile.answer) : response;
    },
    async download(conversation, path, { signal } = {}) {
      const response = await request("readFile", { params: { id: conversation }, query: { path } }, signal);
      if (!response.ok) return response;
      const { headers: told, body } = response.value;
      const bytes = Number(told.get("content-length") ?? Number.NaN);
      if (!Number.isSafeInteger(bytes) || body === null) return failed(answerUnreadable(response.value, language));
      return ok({ bytes, chunks: piecesOf(body, { bytes, signal, brokenOff: brokenOff(path, language) }) });
    },
    ...following(request, { clock, language }),
  };
}

/** Sends a request of the table, and once more where it was not answered and may be repeated. */
function asking(
  { fetch, baseUrl = "http://localhost", actsAs, key: apiKey, newKey }: ClientOptions,
  { language, clock }: { language: Language; clock: Clock },
): Ask {
  const headers = {
    "accept-language": language,
    ...(actsAs !== undefined && { "x-account-id": actsAs }),
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
  };
  return async (name, input, signal) => {
    const { params = {}, query = {}, ...sent } = input;
    const { method, path } = routes[name];
    const { body, about } = bodyAndHeaders(sent);
    const key = keyFor(name, sent, newKey);
    const url = baseUrl + fillPath(path, params) + queryText(query);
    const init: FetchInit = {
      method,
      headers: { ...headers, ...about, ...key },
      ...(body !== undefined && { body }),
      ...(body instanceof ReadableStream && { duplex: "half" }),
      ...(signal !== undefined && { signal }),
    };
    const send = async () => {
      try {
        return ok(await fetch(url, init));
      } catch (error) {
        throwUnlessNetwork(error, signal);
        return failed(noAnswer(error, language));
      }
    };
    // Whether it arrived is not known. Under its key it is done once; a stream of bytes is used up.
    const mayRepeat = key !== undefined && !(body instanceof ReadableStream);
    const first = await send();
    const isRepeated = !first.ok && mayRepeat && (await clock.wait(repeatAfterMs, signal)) !== "aborted";
    const response = isRepeated ? await send() : first;
    if (!response.ok || response.value.ok) return response;
    return failed(await failureOf(response.value, language));
  };
}

type Ask = (name: RouteName, input: AnyInput, signal?: AbortSignal) => Promise<Result<Response, ClientFailure>>;

function following(
  request: Ask,
  { clock, language }: { clock: Clock; language: Language },
): Pick<Client, "follow" | "followExecution"> {
  return {
    follow(conversation, { after = 0, opens, signal }) {
      // It is opened once, however often the connection breaks.
      let opening = opens === true ? { opens } : {};
      return followStream({
        connect(cursor, connection) {
          const query = { after: cursor, ...opening };
          opening = {};
          return request("followEvents", { params: { id: conversation }, query }, connection);
        },
        after,
        signal,
        clock,
        unreadable: (response) => answerUnreadable(response, language),
      });
    },
    followExecution: (id, { signal }) =>
      followExecution({
        connect: (lastEventId, connection) => request("followExecution", { params: { id }, lastEventId }, connection),
        signal,
        clock,
        cutOff: (response) => answerUnreadable(response, language),
      }),
  };
}

const putSchemas: { readonly [N in PutName]: { readonly answer: z.ZodType<z.output<Table[N]["answer"]>> } } = routes;

async function* dataOf(response: Response, signal: AbortSignal): AsyncGenerator<unknown, void> {
  for await (const { data } of readEvents(response, signal)) yield data;
}

/** A call that was not answered is sent once more after this. */
const repeatAfterMs = 200;

/** A call whose body has an id of its own needs no key. */
function keyFor(name: RouteName, { body }: Sent, newKey: ClientOptions["newKey"]) {
  const hasId = typeof body === "object" && body !== null && "id" in body && body.id !== undefined;
  return newKey !== undefined && "creates" in routes[name] && !hasId ? { "idempotency-key": newKey() } : undefined;
}

type Sent = Pick<AnyInput, "body" | "bytes" | "announced" | "lastEventId">;

function bodyAndHeaders({ body, bytes, announced, lastEventId }: Sent) {
  if (lastEventId !== undefined) return { about: { "last-event-id": lastEventId } };
  const length = announced === undefined ? {} : { "content-length": String(announced) };
  if (bytes !== undefined) return { body: bytes, about: { "content-type": "application/octet-stream", ...length } };
  return body === undefined ? {} : { body: JSON.stringify(body), about: { "content-type": "application/json" } };
}

function fillPath(path: string, params: object): string {
  return Object.entries(params).reduce(
    (filled, [name, value]) => filled.replace(`{${name}}`, () => encodeURIComponent(String(value))),
    path,
  );
}

function queryText(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}

/** The server in the same process: no socket, the same app. */
export function inProcessFetch(app: {
  fetch(request: Request, door: { door: "process" }): Response | Promise<Response>;
}): Fetch {
  // Browsers' types know a view of bytes only by its kind of buffer.
  return async (url, init) => app.fetch(new Request(url, init as RequestInit), { door: "process" });
}

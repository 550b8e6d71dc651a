import http, { type IncomingMessage, type RequestOptions } from "node:http";
import https from "node:https";
import { parsedJson } from "../base/json.ts";

const bodyBytesMax = 4 * 1024 * 1024;

export type JsonAnswer = { readonly status: number; readonly body: unknown };
type ProxyEnv = Readonly<Record<string, string | undefined>>;
export type AskOptions = {
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON by POST; without it the question is a GET. */
  readonly body?: unknown;
  /** Variables that name a proxy, for servers outside. */
  readonly proxyEnv?: ProxyEnv | undefined;
};

/** One small question to a server that may be anything: no answer, no JSON or too much of it all give `undefined`. */
export async function askJson(url: string, asking: AskOptions): Promise<JsonAnswer | undefined> {
  const response = await responseTo(url, asking);
  const text = response === undefined ? undefined : await textOf(response);
  const body = text === undefined ? undefined : parsedJson(text);
  return body === undefined ? undefined : { status: response?.statusCode ?? 0, body };
}

async function responseTo(
  url: string,
  { signal, headers, body, proxyEnv }: AskOptions,
): Promise<IncomingMessage | undefined> {
  const { request, Agent } = url.startsWith("https:") ? https : http;
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const options: RequestOptions = {
    method: payload === undefined ? "GET" : "POST",
    agent: proxyEnv === undefined ? false : new Agent({ proxyEnv }),
    signal,
    headers: {
      accept: "application/json",
      ...(payload === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
  };
  const { promise, resolve } = Promise.withResolvers<IncomingMessage | undefined>();
  try {
    request(url, options)
      .on("response", (response) => resolve(response))
      .on("error", () => resolve(undefined))
      .end(payload);
  } catch {
    return undefined; // An address or a key that cannot even be sent.
  }
  return promise;
}

async function textOf(response: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response) {
      bytes += chunk.length;
      // Leaving the loop destroys the response, and with it the connection.
      if (bytes > bodyBytesMax) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return undefined; // It broke off.
  }
  return Buffer.concat(chunks).toString("utf8");
}

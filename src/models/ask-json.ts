import http, { type IncomingMessage, type RequestOptions } from "node:http";
import https from "node:https";

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
export function askJson(url: string, { signal, headers, body, proxyEnv }: AskOptions): Promise<JsonAnswer | undefined> {
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
  const answer = new Promise<JsonAnswer | undefined>((resolve, reject) => {
    const asked = request(url, options, (response) => {
      readJson(response).then(resolve, reject);
    });
    asked.on("error", reject);
    asked.end(payload);
  });
  return answer.catch(() => undefined);
}

async function readJson(response: IncomingMessage): Promise<JsonAnswer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    // Leaving the loop destroys the response, and with it the connection.
    if (bytes > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString("utf8")) };
}

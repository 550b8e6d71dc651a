import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";

/** What a server does with one request; `vectors` is its usual answer, `hang` none at all. */
export type EmbeddingAnswer =
  | "vectors"
  | "hang"
  /** The beginning of the usual answer; then the connection is closed. */
  | "half"
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body: string };

export type EmbeddingRequest = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly model: string; readonly input: readonly string[]; readonly [field: string]: unknown };
};

export type EmbeddingServer = {
  readonly url: string;
  readonly asked: readonly EmbeddingRequest[];
  /** All texts that it was given, in order. */
  texts(): string[];
  answerWith(answer: EmbeddingAnswer | ((request: EmbeddingRequest, number: number) => EmbeddingAnswer)): void;
  /** Resolves at the next request. */
  nextRequest(): Promise<EmbeddingRequest>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Words that mean the same have a direction of their own; every other word shares one. */
const meanings = [
  ["car", "automobile", "vehicle", "汽车"],
  ["buy", "purchase", "acquire", "购买"],
  ["dog", "hound", "puppy"],
  ["rain", "drizzle", "downpour"],
];

/** A vector as the server sends it: how often each meaning occurs, and a little of all else. */
function embeddingOf(text: string, size: number): number[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const counts = meanings.map((same) => words.filter((word) => same.includes(word)).length);
  return Array.from({ length: size }, (_, index) => (counts[index] ?? 0) + (index === size - 1 ? 0.05 : 0.001));
}

export function answerTo({ body }: EmbeddingRequest, size: number): string {
  const data = body.input.map((text, index) => ({ object: "embedding", index, embedding: embeddingOf(text, size) }));
  const usage = { prompt_tokens: body.input.length, total_tokens: body.input.length };
  return JSON.stringify({ object: "list", data, model: body.model, usage });
}

/** A model for embeddings that speaks the real protocol from a script, and keeps what it was asked. */
export async function embeddingServer({ size = 8 }: { readonly size?: number } = {}): Promise<EmbeddingServer> {
  const asked: EmbeddingRequest[] = [];
  let script: Parameters<EmbeddingServer["answerWith"]>[0] = "vectors";
  let waiting: ((request: EmbeddingRequest) => void)[] = [];
  const server = createServer((incoming, response) => {
    void readText(incoming).then((text) => {
      const request = { path: incoming.url ?? "", headers: incoming.headers, body: JSON.parse(text) };
      asked.push(request);
      respond(response, typeof script === "function" ? script(request, asked.length) : script, answerTo(request, size));
      for (const heard of waiting) heard(request);
      waiting = [];
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    texts: () => asked.flatMap(({ body }) => body.input),
    answerWith(answer) {
      script = answer;
    },
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function respond(response: ServerResponse, answer: EmbeddingAnswer, usual: string): void {
  if (answer === "hang") return;
  if (answer === "half") {
    response.writeHead(200, { "content-type": "application/json", "content-length": usual.length });
    response.write(usual.slice(0, usual.length / 2));
    setImmediate(() => response.destroy());
    return;
  }
  const { status = 200, headers = {}, body } = answer === "vectors" ? { body: usual } : answer;
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body);
}

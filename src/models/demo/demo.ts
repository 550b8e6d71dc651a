import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { type Ids, systemIds } from "../../base/ids.ts";
import type { FoundServer } from "../detect.ts";
import { demoModelId, type ReplyOptions, replyTo } from "./reply.ts";
import { chunks, completion, errorBody, parseRequest, type WireError } from "./wire.ts";

const bodyBytesMax = 64 * 1024 * 1024;

export type DemoServer = { readonly baseUrl: string; readonly apiKey: string; close(): Promise<void> };
export type DemoOptions = {
  readonly clock: Clock;
  readonly ids?: Ids | undefined;
  /** The local model servers it can tell of. */
  readonly findServers?: (() => Promise<readonly FoundServer[]>) | undefined;
  /** The user's, for the tool `now`. */
  readonly timezone?: string | undefined;
  /** Hears of what broke down in it, which is a mistake of ours. */
  readonly onThrown: (error: unknown) => void;
};

/**
 * The demo model: a server on the loopback address that speaks OpenAI's chat completions, so that it is reached by the
 * same code as any model. It answers by rules (`intents.ts`), and never keeps the process alive.
 */
export async function startDemoServer({
  clock,
  ids = systemIds,
  timezone,
  onThrown,
  ...options
}: DemoOptions): Promise<DemoServer> {
  const apiKey = `demo-${ids.hex(32)}`;
  const findServers = options.findServers ?? (() => Promise.resolve([]));
  const server = createServer((request, response) => {
    handle(request, response, apiKey, { clock, ids, timezone, findServers }).catch((error) => {
      onThrown(error);
      refuse(response, { status: 500, message: "The demo model broke down." });
    });
  });
  server.on("connection", (socket) => socket.unref());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  server.unref();
  const address = server.address();
  assert(typeof address === "object" && address !== null, "a listening server has a port");
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    apiKey,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  apiKey: string,
  options: ReplyOptions,
): Promise<void> {
  if (!isSame(request.headers.authorization ?? "", `Bearer ${apiKey}`))
    return refuse(response, { status: 401, message: "Incorrect API key provided.", code: "invalid_api_key" });
  const route = `${request.method} ${request.url?.split("?", 1)[0]}`;
  if (route === "GET /v1/models")
    return sendJson(response, 200, { object: "list", data: [{ id: demoModelId, object: "model" }] });
  if (route !== "POST /v1/chat/completions")
    return refuse(response, { status: 404, message: `Invalid URL (${route})`, code: "unknown_url" });
  const body = await readBody(request);
  if (body === undefined) return refuse(response, { status: 413, message: "The request is too large." });
  const chat = parseRequest(body, demoModelId);
  if ("status" in chat) return refuse(response, chat);
  const reply = await replyTo(chat, options);
  if (chat.stream !== true) return sendJson(response, 200, completion(reply));
  sendStream(response, chunks(reply, chat.stream_options?.include_usage === true));
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes <= bodyBytesMax) parts.push(part);
  }
  // Read to the end even when it is too much: whoever is still writing would not see the refusal.
  return bytes > bodyBytesMax ? undefined : Buffer.concat(parts).toString("utf8");
}

function refuse(response: ServerResponse, error: WireError): void {
  if (response.headersSent) response.destroy();
  else sendJson(response, error.status, errorBody(error));
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function sendStream(response: ServerResponse, events: Iterable<object>): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end("data: [DONE]\n\n");
}

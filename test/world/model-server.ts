import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A model that answers real HTTP and SSE from a script and keeps what it was asked.
 * A script is a list, used up in order, or a function of the request (the same request gives the same answer).
 */
export type Script = readonly Answer[] | ((request: AskedRequest) => Answer);

export type Answer = {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly arguments: string }[];
  readonly finish?: string;
  readonly usage?: Readonly<Record<string, number>> | null;
  /** Another status, with its body and headers. */
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes per write; 0 writes all at once. */
  readonly splitBytes?: number;
  /** After this many events: say nothing more (`stall`), only pings, or drop the socket (`break`). */
  readonly fault?: { readonly after: number; readonly kind: "stall" | "ping" | "break" };
  /** Milliseconds between events. */
  readonly paceMs?: number;
  /** Milliseconds before the first one. */
  readonly waitMs?: number;
  /** It is asked, and says nothing before this: the test decides what happens meanwhile. */
  readonly heldUntil?: Promise<void>;
};

export type AskedRequest = {
  readonly text: string;
  readonly body: {
    readonly model: string;
    readonly stream?: boolean;
    readonly tool_choice?: unknown;
    readonly tools?: readonly { readonly function: { readonly name: string } }[];
    readonly messages: readonly {
      readonly role: string;
      readonly content: unknown;
      readonly tool_calls?: readonly {
        readonly id: string;
        readonly function: { readonly name: string; readonly arguments: string };
      }[];
      readonly tool_call_id?: string;
    }[];
  };
  readonly headers: IncomingMessage["headers"];
};

export type ModelServer = {
  readonly url: string;
  readonly asked: AskedRequest[];
  /** The messages part of each request, byte for byte. */
  messageBytes(): string[];
  answerWith(script: Script): void;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

export const says = (text: string): Answer => ({ text });
export const calls = (...asked: [name: string, input: unknown][]): Answer => ({
  calls: asked.map(([name, input]) => ({ name, arguments: typeof input === "string" ? input : JSON.stringify(input) })),
});

export async function modelServer(script: Script = []): Promise<ModelServer> {
  const asked: AskedRequest[] = [];
  let current = script;
  let next = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const text = await readAll(request);
    const entry: AskedRequest = { text, body: JSON.parse(text === "" ? "{}" : text), headers: request.headers };
    if (request.method === "GET") return void response.end(JSON.stringify({ data: [{ id: "test-model" }] }));
    asked.push(entry);
    const answer = typeof current === "function" ? current(entry) : current[next++];
    if (answer === undefined)
      return void response
        .writeHead(400, { "content-type": "application/json" })
        .end('{"error":{"message":"the script has no more answers"}}');
    await respond(response, answer, asked.length, entry.body.stream !== false);
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://127.0.0.1:${portOf(server.address())}/v1`,
    asked,
    messageBytes: () => asked.map(({ text }) => messagesOf(text)),
    answerWith(other) {
      current = other;
      next = 0;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** How many answers of the model stand in the request since the newest message of the user. */
export function stepOf({ body }: AskedRequest): number {
  const lastUser = body.messages.findLastIndex((message) => message.role === "user");
  return body.messages.slice(lastUser).filter((message) => message.role === "assistant").length;
}

async function respond(response: ServerResponse, answer: Answer, number: number, isStream: boolean): Promise<void> {
  if (answer.status !== undefined) {
    response
      .writeHead(answer.status, { "content-type": "application/json", ...answer.headers })
      .end(answer.body ?? "{}");
    return;
  }
  if (!isStream) return void response.end(JSON.stringify(completion(answer, number)));
  response.writeHead(200, { "content-type": "text/event-stream", ...answer.headers });
  if (answer.waitMs !== undefined) await sleep(answer.waitMs);
  await answer.heldUntil;
  for (const [index, event] of events(answer, number).entries()) {
    if (answer.fault?.after === index) return fault(response, answer.fault.kind);
    if (answer.paceMs !== undefined) await sleep(answer.paceMs);
    if (response.destroyed) return;
    await write(response, event, answer.splitBytes ?? 0);
  }
  if (answer.fault !== undefined) return fault(response, answer.fault.kind);
  response.end();
}

function fault(response: ServerResponse, kind: "stall" | "ping" | "break"): void {
  // A moment later, so that what was written before has left.
  if (kind === "break") setTimeout(() => response.destroy(), 20);
  if (kind !== "ping") return;
  const timer = setInterval(() => response.write(": ping\n\n"), 20);
  response.once("close", () => clearInterval(timer));
}

async function write(response: ServerResponse, text: string, splitBytes: number): Promise<void> {
  const bytes = Buffer.from(text);
  const size = splitBytes === 0 ? bytes.length : splitBytes;
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size));
    if (splitBytes > 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

function events(answer: Answer, number: number): string[] {
  const chunk = (delta: object, more: object = {}) =>
    `data: ${JSON.stringify({ id: `c${number}`, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
  const parts = [chunk({ role: "assistant", content: "" })];
  for (const word of wordsOf(answer.reasoning ?? "")) parts.push(chunk({ reasoning_content: word }));
  for (const word of wordsOf(answer.text ?? "")) parts.push(chunk({ content: word }));
  for (const [index, call] of (answer.calls ?? []).entries()) {
    const half = Math.floor(call.arguments.length / 2);
    const id = call.id ?? `call_${number}_${index}`;
    parts.push(
      chunk({
        tool_calls: [
          { index, id, type: "function", function: { name: call.name, arguments: call.arguments.slice(0, half) } },
        ],
      }),
    );
    parts.push(chunk({ tool_calls: [{ index, function: { arguments: call.arguments.slice(half) } }] }));
  }
  parts.push(chunk({}, { finish_reason: finishOf(answer) }));
  if (answer.usage !== null)
    parts.push(
      `data: ${JSON.stringify({ choices: [], usage: answer.usage ?? { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } })}\n\n`,
    );
  parts.push("data: [DONE]\n\n");
  return parts;
}

function completion(answer: Answer, number: number): object {
  const toolCalls = answer.calls?.map((call, index) => ({
    id: call.id ?? `call_${number}_${index}`,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  }));
  return {
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: answer.text ?? null, tool_calls: toolCalls },
        finish_reason: finishOf(answer),
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
  };
}

function finishOf(answer: Answer): string {
  return answer.finish ?? (answer.calls === undefined ? "stop" : "tool_calls");
}

function wordsOf(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

function messagesOf(text: string): string {
  const start = text.indexOf('"messages":[') + '"messages":['.length;
  let depth = 1;
  let isString = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (isString && character === "\\") at += 1;
    else if (character === '"') isString = !isString;
    else if (!isString && (character === "[" || character === "{")) depth += 1;
    else if (!isString && (character === "]" || character === "}") && --depth === 0) return text.slice(start, at);
  }
  return text.slice(start);
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}

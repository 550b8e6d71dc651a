import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Seen, Wire, WireServer } from "./wire.ts";
import { chatWire } from "./wire-chat.ts";

export type { Answer } from "./wire.ts";

/**
 * A model that answers real HTTP and SSE from a script and keeps what it was asked, in any of the wire formats.
 * A script is a list, used up in order, or a function of the request (the same request gives the same answer).
 */
export type Script = readonly Answer[] | ((request: AskedRequest, seen: () => Seen) => Answer);

export type AskedRequest = {
  readonly text: string;
  /** As chat completions have it; what other formats tell the model is read with `seen`. */
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
  readonly wire: Wire;
  readonly asked: AskedRequest[];
  /** What each request told the model. */
  seen(): Seen[];
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

export async function modelServer(script: Script = [], wire: Wire = chatWire): Promise<ModelServer> {
  const format = wire.open();
  const asked: AskedRequest[] = [];
  let current = script;
  let next = 0;
  let answers = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const text = await readAll(request);
    const entry: AskedRequest = { text, body: JSON.parse(text === "" ? "{}" : text), headers: request.headers };
    if (request.method === "GET") return void response.end(JSON.stringify({ data: [{ id: wire.model }] }));
    asked.push(entry);
    const arrived = { path: request.url ?? "", headers: request.headers, body: entry.body };
    const complaint = format.complaint(arrived);
    const taken = () =>
      typeof current === "function" ? current(entry, () => format.seen(entry.body)) : current[next++];
    const answer = complaint === undefined ? (taken() ?? { ...format.refusal(noMore) }) : format.refusal({ complaint });
    answers += 1;
    await respond(response, { format, answer, number: answers, isStream: format.isStream(arrived) });
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://127.0.0.1:${portOf(server.address())}${wire.basePath}`,
    wire,
    asked,
    seen: () => asked.map(({ body }) => format.seen(body)),
    messageBytes: () => asked.map(({ text }) => format.messageBytes(text)),
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

const noMore = { complaint: "the script has no more answers" };

type Reply = {
  readonly format: WireServer;
  readonly answer: Answer;
  readonly number: number;
  readonly isStream: boolean;
};

async function respond(response: ServerResponse, { format, answer, number, isStream }: Reply): Promise<void> {
  const refusal = answer.refuses === undefined ? answer : format.refusal(answer.refuses);
  if (refusal.status !== undefined) {
    response
      .writeHead(refusal.status, { "content-type": "application/json", ...refusal.headers })
      .end(refusal.body ?? "{}");
    return;
  }
  if (!isStream) return void response.end(JSON.stringify(format.whole(answer, number)));
  response.writeHead(200, { "content-type": "text/event-stream", ...answer.headers });
  if (answer.waitMs !== undefined) await sleep(answer.waitMs);
  await answer.heldUntil;
  for (const [index, event] of format.stream(answer, number).entries()) {
    if (answer.fault?.after === index) return fault(response, answer.fault.kind, format);
    if (answer.paceMs !== undefined) await sleep(answer.paceMs);
    await answer.heldAt?.(index);
    if (response.destroyed) return;
    await write(response, event, answer.splitBytes ?? 0);
  }
  if (answer.fault !== undefined) return fault(response, answer.fault.kind, format);
  response.end();
}

function fault(response: ServerResponse, kind: "stall" | "ping" | "break" | "error", format: WireServer): void {
  if (kind === "error") return void response.end(format.streamError());
  if (kind === "break") void breakOff(response);
  if (kind !== "ping") return;
  const timer = setInterval(() => response.write(": ping\n\n"), 20);
  response.once("close", () => clearInterval(timer));
}

/** A moment later, so that what was written before was read. By turns, too: a busy machine may give a moment none of them. */
async function breakOff(response: ServerResponse): Promise<void> {
  await sleep(20);
  for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  response.destroy();
}

async function write(response: ServerResponse, text: string, splitBytes: number): Promise<void> {
  const bytes = Buffer.from(text);
  const size = splitBytes === 0 ? bytes.length : splitBytes;
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size));
    if (splitBytes > 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}
